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
    name = "fedavg"                 # and any parameter of the algorithm
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

from fltheory import catalogue, checks, datasets
from fltheory.datasets import Source as DataSource
from fltheory.datasets.sizes import Sizes
from fltheory.datasets.splits import Split
from fltheory.deep.networks import Network
from fltheory.engines import ENGINES
from fltheory.errors import FltheoryError
from fltheory.experiment import Experiment
from fltheory.participation import Participation, Selection, StepLaw, Timeline
from fltheory.problem import Problem
from fltheory.rates import Rate
from fltheory.recording import Record
from fltheory.source import ACCIDENTS, Key, Source, dotted

MAX_NUMBERS = 10**9
"""Numbers in one recorded curve; eight bytes each."""

MAX_LABEL = 80
"""Characters of a label: it becomes a file name and an entry of a legend."""

RESERVED = ("figure", "summary")
"""File names that a run writes beside the curves."""

TOP_LEVEL = ("rounds", "replicates", "seed", "engine", "title", "record", "problem", "participation", "algorithm")
"""Keys of a file."""

_OF_EXPERIMENT = ("label", "rate")

_WORDS: Mapping[Any, str] = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}

_NAMED: Mapping[Any, Callable[[], Mapping[str, type]]] = {
    Selection: catalogue.selections,
    StepLaw: catalogue.step_laws,
    Rate: catalogue.rate_schedules,
    DataSource: datasets.sources,
    Split: catalogue.splits,
    Sizes: catalogue.size_laws,
    Network: catalogue.networks,
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
    """

    experiments: tuple[tuple[str, Experiment], ...]
    engine: str = "monte_carlo"
    seed: int = 0
    replicates: int = 64
    record: Record
    title: str | None = None
    path: str
    text: str

    def __post_init__(self) -> None:
        checks.choice("Configuration", "engine", self.engine, ENGINES)
        checks.integer("Configuration", "seed", self.seed, low=0)
        checks.integer("Configuration", "replicates", self.replicates, low=1)
        if self.title is not None and not isinstance(self.title, str):
            raise checks.fail("Configuration", "title", "a string", self.title)
        for _, experiment in self.experiments:
            per_round = experiment.problem.dim if self.record.models else 1
            if self.replicates * (experiment.rounds + 1) * per_round > MAX_NUMBERS:
                raise checks.fail(
                    "Configuration",
                    "replicates",
                    f"at most {max(MAX_NUMBERS // ((experiment.rounds + 1) * per_round), 1)} with "
                    f"rounds={experiment.rounds}",
                    self.replicates,
                    "lower replicates or rounds, or do not record models",
                )


def load(path: Path) -> Configuration:
    """Read a configuration file."""
    source = Source.read(path)
    return read(source, source.tables())


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
    source = Source(path=path, text=text)
    return read(source, source.tables())


def read(source: Source, data: Mapping[str, Any]) -> Configuration:
    """Return the configuration that tables stand for; ``source`` is where mistakes are looked up."""
    if "sweep" in data:
        raise source.refuse(
            ("sweep",), f"sweep makes a grid of experiments of this file; run it with: fltheory sweep {source.path}"
        )
    needed = ("rounds", "problem", "participation", "algorithm")
    _check_keys(source, (), data, allowed=TOP_LEVEL, needed=needed, what="a configuration")
    with source.blaming((), data):
        rounds = checks.integer("Configuration", "rounds", data["rounds"], low=1)
    problem = _problem(source, data["problem"])
    participation = _participation(source, data["participation"], problem)
    experiments: list[tuple[str, Experiment]] = []
    for index, table in enumerate(_algorithm_tables(source, data["algorithm"]), 1):
        label, rate, algorithm = _algorithm(source, ("algorithm", index), table, [taken for taken, _ in experiments])
        with source.blaming(("algorithm", index), table):
            experiment = Experiment(
                problem=problem, algorithm=algorithm, participation=participation, rounds=rounds, rate=rate
            )
        experiments.append((label, experiment))
    record = _build(source, ("record",), Record, data.get("record", {}))
    given = {name: data[name] for name in ("engine", "seed", "replicates", "title") if name in data}
    with source.blaming((), data):
        return Configuration(experiments=tuple(experiments), record=record, path=source.path, text=source.text, **given)


def slug(label: str) -> str:
    """Return a label as a file name: lower-case letters and digits, joined by hyphens.

    >>> slug("FedProx, prox = 0.1")
    'fedprox-prox-0-1'
    """
    return "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", label).lower()))


def _problem(source: Source, value: Any) -> Problem:
    name, rest = _name(source, ("problem",), catalogue.PROBLEMS, value)
    problem: Problem = _build(source, ("problem",), catalogue.problem(name), rest)
    return problem


def _participation(source: Source, value: Any, problem: Problem) -> Participation:
    key = ("participation",)
    events = catalogue.parameters(Timeline)
    table = _table(source, key, value)
    timeline = _build(source, key, Timeline, {name: table[name] for name in events if name in table})
    given = {"num_clients": problem.num_clients, "timeline": timeline}
    participation: Participation = _build(source, key, Participation, table, given=given, apart=events)
    return participation


def _algorithm_tables(source: Source, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise source.refuse(
            ("algorithm",), f"algorithm must be one table or more, got {value!r}; begin each with [[algorithm]]"
        )
    return value


def _algorithm(source: Source, key: Key, value: Any, taken: Collection[str]) -> tuple[str, Any, Any]:
    name, rest = _name(source, key, catalogue.algorithms(), value)
    kind = catalogue.algorithms()[name]
    algorithm = _build(source, key, kind, rest, apart=_OF_EXPERIMENT)
    if "rate" not in rest:
        raise source.refuse(
            key,
            f"{dotted(key)}.rate is missing; give a positive number, or a table such as "
            '{ name = "inverse", scale = 1.0 }',
        )
    label = _label(source, (*key, "label"), rest.get("label", kind.title), taken)
    return label, _convert(source, (*key, "rate"), Rate, rest["rate"]), algorithm


def _label(source: Source, key: Key, label: Any, taken: Collection[str]) -> str:
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


def _name(source: Source, key: Key, known: Collection[str], value: Any) -> tuple[str, dict[str, Any]]:
    """Return the name in a table and the rest of the table."""
    table = {"name": value} if isinstance(value, str) else _table(source, key, value)
    if "name" not in table:
        raise source.refuse(key, f"{dotted(key)}.name is missing; it is one of {_listed(sorted(known))}")
    with source.blaming(key, table):
        name = checks.choice(dotted(key), "name", table["name"], known)
    return name, {field: item for field, item in table.items() if field != "name"}


def _build(
    source: Source,
    key: Key,
    make: Callable[..., Any],
    value: Any,
    *,
    given: Mapping[str, Any] = types.MappingProxyType({}),
    apart: Collection[str] = (),
) -> Any:
    """Call ``make`` with the values of a table and with ``given``; keys in ``apart`` are read elsewhere."""
    table = _table(source, key, value)
    takes = {name: p for name, p in catalogue.parameters(make).items() if name not in given}
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


def _convert(source: Source, key: Key, hint: Any, value: Any) -> Any:
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
    return _build(source, key, hint, value) if is_dataclass(hint) and isinstance(hint, type) else value


def _check_kinds(owner: str, hints: Mapping[str, Any], table: Mapping[str, Any]) -> None:
    """Raise if a value is not of the kind that its parameter is annotated with."""
    for field, value in table.items():
        kinds = _members(hints[field])
        if not any(_fits(kind, value) for kind in kinds):
            raise checks.fail(owner, field, " or ".join(_WORDS.get(kind, "a list of numbers") for kind in kinds), value)


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
    source: Source, key: Key, table: Mapping[str, Any], *, allowed: Iterable[str], needed: Iterable[str], what: str
) -> None:
    names = sorted(allowed)
    for name in table:
        if name not in names:
            hint = checks.nearest(name, names)
            raise source.refuse(
                (*key, name),
                f"{dotted((*key, name))} is not a parameter of {what}; allowed are {_listed(names)}"
                + (f"; {hint}" if hint else ""),
            )
    for name in needed:
        if name not in table:
            raise source.refuse(key, f"{dotted((*key, name))} is missing; {what} cannot do without it")


def _table(source: Source, key: Key, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise source.refuse(key, f"{dotted(key)} must be a table, got {value!r}")
    return value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
