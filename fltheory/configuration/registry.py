"""What can be named in a configuration file: algorithms, problems, selections, step laws, learning rates, splits.

Algorithms are found by looking into the folder :mod:`fltheory.algorithms`: in every module whose name does not start
with an underscore, every concrete :class:`~fltheory.algorithms.base.Algorithm` is listed under its ``name``, and
imported when it is asked for. So adding an algorithm is adding one file. Selections, step laws, rates, splits and laws
of sizes are the dataclasses of their modules. Problems are functions and are named here, with their homes, so that
listing them loads no problem code.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from fltheory import algorithms as algorithm_folder
from fltheory._internal import arguments
from fltheory._internal.own_code import load_file, load_named
from fltheory.algorithms.base import Algorithm
from fltheory.datasets import sizes
from fltheory.datasets import splits as split_module
from fltheory.deep import networks as network_module
from fltheory.errors import InvalidParameter
from fltheory.participation import selection, steps
from fltheory.problems.problem import Problem
from fltheory.simulation import schedules

_NAME = re.compile(r'^    name: ClassVar\[str\] = "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Generator:
    """Where a problem's generator lives, and one line on what it returns."""

    home: str
    function: str
    title: str

    def load(self) -> Callable[..., Problem]:
        """Return the function itself."""
        generator: Callable[..., Problem] = getattr(importlib.import_module(self.home), self.function)
        return generator


PROBLEMS: Mapping[str, Generator] = MappingProxyType(
    {
        "noisy-quadratic": Generator(
            home="fltheory.quadratic",
            function="noisy_quadratic",
            title="Quadratics with one Hessian, client drift, round drift and step noise",
        ),
        "client-quadratics": Generator(
            home="fltheory.quadratic",
            function="client_quadratics",
            title="Quadratics with a Hessian and a minimiser per client",
        ),
        "synthetic": Generator(
            home="fltheory.logistic.synthetic",
            function="synthetic",
            title="Softmax regression on SYNTHETIC(alpha, beta)",
        ),
        "logistic-clients": Generator(
            home="fltheory.logistic.synthetic",
            function="logistic_clients",
            title="Logistic regression with label and feature shift per client",
        ),
        "controlled-logistic": Generator(
            home="fltheory.logistic.controlled",
            function="controlled_logistic",
            title="Logistic or softmax regression with given mu, L, client drift, round drift and noise",
        ),
        "logistic-arrays": Generator(
            home="fltheory.logistic.arrays",
            function="logistic_from_file",
            title="Logistic regression on the arrays of an .npz file",
        ),
        "softmax-arrays": Generator(
            home="fltheory.logistic.arrays",
            function="softmax_from_file",
            title="Softmax regression on the arrays of an .npz file",
        ),
        "network": Generator(
            home="fltheory.deep.generators",
            function="network_problem",
            title="A network on real data (needs PyTorch)",
        ),
    }
)


@functools.cache
def algorithms() -> Mapping[str, type[Algorithm]]:
    """Return the algorithms by name, in alphabetical order.

    >>> algorithms()["fedavg"].title
    'FedAvg'
    """
    homes: dict[str, str] = {}
    for entry in pkgutil.iter_modules(algorithm_folder.__path__):
        if entry.name.startswith("_"):
            continue
        home = f"{algorithm_folder.__name__}.{entry.name}"
        for name in _names_in(home, Path(entry.module_finder.path, f"{entry.name}.py")):  # type: ignore[union-attr]
            if (other := homes.setdefault(name, home)) != home:
                raise InvalidParameter(
                    f"algorithm names must be unique, got {name!r} in both {other} and {home}; rename one of them"
                )
    return _Algorithms(dict(sorted(homes.items())))


class _Algorithms(Mapping[str, type[Algorithm]]):
    """Algorithms by name; a module is imported when one of its algorithms is asked for."""

    def __init__(self, homes: dict[str, str]) -> None:
        self._homes = homes

    def __getitem__(self, name: str) -> type[Algorithm]:
        return next(kind for kind in _algorithms_of(self._homes[name]) if kind.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


def _names_in(home: str, path: Path) -> list[str]:
    """Return the names of the algorithms of a module: as they are written, or else by importing it."""
    written = _NAME.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    return written or [kind.name for kind in _algorithms_of(home)]


def _algorithms_of(home: str) -> list[type[Algorithm]]:
    kinds = _defined_in(importlib.import_module(home))
    return [kind for kind in kinds if issubclass(kind, Algorithm) and not inspect.isabstract(kind)]


def all_algorithms(folders: Iterable[Path]) -> Mapping[str, type[Algorithm]]:
    """Return the algorithms of the package and those in folders of the user's, by name."""
    own: dict[str, type[Algorithm]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InvalidParameter(f"--algorithms must name a folder with one file per algorithm, got '{folder}'")
        found = {kind.name: kind for file in sorted(folder.glob("[!_]*.py")) for kind in _own_in(load_file(file))}
        if not found:
            raise InvalidParameter(f"--algorithms must name a folder with algorithms, got none in '{folder}'")
        for name, kind in found.items():
            if name in own or name in algorithms():
                raise InvalidParameter(f"algorithm names must be unique, got {name!r} again in '{folder}'; rename it")
            own[name] = kind
    return ChainMap(own, algorithms()) if own else algorithms()  # type: ignore[arg-type]  # the maps are only read


def own_algorithm(reference: str, *folders: Path) -> type[Algorithm]:
    """Return an algorithm of the user's own, named ``module:Name``, from a file in one of the folders."""
    kind = load_named(reference, *folders)
    if not (isinstance(kind, type) and issubclass(kind, Algorithm)) or inspect.isabstract(kind):
        raise InvalidParameter(f"{reference} must be a concrete subclass of fltheory.Algorithm, got {kind!r}")
    return kind


def own_problem(reference: str, *folders: Path) -> Callable[..., Any]:
    """Return a function or class of the user's own that makes a problem, named ``module:name``."""
    make = load_named(reference, *folders)
    if not callable(make):
        raise InvalidParameter(f"{reference} must be a function or class that makes a problem, got {make!r}")
    found: Callable[..., Any] = make
    return found


def _own_in(module: ModuleType) -> list[type[Algorithm]]:
    kinds = [kind for kind in _defined_in(module) if issubclass(kind, Algorithm) and not inspect.isabstract(kind)]
    for kind in kinds:
        for attribute in ("name", "title"):
            if not isinstance(getattr(kind, attribute, None), str):
                raise InvalidParameter(f"{module.__file__}: {kind.__name__}.{attribute} must be a string; declare it")
    return kinds


def problem(name: object) -> Callable[..., Problem]:
    """Return the generator of a named problem, or raise with the nearest name.

    >>> problem("noisy-quadratic")(dim=3, num_clients=2).dim
    3
    """
    return PROBLEMS[arguments.choice("problem", "name", name, PROBLEMS)].load()


@functools.cache
def selections() -> Mapping[str, type]:
    """Return the selections by name: who is asked to work."""
    return _named(selection)


@functools.cache
def step_laws() -> Mapping[str, type]:
    """Return the step laws by name: how many local steps are completed."""
    return _named(steps)


@functools.cache
def networks() -> Mapping[str, type]:
    """Return the networks by name.

    >>> list(networks())
    ['softmax', 'mlp', 'cnn', 'vgg11', 'lstm']
    """
    return _named(network_module)


@functools.cache
def rate_schedules() -> Mapping[str, type]:
    """Return the learning-rate schedules by name.

    >>> list(rate_schedules())
    ['constant', 'inverse', 'table', 'per-step', 'step-table']
    """
    return _named(schedules)


@functools.cache
def splits() -> Mapping[str, type]:
    """Return the splits by name: which client gets which samples.

    >>> list(splits())
    ['iid', 'dirichlet', 'classes-per-client', 'natural']
    """
    return _named(split_module)


@functools.cache
def size_laws() -> Mapping[str, type]:
    """Return the laws of sizes by name: how many samples a client gets.

    >>> list(size_laws())
    ['equal', 'lognormal', 'pareto']
    """
    return _named(sizes)


@functools.cache
def parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a generator or a dataclass by name, in order.

    >>> [(name, p.default) for name, p in parameters(algorithms()["fedavg"]).items()]
    [('server_rate', 1.0)]
    """
    return inspect.signature(make).parameters


def summary(kind: type[Algorithm]) -> str:
    """Return the first sentence of the page of an algorithm, the docstring of its module."""
    page = inspect.getdoc(inspect.getmodule(kind)) or ""
    return " ".join(page.split("\n\n")[0].split())


def _named(module: ModuleType) -> Mapping[str, type]:
    kinds = [kind for kind in _defined_in(module) if is_dataclass(kind)]
    return MappingProxyType({getattr(kind, "name", kind.__name__.lower()): kind for kind in kinds})


def _defined_in(module: ModuleType) -> list[type]:
    return [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
