"""Sweeps read from files, which may have been edited: compared with the sweeps and the space of their claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory.bounds.claim import Sweep, Sweeps
from fltheory.bounds.space import Choice, Integer, Real, Space
from fltheory.errors import InvalidParameter

MOST = 200
"""Most values of a sweep that is read."""


def read_sweep(source: Sweeps, stored: Mapping[str, Any]) -> Sweep:
    """Return a stored sweep, or say which parameter is unlike those of the claim's own sweeps.

    Sweeps may go beyond the space in which a search looks, so values are compared with both.
    """
    own = [sweep for sweep in source.sweeps if set(stored) == {sweep.name, *sweep.base}]
    names = sorted({sweep.name for sweep in own if isinstance(stored[sweep.name], list)})
    if len(names) != 1:
        raise InvalidParameter(
            "parameters must be those of a sweep of the claim, with a list for the one that is swept; it may have "
            "been edited"
        )
    name, space = names[0], source.instances.space
    values = stored[name]
    if not 4 <= len(values) <= MOST:
        raise InvalidParameter(f"parameters.{name} must be a list of 4 to {MOST} numbers, got {len(values)}")
    given = [value for sweep in source.sweeps if sweep.name == name for value in sweep.values]
    read = [_like(f"{name}[{place}]", value, given, space, name) for place, value in enumerate(values)]
    base = {
        other: _like(other, stored[other], _given(source.sweeps, other), space, other)
        for other in stored
        if other != name
    }
    return Sweep(name, tuple(read), base)


def _given(sweeps: Sequence[Sweep], name: str) -> list[Any]:
    """Return the values that a parameter has anywhere in the sweeps of a claim."""
    fixed = [part[name] for sweep in sweeps for part in (sweep.base, sweep.lighter) if name in part]
    return fixed + [value for sweep in sweeps if sweep.name == name for value in sweep.values]


def _like(field: str, value: Any, given: Sequence[Any], space: Space, name: str) -> Any:
    """Return a value of the kind that is given elsewhere, within the range of what is given and of the space."""
    parameter, first = space.parameters.get(name), given[0]
    if isinstance(first, str):
        options = {*given, *(parameter.options if isinstance(parameter, Choice) else ())}
        return arguments.choice("parameters", field, value, options)
    if isinstance(first, np.ndarray):
        return _like_array(field, value, [other for other in given if isinstance(other, np.ndarray)])
    numbers = [other for other in given if isinstance(other, int | float)]
    ends = (parameter.low, parameter.high) if isinstance(parameter, Integer | Real) else ()
    low, high = min((*numbers, *ends)), max((*numbers, *ends))
    if all(isinstance(other, int) for other in numbers):
        return arguments.integer("parameters", field, value, low=int(low), high=int(high))
    number = arguments.real("parameters", field, value, low=float(low), high=float(high))
    return value if isinstance(value, int) else number


def _like_array(field: str, value: Any, given: Sequence[Any]) -> Any:
    try:
        array = np.asarray(value, dtype=given[0].dtype)
    except (TypeError, ValueError, OverflowError):
        raise arguments.fail("parameters", field, "a list of numbers", value) from None
    low, high = min(other.min() for other in given), max(other.max() for other in given)
    if array.shape not in {other.shape for other in given} or not np.all((array >= low) & (array <= high)):
        raise arguments.fail(
            "parameters", field, f"numbers from {low:g} to {high:g}, as in a sweep of the claim", value
        )
    return array
