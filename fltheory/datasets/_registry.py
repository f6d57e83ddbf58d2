"""Which data sets there are, and where they are on this machine."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import os
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fltheory._internal import arguments
from fltheory.datasets._dataset import DataSet
from fltheory.datasets._source import DatasetSource
from fltheory.errors import InvalidParameter, NotApplicable

VARIABLE = "FLTHEORY_DATA"
"""Environment variable with a data directory: one folder per data set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Availability:
    """Whether a data set is on this machine.

    Parameters
    ----------
    name, title
        Of the data set.
    samples
        Number of samples to train and to test on.
    folder
        Where its files are, or ``None``; they have not been read.
    remedy
        How to get it.
    """

    name: str
    title: str
    samples: tuple[int, int]
    folder: Path | None
    remedy: str


@functools.cache
def sources() -> Mapping[str, type[DatasetSource]]:
    """Return the data sets by name, in alphabetical order: the sources in the modules of this folder.

    >>> list(sources())
    ['cifar-10', 'cifar-100', 'emnist-letters', 'fashion-mnist', 'mnist', 'shakespeare']
    """
    found: dict[str, type[DatasetSource]] = {}
    package = importlib.import_module(__package__ or "")
    for entry in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{entry.name}")
        for kind in vars(module).values():
            if not isinstance(kind, type) or kind.__module__ != module.__name__:
                continue
            if issubclass(kind, DatasetSource) and not inspect.isabstract(kind):
                if kind.name in found:
                    raise InvalidParameter(
                        f"names of data sets must be unique, got {kind.name!r} in both {found[kind.name].__module__} "
                        f"and {module.__name__}; rename one of them"
                    )
                found[kind.name] = kind
    return MappingProxyType(dict(sorted(found.items())))


def load(name: str, directory: str | os.PathLike[str] | None = None, **options: Any) -> DataSet:
    """Read a data set that is on this machine.

    Parameters
    ----------
    name
        One of the names in :func:`available`.
    directory
        Where to look first: a folder with the files, or a data directory that has such a folder. Then the
        data directory in the environment variable ``FLTHEORY_DATA``, that of the user (``fltheory`` in
        ``XDG_DATA_HOME``, or else in ``~/.local/share``), and the folder of a package of the system are searched.
    **options
        Fields of the data set's class, such as ``letters=10`` for ``emnist-letters``.

    Returns
    -------
    DataSet
        The samples and labels to train and to test on.
    """
    kind = source(name)
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for option in options:
        arguments.choice(f"load({name!r})", "option", option, known)
    reader = kind(**options)
    folder = find(kind, directory)
    if folder is None:
        raise NotApplicable(_absent(kind, directory))
    return reader.read(folder)


def available(directory: str | os.PathLike[str] | None = None) -> tuple[Availability, ...]:
    """Return which data sets are on this machine, and how to get the others.

    Parameters
    ----------
    directory
        Where to look first, as for :func:`load`.

    Returns
    -------
    tuple of Availability
        One entry per data set, in alphabetical order.
    """
    return tuple(
        Availability(
            name=name, title=kind.title, samples=kind.samples, folder=find(kind, directory), remedy=kind.remedy
        )
        for name, kind in sources().items()
    )


def source(name: object) -> type[DatasetSource]:
    """Return the class of a data set; an unknown name raises with the nearest one.

    Parameters
    ----------
    name
        Name of the data set, such as ``mnist``.

    Returns
    -------
    type
        A subclass of :class:`DatasetSource`.

    Examples
    --------
    >>> source("mnist").__name__
    'Mnist'
    """
    return sources()[arguments.choice("DataSet", "name", name, sources())]


def find(kind: type[DatasetSource], directory: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first folder that has all files of a data set.

    Parameters
    ----------
    kind
        The class of the data set; see :func:`source`.
    directory
        Where to look first, as for :func:`load`.

    Returns
    -------
    Path or None
        The folder; ``None`` if the data set is not on this machine.
    """
    return next((folder for folder in _places(kind, directory) if not kind.missing(folder)), None)


def data_directory() -> Path:
    """Return where data sets are put by default: ``FLTHEORY_DATA``, or else the data directory of the user."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return _user_directory()


def _user_directory() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "fltheory"


def _places(kind: type[DatasetSource], directory: str | os.PathLike[str] | None) -> list[Path]:
    folders = (kind.name, *kind.folders)
    places: list[Path] = []
    if directory is not None:
        places += [*(Path(directory) / folder for folder in folders), Path(directory)]
    for parent in dict.fromkeys((data_directory(), _user_directory())):
        places += [parent / folder for folder in folders]
    return places if kind.installed is None else [*places, kind.installed]


def _absent(kind: type[DatasetSource], directory: str | os.PathLike[str] | None) -> str:
    places = _places(kind, directory)
    listed = ", ".join(str(folder) for folder in places)
    names = list(kind.files)
    wanted = ", ".join(names) if len(names) <= 6 else f"{names[0]} and {len(names) - 1} more"
    text = f"the data set {kind.name!r} is not on this machine: looked for {wanted} in {listed}"
    for folder in places:
        if (missing := kind.missing(folder)) and len(missing) < len(names):
            text += f" ({folder} lacks {', '.join(missing)})"
    return f"{text}; to get it: {kind.remedy}"
