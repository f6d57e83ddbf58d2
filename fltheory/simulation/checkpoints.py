"""Where a long run stands, on disk: ended in the middle, it goes on after the last round kept, with equal bits.

Every random number is addressed by seed, replicate, round and client, so a block of replicates is where it was as soon
as it has its state, its curves and the number of its next round. A file has these as plain arrays, without pickles. It
takes the place of the one before as a whole, and says which run it belongs to; a file that is damaged, or that belongs
to another run, is of no use and does no harm.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory._internal.array_files import read_arrays
from fltheory._internal.files import opened, remove
from fltheory.errors import InvalidParameter

LEAST = 1.0
"""Seconds of work that are not worth a file."""

SHARE = 0.05
"""Most part of the time that is spent on writing."""

SUFFIX = ".checkpoint"


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """Where a run is kept while it is under way, after every round that took a second or longer.

    Parameters
    ----------
    path
        Beginning of the names of the files: every block of replicates has one.
    key
        Decides, together with the block, whether a file belongs to this run: everything on which its result depends.
    """

    path: Path
    key: str

    def block(self, replicates: range) -> BlockCheckpoint:
        """Return where one block of replicates is kept."""
        name = f".{self.path.name}.{replicates.start}{SUFFIX}"
        return BlockCheckpoint(self.path.with_name(name), f"{self.key} {replicates.start} {replicates.stop}")

    def remove(self) -> None:
        """Forget the run: it has ended."""
        pattern = f".{_literally(self.path.name)}.*{SUFFIX}"
        remove(place for place in self.path.parent.glob(pattern))


class BlockCheckpoint:
    """Where one block of replicates is kept.

    Parameters
    ----------
    place
        The file.
    key
        What it belongs to.
    """

    def __init__(self, place: Path, key: str) -> None:
        self._place = place
        self._key = np.frombuffer(hashlib.sha256(key.encode()).digest(), dtype=np.uint8)
        self._wait = LEAST
        self._last = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether so much was done since the last file that writing another is worth it."""
        return time.monotonic() - self._last >= self._wait

    def keep(self, rounds: int, state: Any, notes: Mapping[str, Floats]) -> None:
        """Write the state after so many rounds, with the notes of the recorder.

        Where this is not possible, for want of space say, the run goes on without.
        """
        fields = _fields(state)
        if fields is None:  # a state of the user's own, of which nobody knows how to write it
            self._wait = np.inf
            return
        begin = time.monotonic()
        arrays = {f"state {number}": field for number, field in enumerate(fields)}
        arrays |= {f"note {name}": note for name, note in notes.items()}
        try:
            with opened(self._place) as file:
                np.savez(file, allow_pickle=False, key=self._key, rounds=np.array(rounds), **arrays)
        except OSError:
            self._wait = np.inf
            return
        self._last = time.monotonic()
        self._wait = max(LEAST, (self._last - begin) / SHARE)

    def recall(self, first: Any) -> tuple[int, Any, dict[str, Floats]] | None:
        """Return how many rounds are done, the state and the notes, if a file of this run is there.

        ``first`` is the state before round 0, whose form tells whether the file fits.
        """
        fields = _fields(first)
        if fields is None or not self._place.exists():
            return None
        try:
            stored = read_arrays(self._place)
            if not np.array_equal(stored["key"], self._key):
                return None
            found = [stored[f"state {number}"] for number in range(len(fields))]
            notes = {name[5:]: note for name, note in stored.items() if name.startswith("note ")}
            rounds = stored["rounds"]
        except (InvalidParameter, KeyError):
            return None
        if rounds.shape != () or rounds.dtype.kind != "i" or rounds < 1:
            return None
        replicates = max((len(field) for field in fields if field.ndim), default=1)
        if not all(_fits(new, old, replicates) for new, old in zip(found, fields, strict=True)):
            return None
        return int(rounds), type(first)(*found), notes


def _fields(state: Any) -> list[Floats] | None:
    """Return the arrays of a state that is a named tuple of them, as those of all algorithms here are."""
    if not isinstance(state, tuple) or not hasattr(state, "_fields"):
        return None
    return list(state) if all(isinstance(field, np.ndarray) and not field.dtype.hasobject for field in state) else None


def _fits(new: Floats, old: Floats, replicates: int) -> bool:
    """Return whether a field may have followed from one before round 0, where one row may stand for all replicates."""
    rows = {old.shape[:1], (replicates,)} if old.shape[:1] == (1,) else {old.shape[:1]}
    return new.dtype == old.dtype and new.shape[1:] == old.shape[1:] and new.shape[:1] in rows


def _literally(name: str) -> str:
    """Return a pattern that matches a name and nothing else."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
