r"""Lemma B.4: the bias carries over from one round of FedAvg to the next.

For FedAvg with :math:`R` rounds of :math:`K` steps of size :math:`\eta \le \frac1{6L}` on :math:`f(x; \xi) = \frac
L2\psi(x) + \xi x`, :math:`\xi \sim \mathcal N(0, \sigma^2)`, from its minimiser, with :math:`\psi(x) = \frac12x^2`
left and :math:`x^2` right of 0, as published

.. math:: \mathbb E[x^{(R,0)}] \le -c\,\frac{\sqrt\eta\,\sigma}{\sqrt L}\min\bigl\{R(\eta LK)^{3/2},\ 1,\
   (\eta LK)^{1/2}\bigr\} , \qquad c = 0.0005 .

**Where it fails.** For :math:`K = 1` there is no bias to carry over, as in Theorem A.2: many clients follow gradient
descent, which stays at the minimiser. The theorems that use the lemma have :math:`K \ge 2` (form
``published@two-steps``).

**Derivation of the corrected form**, :math:`K \ge 2`, :math:`\eta \le \frac1{2L}` and a constant 0.0037. Let
:math:`u = \eta L` and :math:`m(x)` the mean of :math:`K` steps from :math:`x`. A step is increasing and concave as a
function of the start, with slopes of at least :math:`1-u`, and so is :math:`m`, with slopes of at least
:math:`(1-u)^K`. Thus :math:`m(x) \le m(0) + m'(0)x \le -b_K + (1-u)^Kx` for :math:`x \le 0`, where :math:`b_K` is the
bias of Theorem A.2. By Jensen's inequality :math:`\mathbb E[x^{(r+1,0)}] \le m(\mathbb E[x^{(r,0)}])` for any number
of clients, so that

.. math:: \mathbb E[x^{(R,0)}] \le -b_K\sum_{r=0}^{R-1}(1-u)^{Kr} \le -b_K\Bigl(1-\frac1e\Bigr)\frac{\min\{1,
   uKR\}}{\min\{1, uK\}} ,

as :math:`1-(1-u)^K \le \min\{1, uK\}` and :math:`1-(1-u)^{KR} \ge 1-e^{-uKR}`. The corrected form of Theorem A.2 is
:math:`b_K \ge 0.006\,\sqrt{\eta/L}\,\sigma\min\{(uK)^{3/2}, 1\}`, and :math:`0.006\,(1-\frac1e) > 0.0037`.

Instances: the model of infinitely many clients, whose mean is the closest to 0, see
:mod:`fltheory.bounds.glasgow._bent`.

Source: Glasgow et al., 2022, Lemma B.4, page 22.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Ge, Le, Min, Rational, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method
from fltheory.bounds.glasgow._bent import after_rounds
from fltheory.bounds.glasgow._symbols import K, R, eta, sigma
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

drift = scalar("drift", r"-\mathbb E[x^{(R,0)}]", "how far left of the minimiser the mean is", domain="nonnegative")


def realise(point: Params, *, largest: float) -> dict[Any, Any]:
    """Return how far infinitely many clients are left of the minimiser."""
    smooth, noise, u = float(point["L"]), float(point["sigma"]), float(point["step"]) * largest
    steps, rounds = int(point["K"]), int(point["R"])
    return {
        L: smooth,
        sigma: noise,
        eta: u / smooth,
        K: steps,
        R: rounds,
        drift: u / smooth * noise * max(0.0, -after_rounds(steps, rounds, u)),
    }


def runs(first: int, largest: float) -> Instances:
    """Return runs with rounds of at least so many steps."""
    return Instances(
        space=Space(
            {
                "K": Integer(first, 8, furthest=200),
                "R": Integer(1, 20, far=1000),
                "L": Real(0.1, 10, log=True),
                "sigma": Real(0.1, 10, log=True),
                "step": Real(0.001, 1, log=True),
            }
        ),
        realise=partial(realise, largest=largest),
        method=Method.EXACT,
        rational=False,
        begin=(LONG,),
    )


LONG: Params = {"K": 200, "R": 1000, "L": 1.0, "sigma": 1.0, "step": 0.02}
least = sqrt(eta / L) * sigma * Min(R * (eta * L * K) ** Rational(3, 2), 1, sqrt(eta * L * K))
small = Assumption("step size", Le(eta, 1 / (6 * L)), Origin.DECLARED)
several = Assumption("several local steps", Ge(K, 2), Origin.DECLARED)

claim = Claim(
    id="glasgow.lemma-b.4",
    kind=Kind.LOWER,
    title="the bias carries over from round to round",
    citation=Citation("glasgow", "Lemma B.4"),
    forms=(
        Form(statement=Ge(drift, Rational(5, 10000) * least), note="any number of local steps"),
        Form(
            variant="published@two-steps",
            statement=Ge(drift, Rational(5, 10000) * least),
            assumptions=(small, several),
            check=runs(2, 1 / 6),
            note="two steps or more, as in the theorems",
            intended=("published",),
        ),
        Form(
            variant="corrected",
            statement=Ge(drift, Rational(37, 10000) * least),
            assumptions=(Assumption("step size", Le(eta, 1 / (2 * L)), Origin.DECLARED), several),
            check=runs(2, 1 / 2),
            note="two steps or more, larger steps, and seven times the constant",
        ),
    ),
    assumptions=(small,),
    uses=("glasgow.theorem-a.2",),
    check=runs(1, 1 / 6),
)
