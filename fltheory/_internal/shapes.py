"""Documents from files that anybody may have edited: the shape that they must have, with the field that has not.

A shape is a type (``str``, ``int``, ``float``, ``bool``, ``None``, ``dict``, ``list``), a tuple of alternatives, a list
with the shape of all entries, a dictionary with the shapes of its fields, or one of the classes here.

>>> check({"id": "a", "forms": [{"margin": "x"}]}, {"id": str, "forms": [{"margin": (float, None)}]}, "a.json")
Traceback (most recent call last):
...
fltheory.errors.InvalidParameter: a.json: forms[0].margin must be a number or null, got 'x'; it may have been edited
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fltheory.errors import InvalidParameter

Shape = Any
"""What a value must look like; see above."""

_NAMES: dict[Any, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    None: "null",
    dict: "an object",
    list: "a list",
}


@dataclass(frozen=True, slots=True)
class Optional:
    """A field that may be missing."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several strings."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """An object whose values all have one shape, under any names."""

    shape: Shape


def check(value: Any, shape: Shape, where: str, field: str = "") -> None:
    """Raise unless a value that JSON may hold has a shape; ``where`` names the file, ``field`` the place in it."""
    if isinstance(shape, tuple):
        inner = next((other for other in shape if isinstance(other, dict)), None)
        if isinstance(value, dict) and inner is not None:
            check(value, inner, where, field)  # which says what is wrong inside
        elif not any(_fits(value, other) for other in shape):
            raise _wrong(value, shape, where, field)
    elif isinstance(shape, dict):
        _check_object(value, shape, where, field)
    elif isinstance(shape, list):
        _require(isinstance(value, list), value, list, where, field)
        for place, item in enumerate(value):
            check(item, shape[0], where, f"{field}[{place}]")
    elif isinstance(shape, Values):
        _require(isinstance(value, dict), value, dict, where, field)
        for name, item in value.items():
            check(item, shape.shape, where, _inside(field, name))
    else:
        _require(_plain(value, shape), value, shape, where, field)


def _check_object(value: Any, fields: dict[str, Shape], where: str, field: str) -> None:
    _require(isinstance(value, dict), value, dict, where, field)
    for name, shape in fields.items():
        if name in value:
            inner = shape.shape if isinstance(shape, Optional) else shape
            check(value[name], inner, where, _inside(field, name))
        elif not isinstance(shape, Optional):
            raise InvalidParameter(f"{where}: lacks {_inside(field, name)}; it may have been edited")


def _fits(value: Any, shape: Shape) -> bool:
    try:
        check(value, shape, "")
    except InvalidParameter:
        return False
    return True


def _plain(value: Any, shape: Shape) -> bool:
    if isinstance(shape, OneOf):
        return isinstance(value, str) and value in shape.options
    if shape is None:
        return value is None
    if shape is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, shape)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _require(fits: bool, value: Any, shape: Shape, where: str, field: str) -> None:
    if not fits:
        raise _wrong(value, shape, where, field)


def _wrong(value: Any, shape: Shape, where: str, field: str) -> InvalidParameter:
    text = repr(value)
    shown = text if len(text) <= 60 else text[:57] + "..."
    place = f"{field} must be" if field else "must be"
    return InvalidParameter(f"{where}: {place} {_named(shape)}, got {shown}; it may have been edited")


def _named(shape: Shape) -> str:
    if isinstance(shape, tuple):
        return " or ".join(_named(other) for other in shape)
    if isinstance(shape, OneOf):
        return _listed(shape.options)
    if isinstance(shape, dict | Values):
        return _NAMES[dict]
    return _NAMES[list] if isinstance(shape, list) else _NAMES[shape]


def _listed(options: Iterable[str]) -> str:
    return "one of " + ", ".join(repr(option) for option in options)


def _inside(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name
