"""Results on disk: a file is either the old one or the complete new one, and a folder has one writer at a time.

A new file is written beside its place and renamed, so that an interrupt, a full disk or a killed process leaves what
was there before. A folder is locked with ``flock``, which the system releases when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from fltheory.errors import FltheoryError, InvalidParameter

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, where folders are not locked
    fcntl = None  # type: ignore[assignment]

LOCK = ".fltheory.lock"
"""Name of the file in a folder by which it is locked."""

LARGEST = 256 * 2**20
"""Bytes of the largest JSON file that is read; the ledger of all claims has about three million."""

_PART = re.compile(r"\..+\.[0-9a-f]{16}\.fltheory-part")
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a new file that takes the place of ``path`` once the block has ended without an error.

    After an error the new file is removed, and what was at ``path`` stays. An error of the system names ``path``.
    Something that is no regular file, such as ``/dev/stdout``, is written to directly.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        yield path
        return
    part = _part(place)
    try:
        yield part
        _flush(part)
        os.replace(part, place)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            error.filename = str(path)  # the file that the user knows
        raise


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new binary file that takes the place of ``path``; see :func:`replacing`."""
    with replacing(path) as part, part.open("wb") as file:
        yield file


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file; see :func:`replacing`."""
    with opened(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a whole file in UTF-8; see :func:`replacing`."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, document: Any, *, indent: int = 2) -> None:
    """Write a document as JSON, with a line end after it; see :func:`replacing`."""
    write_text(path, json.dumps(document, indent=indent, allow_nan=False) + "\n")


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """Return the document in a JSON file that may come from anywhere, or say what is wrong with the file."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise InvalidParameter(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > largest:
        raise InvalidParameter(f"{path}: must have at most {largest} bytes, got more")
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path}: is not valid JSON: it is not text in UTF-8") from None
    except ValueError as error:
        raise InvalidParameter(f"{path}: is not valid JSON: {error}") from None
    except RecursionError:
        raise InvalidParameter(f"{path}: is not valid JSON: it is nested too deeply") from None


def usable(directory: Path, option: str = "--output", *, names: Iterable[str] = ()) -> None:
    """Make a folder if there is none, and raise unless files, and those of the given names, can be written into it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in names:
            if (directory / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name} is a directory")
        tried = _part(directory / "try")
        try:
            tried.write_bytes(bytes(4096))
        finally:
            tried.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"{option} must be a directory that can be written to, got '{directory}': "
            f"{(error.strerror or str(error)).lower()}; choose another with {option}"
        ) from None


@contextlib.contextmanager
def sole_writer(*directories: Path, option: str = "--output") -> Iterator[None]:
    """Keep other processes of this package from writing into folders, or say that one does so already.

    Folders are made if need be, and files that a killed process was writing into them are removed.
    """
    with contextlib.ExitStack() as locks:
        for directory in directories:
            usable(directory, option)
            locks.enter_context(_locked(directory, option))
            _remove_parts(directory)
        yield


def remove(paths: Iterable[Path]) -> None:
    """Remove files that are out of date, as far as they are there and can be removed."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(directory: Path, option: str) -> Iterator[None]:
    if fcntl is None:  # pragma: no cover - Windows
        yield
        return
    place = directory / LOCK
    while True:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            if error.errno in _NO_LOCKS:  # a file system without locks
                yield
                return
            who = f"process {owner}" if owner.isdigit() else "another process"
            raise FltheoryError(
                f"'{directory}' is in use: {who} is writing results there; wait until it has finished, or choose "
                f"another directory with {option}"
            ) from None
        if _same_file(descriptor, place):
            break
        os.close(descriptor)  # the former owner has removed the file meanwhile
    try:
        with contextlib.suppress(OSError):  # a full disk; only the message of others needs the number
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        remove([place])  # while it is still locked, so that nobody else's is removed
        os.close(descriptor)


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.fltheory-part")


def _flush(path: Path) -> None:
    """Have the system write a file to the disk, so that after a power failure no renamed file is empty."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot
            raise
    finally:
        os.close(descriptor)


def _remove_parts(directory: Path) -> None:
    remove(path for path in directory.glob(".*.fltheory-part") if _PART.fullmatch(path.name))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")
