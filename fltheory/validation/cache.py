"""Verdicts kept between runs: a check that was interrupted, or is repeated, goes on where it was.

A verdict follows from the code, the versions of what it uses, the file of the claim, the effort and the seed. All of
them are part of the name under which it is kept, so an edit anywhere in the package (other than in what only shows
results) or in a folder of claims makes the old ones unreachable. Files are in the folder of
:func:`fltheory.kernels.cache_folder`; one that cannot be read or written is no obstacle: the claim is checked again.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

from fltheory.claims import Entry
from fltheory.kernels import cache_folder
from fltheory.provenance import HOME, digest
from fltheory.validation.decide import Effort
from fltheory.validation.verdict import Checked

GENERATIONS = 3
"""States of the code whose verdicts are kept."""

_PACKAGES = ("numpy", "scipy", "numba", "sympy", "hypothesis")


def recall(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Checked | None:
    """Return what an earlier run found, if this one would find the same."""
    try:
        with _place(entry, variant, effort, seed).open("rb") as file:
            found = pickle.load(file)
    except (OSError, pickle.PickleError, EOFError, AttributeError, ImportError, IndexError, TypeError, ValueError):
        return None
    return replace(found, reused=True) if isinstance(found, Checked) and found.entry == entry else None


def keep(checked: Checked, variant: str | None, effort: Effort, seed: int) -> None:
    """Store what was found for later runs; a claim that could not be evaluated is not worth keeping."""
    if checked.error:
        return
    place = _place(checked.entry, variant, effort, seed)
    try:
        if not place.parent.is_dir():
            place.parent.mkdir(parents=True)
            _forget_old_code(place.parent.parent)
        partial = place.with_suffix(".part")
        partial.write_bytes(pickle.dumps(checked))
        partial.replace(place)  # so that nobody reads half a file
    except OSError:
        return


def _place(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Path:
    outside = b"" if entry.path.is_relative_to(HOME) else digest(entry.path.parent, deep=False)
    decisive = repr((entry, variant, effort, seed)).encode() + outside
    name = f"{entry.id}-{hashlib.sha256(decisive).hexdigest()[:24]}.pickle"
    return cache_folder() / "verdicts" / _code() / name


@functools.cache
def _code() -> str:
    """Return a name for the state of everything on which verdicts depend."""
    from importlib.metadata import version

    packages = repr([(name, version(name)) for name in _PACKAGES]).encode()
    return hashlib.sha256(packages + digest(HOME, deep=True)).hexdigest()[:24]


def _forget_old_code(verdicts: Path) -> None:
    states = sorted(verdicts.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for state in states[GENERATIONS:]:
        shutil.rmtree(state, ignore_errors=True)
