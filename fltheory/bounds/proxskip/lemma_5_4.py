r"""Lemma 5.4: bounded variance implies expected smoothness.

For :math:`f` convex and :math:`L`-smooth and unbiased gradients with variance at most :math:`\sigma^2`, as published
Assumption 5.2 holds with :math:`A = L` and :math:`C = \sigma^2`:

.. math:: \mathbb E\|g_t(x_t) - \nabla f(x_\star)\|^2 \le 2L\,D_f(x_t, x_\star) + \sigma^2, \qquad
   D_f(x, y) = f(x) - f(y) - \langle\nabla f(y), x - y\rangle .

**Where it is tight.** For quadratics along a direction of curvature :math:`L`, and noise of variance :math:`\sigma^2`.

Instances: functions whose derivative has a kink, tilted, on a line and in the plane; noise of either sign.

Source: Mishchenko et al., ICML 2022, Lemma 5.4, after Gower et al., 2019.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Le

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.proxskip._symbols import A, C, grad_x, h_star, x, x_star
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

g = scalar("g", "g_t(x_t)", "stochastic gradient", random=True, shape=("dim",))
f_x = scalar("f_x", "f(x_t)", "value at the model")
f_best = scalar("f_best", r"f(x_\star)", "value at the minimiser")
bregman = scalar("bregman", r"D_f(x_t, x_\star)", "Bregman distance", domain="nonnegative")
variance = scalar("variance", r"\sigma^2", "bound on the variance", domain="nonnegative")


def realise(point: Params) -> dict[Any, Any]:
    """Return values and gradients at two points; the other one need not be a minimiser."""
    high = point["L"]
    functions = Kinked(
        centre=0 * point["knot"][None],
        knot=point["knot"][None],
        left=high * point["left"][None],
        right=high * point["right"][None],
    )
    gradient, noise = functions.gradient(0, point["x"]) + point["tilt"], point["noise"]
    return {
        L: high,
        x: point["x"],
        x_star: point["y"],
        grad_x: gradient,
        h_star: functions.gradient(0, point["y"]) + point["tilt"],
        f_x: functions.value(0, point["x"]) + point["tilt"].dot(point["x"]),
        f_best: functions.value(0, point["y"]) + point["tilt"].dot(point["y"]),
        g: [gradient + noise, gradient - noise],
        variance: (noise * noise).sum(),
        "chance": [ratio(point, 1, 2)] * 2,
    }


claim = Claim(
    id="proxskip.lemma-5.4",
    kind=Kind.LEMMA,
    title="bounded variance implies expected smoothness",
    citation=Citation("proxskip", "Lemma 5.4"),
    forms=(
        Form(
            statement=Le(EE(NormSq(g - h_star)), 2 * A * bregman + C),
            where=((A, L), (C, variance), (bregman, f_x - f_best - Inner(h_star, x - x_star))),
        ),
    ),
    assumptions=(
        Assumption("unbiased gradients (5.1)", Eq(EE(g), grad_x, evaluate=False), Origin.DECLARED),
        Assumption("bounded variance (5.3)", Le(EE(NormSq(g - grad_x)), variance), Origin.DECLARED),
    ),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 2),
                "L": Real(0.01, 100, log=True),
                "left": Real(0, 1, shape=("d",)),
                "right": Real(0, 1, shape=("d",)),
                "knot": Real(-3, 3, shape=("d",)),
                "tilt": Real(-3, 3, shape=("d",)),
                "noise": Real(-3, 3, shape=("d",)),
                "x": Real(-3, 3, shape=("d",)),
                "y": Real(-3, 3, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
