"""Points of a space of instances, as a Hypothesis strategy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from fltheory.bounds._space import Choice, Integer, Integers, Real, Space


@st.composite
def points(draw: st.DrawFn, space: Space) -> dict[str, Any]:
    """Return points of a space, simple ones first: small integers, numbers near the low end of their range.

    >>> space = Space({"N": Integer(1, 3), "w": Real(-1, 1, shape=("N",))})
    >>> from hypothesis import find
    >>> find(points(space), lambda point: point["N"] == 2)["w"].shape
    (2,)
    """
    point: dict[str, Any] = {}
    for name, parameter in space.items():
        if isinstance(parameter, Integer):
            point[name] = draw(st.integers(parameter.low, parameter.high))
        elif isinstance(parameter, Choice):
            point[name] = draw(st.sampled_from(parameter.options))
        elif isinstance(parameter, Integers):
            high = point[parameter.high] if isinstance(parameter.high, str) else parameter.high
            whole = st.integers(parameter.low, int(high))
            point[name] = draw(npst.arrays(np.int64, space.shape(name, point), elements=whole))
        else:
            point[name] = draw(_reals(parameter, space.shape(name, point)))
    return point


def _reals(parameter: Real, shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    simple = [v for v in (0.0, 1.0, -1.0, 0.5, 2.0) if parameter.low <= v <= parameter.high]
    inside = st.floats(0, 1).map(lambda u: float(parameter.at(u)))
    entry = st.one_of(st.sampled_from([*simple, parameter.low, parameter.high]), inside)
    if not shape:
        return entry.map(float)
    return npst.arrays(np.float64, shape, elements=entry)
