"""Verdicts kept between runs: a check that was interrupted, or is repeated, goes on where it was.

A verdict follows from the code, the versions of what it uses, the file of the claim, the effort and the seed. All of
them are part of the name under which it is kept, so an edit anywhere in the package (other than in what only shows
results) or in a folder of claims makes the old ones unreachable. Files are in the folder of
:func:`fltheory._internal.kernels.cache_folder`, as JSON, which cannot do anything when it is read; one that is damaged
or cannot be read or written is no obstacle: the claim is checked again.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json, write_json
from fltheory._internal.kernels import cache_folder
from fltheory._internal.provenance import HOME, digest, version
from fltheory.bounds.catalogue import Entry
from fltheory.errors import FltheoryError
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import VERDICT
from fltheory.validation.verdict import Checked, Verdict

GENERATIONS = 3
"""States of the code whose verdicts are kept."""

_PACKAGES = ("numpy", "scipy", "numba", "sympy", "hypothesis", "z3-solver")


_SHAPE = {"claim": dict, "time": str, "uses": [str], "latex": [str], "notes": [str], "verdicts": [VERDICT]}


def recall(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Checked | None:
    """Return what an earlier run found, if this one would find the same."""
    place = _place(entry, variant, effort, seed)
    try:
        found = read_json(place)
        shapes.check(found, _SHAPE, str(place))
    except FltheoryError:
        return None
    if found["claim"] != _described(entry) or any(form["id"] != entry.id for form in found["verdicts"]):
        return None
    verdicts = tuple(Verdict.from_json(one) for one in found["verdicts"])
    uses, latex, notes = (tuple(found[name]) for name in ("uses", "latex", "notes"))
    if not len(verdicts) == len(latex) == len(notes):
        return None
    return Checked(entry, uses, latex, notes, verdicts, time=found["time"], reused=True)


def keep(checked: Checked, variant: str | None, effort: Effort, seed: int) -> None:
    """Store what was found for later runs; a claim that could not be evaluated is not worth keeping."""
    if checked.error:
        return
    place = _place(checked.entry, variant, effort, seed)
    try:
        if not place.parent.is_dir():
            place.parent.mkdir(parents=True)
            _forget_old_code(place.parent)
        write_json(place, _document(checked))
    except OSError:
        return


def _document(checked: Checked) -> dict[str, Any]:
    return {
        "claim": _described(checked.entry),
        "time": checked.time,
        **{name: list(getattr(checked, name)) for name in ("uses", "latex", "notes")},
        "verdicts": [{**verdict.as_json(), "seconds": verdict.seconds} for verdict in checked.verdicts],
    }


def _described(entry: Entry) -> dict[str, str]:
    return {**entry.as_json(), "path": str(entry.path)}


def _place(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Path:
    outside = b"" if entry.path.is_relative_to(HOME) else digest(entry.path.parent, deep=False)
    decisive = repr((entry, variant, effort, seed)).encode() + outside
    name = f"{entry.id}-{hashlib.sha256(decisive).hexdigest()[:24]}.json"
    return cache_folder() / "verdicts" / _code() / name


@functools.cache
def _code() -> str:
    """Return a name for the state of everything on which verdicts depend."""
    packages = repr([(name, version(name)) for name in _PACKAGES]).encode()
    return hashlib.sha256(packages + digest(HOME, deep=True)).hexdigest()[:24]


def _forget_old_code(current: Path) -> None:
    """Remove the verdicts of all but the last few states of the code; this one stays, whatever the clock says."""
    others = (state for state in current.parent.iterdir() if state != current)
    states = sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)
    for state in states[GENERATIONS - 1 :]:
        shutil.rmtree(state, ignore_errors=True)
