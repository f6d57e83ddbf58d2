r"""Theorem A.3: how far the mean of SGD leaves gradient descent, third-order smoothness.

If moreover the Hessians of :math:`f(\cdot;\xi)` are :math:`Q`-Lipschitz and the fourth central moment of the gradients
is at most :math:`\sigma^4`, then for :math:`\eta \le \frac1H`, as published,

.. math:: \bigl\|\mathbb Ex_{\mathrm{SGD}}^{(k)} - z_{\mathrm{GD}}^{(k)}\bigr\|_2 \le
   \min\bigl\{\tfrac14\eta^3k^2Q\sigma^2,\ 4\eta^2k^{3/2}H\sigma,\ \eta k^{1/2}\sigma\bigr\} .

**Derivation of the sharp form.** The printed proof compares :math:`u_{k-j}` and :math:`u_{k-j-1}` along gradient
descent, with :math:`u_k(x) = \mathbb E[x^{(k)} \mid x^{(0)} = x]`, whose second derivative is at most :math:`\eta kQ`:
the difference is at most :math:`\frac12\eta(k-j-1)Q\cdot\eta^2\sigma^2`. The sum over :math:`j < k` is
:math:`\frac14\eta^3k(k-1)Q\sigma^2`, of which the proof keeps :math:`k^2`. Second moments are all that is used. With
the sharp form of Theorem A.1,

.. math:: \bigl\|\mathbb Ex_{\mathrm{SGD}}^{(k)} - z_{\mathrm{GD}}^{(k)}\bigr\| \le \min\Bigl\{
   \tfrac14\eta^3k(k-1)Q\sigma^2,\ \tfrac12\eta^2H\sigma\sum_{j=1}^{k-1}\sqrt j,\ \eta k^{1/2}\sigma\Bigr\} .

The first one is attained for two steps, where the third derivative is constant over one step of the noise, and for any
number of steps in the limit of small steps at a point where the curvature vanishes.

Instances: functions whose second derivative rises linearly between two values in :math:`[0, H]`, in one or two
dimensions, up to four steps, all coins of a noise :math:`\pm\sigma`.

Source: Glasgow et al., 2022, Theorem A.3, page 14 (Theorem 2.4, with :math:`\eta \le \frac1{2H}`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Min, Rational, Sum, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.glasgow._symbols import H, Q, eta, k, sigma
from fltheory.bounds.glasgow._walks import SPACE, ends
from fltheory.bounds.glasgow.theorem_a_1 import away, j
from fltheory.bounds.space import Params, Real, Space
from fltheory.problems.problem import Origin


def realise(point: Params) -> dict[Any, Any]:
    """Run SGD and gradient descent."""
    high, third = point["H"], point["Q"]
    rate = point["step"] / high
    low = high * point["low"]
    width = (high - low) * point["rise"] / third

    def slope(x: Any) -> Any:
        y = x - point["knot"]
        first, last = np.maximum(y, 0), np.maximum(y - width, 0)
        return low * y + third * (first * first - last * last) / 2

    return {H: high, Q: third, eta: rate, k: point["k"], sigma: point["sigma"], **ends(point, slope, rate)}


claim = Claim(
    id="glasgow.theorem-a.3",
    kind=Kind.LEMMA,
    title="iterate bias under third-order smoothness",
    citation=Citation("glasgow", "Theorem A.3"),
    forms=(
        Form(
            statement=Le(
                away,
                Min(
                    eta**3 * k**2 * Q * sigma**2 / 4,
                    4 * eta**2 * k ** Rational(3, 2) * H * sigma,
                    eta * sqrt(k) * sigma,
                ),
            ),
        ),
        Form(
            variant="sharp",
            statement=Le(
                away,
                Min(
                    eta**3 * k * (k - 1) * Q * sigma**2 / 4,
                    eta**2 * H * sigma / 2 * Sum(sqrt(j), (j, 1, k - 1)),
                    eta * sqrt(k) * sigma,
                ),
            ),
            note="nothing for one step, and smaller constants; attained",
        ),
    ),
    assumptions=(Assumption("step size", Le(eta, 1 / H), Origin.DECLARED),),
    uses=("glasgow.theorem-a.1",),
    check=Instances(
        space=Space(
            {
                **SPACE,
                "Q": Real(0.01, 100, log=True),
                "knot": Real(-3, 3, shape=("d",)),
                "low": Real(0, 1, shape=("d",)),
                "rise": Real(0, 1, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
