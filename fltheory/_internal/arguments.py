"""Validation of what a caller hands in: one function per kind of value.

Every function takes the name of the owner and of the field first, returns the value in its canonical
type, and raises :class:`~fltheory.errors.InvalidParameter` with a message of one shape:
``Owner.field must be <allowed>, got field=<value>``, followed by a remedy where one is known.
"""

from __future__ import annotations

import difflib
import math
import numbers
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fltheory.errors import InvalidParameter

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

T = TypeVar("T")


def fail(owner: str, field: str, allowed: str, value: object, remedy: str = "") -> InvalidParameter:
    """Build the error of the common shape; the caller raises it.

    >>> str(fail("NoisyQuadratic", "mu", "in [0, L]", 3, "raise L or lower mu"))
    'NoisyQuadratic.mu must be in [0, L], got mu=3; raise L or lower mu'
    """
    text = f"{owner}.{field} must be {allowed}, got {field}={_shown(value)}"
    return InvalidParameter(text + (f"; {remedy}" if remedy else ""))


def real(
    owner: str,
    field: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    remedy: str = "",
) -> float:
    """Return ``value`` as a finite float inside the interval.

    >>> real("FedProx", "prox", 1, low=0)
    1.0
    """
    left = "(" if open_low or math.isinf(low) else "["
    right = ")" if open_high or math.isinf(high) else "]"
    allowed = f"a number in {left}{low:g}, {high:g}{right}"
    if math.isinf(low) and math.isinf(high):
        allowed = "a finite number"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise fail(owner, field, allowed, value, remedy)
    try:
        number = float(value)
    except OverflowError:
        raise fail(owner, field, allowed, value, remedy) from None
    below = number <= low if open_low and not math.isinf(low) else number < low
    above = number >= high if open_high and not math.isinf(high) else number > high
    if not math.isfinite(number) or below or above:
        raise fail(owner, field, allowed, value, remedy)
    return number


def integer(
    owner: str, field: str, value: Any, *, low: int | None = None, high: int | None = None, remedy: str = ""
) -> int:
    """Return ``value`` as an int inside the closed interval (``None`` leaves a side open)."""
    if low is not None and high is not None:
        allowed = f"an integer in [{low}, {high}]"
    elif low is not None:
        allowed = f"an integer >= {low}"
    elif high is not None:
        allowed = f"an integer <= {high}"
    else:
        allowed = "an integer"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise fail(owner, field, allowed, value, remedy)
    number = int(value)
    if (low is not None and number < low) or (high is not None and number > high):
        raise fail(owner, field, allowed, value, remedy)
    return number


def boolean(owner: str, field: str, value: Any) -> bool:
    """Return ``value`` if it is a Boolean; 0 and 1 are not."""
    if not isinstance(value, bool | np.bool_):
        raise fail(owner, field, "true or false", value)
    return bool(value)


def of_type(owner: str, field: str, value: object, kind: type[T], allowed: str, remedy: str = "") -> T:
    """Return ``value`` if it is of a type; ``allowed`` says which in words.

    >>> of_type("replay", "claim", 3, str, "an id")
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: replay.claim must be an id, got claim=3
    """
    if not isinstance(value, kind):
        raise fail(owner, field, allowed, value, remedy)
    return value


def has(owner: str, field: str, value: object, members: tuple[str, ...], allowed: str) -> None:
    """Refuse what lacks a member, and a class in place of one of its objects."""
    if isinstance(value, type):
        raise fail(owner, field, allowed, value, f"write {value.__name__}() for one with defaults")
    if not all(hasattr(value, member) for member in members):
        raise fail(owner, field, allowed, value)


def path(owner: str, field: str, value: object, what: str = "path") -> Path:
    """Return ``value`` as a path.

    >>> path("replay", "counterexample", 3, "file")
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: replay.counterexample must be the path of a file, got counterexample=3
    """
    if not isinstance(value, str | os.PathLike):
        raise fail(owner, field, f"the path of a {what}" if what != "path" else "a path", value)
    return Path(value)


MANY = 12
"""Names up to which all of them are listed also where one of them is probably meant."""


def choice(owner: str, field: str, value: Any, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``allowed``; otherwise name the nearest one.

    >>> choice("Noise", "law", "gausian", ["gaussian", "bounded"])
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: Noise.law must be one of 'bounded', 'gaussian', got law='gausian'; \
did you mean 'gaussian'?
    >>> choice("figure", "name", "n07", [f"n{number}" for number in range(40)])
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: figure.name must be one of 40 names, got name='n07'; did you mean 'n7'?
    """
    names = sorted(allowed)
    if isinstance(value, str) and value in names:
        return value
    near = nearest(value, names)
    listed = f"{len(names)} names" if near and len(names) > MANY else ", ".join(map(repr, names))
    raise fail(owner, field, f"one of {listed}", value, near)


def nearest(value: object, names: Sequence[str]) -> str:
    """Return ``did you mean 'x'?`` for the closest name, or an empty string."""
    close = difflib.get_close_matches(str(value), names, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else ""


def array(owner: str, field: str, value: ArrayLike, *, shape: tuple[int | None, ...], low: float = -math.inf) -> Floats:
    """Return a read-only float64 copy of ``value`` with the given shape and finite entries.

    ``None`` in ``shape`` accepts any length on that axis.
    """
    try:
        given = np.asarray(value)
    except ValueError:
        raise fail(owner, field, "an array of numbers", value) from None
    if given.dtype.kind not in "iuf":
        raise fail(owner, field, "an array of numbers", value)
    copy = np.array(given, dtype=np.float64)
    wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
    if copy.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, copy.shape, strict=True)):
        raise InvalidParameter(f"{owner}.{field} must have shape {wanted}, got shape {copy.shape}")
    if not np.all(np.isfinite(copy)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(copy))[0])
        raise InvalidParameter(f"{owner}.{field} must be finite, got {copy[where]} at index {where}")
    if copy.size and copy.min() < low:
        where = tuple(int(i) for i in np.unravel_index(int(copy.argmin()), copy.shape))
        raise InvalidParameter(f"{owner}.{field} must be >= {low:g}, got {copy.min():g} at index {where}")
    copy.setflags(write=False)
    return copy


def probabilities(owner: str, field: str, value: ArrayLike, *, shape: tuple[int | None, ...]) -> Floats:
    """Return non-negative weights that sum to one over the last axis (to 1e-9; then normalised)."""
    weights = array(owner, field, value, shape=shape, low=0.0)
    total = weights.sum(axis=-1)
    if weights.size == 0 or np.any(np.abs(total - 1.0) > 1e-9):
        worst = float(total.flat[int(np.argmax(np.abs(total - 1.0)))]) if weights.size else 0.0
        raise InvalidParameter(
            f"{owner}.{field} must sum to 1, got a sum of {worst:.12g}; divide the weights by their sum"
        )
    normalised = weights / total[..., None]
    normalised.setflags(write=False)
    return np.asarray(normalised, dtype=np.float64)


def frozen(value: ArrayLike) -> Floats:
    """Return a read-only float64 copy without any check."""
    copy = np.array(value, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
