"""A run of several algorithms that was ended in the middle.

The next one takes over those that were finished, and goes on with the one that was under way.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json, remove, write_json
from fltheory.configuration.experiments import Configuration, slug
from fltheory.configuration.toml_text import TomlText
from fltheory.errors import FltheoryError
from fltheory.simulation.checkpoints import SUFFIX, Checkpoint
from fltheory.simulation.run_result import RunResult
from fltheory.simulation.trajectories import Trajectories
from fltheory.sweep.keys import key_of

NAME = "unfinished.json"
"""The file is there from the first algorithm that is finished to the last."""

_SHAPE = shapes.Values({"seconds": float, "curves": str})


def keys(configuration: Configuration, *, collapse: bool) -> list[str]:
    """Return what decides the result of every algorithm of a file, in its order."""
    tables = TomlText(path=configuration.path, text=configuration.text, folders=configuration.folders).tables()
    steps = "" if collapse else " every step"
    return [key_of(tables, configuration, which) + steps for which in range(len(configuration.experiments))]


class Unfinished:
    """What is finished of a run, in its folder.

    Parameters
    ----------
    directory
        Where the curves are.
    keys
        What :func:`keys` returns for the run.
    """

    def __init__(self, directory: Path, keys: Sequence[str]) -> None:
        self._directory = directory
        self._keys = keys
        self._known: dict[str, Any] = {}
        if (directory / NAME).exists():
            with contextlib.suppress(FltheoryError):  # a damaged file costs a run, and nothing else
                found = read_json(directory / NAME)
                shapes.check(found, _SHAPE, NAME)
                self._known = {key: entry for key, entry in found.items() if key in keys}

    def recall(self, which: int, label: str) -> RunResult | None:
        """Return the result of an algorithm that was finished before, if its curves are as they were written."""
        entry = self._known.get(self._keys[which])
        path = self._directory / slug(label)
        try:
            if entry is None or entry["curves"] != _digest(path):
                return None
            return RunResult(label, entry["seconds"], Trajectories.load(path))
        except (OSError, FltheoryError):
            return None

    def checkpoint(self, which: int, label: str) -> Checkpoint:
        """Return where an algorithm is kept while it is under way."""
        return Checkpoint(path=self._directory / slug(label), key=self._keys[which])

    def keep(self, which: int, result: RunResult) -> None:
        """Write the curves of an algorithm, and that it is finished; one that has failed is tried again."""
        if result.trajectories is None:
            self.checkpoint(which, result.label).remove()
            return
        path = self._directory / slug(result.label)
        result.trajectories.save(path)
        self._known[self._keys[which]] = {"seconds": result.seconds, "curves": _digest(path)}
        write_json(self._directory / NAME, self._known)
        self.checkpoint(which, result.label).remove()

    def end(self) -> None:
        """Forget it: the run is complete."""
        remove([self._directory / NAME, *self._directory.glob(f".*{SUFFIX}")])


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    for suffix in (".npz", ".json"):
        found.update(path.with_name(path.name + suffix).read_bytes())
    return found.hexdigest()
