r"""Lemma B.5: law of SGD on a parabola.

The iterates of SGD with step size :math:`\eta` on :math:`f(x; \xi) = \frac L2x^2 + \xi x`, :math:`\xi \sim \mathcal
N(0, \sigma^2)`, are Gaussian around :math:`(1-\eta L)^tx^{(0)}`, as published with the variance

.. math:: \operatorname{Var}x^{(t)} = \frac{(1 - (1-\eta L)^t)\,\eta^2\sigma^2}{\eta L} .

It is right for one step only: the variance of :math:`\sum_i(1-\eta L)^{t-i}\eta\xi^{(i)}` has the squares of the
factors, and the proof adds up the factors themselves.

**Derivation of the corrected form.** :math:`\operatorname{Var}x^{(t+1)} = (1-\eta L)^2\operatorname{Var}x^{(t)} +
\eta^2\sigma^2`, and

.. math:: \operatorname{Var}x^{(t)} = \frac{1 - (1-\eta L)^{2t}}{1 - (1-\eta L)^2}\,\eta^2\sigma^2 .

**Derivation of the corrected form** ``corrected@bent``, on the bent parabola with curvature :math:`\frac L2` left and
:math:`L` right, which is what Theorem A.2 needs. With :math:`u = \eta L \le 1` and :math:`s = \eta\sigma` a step
without noise multiplies :math:`x` by a number in :math:`[1-u, 1-\frac u2]`, and the noise is independent with the
moments :math:`0, s^2, 0, 3s^4`. So for any start

.. math:: (1-u)^2\,\mathbb Ex^2 + s^2 \le \mathbb E(x^+)^2 , \qquad
   \mathbb E(x^+)^4 \le \bigl(1-\tfrac u2\bigr)^4\,\mathbb Ex^4 + 6\bigl(1-\tfrac u2\bigr)^2s^2\,\mathbb Ex^2 + 3s^4 .

Instances: any numbers, up to five steps; for ``corrected@bent`` :mod:`fltheory.bounds.glasgow._one_step`.

Source: Glasgow et al., 2022, Lemma B.5, page 23, used in (B.2) and Lemma B.8.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Ge, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.glasgow import _one_step
from fltheory.bounds.glasgow._one_step import fourth, fourth_after, s_sq, second, second_after, u
from fltheory.bounds.glasgow._symbols import eta
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

t = scalar("t", "t", "number of steps", domain="integer>=1")
sigma_sq = scalar("sigma_sq", r"\sigma^2", "variance of the noise", domain="nonnegative")
variance = scalar("variance", r"\operatorname{Var}x^{(t)}", "variance after the steps", domain="nonnegative")


def realise(point: Params) -> dict[Any, Any]:
    """Return the variance after the steps."""
    rate, smooth, noise = point["eta"], point["L"], point["sigma_sq"]
    found = 0 * noise
    for _ in range(point["t"]):
        found = (1 - rate * smooth) ** 2 * found + rate**2 * noise
    return {t: point["t"], eta: rate, L: smooth, sigma_sq: noise, variance: found}


left = 1 - eta * L

claim = Claim(
    id="glasgow.lemma-b.5",
    kind=Kind.LEMMA,
    title="law of SGD on a parabola",
    citation=Citation("glasgow", "Lemma B.5"),
    forms=(
        Form(statement=Eq(variance, (1 - left**t) * eta**2 * sigma_sq / (eta * L))),
        Form(
            variant="corrected",
            statement=Eq(variance, (1 - left ** (2 * t)) * eta**2 * sigma_sq / (1 - left**2)),
            note="squares of the factors",
            intended=("published",),
        ),
        Form(
            variant="corrected@bent",
            statement=(
                Ge(second_after, (1 - u) ** 2 * second + s_sq),
                Le(fourth_after, (1 - u / 2) ** 4 * fourth + 6 * (1 - u / 2) ** 2 * s_sq * second + 3 * s_sq**2),
            ),
            assumptions=(Assumption("step size", Le(u, 1), Origin.DECLARED),),
            check=Instances(space=_one_step.SPACE, realise=_one_step.realise),
            note="one step on the bent parabola, from any start",
        ),
    ),
    assumptions=(Assumption("step size", Le(eta, 1 / L), Origin.DECLARED),),
    check=Instances(
        space=Space(
            {"t": Integer(1, 5), "eta": Real(0.01, 1, log=True), "L": Real(0.1, 1, log=True), "sigma_sq": Real(0, 3)}
        ),
        realise=realise,
    ),
)
