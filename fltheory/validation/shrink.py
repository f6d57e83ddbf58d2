"""From a violation to the smallest one: fewest clients, dimensions and steps, then the roundest numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from fltheory._internal.seeding import Purpose, generator
from fltheory.bounds.space import Choice, Integer, Integers, Params, Real, Space, exact, plain
from fltheory.validation.search import polish
from fltheory.validation.trials import Trials, as_floats

RETRIES = 40
"""Random points tried to make a smaller instance fail again; where that works at all, few are needed."""

STEPS = 20
"""Evaluations spent on improving the best of them."""

_SIMPLEST = tuple(map(Fraction, ("1", "0", "2", "1/2", "-1", "3", "1/3", "10", "1/10", "100", "1/100")))
"""Numbers that are tried in place of any other, in this order."""

_DENOMINATORS = (1, 2, 3, 4, 5, 8, 10, 20, 50, 100, 1000, 10**6)


def shrink(
    trials: Trials, point: Params, failing: Callable[[Params], bool], *, effort: int = RETRIES
) -> dict[str, Any]:
    """Return a smaller point of the same space that fails as well.

    ``failing`` says whether one does, in exact arithmetic where the instance allows it. ``effort`` limits how many
    points are tried to make a smaller instance fail again.
    """
    space = trials.source.space
    found = dict(point)
    known: dict[str, bool] = {repr(plain(exact(found))): True}

    def fails(candidate: Params) -> bool:
        key = repr(plain(exact(candidate)))
        if key not in known:
            known[key] = failing(candidate)
        return known[key]

    for name, parameter in space.items():
        if isinstance(parameter, Integer):
            found = _smaller_integer(trials, space, found, name, parameter, fails, effort)
    for _ in range(2):
        before = repr(found)
        for name, parameter in space.items():
            if isinstance(parameter, Choice):
                found = _simplest_choice(found, name, parameter, fails)
            elif isinstance(parameter, Integers):
                found = _smaller_entries(found, name, parameter, fails)
            elif isinstance(parameter, Real):
                found = _rounder(found, name, parameter, fails)
                found = _in_whole_numbers(found, name, parameter, fails)
        if repr(found) == before:
            break
    return found


def _smaller_integer(
    trials: Trials,
    space: Space,
    point: dict[str, Any],
    name: str,
    parameter: Integer,
    fails: Callable[[Params], bool],
    effort: int,
) -> dict[str, Any]:
    if int(point[name]) > parameter.high:  # too many values to try each of them, and each takes long
        halves = (int(point[name]) >> places for places in range(int(point[name]).bit_length() - 1, 0, -1))
        smaller = (_resized(space, point, name, value) for value in halves if value >= parameter.low)
        return next((candidate for candidate in smaller if fails(candidate)), point)
    for value in range(parameter.low, int(point[name])):
        candidate = _resized(space, point, name, value)
        if fails(candidate):
            return candidate
        again = _fail_again(trials, space, candidate, effort)
        if again is not None and fails(again):
            return again
    return point


def _resized(space: Space, point: Params, name: str, value: int) -> dict[str, Any]:
    """Return the point with one integer lowered: arrays are cut, entries capped."""
    smaller = dict(point) | {name: value}
    for other, parameter in space.items():
        if isinstance(parameter, Real | Integers) and parameter.shape:
            shape = space.shape(other, smaller)
            smaller[other] = np.array(point[other])[tuple(slice(n) for n in shape)]
        if isinstance(parameter, Integers) and parameter.high == name:
            smaller[other] = np.minimum(smaller[other], value)
    return smaller


def _fail_again(trials: Trials, space: Space, candidate: Params, effort: int) -> dict[str, Any] | None:
    """Search near a smaller instance for one that fails."""
    fresh = Trials(trials.claim, trials.form, trials.source, trials.seed)

    def score(point: dict[str, Any]) -> float:
        evaluation = fresh.attempt(point)
        return -1e4 if evaluation is None else evaluation.score

    score(as_floats(candidate))
    rng = generator(trials.seed, Purpose.SEARCH, 1)
    discrete = space.discrete(candidate)
    for _ in range(min(RETRIES, effort)):
        if fresh.violated:
            break
        score(space.at(discrete, rng.random(space.length(discrete))))
    if not fresh.violated and fresh.best is not None:
        polish(score, fresh, space, fresh.best[1], min(STEPS, effort))
    return dict(fresh.best[1]) if fresh.violated and fresh.best is not None else None


def _simplest_choice(
    point: dict[str, Any], name: str, parameter: Choice, fails: Callable[[Params], bool]
) -> dict[str, Any]:
    for option in parameter.options[: parameter.options.index(point[name])]:
        candidate = point | {name: option}
        if fails(candidate):
            return candidate
    return point


def _smaller_entries(
    point: dict[str, Any], name: str, parameter: Integers, fails: Callable[[Params], bool]
) -> dict[str, Any]:
    for where in np.ndindex(np.shape(point[name])):
        for value in range(parameter.low, int(point[name][where])):
            candidate = point | {name: _with(point[name], [where], value)}
            if fails(candidate):
                point = candidate
                break
    return point


def _rounder(point: dict[str, Any], name: str, parameter: Real, fails: Callable[[Params], bool]) -> dict[str, Any]:
    shape = np.shape(point[name])
    for places in [*_ties(point[name]), *([where] for where in np.ndindex(shape))]:
        for number in _rounder_numbers(np.asarray(point[name], dtype=object)[places[0]], parameter):
            candidate = point | {name: _with(point[name], places, number) if shape else number}
            if fails(candidate):
                point = candidate
                break
    return point


def _in_whole_numbers(
    point: dict[str, Any], name: str, parameter: Real, fails: Callable[[Params], bool]
) -> dict[str, Any]:
    """Return the point with fractions of counts brought to whole numbers in the same proportions."""
    values = np.array(point[name], dtype=object)
    if not (parameter.whole and all(isinstance(value, sp.Rational) for value in values.ravel())):
        return point
    common = sp.ilcm(1, *(value.q for value in values.ravel()))
    candidate = point | {name: values * common if values.ndim else values.item() * common}
    high = Fraction(str(parameter.high))
    if common == 1 or any(Fraction(int(value * common)) > high for value in values.ravel()):
        return point
    return candidate if fails(candidate) else point


def _ties(values: Any) -> list[list[tuple[int, ...]]]:
    """Return the places of entries that agree: a failure that needs a tie survives only if they change together."""
    array = np.asarray(values, dtype=object)
    places: dict[Any, list[tuple[int, ...]]] = {}
    for where in np.ndindex(array.shape):
        places.setdefault(array[where], []).append(where)
    return [tied for tied in places.values() if len(tied) > 1]


def _rounder_numbers(value: Any, parameter: Real) -> Iterator[sp.Rational]:
    """Yield rationals in the range, simplest first, until they are no simpler than the value itself."""
    own = Fraction(int(value.p), int(value.q)) if isinstance(value, sp.Rational) else Fraction(float(value))
    # As decimals: the float64 next to an end such as 0.98 may be beyond it.
    low, high = Fraction(str(parameter.low)), Fraction(str(parameter.high))
    seen = set()
    for candidate in [*_SIMPLEST, *(own.limit_denominator(d) for d in _DENOMINATORS)]:
        inside = low <= candidate <= high
        if candidate == own:
            yield sp.Rational(own.numerator, own.denominator)
            return
        if inside and candidate not in seen:
            seen.add(candidate)
            yield sp.Rational(candidate.numerator, candidate.denominator)


def _with(values: Any, places: Sequence[tuple[int, ...]], value: Any) -> Any:
    copy = np.array(values, dtype=object if isinstance(value, sp.Rational) else None)
    for where in places:
        copy[where] = value
    return copy
