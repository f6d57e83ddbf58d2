"""Figures kept between runs: what the same code would draw from the same numbers is not drawn again.

A figure follows from the code, the versions of what it uses, the effort, the seed, and, for some, the verdicts of a
ledger and the user's own claims. A digest of all of them is its key, which stands in the JSON file beside the picture
together with a digest of every file. A figure is taken over from its folder only if the key is the same and no file
has been changed; otherwise it is drawn again. No time stamp of a file counts.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json
from fltheory._internal.provenance import HOME, digest, versions
from fltheory.errors import FltheoryError

if TYPE_CHECKING:
    from fltheory.figures.study import Study

_PACKAGES = ("sympy", "matplotlib", "cvxpy", "clarabel", "PEPit", "torch")
_SHAPE = {"key": str, "caption": str, "files": shapes.Values(str), "numbers": str, "data": dict}


def key(
    study: Study, *, quick: bool, seed: int, command: str, verdicts: Mapping[str, Any] | None, claims: Sequence[Path]
) -> str:
    """Return a name for everything that decides what a figure shows.

    Parameters
    ----------
    study
        The figure.
    quick, seed
        As for :func:`fltheory.figures.study.produce`.
    command
        What makes it again; it is part of what is written.
    verdicts
        The ledger from which it is drawn, if it is. The time of the last check does not count, since every claim in it
        has its own.
    claims
        Folders with claims of the user's own.
    """
    asked: list[Any] = [study.name, quick, seed, command]
    if verdicts is not None:
        asked.append({name: value for name, value in verdicts.items() if name != "time"})
    outside = b"".join(digest(folder, deep=False) for folder in claims)
    packages = repr(sorted(versions(*_PACKAGES, *study.packages).items()))
    text = json.dumps([asked, packages], sort_keys=True, default=str).encode()
    return hashlib.sha256(_code() + outside + text).hexdigest()


def recall(directory: Path, name: str, wanted: str) -> dict[str, Any] | None:
    """Return the record of a figure in a folder if it has that key and its files are those that were written."""
    place = directory / f"{name}.json"
    try:
        record = read_json(place)
        shapes.check(record, _SHAPE, str(place))
        if record["key"] != wanted or record["numbers"] != numbers(record["data"]):
            return None
        if any(Path(file).name != file for file in record["files"]):
            return None
        if any(fingerprint(directory / file) != found for file, found in record["files"].items()):
            return None
    except (FltheoryError, OSError):
        return None
    return dict(record)


def fingerprint(path: Path) -> str:
    """Return a digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def numbers(data: Mapping[str, Any]) -> str:
    """Return a digest of the numbers behind a figure."""
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


@functools.cache
def _code() -> bytes:
    return digest(HOME, deep=True, without=("cli", "report"))
