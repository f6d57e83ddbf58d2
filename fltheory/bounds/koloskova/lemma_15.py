r"""Lemma 15: tuning a constant step size.

"For any parameters :math:`r_0 \ge 0, b \ge 0, e \ge 0, d \ge 0` there exists constant stepsize :math:`\eta \le \frac1d`
such that", as published,

.. math:: \Psi_T := \frac{r_0}{\eta(T+1)} + b\eta + e\eta^2 \le 2\Bigl(\frac{br_0}{T+1}\Bigr)^{\frac12} +
   2e^{1/3}\Bigl(\frac{r_0}{T+1}\Bigr)^{\frac23} + \frac{dr_0}{T+1} .

**Reading.** Where everything is positive (form ``published@positive``) it holds, with the smallest of
:math:`\sqrt{r_0/(b(T+1))}`, :math:`(r_0/(e(T+1)))^{1/3}` and :math:`\frac1d`. With the zeros that are allowed (form
``published``) it may fail: for :math:`r_0 = 0` the right-hand side is zero, and every positive step has
:math:`b\eta + e\eta^2 > 0` (the step of the proof is zero there, and :math:`\Psi_T` is not defined). The lower end is
approached, not attained; likewise for :math:`b = e = d = 0` and large steps. Nothing but these zeros refutes it.

**Derivation of the sharp form.** Take :math:`\frac1\eta = \frac1{\eta_1} + \frac1{\eta_2} + d` with :math:`\eta_1 =
\sqrt{r_0/(b(T+1))}` and :math:`\eta_2 = (r_0/(2e(T+1)))^{1/3}`, a step below each of the three. Then
:math:`\frac{r_0}{\eta(T+1)}` is the sum of three parts, :math:`b\eta \le b\eta_1` and :math:`e\eta^2 \le e\eta_2^2`,
and

.. math:: \Psi_T \le 2\Bigl(\frac{br_0}{T+1}\Bigr)^{\frac12} +
   \frac3{2^{2/3}}e^{1/3}\Bigl(\frac{r_0}{T+1}\Bigr)^{\frac23} + \frac{dr_0}{T+1} .

:math:`\frac3{2^{2/3}} \approx 1.89` stands in place of 2. No constant can be smaller: each is the minimum over all
steps where the other two parameters are zero.

Instances: any parameters, with these steps; :math:`b` and :math:`e` are made from the inverses of :math:`\eta_1` and
:math:`\eta_2`, so that roots are rational.

Source: Koloskova et al., 2020, Lemma 15, page 25. It has the role of Lemma 2 of the paper on SCAFFOLD.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Gt, Le, Max, Rational, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space
from fltheory.problems.problem import Origin

r_0 = scalar("r_0", "r_0", "what the recursion starts from", domain="nonnegative")
b = scalar("b", "b", "constant in front of the step", domain="nonnegative")
e = scalar("e", "e", "constant in front of the squared step", domain="nonnegative")
d = scalar("d", "d", "inverse of the largest step", domain="nonnegative")
T = scalar("T", "T", "number of the last iteration", domain="integer>=0")
eta = scalar("step", r"\eta", "constant step size", domain="positive")
psi = scalar("psi", r"\Psi_T", "what is to be balanced")

BEST = 3 / Rational(4) ** Rational(1, 3)
"""What the second 2 can be lowered to."""


def realise(point: Params, *, zero: bool) -> dict[str, Any]:
    """Return parameters with the smallest of the three steps; without a start, with any step."""
    number, slower, slowest = point["T"] + 1, point["inverse 1"], point["inverse 2"]
    least, start = point["d"], point["r_0"]
    first, second = start * slower**2 / number, start * slowest**3 / number
    if zero and point["start"] == "zero":
        return _values(point, 0 * start, first, second, point["part"] / least)
    return _values(point, start, first, second, 1 / max(least, slower, slowest))


def together(point: Params) -> dict[str, Any]:
    """Return parameters with the step whose inverse is the sum of three."""
    number, slower, slowest = point["T"] + 1, point["inverse 1"], point["inverse 2"]
    start = point["r_0"]
    first, second = start * slower**2 / number, start * slowest**3 / (2 * number)
    return _values(point, start, first, second, 1 / (point["d"] + slower + slowest))


def _values(point: Params, start: Any, first: Any, second: Any, step: Any) -> dict[str, Any]:
    return {"r_0": start, "b": first, "e": second, "d": point["d"], "T": point["T"], "step": step}


SHAPE: dict[str, Parameter] = {
    "T": Integer(0, 3),
    "r_0": Real(0.1, 5),
    "d": Real(0.01, 10, log=True),
    "inverse 1": Real(0, 4),
    "inverse 2": Real(0, 4),
}
SPACE = Space(SHAPE)
WITH_ZERO = Space({**SHAPE, "start": Choice(("positive", "zero")), "part": Real(0.01, 1, log=True)})


def bound(constant: Any) -> Any:
    """Return the right-hand side with a constant in front of its second term."""
    share = r_0 / (T + 1)
    return 2 * sqrt(b * share) + constant * e ** Rational(1, 3) * share ** Rational(2, 3) + d * share


WHERE = ((psi, r_0 / (eta * (T + 1)) + b * eta + e * eta**2),)
allowed = Assumption("step", Le(eta, 1 / d), Origin.DECLARED)
positive = (
    allowed,
    Assumption("there is a start", Gt(r_0, 0), Origin.DECLARED),
    Assumption("something limits the step", Gt(Max(b, e, d), 0), Origin.DECLARED),
)
REGULAR = Instances(space=SPACE, realise=partial(realise, zero=False))

claim = Claim(
    id="koloskova.lemma-15",
    kind=Kind.LEMMA,
    title="tuning a constant step size",
    citation=Citation("koloskova", "Lemma 15"),
    forms=(
        Form(statement=Le(psi, bound(2)), where=WHERE, note="with a start of zero, as printed: no step will do"),
        Form(
            variant="published@positive",
            statement=Le(psi, bound(2)),
            where=WHERE,
            assumptions=positive,
            check=REGULAR,
            intended=("published",),
            note="a positive start, and not all of b, e, d are zero",
        ),
        Form(
            variant="sharp",
            statement=Le(psi, bound(BEST)),
            where=WHERE,
            assumptions=positive,
            check=Instances(space=SPACE, realise=together),
            note="3/2^(2/3) in place of the second 2; each constant is the best one",
        ),
    ),
    assumptions=(allowed,),
    check=Instances(space=WITH_ZERO, realise=partial(realise, zero=True)),
)
