"""Points of a space of instances, as a Hypothesis strategy."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fltheory.bounds.space import Choice, Integer, Integers, Params, Real, Space

POSITIONS = 64
"""Steps into which the range of a number is divided."""


@st.composite
def points(draw: st.DrawFn, space: Space) -> dict[str, Any]:
    """Return points of a space, simple ones first: small integers, round numbers, ends of ranges.

    Numbers are round ones (0, 1, -1, 1/2, 2) or divide their range evenly, in the logarithm where the range asks for
    it. One whole number is drawn for each, which is several times cheaper than drawing floats, and shrinks well.

    Parameters
    ----------
    space
        The space of a claim.

    Examples
    --------
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
        else:
            shape = space.shape(name, point)
            entry, values = _entries(parameter, point)
            found = [values[draw(entry)] for _ in range(int(np.prod(shape, dtype=int)))]
            kind = np.int64 if isinstance(parameter, Integers) else np.float64
            point[name] = np.array(found, dtype=kind).reshape(shape) if shape else found[0]
    return point


def _entries(parameter: Integers | Real, point: Params) -> tuple[st.SearchStrategy[int], Sequence[Any]]:
    """Return what is drawn for one entry of an array, and the values that it stands for."""
    if isinstance(parameter, Integers):
        high = point[parameter.high] if isinstance(parameter.high, str) else parameter.high
        values: Sequence[Any] = range(parameter.low, int(high) + 1)
    else:
        values = _numbers(parameter)
    return st.integers(0, len(values) - 1), values


@functools.cache
def _numbers(parameter: Real) -> tuple[float, ...]:
    round_ones = [v for v in (0.0, 1.0, -1.0, 0.5, 2.0) if parameter.low <= v <= parameter.high]
    special = [*round_ones, parameter.low, parameter.high]
    even = parameter.at(np.linspace(0, 1, POSITIONS + 1))
    # Special values make up about a third of all.
    return tuple(float(v) for v in (*special * (POSITIONS // (2 * len(special))), *even))
