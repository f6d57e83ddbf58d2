"""The state of the code that made a result: commit, versions, a digest of the sources."""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.util
import platform
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

HOME = Path(__file__).parents[1]
"""Folder of the package."""

_PACKAGES = ("numpy", "scipy", "numba")
_SHOWING = ("cli", "figures", "report")
_DECISIVE = (".py", ".json", ".j2", ".css")


@functools.cache
def commit() -> str:
    """Return the commit of the checkout that this package is run from; empty for an installed copy.

    Read from the files of the repository, without calling git; changes that are not committed are not seen.
    """
    return _head(HOME.parent / ".git")


def _head(folder: Path) -> str:
    try:
        if folder.is_file():  # a further working tree: its own HEAD, references shared with the first one
            folder = folder.parent / folder.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")
        head = (folder / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        shared = folder / "commondir"
        if shared.is_file():
            folder = folder / shared.read_text(encoding="utf-8").strip()
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8").strip()
        packed = (folder / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
    except OSError:
        return ""


@functools.cache
def versions(*more: str) -> Mapping[str, str]:
    """Return the versions of Python, this package and what its numbers depend on, and of ``more`` packages."""
    names = ("fltheory", *_PACKAGES, *more)
    return MappingProxyType({"python": platform.python_version(), **{name: version(name) for name in names}})


def version(name: str) -> str:
    """Return the version of a package: from the name of the folder about it, or else by asking Python."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        about = list(Path(spec.origin).parents[1].glob(f"{name}-*.dist-info"))
        if len(about) == 1:
            return about[0].name.removeprefix(f"{name}-").removesuffix(".dist-info")
    from importlib import metadata  # loads a parser of mail headers, which takes a while

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def digest(folder: Path, *, deep: bool, without: tuple[str, ...] = _SHOWING) -> bytes:
    """Return a digest of the code in a folder, and of what decides beside it: certificates, templates.

    Parameters
    ----------
    folder
        The folder.
    deep
        Whether its folders count as well.
    without
        Folders that do not count; those that only show results, if not given.
    """
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*") if deep else folder.glob("*")):
        inside = path.relative_to(folder)
        if path.suffix in _DECISIVE and inside.parts[0] not in without:
            found.update(str(inside).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.digest()


def now() -> str:
    """Return the time to the second, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


@functools.cache
def code() -> str:
    """Return a name for the state of this package and of what its numbers depend on."""
    return hashlib.sha256(repr(sorted(versions().items())).encode() + digest(HOME, deep=True)).hexdigest()
