"""Producing many figures on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fltheory.errors import FltheoryError
from fltheory.figures.study import Saved, Study, produce, studies
from fltheory.processes import in_processes


def produce_all(
    chosen: Sequence[Study],
    directory: Path,
    *,
    quick: bool,
    seed: int,
    jobs: int,
    report: Callable[[str, str], None] = lambda name, outcome: None,
) -> tuple[list[Saved], list[tuple[str, str]], bool]:
    """Return what was written, what failed and why, and whether the user interrupted.

    ``report`` is called with the name and the outcome of every study as it is finished.
    """
    done: dict[str, Saved] = {}
    failed: list[tuple[str, str]] = []
    interrupted = False
    known = {study.name: study for study in chosen}
    try:
        tasks = [(name, directory, quick, seed) for name in known]
        for name, found, files, seconds in in_processes(tasks, _one, jobs):
            if isinstance(found, str):
                failed.append((name, found))
                report(name, "failed")
                continue
            data, caption = found
            done[name] = Saved(study=known[name], data=data, caption=caption, files=files, seconds=seconds)
            report(name, f"{seconds:.1f} s")
    except KeyboardInterrupt:
        interrupted = True
    return [done[name] for name in known if name in done], failed, interrupted


def _one(name: str, directory: Path, quick: bool, seed: int) -> tuple[object, ...]:
    """Produce one study by name; functions do not travel between processes, numbers do."""
    try:
        saved = produce(studies()[name], directory, quick=quick, seed=seed)
    except FltheoryError as error:
        return name, str(error), (), 0.0
    return name, (dict(saved.data), saved.caption), saved.files, saved.seconds
