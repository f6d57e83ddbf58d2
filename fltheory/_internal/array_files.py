"""Arrays in ``.npz`` files that may come from anywhere; without pickles, which could run code."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory._internal import memory
from fltheory.errors import InvalidParameter

LARGEST = 2**36
"""Bytes of arrays in the largest file that is read, where there is so much memory."""

UNREADABLE: tuple[type[Exception], ...] = (ValueError, KeyError, TypeError, EOFError, MemoryError, RuntimeError)
UNREADABLE += (zipfile.BadZipFile, zlib.error, struct.error, SyntaxError, OverflowError)
"""What reading a damaged file may raise, beside ``OSError``."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of real numbers in a file, or say what is wrong with the file."""
    largest = min(LARGEST, memory.allowed())
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size <= largest:
            with np.load(path, allow_pickle=False) as stored:
                return {name: _real(name, stored[name]) for name in stored.files}
    except OSError as error:
        raise InvalidParameter(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UNREADABLE as error:
        raise InvalidParameter(f"{path}: is not an .npz file of numbers, as numpy.savez writes it: {error}") from None
    raise InvalidParameter(f"{path}: must hold at most {largest} bytes of arrays, got {size}")


def _real(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name!r} is of type {array.dtype}")
    return array
