"""Sizes and parameters at which statements over classes are certified, and points with symbols for vectors.

A case has values of all sizes, counts and parameters that are no vectors; those that only shape one function of a class
are symbols. A case counts only if some instance with it meets the assumptions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from fltheory.bounds.claim import Form, Instances, Rejected
from fltheory.bounds.space import Choice, ExactPoint, Integer, Integers, Real, Space
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.function_classes import twin
from fltheory.validation.proof.left_out import fulfilling

DIMENSION = "d"
"""Parameter of a space that is the dimension of its vectors."""

SLOPES = {"left": 0, "right": 1}
"""Parameters that place the slopes of a function between its constants: at either end, so that the class is whole."""

KINKED = "kinked"
"""Word for functions whose class is known."""

MOST_TRIED = 64
"""Sizes and discrete parameters among which they are chosen."""

LARGEST_SIZE = 2
"""Largest number of clients, steps and the like."""

MOST_DRAWN = 100
"""Instances among which one that fulfils the assumptions is looked for."""

_FRACTIONS = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
"""Places within the ranges of the parameters."""

Scope = Mapping[str, Any]


def vector_names(space: Space) -> list[str]:
    """Return the parameters that are vectors: their last axis is the dimension, and their range has no direction."""
    if not isinstance(space.parameters.get(DIMENSION), Integer):
        return []
    return [name for name, p in _along(space) if p.shape[-1] == DIMENSION and p.low == -p.high and name not in SLOPES]


def _along(space: Space) -> list[tuple[str, Real]]:
    """Return the parameters with an axis for the coordinates."""
    reals = [(name, parameter) for name, parameter in space.items() if isinstance(parameter, Real)]
    return [(name, parameter) for name, parameter in reals if DIMENSION in parameter.shape]


def discrete_cases(space: Space) -> list[dict[str, Any]]:
    """Return small sizes and words, each with full arrays of whole numbers and with mixed ones."""
    whole = [name for name, parameter in space.items() if isinstance(parameter, Integer | Choice)]
    ranked = sorted(
        itertools.product(*(range(len(_options(name, space))) for name in whole)), key=lambda at: (sum(at), at)
    )
    found: list[dict[str, Any]] = []
    for at in ranked:
        sizes = {name: _options(name, space)[n] for name, n in zip(whole, at, strict=True)}
        for mixed in (False, True):
            made = {**sizes, **{n: _whole(space, n, sizes, mixed) for n, p in space.items() if isinstance(p, Integers)}}
            if made not in found:
                found.append(made)
    return found[:MOST_TRIED]


def makes_instance(check: Instances, scope: Scope) -> bool:
    """Return whether there is an instance with these parameters: at some vectors, in floats."""
    point, symbols, shapes = point_of(check.space, scope)
    swap: dict[Any, Any] = {symbol: number % 7 - 3 for number, symbol in enumerate(symbols)}
    swap |= {symbol: parameter.at(0.5) for symbol, parameter in shapes.items()}
    try:
        check.realise(_in_floats(check.space, point, swap))
    except Rejected:
        return False
    return True


def inhabited(form: Form, hypotheses: Hypotheses, check: Instances, scope: Scope) -> bool:
    """Return whether there is an instance with these parameters that fulfils assumptions and premises."""
    return next(fulfilling(form, hypotheses, check, random_points(check, scope)), None) is not None


def random_points(check: Instances, scope: Scope) -> Iterator[dict[str, Any]]:
    """Yield points with these parameters and random vectors, in floats; always the same ones."""
    point, symbols, shapes = point_of(check.space, scope)
    rng = np.random.default_rng(0)
    for _ in range(MOST_DRAWN):
        # Assumptions about vectors are often about how long they are, so lengths differ, and many vectors are zero.
        long, share = 10.0 ** rng.uniform(-2, 1), rng.choice((0.0, 0.3, 1.0))
        names = {symbol.name.split("_")[0]: rng.uniform() < share for symbol in symbols}
        swap: dict[Any, Any] = {s: long * rng.normal() * names[s.name.split("_")[0]] for s in symbols}
        swap |= {symbol: parameter.at(rng.uniform()) for symbol, parameter in shapes.items()}
        yield _in_floats(check.space, point, swap)


def equal_points(check: Instances, scope: Scope) -> Iterator[dict[str, Any]]:
    """Yield points with these parameters whose vectors are all the same one, in floats."""
    point, symbols, shapes = point_of(check.space, scope)
    for number in (1.0, -2.0):
        swap: dict[Any, Any] = dict.fromkeys(symbols, number)
        yield _in_floats(check.space, point, swap | {symbol: parameter.at(0.5) for symbol, parameter in shapes.items()})


def _in_floats(space: Space, point: ExactPoint, swap: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a point with numbers in place of its symbols."""
    some: dict[str, Any] = {}
    for name, value in point.items():
        if not isinstance(space.parameters[name], Real):
            some[name] = value
        elif isinstance(value, np.ndarray):
            some[name] = np.array([float(swap.get(x, x)) for x in value.reshape(-1)]).reshape(value.shape)
        else:
            some[name] = float(value)
    return some


def _options(name: str, space: Space) -> list[Any]:
    parameter = space.parameters[name]
    if isinstance(parameter, Choice):
        # Which shape functions have does not matter where they are any of their class.
        return [KINKED] if KINKED in parameter.options else list(parameter.options)
    assert isinstance(parameter, Integer)
    if name == DIMENSION:
        return [1]
    return list(range(parameter.low, min(parameter.high, max(parameter.low, LARGEST_SIZE)) + 1))


def _whole(space: Space, name: str, sizes: dict[str, Any], mixed: bool) -> list[Any]:
    parameter = space.parameters[name]
    assert isinstance(parameter, Integers)
    high = int(sizes[parameter.high]) if isinstance(parameter.high, str) else parameter.high
    made = np.full(space.shape(name, sizes), high, dtype=int)
    if mixed:
        made.reshape(-1)[::2] = max(parameter.low, min(1, high))
    stored: list[Any] = made.tolist()
    return stored


def numbers_of(space: Space, discrete: Mapping[str, Any], turn: int) -> dict[str, Any]:
    """Return values of the parameters that are no vectors, as text; each case has others.

    Slopes between zero and one are shares, and the class is whole; others bound the class, and are stated.
    """
    along = dict(_along(space))
    found: dict[str, Any] = {}
    for order, name in enumerate(space.reals()):
        parameter = space.parameters[name]
        assert isinstance(parameter, Real)
        if name in along:
            if name in SLOPES and parameter.high != 1:
                low = (Fraction(0), *_FRACTIONS[1:])[turn % len(_FRACTIONS)]
                found[name] = str(_steepest(parameter) * (1 if SLOPES[name] else low))
            continue
        shape = space.shape(name, discrete)
        entries = np.empty(shape, dtype=object)
        for number, at in enumerate(np.ndindex(shape)):
            entries[at] = str(inside(parameter, _FRACTIONS[(turn + order + number) % len(_FRACTIONS)]))
        found[name] = entries.tolist()
    return found


def inside(parameter: Real, fraction: Fraction) -> Fraction:
    """Return a round number at some place within a range."""
    low, high, share = parameter.low, parameter.high, float(fraction)
    if parameter.log and high > 10 * low:
        share = (share + 0.5) / 2  # near the ends of wide ranges programs are badly conditioned
    value = low * (high / low) ** share if parameter.log else low + (high - low) * share
    lowest, highest = Fraction(str(low)), Fraction(str(high))
    if lowest == highest:
        return lowest
    for denominator in (1, 2, 4, 8, 100, 10**6):
        near = Fraction(value).limit_denominator(denominator)
        if lowest < near <= highest and abs(float(near) - value) <= 0.2 * max(abs(value), 1e-9):
            return near
    return highest


def _steepest(parameter: Real) -> Fraction:
    """Return the upper end of a range, as it is written."""
    return Fraction(str(parameter.high))


def exchanged(space: Space, scope: Scope) -> Scope:
    """Return a case with the slopes of functions on the other side."""
    if not SLOPES.keys() <= dict(_along(space)).keys():
        return scope
    left, right = (scope.get(name, SLOPES[name]) for name in SLOPES)
    return {**scope, "left": right, "right": left}


def plane_of(space: Space, scope: Scope) -> tuple[ExactPoint, dict[sp.Symbol, sp.Symbol]]:
    """Return the point in the plane, with a twin for every vector, and slopes of functions on the other side."""
    point, vectors, shapes = point_of(space, exchanged(space, scope))
    twins = {symbol: twin(symbol) for symbol in (*vectors, *shapes)}
    made: dict[str, Any] = {**point, DIMENSION: 2}
    for name, _ in _along(space):
        second = np.empty(np.shape(point[name]), dtype=object)
        for at in np.ndindex(second.shape):
            second[at] = twins.get(point[name][at], point[name][at])
        made[name] = _doubled(point[name], space, name, second)
    return ExactPoint(made), twins


def _doubled(first: Any, space: Space, name: str, second: Any) -> Any:
    parameter = space.parameters[name]
    assert isinstance(parameter, Real)
    return np.concatenate([first, second], axis=parameter.shape.index(DIMENSION))


def point_of(space: Space, scope: Scope) -> tuple[ExactPoint, list[sp.Symbol], dict[sp.Symbol, Real]]:
    """Return a point with symbols for vectors and for what shapes functions; the vectors, and the ranges of shapes."""
    made: dict[str, Any] = {}
    symbols: list[sp.Symbol] = []
    shapes: dict[sp.Symbol, Real] = {}
    vectors, along = vector_names(space), dict(_along(space))
    for name, parameter in space.items():
        if not isinstance(parameter, Real):
            value = scope[name]
            made[name] = np.array(value, dtype=int) if isinstance(parameter, Integers) else value
            continue
        shape = space.shape(name, scope)
        array = np.empty(shape, dtype=object)
        for at in np.ndindex(shape):
            if name in vectors:
                # Not real, so that the root of a square does not become an absolute value, which a sum of absolute
                # values would be along one coordinate.
                array[at] = sp.Symbol("_".join([name, *map(str, at)]))
                symbols.append(array[at])
            elif name in SLOPES and name in along:
                array[at] = sp.Rational(scope.get(name, SLOPES[name]))
            elif name in along:
                array[at] = sp.Symbol("_".join(["shape", name, *map(str, at)]))
                shapes[array[at]] = parameter
            else:
                text = scope[name]
                for place in at:
                    text = text[place]
                array[at] = sp.Rational(text)
        made[name] = array if shape else array[()]
    return ExactPoint(made), symbols, shapes
