"""Experiments written down in TOML.

A file names a problem, the clients' participation, and one or more algorithms::

    rounds = 200
    replicates = 64
    seed = 1
    engine = "monte_carlo"          # or "reference", "exact"

    [problem]
    name = "noisy-quadratic"        # and any parameter of the generator
    round_drift_sq = 0.1

    [participation]
    local_steps = 10
    selection = { name = "without-replacement", size = 5, renormalise = true }

    [[algorithm]]
    name = "fedavg"                 # and any parameter of the algorithm; "my_module:FedAdam" for one of your own
    label = "FedAvg, slow"          # optional
    rate = 0.05                     # or { name = "inverse", scale = 1.0, shift = 1.0 }

Keys are the parameters of the function or dataclass that a table describes, read off its signature, so whatever
Python accepts the file accepts. A string stands for a table with nothing but a name.

With a table ``[sweep]`` the file describes a grid of such experiments; :mod:`fltheory.sweep` reads it.

Every mistake raises :class:`~fltheory.errors.InvalidParameter` that starts with the file, the line and the key.
Tables in a list are counted from 1: ``algorithm[2].rate``.
"""

from __future__ import annotations

import functools
import os
import re
import types
import typing
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fltheory import datasets
from fltheory._internal import arguments
from fltheory.configuration import registry
from fltheory.configuration.toml_text import ACCIDENTS, Key, TomlText, dotted
from fltheory.datasets import DatasetSource
from fltheory.datasets.sizes import SizeLaw
from fltheory.datasets.splits import Split
from fltheory.deep.networks import Network
from fltheory.errors import FltheoryError
from fltheory.participation import Participation, Selection, StepLaw, Timeline
from fltheory.problems.problem import Problem
from fltheory.simulation.cost import require_memory, require_time
from fltheory.simulation.engines import ENGINES
from fltheory.simulation.engines.simulate import runs_every_step
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Rate, Schedule

MAX_LABEL = 80
"""Characters of a label: it becomes a file name and an entry of a legend."""

RESERVED = ("figure", "summary", "unfinished")
"""File names that a run writes beside the curves."""

TOP_LEVEL = ("rounds", "replicates", "seed", "engine", "title", "record", "problem", "participation", "algorithm")
"""Keys of a file."""

_OF_EXPERIMENT = ("label", "rate")

_PROBLEM_PARTS = (
    *("num_clients", "dim", "weights", "sample_counts", "start", "packages"),
    *("constants", "objective", "reference_oracle", "compiled_oracle"),
)
"""What a problem of the user's own has to have."""

_WORDS: Mapping[Any, str] = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}

_NAMED: Mapping[Any, Callable[[], Mapping[str, type]]] = {
    Selection: registry.selections,
    StepLaw: registry.step_laws,
    Rate: registry.rate_schedules,
    DatasetSource: datasets.sources,
    Split: registry.splits,
    SizeLaw: registry.size_laws,
    Network: registry.networks,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """What one file asks for.

    Parameters
    ----------
    experiments
        Labels and experiments, in the order of the file; they share problem and participation.
    engine, seed, replicates, record
        As for :func:`fltheory.simulate`.
    title
        Heading of the table and the figure.
    path, text
        Where the configuration was read, and its text.
    folders
        Folders with algorithms of the user's own.
    """

    experiments: tuple[tuple[str, Experiment], ...]
    engine: str = "monte_carlo"
    seed: int = 0
    replicates: int = 64
    record: Record
    title: str | None = None
    path: str
    text: str
    folders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        arguments.choice("Configuration", "engine", self.engine, ENGINES)
        arguments.integer("Configuration", "seed", self.seed, low=0)
        arguments.integer("Configuration", "replicates", self.replicates, low=1)
        if self.title is not None and not isinstance(self.title, str):
            raise arguments.fail("Configuration", "title", "a string", self.title)
        exact = self.engine == "exact"
        replicates = 1 if exact else self.replicates  # whether participation has to be sampled shows when it is run
        for _, experiment in self.experiments:
            require_memory("Configuration", experiment, replicates=replicates, record=self.record, exact=exact)
            require_time(
                "Configuration",
                experiment,
                replicates=replicates,
                record=self.record,
                every_step=runs_every_step(experiment, self.engine, self.record),
                exact=exact,
            )


def load(path: Path, *, folders: Iterable[Path] = (), default_rate: Schedule | None = None) -> Configuration:
    """Read a configuration file.

    Parameters
    ----------
    path
        The file.
    folders
        Folders with algorithms of the user's own.
    default_rate
        Rate of algorithms that are given none; without it, a missing rate is a mistake.
    """
    source = TomlText.read(path, folders)
    return read(source, source.tables(), default_rate=default_rate)


def parse(text: str, *, path: str = "configuration") -> Configuration:
    """Read a configuration from the text of a file; ``path`` is its name in messages.

    >>> configuration = parse('''
    ... rounds = 3
    ... [problem]
    ... name = "noisy-quadratic"
    ... [participation]
    ... local_steps = 2
    ... [[algorithm]]
    ... name = "fedavg"
    ... rate = 0.1
    ... ''')
    >>> [(label, experiment.rounds) for label, experiment in configuration.experiments]
    [('FedAvg', 3)]
    """
    source = TomlText(path=path, text=text)
    return read(source, source.tables())


def read(
    source: TomlText,
    data: Mapping[str, Any],
    *,
    default_rate: Schedule | None = None,
    problems: dict[str, Problem] | None = None,
) -> Configuration:
    """Return the configuration that tables stand for; ``source`` is where mistakes are looked up.

    ``problems`` keeps the problem of the call before, which is taken over if its table is the same: to read and split
    data for every point of a grid would take longer than all the rest.
    """
    if "sweep" in data:
        raise source.refuse(
            ("sweep",), f"sweep makes a grid of experiments of this file; run it with: fltheory sweep {source.path}"
        )
    needed = ("rounds", "problem", "participation", "algorithm")
    _check_keys(source, (), data, allowed=TOP_LEVEL, needed=needed, what="a configuration")
    with source.blaming((), data):
        rounds = arguments.integer("Configuration", "rounds", data["rounds"], low=1)
    problem = _problem_once(source, data["problem"], {} if problems is None else problems)
    participation = _participation(source, data["participation"], problem)
    experiments: list[tuple[str, Experiment]] = []
    for index, table in enumerate(_algorithm_tables(source, data["algorithm"]), 1):
        taken = [earlier for earlier, _ in experiments]
        label, rate, algorithm = _algorithm(source, ("algorithm", index), table, taken, default_rate)
        with source.blaming(("algorithm", index), table):
            experiment = Experiment(
                problem=problem, algorithm=algorithm, participation=participation, rounds=rounds, rate=rate
            )
        experiments.append((label, experiment))
    record = _build(source, ("record",), Record, data.get("record", {}))
    given = {name: data[name] for name in ("engine", "seed", "replicates", "title") if name in data}
    with source.blaming((), data):
        return Configuration(
            experiments=tuple(experiments),
            record=record,
            path=source.path,
            text=source.text,
            folders=source.folders,
            **given,
        )


def slug(label: str) -> str:
    """Return a label as a file name: lower-case letters and digits, joined by hyphens.

    >>> slug("FedProx, prox = 0.1")
    'fedprox-prox-0-1'
    """
    name = "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", label).lower()))
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # a locale such as Latin-1, in which files cannot have this name
        name = name.encode("ascii", "backslashreplace").decode("ascii").replace("\\", "")
    return name


def _problem_once(source: TomlText, value: Any, problems: dict[str, Problem]) -> Problem:
    table = repr(value)
    found = problems.get(table)
    if found is None:
        found = _problem(source, value)
        problems.clear()
        problems[table] = found
    return found


def _problem(source: TomlText, value: Any) -> Problem:
    name, rest = _name(source, ("problem",), registry.PROBLEMS, value, own=True)
    if ":" not in name:
        problem: Problem = _build(source, ("problem",), registry.problem(name), rest)
        return problem
    with source.blaming(("problem", "name"), {}):
        make = registry.own_problem(name, *source.places)
    made: Problem = _build(source, ("problem",), make, rest)
    missing = [part for part in _PROBLEM_PARTS if not hasattr(made, part)]
    if missing:
        raise source.refuse(
            ("problem", "name"), f"problem.name must lead to a problem, got {name!r}, which lacks {', '.join(missing)}"
        )
    return made


def _participation(source: TomlText, value: Any, problem: Problem) -> Participation:
    key = ("participation",)
    events = registry.parameters(Timeline)
    table = _table(source, key, value)
    timeline = _build(source, key, Timeline, {name: table[name] for name in events if name in table})
    given = {"num_clients": problem.num_clients, "timeline": timeline}
    participation: Participation = _build(source, key, Participation, table, given=given, apart=events)
    return participation


def _algorithm_tables(source: TomlText, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise source.refuse(
            ("algorithm",), f"algorithm must be one table or more, got {value!r}; begin each with [[algorithm]]"
        )
    return value


def _algorithm(
    source: TomlText, key: Key, value: Any, taken: Collection[str], default_rate: Schedule | None
) -> tuple[str, Any, Any]:
    with source.blaming(key, {}):
        known = registry.all_algorithms([Path(folder) for folder in source.folders])
    name, rest = _name(source, key, known, value, own=True)
    with source.blaming((*key, "name"), {}):
        kind = known[name] if ":" not in name else registry.own_algorithm(name, *source.places)
    algorithm = _build(source, key, kind, rest, apart=_OF_EXPERIMENT)
    if "rate" not in rest and default_rate is None:
        raise source.refuse(
            key,
            f"{dotted(key)}.rate is missing; give a positive number, or a table such as "
            '{ name = "inverse", scale = 1.0 }',
        )
    label = _label(source, (*key, "label"), rest.get("label", kind.title), taken)
    rate = _convert(source, (*key, "rate"), Rate, rest["rate"]) if "rate" in rest else default_rate
    return label, rate, algorithm


def _label(source: TomlText, key: Key, label: Any, taken: Collection[str]) -> str:
    where = dotted(key)
    if not isinstance(label, str) or not label.isprintable() or not slug(label) or len(label) > MAX_LABEL:
        raise source.refuse(
            key, f"{where} must be one line with a letter or digit and at most {MAX_LABEL} characters, got {label!r}"
        )
    if slug(label) in RESERVED:
        raise source.refuse(key, f"{where} must not be {label!r}: that file name is taken; choose another label")
    if slug(label) in {slug(other) for other in taken}:
        raise source.refuse(
            key,
            f"{where} must differ from those before it in more than punctuation, got {label!r} again; "
            "give each algorithm a label of its own",
        )
    return label


def _name(
    source: TomlText, key: Key, known: Collection[str], value: Any, *, own: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return the name in a table, which may be one of the user's ``own`` code, and the rest of the table."""
    table = {"name": value} if isinstance(value, str) else _table(source, key, value)
    if "name" not in table:
        raise source.refuse(key, f"{dotted(key)}.name is missing; it is one of {_listed(sorted(known))}")
    if own and isinstance(table["name"], str) and ":" in table["name"]:
        name = table["name"]
    else:
        with source.blaming(key, table):
            name = arguments.choice(dotted(key), "name", table["name"], known)
    return name, {field: item for field, item in table.items() if field != "name"}


def _build(
    source: TomlText,
    key: Key,
    make: Callable[..., Any],
    value: Any,
    *,
    given: Mapping[str, Any] = types.MappingProxyType({}),
    apart: Collection[str] = (),
) -> Any:
    """Call ``make`` with the values of a table and with ``given``; keys in ``apart`` are read elsewhere."""
    table = _table(source, key, value)
    takes = {name: p for name, p in registry.parameters(make).items() if name not in given}
    needed = [name for name, p in takes.items() if p.default is p.empty]
    what = getattr(make, "name", make.__name__)
    _check_keys(source, key, table, allowed=[*takes, *apart], needed=needed, what=what)
    hints = _hints(make)
    own = {name: item for name, item in table.items() if name not in apart}
    values = {name: _convert(source, (*key, name), hints[name], item) for name, item in own.items()}
    with source.blaming(key, table):
        try:
            made = make(**values, **given)
        except FltheoryError:
            raise
        except ACCIDENTS:
            _check_kinds(dotted(key), hints, own)
            raise
        # Not every constructor checks the kind of every value, since Python callers have type checkers.
        _check_kinds(dotted(key), hints, own)
    return made


@functools.cache
def _hints(make: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the annotations of the parameters; evaluating them takes longer than all the rest of a small file."""
    return typing.get_type_hints(make)


def _convert(source: TomlText, key: Key, hint: Any, value: Any) -> Any:
    """Return a value of a table as the annotation of its parameter wants it."""
    if len(members := _members(hint)) == 1:
        hint = members[0]
    if hint in _NAMED:
        if hint is Rate and isinstance(value, int | float):
            return value
        kinds = _NAMED[hint]()
        name, rest = _name(source, key, kinds, value)
        return _build(source, key, kinds[name], rest)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise source.refuse(key, f"{dotted(key)} must be a list, got {value!r}")
        item = typing.get_args(hint)[0]
        return tuple(_convert(source, (*key, index), item, entry) for index, entry in enumerate(value, 1))
    if hint is Path:
        if not isinstance(value, str) or not value:
            raise source.refuse(key, f"{dotted(key)} must be the name of a file, got {value!r}")
        return Path(source.path).parent / value
    return _build(source, key, hint, value) if is_dataclass(hint) and isinstance(hint, type) else value


def _check_kinds(owner: str, hints: Mapping[str, Any], table: Mapping[str, Any]) -> None:
    """Raise if a value is not of the kind that its parameter is annotated with."""
    for field, value in table.items():
        kinds = _members(hints[field])
        if not any(_fits(kind, value) for kind in kinds):
            raise arguments.fail(
                owner, field, " or ".join(_WORDS.get(kind, "a list of numbers") for kind in kinds), value
            )


def _members(hint: Any) -> list[Any]:
    """Return the kinds in a union, without ``None``; an array stands for all that NumPy makes one of."""
    if typing.get_origin(hint) not in (types.UnionType, typing.Union):
        return [hint]
    kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
    like_an_array = typing.get_args(ArrayLike)
    if set(like_an_array) <= set(kinds):
        return [float, np.ndarray, *(kind for kind in kinds if kind not in like_an_array)]
    return kinds


def _fits(kind: Any, value: Any) -> bool:
    if kind in _WORDS:
        accepted = (int, float) if kind is float else kind
        return isinstance(value, accepted) and (kind is bool or not isinstance(value, bool))
    origin = typing.get_origin(kind) or kind
    if origin is np.ndarray:
        try:
            return isinstance(value, list) and np.asarray(value).dtype.kind in "iuf"
        except ValueError:
            return False
    if origin in (tuple, list, Sequence):
        return isinstance(value, list) and all(_fits(typing.get_args(kind)[0], item) for item in value)
    return True


def _check_keys(
    source: TomlText, key: Key, table: Mapping[str, Any], *, allowed: Iterable[str], needed: Iterable[str], what: str
) -> None:
    names = sorted(allowed)
    for name in table:
        if name not in names:
            hint = arguments.nearest(name, names)
            raise source.refuse(
                (*key, name),
                f"{dotted((*key, name))} is not a parameter of {what}; allowed are {_listed(names)}"
                + (f"; {hint}" if hint else ""),
            )
    for name in needed:
        if name not in table:
            raise source.refuse(key, f"{dotted((*key, name))} is missing; {what} cannot do without it")


def _table(source: TomlText, key: Key, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise source.refuse(key, f"{dotted(key)} must be a table, got {value!r}")
    return value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
