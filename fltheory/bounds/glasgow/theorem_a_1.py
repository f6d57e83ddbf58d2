r"""Theorem A.1: how far the mean of SGD leaves gradient descent, second-order smoothness.

The *iterate bias* is the difference of the mean of SGD and gradient descent from the same point. For convex
:math:`H`-smooth :math:`f(\cdot;\xi)`, variance at most :math:`\sigma^2` and :math:`\eta \le \frac1H`, as published,

.. math:: \bigl\|\mathbb Ex_{\mathrm{SGD}}^{(k)} - z_{\mathrm{GD}}^{(k)}\bigr\|_2 \le
   \min\bigl\{4\eta^2k^{3/2}H\sigma,\ \eta k^{1/2}\sigma\bigr\} .

**Derivation of the sharp form.** Let :math:`m_j = \mathbb Ex^{(j)}`. Two independent runs of SGD are not driven apart
by the gradient steps, so that :math:`\mathbb E\|x^{(j)} - m_j\|^2 \le j\eta^2\sigma^2`. The map :math:`G(x) = \nabla
F(x) - \frac H2x` is :math:`\frac H2`-Lipschitz, since :math:`F` is convex and :math:`H`-smooth, and the linear part
that it leaves out has no bias:

.. math:: \bigl\|\mathbb E\nabla F(x^{(j)}) - \nabla F(m_j)\bigr\| = \bigl\|\mathbb E[G(x^{(j)}) - G(m_j)]\bigr\| \le
   \tfrac H2\,\mathbb E\|x^{(j)} - m_j\| \le \tfrac H2\eta\sqrt j\,\sigma .

A step of gradient descent does not increase distances either, so that the bias grows by at most :math:`\eta` times this
in step :math:`j`:

.. math:: \bigl\|\mathbb Ex_{\mathrm{SGD}}^{(k)} - z_{\mathrm{GD}}^{(k)}\bigr\| \le
   \tfrac12\eta^2H\sigma\sum_{j=1}^{k-1}\sqrt j \le \tfrac13\eta^2k^{3/2}H\sigma .

It holds for :math:`\eta \le \frac2H`, has a twelfth of the printed constant, vanishes for one step as the bias does,
and is an equality for two steps on :math:`F(x) = \frac H2[x]_+^2` from 0 with noise :math:`\pm\sigma`.

Instances: functions with a kink in one or two dimensions, curvatures from 0 to :math:`H`, up to four steps, all coins;
certificates are about all convex :math:`H`-smooth functions of one variable. A kink is the limit
of smooth bends; the proof does not need the second derivative that Assumption 1 asks for.

Source: Glasgow et al., 2022, Theorem A.1, page 13 (Theorem 2.2). The proof bounds the variance by
:math:`2k\eta^2\sigma^2` and has factors :math:`\eta` too many on its second page.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Min, Rational, Sum, sqrt

from fltheory.bounds.algebra import Norm
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.glasgow._symbols import H, eta, k, sigma
from fltheory.bounds.glasgow._walks import SPACE, ends, gd, mean_sgd
from fltheory.bounds.quantities import index
from fltheory.bounds.space import Params, Real, Space
from fltheory.problems.problem import Origin

j = index("j")


def realise(point: Params) -> dict[Any, Any]:
    """Run SGD and gradient descent."""
    high = point["H"]
    rate = 2 * point["step"] / high

    slopes = {side: high * point[side][None] for side in ("left", "right")}
    made = Kinked(centre=point["centre"][None], knot=point["knot"][None], **slopes)
    return {
        H: high,
        eta: rate,
        k: point["k"],
        sigma: point["sigma"],
        **ends(point, lambda x: made.gradient(0, x), rate),
    }


HALF_FLAT: Params = {
    **dict.fromkeys(("H", "sigma"), 1.0),
    **{name: np.zeros(1) for name in ("start", "centre", "knot", "left")},
    "right": np.ones(1),
    "step": 0.5,
    "d": 1,
    "k": 2,
}
"""A parabola on one side, from its minimum: no bias is larger after two steps."""

away = Norm(mean_sgd - gd)

claim = Claim(
    id="glasgow.theorem-a.1",
    kind=Kind.LEMMA,
    title="iterate bias under second-order smoothness",
    citation=Citation("glasgow", "Theorem A.1"),
    forms=(
        Form(
            statement=Le(away, Min(4 * eta**2 * k ** Rational(3, 2) * H * sigma, eta * sqrt(k) * sigma)),
        ),
        Form(
            variant="sharp",
            statement=Le(away, Min(eta**2 * H * sigma / 2 * Sum(sqrt(j), (j, 1, k - 1)), eta * sqrt(k) * sigma)),
            assumptions=(Assumption("step size", Le(eta, 2 / H), Origin.DECLARED),),
            note="a twelfth of the constant or less, step sizes up to 2 / H; attained for two steps",
        ),
    ),
    assumptions=(Assumption("step size", Le(eta, 1 / H), Origin.DECLARED),),
    check=Instances(
        space=Space(
            {
                **SPACE,
                "centre": Real(-3, 3, shape=("d",)),
                "knot": Real(-3, 3, shape=("d",)),
                "left": Real(0, 1, shape=("d",)),
                "right": Real(0, 1, shape=("d",)),
            }
        ),
        realise=realise,
        begin=(HALF_FLAT,),
    ),
)
