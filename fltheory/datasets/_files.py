"""Files of data sets: plain or compressed, checked before anything is believed.

IDX is the format of MNIST and its relatives: two zero bytes, a byte for the type of the numbers (8: unsigned bytes), a
byte for the number of axes, the length of each axis as a big-endian 32-bit number, and then the numbers.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fltheory._internal.arguments import Ints
from fltheory.datasets._dataset import Bytes
from fltheory.errors import InvalidParameter

UNSIGNED_BYTES = 8

LARGEST = 256 * 2**20
"""Bytes of the largest file that is read, unpacked; the largest of a known data set has 154 million."""


def locate(folder: Path, name: str) -> Path | None:
    """Return the path of a file or of its compressed form in a folder, or ``None``."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def read(folder: Path, name: str, digest: str | None = None) -> bytes:
    """Return the content of a file of a data set, unpacked, after a look at its SHA-256 digest if one is known."""
    path = locate(folder, name)
    if path is None:
        raise InvalidParameter(f"{folder} must have a file {name} or {name}.gz, got neither")
    content = unpacked(path)
    if digest is not None and (found := hashlib.sha256(content).hexdigest()) != digest:
        raise InvalidParameter(
            f"{path} must be the published file with SHA-256 {digest[:12]}..., got {found[:12]}... from {len(content)} "
            "bytes; it is damaged or another edition: get it again"
        )
    return content


def unpacked(path: Path) -> bytes:
    """Return the content of a file; one that ends in ``.gz`` is decompressed, and not further than to the limit."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content: bytes = file.read(LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidParameter(f"{path} must be a complete gzip file, got: {error}; get it again") from None
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > LARGEST:
        raise InvalidParameter(f"{path} must have at most {LARGEST} bytes unpacked, got more; get it again")
    return content


def read_idx(path: Path) -> Bytes:
    """Return the array of an IDX file of unsigned bytes; read-only and not copied.

    Parameters
    ----------
    path
        The file, plain or compressed.

    Returns
    -------
    numpy.ndarray
        The array.
    """
    return parse_idx(unpacked(path), str(path))


def parse_idx(content: bytes, name: str) -> Bytes:
    """Return the array in the content of an IDX file; ``name`` is for messages.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]), "three").tolist()
    [7, 8, 9]
    """
    if len(content) < 4 or content[:2] != b"\0\0":
        raise InvalidParameter(f"{name} must be an IDX file, which starts with two zero bytes, got {content[:4]!r}")
    kind, axes = content[2], content[3]
    if kind != UNSIGNED_BYTES:
        raise InvalidParameter(f"{name} must be an IDX file of unsigned bytes (type 8), got type {kind}")
    start = 4 + 4 * axes
    if axes == 0 or len(content) < start:
        raise InvalidParameter(f"{name} must have the length of each of its {axes} axes, got {len(content)} bytes")
    shape = struct.unpack(f">{axes}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise InvalidParameter(
            f"{name} must have {math.prod(shape)} bytes of data for its shape {shape}, got {len(content) - start}; "
            "the file is damaged: get it again"
        )
    try:
        return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
    except ValueError as error:  # more axes than NumPy has, or too long ones beside one of length 0
        raise InvalidParameter(f"{name} must be an IDX file of images or labels, got {axes} axes: {error}") from None


def records(content: bytes, name: str, size: int) -> Bytes:
    """Return a file of records of equal size as an array ``(records, size)``, not copied."""
    if not content or len(content) % size:
        raise InvalidParameter(
            f"{name} must be records of {size} bytes, got {len(content)} bytes; the file is damaged: get it again"
        )
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, size)


def check_counts(name: str, labels: Ints, counts: Sequence[int]) -> None:
    """Raise unless the classes 0, 1, ... occur as often as given."""
    found = np.bincount(labels, minlength=len(counts)).tolist()
    if found != list(counts):
        where = next(i for i, count in enumerate(found) if i >= len(counts) or count != counts[i])
        wanted = counts[where] if where < len(counts) else 0
        raise InvalidParameter(
            f"{name} must have {wanted} samples of class {where}, got {found[where]} among {len(labels)}; "
            "the file is damaged or another edition: get it again"
        )
