"""Spaces of instances: the parameters from which an instance of a claim is made, with their ranges.

A space is written as a dictionary, ``{"N": Integer(1, 4), "w": Real(-3, 3, shape=("N", "d")), ...}``. Integers come
first: they may name the lengths of arrays. Search, property tests, shrinking and saved counterexamples all work on it;
a claim only says how parameters become quantities.

Ranges should make the assumptions of a claim true by construction (a learning rate as a fraction of the largest allowed
one, say): instances that fail them are thrown away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from fltheory._internal import arguments
from fltheory.errors import InvalidParameter

Params = Mapping[str, Any]
"""One point of a space: integers, numbers, arrays, strings by name."""


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number, both ends included; small values are tried first.

    Parameters
    ----------
    low, high
        The values that a search draws.
    furthest
        Largest value that a given instance may have, where it is too slow to draw many of that size, such as
        thousands of rounds; ``high`` by default.
    far
        Largest value that a few points of a search have, such as hundreds of local steps: extremes, spread evenly in
        the logarithm.
    """

    low: int
    high: int
    furthest: int | None = None
    far: int | None = None

    def __post_init__(self) -> None:
        arguments.integer("Integer", "low", self.low)
        arguments.integer("Integer", "high", self.high, low=self.low)
        for name in ("furthest", "far"):
            if getattr(self, name) is not None:
                arguments.integer("Integer", name, getattr(self, name), low=self.high)

    @property
    def last(self) -> int:
        """Largest value of all."""
        return max(self.high, self.furthest or self.high, self.far or self.high)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words.

    Parameters
    ----------
    options
        The words.

    Examples
    --------
    >>> Choice(("full", "partial")).options
    ('full', 'partial')
    """

    options: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise InvalidParameter("Choice.options must not be empty")


@dataclass(frozen=True, slots=True)
class Integers:
    """An array of whole numbers.

    Parameters
    ----------
    low, high
        Smallest and largest value; ``high`` may name an integer parameter.
    shape
        Lengths of the axes: whole numbers, or names of integer parameters.

    Examples
    --------
    >>> Integers(0, "E", shape=("N",)).high
    'E'
    """

    low: int
    high: int | str
    shape: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Real:
    """A number, or an array of numbers.

    Parameters
    ----------
    low, high
        The range, both ends included.
    log
        Spread evenly in the logarithm; needs ``low > 0``.
    shape
        Lengths of the axes: whole numbers, or names of integer parameters; empty for a single number.
    far
        A value that a few points of a search come close to: beyond ``high``, such as a condition number of a million,
        or below it, such as a probability of a thousandth. They are spread evenly in the logarithm, from there to
        ``high``, or from ``low``.
    whole
        Whether the numbers are counts, such as those of samples, of which only the proportions matter: counterexamples
        have whole ones where they can.
    """

    low: float
    high: float
    log: bool = False
    shape: tuple[int | str, ...] = ()
    far: float | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        low = arguments.real("Real", "low", self.low)
        arguments.real("Real", "high", self.high, low=low)
        if self.log and low <= 0:
            raise arguments.fail("Real", "low", "positive for a logarithmic range", self.low)
        if self.far is not None and not (self.far > 0 and self.extremes[0] > 0):
            raise arguments.fail("Real", "far", "positive, as is the other end of the range", self.far)

    @property
    def extremes(self) -> tuple[float, float]:
        """Ends of the range of points that are far."""
        if self.far is None:
            return self.low, self.high
        return (self.far, self.high) if self.far < self.high else (self.low, self.far)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest value of all."""
        return min(self.low, self.extremes[0]), max(self.high, self.extremes[1])

    def within(self, values: Any, *, usual: bool = False) -> bool:
        """Return whether all values are in the range, far ones included unless the ``usual`` range is meant."""
        low, high = (self.low, self.high) if usual else self.ends
        return bool(np.min(values, initial=low) >= low and np.max(values, initial=high) <= high)

    def at(self, u: Any) -> Any:
        """Return the value at a position in [0, 1]."""
        value = self.low * (self.high / self.low) ** u if self.log else self.low + (self.high - self.low) * u
        if isinstance(value, np.ndarray):
            return np.minimum(np.maximum(value, self.low), self.high)
        return min(max(value, self.low), self.high)

    def position(self, value: Any) -> Any:
        """Undo :meth:`at`."""
        if self.high == self.low:
            return np.zeros(np.shape(value))
        if self.log:
            return np.log(np.asarray(value) / self.low) / np.log(self.high / self.low)
        return (np.asarray(value) - self.low) / (self.high - self.low)


Parameter = Integer | Integers | Real | Choice


@dataclass(frozen=True, slots=True)
class Space:
    """A space of instances; discrete parameters first.

    Parameters
    ----------
    parameters
        Parameters by name: :class:`Integer`, :class:`Integers`, :class:`Choice` or :class:`Real`.

    Examples
    --------
    >>> space = Space({"N": Integer(1, 3), "w": Real(-1, 1, shape=("N",))})
    >>> space.length({"N": 3})
    3
    """

    parameters: Mapping[str, Parameter]
    _order: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        kinds = (Integer, Choice, Integers, Real)
        names = tuple(sorted(self.parameters, key=lambda n: kinds.index(type(self.parameters[n]))))
        object.__setattr__(self, "_order", names)
        known = {name for name in names if isinstance(self.parameters[name], Integer)}
        for name, parameter in self.parameters.items():
            lengths = parameter.shape if isinstance(parameter, Real | Integers) else ()
            ends = (parameter.high,) if isinstance(parameter, Integers) else ()
            for used in (*lengths, *ends):
                if isinstance(used, str) and used not in known:
                    raise InvalidParameter(
                        f"Space parameter {name!r} refers to {used!r}, which is not an Integer of the space; "
                        f"known are {', '.join(sorted(known)) or 'none'}"
                    )

    def items(self) -> Iterator[tuple[str, Parameter]]:
        """Return names and parameters, discrete ones first."""
        return ((name, self.parameters[name]) for name in self._order)

    def shape(self, name: str, discrete: Params) -> tuple[int, ...]:
        """Return the shape of an array parameter, given the integers."""
        parameter = self.parameters[name]
        assert isinstance(parameter, Real | Integers)
        return tuple(int(discrete[n]) if isinstance(n, str) else n for n in parameter.shape)

    def reals(self) -> list[str]:
        """Return the names of the continuous parameters."""
        return [name for name, parameter in self.items() if isinstance(parameter, Real)]

    def length(self, discrete: Params) -> int:
        """Return the number of continuous numbers, given the integers."""
        return sum(math.prod(self.shape(name, discrete)) for name in self.reals())

    def at(self, discrete: Params, u: Any) -> dict[str, Any]:
        """Return the point with the given discrete parameters and positions ``u`` in [0, 1]."""
        point = dict(discrete)
        start = 0
        for name in self.reals():
            parameter, shape = self.parameters[name], self.shape(name, discrete)
            assert isinstance(parameter, Real)
            if shape:
                stop = start + math.prod(shape)
                point[name] = parameter.at(np.asarray(u[start:stop])).reshape(shape)
            else:
                stop = start + 1
                point[name] = float(parameter.at(float(u[start])))
            start = stop
        return point

    def position(self, point: Params) -> Any:
        """Return the positions of the continuous parameters of a point, one flat array."""
        parts = []
        for name in self.reals():
            parameter = self.parameters[name]
            assert isinstance(parameter, Real)
            parts.append(np.ravel(parameter.position(np.asarray(point[name], dtype=float))))
        return np.concatenate(parts) if parts else np.zeros(0)

    def discrete(self, point: Params) -> dict[str, Any]:
        """Return the discrete parameters of a point."""
        return {name: point[name] for name, p in self.items() if not isinstance(p, Real)}

    def draws(self, point: Params) -> bool:
        """Return whether a point of the space is one that a search may draw: no number is beyond what is usual."""
        for name, parameter in self.items():
            if isinstance(parameter, Integer) and int(point[name]) > parameter.high:
                return False
            if not isinstance(parameter, Real) or parameter.far is None:
                continue
            if not parameter.within(np.asarray(point[name], dtype=float), usual=True):
                return False
        return True

    def contains(self, point: Params) -> bool:
        """Return whether every parameter of a point is in its range and has its shape."""
        for name, parameter in self.items():
            value: Any = point.get(name)
            if isinstance(parameter, Integer) and not parameter.low <= int(value) <= parameter.last:
                return False
            if isinstance(parameter, Choice) and value not in parameter.options:
                return False
            if isinstance(parameter, Real | Integers):
                values = np.asarray(value, dtype=float)
                if values.shape != self.shape(name, point):
                    return False
            if isinstance(parameter, Real) and not parameter.within(values):
                return False
            if isinstance(parameter, Integers):
                high = point[parameter.high] if isinstance(parameter.high, str) else parameter.high
                if values.min(initial=parameter.low) < parameter.low or values.max(initial=parameter.low) > float(high):
                    return False
        return True


class ExactPoint(dict[str, Any]):
    """A point whose numbers are SymPy rationals."""


def exact(point: Params) -> ExactPoint:
    """Return a point with SymPy rationals in place of floats; arrays become object arrays."""
    return ExactPoint({name: _exact(value) for name, value in point.items()})


def ratio(point: Params, top: int, bottom: int = 1) -> Any:
    """Return a fraction in the arithmetic of a point: float64, or a SymPy rational at an exact one.

    Parameters
    ----------
    point
        The point that ``realise`` was called with.
    top, bottom
        Numerator and denominator.

    Returns
    -------
    Any
        The fraction.

    Examples
    --------
    >>> ratio({"x": 0.5}, 1, 4), ratio(exact({"x": 0.5}), 1, 4)
    (0.25, 1/4)
    """
    return sp.Rational(top, bottom) if isinstance(point, ExactPoint) else top / bottom


def _exact(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value
    if isinstance(value, np.ndarray):
        out = np.empty(value.shape, dtype=object)
        for where in np.ndindex(value.shape):
            out[where] = _exact(value[where].item() if isinstance(value[where], np.generic) else value[where])
        return out
    if isinstance(value, float):
        return sp.Rational(value)
    return value


def plain(point: Params) -> dict[str, Any]:
    """Return a point as JSON values: rationals as strings such as ``"3/7"``, floats as numbers."""
    return {name: _plain(value) for name, value in point.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, sp.Integer):
        return str(value)
    if isinstance(value, sp.Rational):
        return f"{value.p}/{value.q}"
    return value.item() if isinstance(value, np.generic) else value


def read(space: Space, stored: Params) -> dict[str, Any]:
    """Undo :func:`plain` for values that may come from anywhere, or say which parameter is not one of the space."""
    unknown = sorted(set(stored) - set(space.parameters))
    if unknown:
        raise InvalidParameter(f"parameters.{unknown[0]} is not a parameter of the claim")
    point: dict[str, Any] = {}
    for name, parameter in space.items():
        if name not in stored:
            raise InvalidParameter(f"parameters.{name} is missing")
        try:
            point[name] = _read(parameter, stored[name])
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter(f"parameters.{name} cannot be read: {error}") from None
    for name, parameter in space.items():
        if not _inside(space, name, parameter, point):
            raise InvalidParameter(
                f"parameters.{name} is outside the space of its claim ({_range(parameter)}); it may have been edited"
            )
    return point


def _inside(space: Space, name: str, parameter: Parameter, point: Params) -> bool:
    """Return whether one parameter of a point is in its range; those of which it depends are looked at before."""
    if isinstance(parameter, Integer):
        return parameter.low <= int(point[name]) <= parameter.last
    only = {other: value for other, value in point.items() if other == name}
    sizes = {other: value for other, value in point.items() if isinstance(space.parameters[other], Integer)}
    try:
        return Space({**_integers(space), name: parameter}).contains({**sizes, **only})
    except (TypeError, ValueError, OverflowError):
        return False


def _integers(space: Space) -> dict[str, Parameter]:
    return {name: parameter for name, parameter in space.items() if isinstance(parameter, Integer)}


def _range(parameter: Parameter) -> str:
    if isinstance(parameter, Choice):
        return "one of " + ", ".join(parameter.options)
    shape = "" if isinstance(parameter, Integer) or not parameter.shape else f", shape {parameter.shape}"
    low, high = parameter.ends if isinstance(parameter, Real) else (parameter.low, parameter.high)
    return f"from {low} to {parameter.last if isinstance(parameter, Integer) else high}{shape}"


def _read(parameter: Parameter, value: Any) -> Any:
    if isinstance(parameter, Integer):
        return arguments.integer("instance", "value", value)
    if isinstance(parameter, Choice):
        if not isinstance(value, str):
            raise TypeError(f"it must be a string, got {type(value).__name__}")
        return value
    if isinstance(parameter, Integers):
        array = np.asarray(value)
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError("it must be a list of whole numbers")
        return array.astype(np.int64)
    return _read_real(value) if parameter.shape else _number(value)


def _read_real(value: Any) -> Any:
    shape = np.shape(np.asarray(value, dtype=object))
    flat = np.asarray(value, dtype=object).ravel()
    numbers = [_number(item) for item in flat]
    if all(isinstance(n, float) for n in numbers):
        return np.array(numbers, dtype=float).reshape(shape)
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out.reshape(shape)


_LONGEST = 2000
"""Digits of the longest rational number that is read."""


def _number(value: Any) -> Any:
    """Return a float for a number, and a rational for a string ``"p/q"`` or ``"p"``, parsed by hand."""
    if isinstance(value, str):
        top, _, bottom = value.partition("/")
        if len(value) > _LONGEST or (bottom and int(bottom) == 0):
            raise ValueError(f"it must be a rational number, got {value[:40]!r}")
        return sp.Rational(int(top), int(bottom or 1))
    return arguments.real("instance", "value", value)
