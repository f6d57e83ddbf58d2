"""A configuration file with a table ``[sweep]``: lists of values, and all their combinations.

The keys of ``[sweep]`` are paths into the same file, the values are lists of what to put there::

    [sweep]
    seed = [0, 1, 2]
    problem.round_drift_sq = [0.01, 0.1, 1.0]
    algorithm.rate = [0.01, { name = "inverse", scale = 1.0 }]

    [sweep.participation]
    local_steps = [1, 4, 16]

A path through a list of tables, such as ``algorithm``, leads to all of its tables. The grid is the Cartesian product
in the order of the file, the last list fastest. What is swept need not be in the rest of the file.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fltheory._internal import arguments
from fltheory.configuration.experiments import TOP_LEVEL, Configuration, read
from fltheory.configuration.toml_text import Key, TomlText, dotted
from fltheory.problems.problem import Problem

MAX_RUNS = 100_000
"""Points of a grid times algorithms."""

_SHOWN_ONLY = (("title",), ("algorithm", "label"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """One list of ``[sweep]``.

    Parameters
    ----------
    path
        Names of the tables and of the parameter.
    values
        What to put there, each different from the others.
    """

    path: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        return dotted(self.path)

    @property
    def numeric(self) -> bool:
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """All points of one file.

    Parameters
    ----------
    source
        The file.
    tables
        Its content without ``[sweep]``.
    axes
        The lists of ``[sweep]`` in the order of the file.
    """

    source: TomlText
    tables: dict[str, Any]
    axes: tuple[Axis, ...]
    _problems: dict[str, Problem] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def load(cls, path: Path, *, folders: Iterable[Path] = ()) -> Grid:
        """Read a file; its points are looked at one by one with :meth:`configuration`."""
        return cls.read(TomlText.read(path, folders))

    @classmethod
    def read(cls, source: TomlText) -> Grid:
        """Read the lists of a file."""
        tables = source.tables()
        if "sweep" not in tables:
            raise source.refuse(
                (), f"sweep is missing: this file has no grid; add a table [sweep], or use: fltheory run {source.path}"
            )
        axes = tuple(_axes(source, ("sweep",), tables.pop("sweep")))
        grid = cls(source=source, tables=tables, axes=axes)
        algorithms = tables.get("algorithm")
        runs = len(grid) * (len(algorithms) if isinstance(algorithms, list) else 1)
        if runs > MAX_RUNS:
            product = " x ".join(str(len(axis.values)) for axis in axes)
            raise source.refuse(
                ("sweep",),
                f"sweep must give at most {MAX_RUNS} runs, got {runs}: {product} points for every algorithm; "
                "shorten a list, or split the file",
            )
        return grid

    def __len__(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)

    def point(self, index: int) -> dict[str, Any]:
        """Return the values of one point by name of their parameter; the last axis changes fastest."""
        values = []
        for axis in reversed(self.axes):
            index, at = divmod(index, len(axis.values))
            values.append(axis.values[at])
        return {axis.name: value for axis, value in zip(self.axes, reversed(values), strict=True)}

    def at(self, index: int) -> tuple[dict[str, Any], Configuration]:
        """Return the tables of one point, with its values put in, and the configuration that they stand for.

        A mistake is reported at the line of ``[sweep]`` that brought it in, with the point of the grid.
        """
        point = self.point(index)
        note = f"at point {index + 1} of {len(self)}: {in_words(point)}"
        source = dataclasses.replace(self.source, note=note)
        tables = copy.deepcopy(self.tables)
        moved: list[tuple[Key, Key]] = []
        for axis, value in zip(self.axes, point.values(), strict=True):
            written = ("sweep", *axis.path)
            moved += [(key, written) for key in _put(source, tables, (), axis.path, value, written)]
        return tables, read(dataclasses.replace(source, moved=tuple(moved)), tables, problems=self._problems)


def in_words(point: dict[str, Any]) -> str:
    """Return a point as it is written in messages.

    >>> in_words({"seed": 1, "algorithm.rate": {"name": "inverse", "scale": 1.0}})
    'seed = 1, algorithm.rate = {"name": "inverse", "scale": 1.0}'
    """
    return ", ".join(f"{name} = {shown(value)}" for name, value in point.items())


def shown(value: Any) -> str:
    """Return a swept value as it stands in tables and messages."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _axes(source: TomlText, key: Key, value: Any) -> Iterator[Axis]:
    """Yield the lists in a table of ``[sweep]``."""
    where = dotted(key)
    path = tuple(str(part) for part in key[1:])
    if isinstance(value, dict):
        if not value:
            raise source.refuse(
                key, f"{where} must hold at least one list of values, got none; add one such as seed = [0, 1, 2]"
            )
        for name, item in value.items():
            yield from _axes(source, (*key, name), item)
        return
    if path and path[0] not in TOP_LEVEL:
        hint = arguments.nearest(path[0], TOP_LEVEL)
        raise source.refuse(
            key,
            f"{where} leads nowhere: {path[0]} is not a key of this file; allowed are {', '.join(sorted(TOP_LEVEL))}"
            + (f"; {hint}" if hint else ""),
        )
    if not path or not isinstance(value, list) or not value:
        allowed = "a list of one value or more" if path else "a table of lists"
        raise source.refuse(key, f"{where} must be {allowed}, got {value!r}; write {where} = [first, second]")
    if path in _SHOWN_ONLY:
        raise source.refuse(key, f"{where} cannot be swept: it changes what is shown, not what is run; leave it out")
    if path == ("algorithm",):
        raise source.refuse(
            (*key, 1),
            "sweep.algorithm must be a table of lists such as algorithm.rate = [0.1, 0.2], got a list; algorithms "
            "themselves are compared at every point, begin each with [[algorithm]]",
        )
    _check_values(source, key, value)
    yield Axis(path=path, values=tuple(value))


def _check_values(source: TomlText, key: Key, values: list[Any]) -> None:
    where = dotted(key)
    seen = set()
    for value in values:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise source.refuse(
                key, f"{where} must hold finite numbers, strings, true, false, lists or tables, got {value}"
            ) from None
        same = _identity(value)
        if same in seen:
            raise source.refuse(key, f"{where} must hold different values, got {shown(value)} twice; leave one out")
        seen.add(same)


def _identity(value: Any) -> Any:
    """Return something hashable that is equal for equal values; ``true`` is no number, 1 and 1.0 are one."""
    if isinstance(value, dict):
        return "table", frozenset((name, _identity(item)) for name, item in value.items())
    if isinstance(value, list):
        return "list", tuple(_identity(item) for item in value)
    return type(value).__name__ if isinstance(value, bool | str) else "number", value


def _put(
    source: TomlText, table: dict[str, Any], at: Key, path: tuple[str, ...], value: Any, written: Key
) -> list[Key]:
    """Put a value into nested tables and return the keys under which it now stands."""
    name, *rest = path
    key = (*at, name)
    if not rest:
        table[name] = value
        return [key]
    inner = table.setdefault(name, [] if key == ("algorithm",) else {})
    entries = [(key, inner)]
    if isinstance(inner, list):
        entries = [((*key, number), entry) for number, entry in enumerate(inner, 1)]
    keys = []
    for number, (place, entry) in enumerate(entries):
        if isinstance(entry, str):  # stands for a table with nothing but a name
            entry = {"name": entry}
        if not isinstance(entry, dict):
            raise source.refuse(
                written,
                f"{dotted(written)} must lead into a table, got {dotted(place)} = {shown(entry)}; "
                f"give {dotted(place)} as a table, or sweep it as a whole",
            )
        if isinstance(inner, list):
            inner[number] = entry
        else:
            table[name] = entry
        keys += _put(source, entry, place, tuple(rest), value, written)
    return keys
