r"""Lemma A.5: strong convexity with the gradient taken elsewhere.

For an :math:`L`-smooth, :math:`\mu`-strongly convex function and any three points, as published,

.. math:: \langle\nabla h(x), z - y\rangle \ge h(z) - h(y) + \frac\mu4\|y - z\|^2 - L\|z - x\|^2 .

The proof adds smoothness between :math:`x` and :math:`z` to strong convexity between :math:`x` and :math:`y`, so it
is true.

**Derivation of the sharp form.** The two inequalities give :math:`h(z) - h(y) - \frac L2\|z - x\|^2 + \frac\mu2\|y -
x\|^2`, and :math:`\frac\mu2\|y - x\|^2 \ge \frac\mu4\|y - z\|^2 - \frac\mu2\|z - x\|^2` by the relaxed triangle
inequality. So :math:`L` may be replaced by :math:`\frac{L + \mu}2`. It is attained in one dimension with :math:`x` in
the middle of :math:`y` and :math:`z`, curvature :math:`\mu` towards :math:`y` and :math:`L` towards :math:`z`; for
:math:`L = \mu` the published constant is the sharp one.

Instances: separable functions with one kink of the derivative per coordinate; :math:`y` and :math:`z` are placed
relative to :math:`x`.

Source: Guo et al., 2021, Lemma A.5, (11), after Karimireddy et al., 2020, Lemma 5.
"""

from __future__ import annotations

from typing import Any

from sympy import Ge

from fltheory.bounds._algebra import Inner, NormSq, function, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Source
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import L, mu
from fltheory.bounds.cfl.assumption_1 import x, y
from fltheory.functions import Kinked

z = scalar("cfl_z", "z", "any vector")
h = function("cfl_h", "h(<0>)", "any smooth, strongly convex function")
grad_h = function("cfl_grad_h", r"\nabla h(<0>)", "its gradient")


def realise(point: Params) -> dict[str, Any]:
    """Return one function and three points."""
    low, high = point["mu"], point["mu"] * point["condition"]
    slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
    functions = Kinked(centre=point["centre"], knot=point["x"][None] + point["knot"], **slopes)
    return {
        "mu": low,
        "L": high,
        "cfl_x": point["x"],
        "cfl_y": point["x"] + point["to y"],
        "cfl_z": point["x"] + point["to z"],
        "cfl_h": lambda w: functions.value(0, w),
        "cfl_grad_h": lambda w: functions.gradient(0, w),
    }


inner = Inner(grad_h(x), z - y)
below = h(z) - h(y) + mu / 4 * NormSq(y - z)

claim = Claim(
    id="cfl.lemma-a.5",
    kind=Kind.LEMMA,
    title="perturbed strong convexity",
    source=Source("cfl", "Lemma A.5, (11)"),
    forms=(
        Form(statement=Ge(inner, below - L * NormSq(z - x))),
        Form(
            variant="sharp",
            statement=Ge(inner, below - (L + mu) / 2 * NormSq(z - x)),
            note="(L + mu)/2 in place of L; attained",
        ),
    ),
    uses=("cfl.lemma-a.3",),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 2),
                "mu": Real(0.1, 10, log=True),
                "condition": Real(1, 100, log=True),
                "centre": Real(-3, 3, shape=(1, "d")),
                "knot": Real(-1, 1, shape=(1, "d")),
                "left": Real(0, 1, shape=(1, "d")),
                "right": Real(0, 1, shape=(1, "d")),
                "x": Real(-3, 3, shape=("d",)),
                "to y": Real(-3, 3, shape=("d",)),
                "to z": Real(-3, 3, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
