"""One smooth, strongly convex function and three points: separable, with one kink of the derivative per coordinate."""

from __future__ import annotations

from typing import Any

from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import function, scalar
from fltheory.bounds.space import Integer, Params, Real, Space

x = scalar("x", "x", "any vector", shape=("dim",))
y = scalar("y", "y", "any vector", shape=("dim",))
z = scalar("z", "z", "any vector", shape=("dim",))
h = function("h", "h(<0>)", "any smooth, strongly convex function")
grad_h = function("grad_h", r"\nabla h(<0>)", "gradient of the function")

SPACE = Space(
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
)


def realise(point: Params, smoothness: str) -> dict[str, Any]:
    """Return one function and three points, placed relative to the first; ``smoothness`` is the name of its bound."""
    low, high = point["mu"], point["mu"] * point["condition"]
    slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
    functions = Kinked(centre=point["centre"], knot=point["x"][None] + point["knot"], **slopes)
    return {
        "mu": low,
        smoothness: high,
        "x": point["x"],
        "y": point["x"] + point["to y"],
        "z": point["x"] + point["to z"],
        "h": lambda w: functions.value(0, w),
        "grad_h": lambda w: functions.gradient(0, w),
    }
