"""Where a result comes from: code, versions, seed, configuration, time."""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.util
import platform
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fltheory.experiment import Experiment, describe
from fltheory.recording import Record

HOME = Path(__file__).parent
"""Folder of the package."""

_PACKAGES = ("numpy", "scipy", "numba")
_SHOWING = ("cli", "figures", "report")


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
    return MappingProxyType({"python": platform.python_version(), **{name: _version(name) for name in names}})


def _version(name: str) -> str:
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


def digest(folder: Path, *, deep: bool) -> bytes:
    """Return a digest of the Python files in a folder, other than those that only show results."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py") if deep else folder.glob("*.py")):
        inside = path.relative_to(folder)
        if inside.parts[0] not in _SHOWING:
            found.update(str(inside).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.digest()


@functools.cache
def code() -> str:
    """Return a name for the state of this package and of what its numbers depend on."""
    return hashlib.sha256(repr(sorted(versions().items())).encode() + digest(HOME, deep=True)).hexdigest()


def provenance(
    experiment: Experiment, *, engine: str, seed: int, replicates: int, record: Record, **more: Any
) -> dict[str, Any]:
    """Return the record that accompanies a result; values are plain JSON types."""
    return {
        "engine": engine,
        "seed": seed,
        "replicates": replicates,
        "experiment": describe(experiment),
        "record": describe(record),
        "versions": dict(versions(*experiment.problem.packages)),
        "commit": commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **more,
    }
