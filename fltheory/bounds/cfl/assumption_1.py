r"""Assumption 1: the inequality said to follow from smoothness and convexity.

For an :math:`L`-smooth and :math:`\mu`-convex function, as published,

.. math:: \tfrac{1}{2L}\|\nabla f(x) - \nabla f(y)\|^2 \le f(x) - f(y) - \nabla f(x)^\top(x - y), \qquad L \ge \mu .

The gradient stands at the wrong point: convexity makes the right-hand side at most zero, so it fails for every
function that is not affine between the two points.

**Derivation of the corrected form.** With :math:`\nabla f(y)` it is the cocoercivity inequality: :math:`h(z) = f(z) -
\langle\nabla f(y), z\rangle` is convex and :math:`L`-smooth with minimum at :math:`y`, so :math:`h(y) \le h(x -
\tfrac1L\nabla h(x)) \le h(x) - \tfrac{1}{2L}\|\nabla h(x)\|^2`. Equality for a quadratic of curvature :math:`L`.

**Derivation of the sharp form.** For :math:`\mu > 0` the same argument for :math:`f - \tfrac\mu2\|\cdot\|^2`, which
is convex and :math:`(L - \mu)`-smooth, gives after multiplication by :math:`1 - \mu/L`

.. math:: \tfrac1{2L}\|\nabla f(x) - \nabla f(y)\|^2 + \tfrac\mu2\|x - y\|^2
   - \tfrac\mu L\langle\nabla f(x) - \nabla f(y), x - y\rangle
   \le \bigl(1 - \tfrac\mu L\bigr)\bigl(f(x) - f(y) - \langle\nabla f(y), x - y\rangle\bigr) .

It is attained by every function of one variable with curvature :math:`\mu` or :math:`L` on all pieces in the right
order, and the conditions for all pairs of points characterise the values and gradients that such functions can take.

Instances: separable functions with one kink of the derivative per coordinate, in one or two dimensions.

Source: Guo et al., 2021, Assumption 1. Used in the paper as :math:`\|\nabla f\|^2 \le 2L(f - f^*)`.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Rational

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import function, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import L, mu

x = scalar("x", "x", "any vector", shape=("dim",))
y = scalar("y", "y", "any vector", shape=("dim",))
f = function("f", "f_{t,i}(<0>)", "local objective of a round")
grad_f = function("grad_f", r"\nabla f_{t,i}(<0>)", "gradient of the local objective of a round")


def realise(point: Params) -> dict[str, Any]:
    """Return one function and two points."""
    low, high = point["mu"], point["mu"] * point["condition"]
    slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
    functions = Kinked(centre=point["centre"], knot=point["knot"], **slopes)
    return {
        "mu": low,
        "L": high,
        "x": point["x"],
        "y": point["y"],
        "f": lambda w: functions.value(0, w),
        "grad_f": lambda w: functions.gradient(0, w),
    }


step = x - y
turn = grad_f(x) - grad_f(y)
cocoercive = NormSq(turn) / (2 * L)

claim = Claim(
    id="cfl.assumption-1",
    kind=Kind.LEMMA,
    title="inequality for smooth and convex functions",
    citation=Citation("cfl", "Assumption 1"),
    forms=(
        Form(statement=(Le(cocoercive, f(x) - f(y) - Inner(grad_f(x), step)), Le(mu, L))),
        Form(
            variant="corrected",
            intended=("published",),
            statement=(Le(cocoercive, f(x) - f(y) - Inner(grad_f(y), step)), Le(mu, L)),
            note="gradient at y",
        ),
        Form(
            variant="sharp",
            statement=Le(
                cocoercive + Rational(1, 2) * mu * NormSq(step) - mu / L * Inner(turn, step),
                (1 - mu / L) * (f(x) - f(y) - Inner(grad_f(y), step)),
            ),
            note="interpolation condition of smooth, strongly convex functions",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 2),
                "mu": Real(0.1, 10, log=True),
                "condition": Real(1, 100, log=True),
                "centre": Real(-3, 3, shape=(1, "d")),
                "knot": Real(-3, 3, shape=(1, "d")),
                "left": Real(0, 1, shape=(1, "d")),
                "right": Real(0, 1, shape=(1, "d")),
                "x": Real(-3, 3, shape=("d",)),
                "y": Real(-3, 3, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
