"""Producing many figures on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fltheory.errors import FltheoryError
from fltheory.figures.study import Saved, Study, produce, studies
from fltheory.processes import expect, in_processes

_BACKENDS = tuple(f"matplotlib.backends.backend_{name}" for name in ("agg", "pdf", "svg"))


def produce_all(
    chosen: Sequence[Study],
    directory: Path,
    *,
    quick: bool,
    seed: int,
    jobs: int,
    ledger: Path | None = None,
    report: Callable[[str, str], None] = lambda name, outcome: None,
) -> tuple[list[Saved], list[tuple[str, str]], bool]:
    """Return what was written, what failed and why, and whether the user interrupted.

    ``report`` is called with the name and the outcome of every study as it is finished.
    """
    done: dict[str, Saved] = {}
    failed: list[tuple[str, str]] = []
    interrupted = False
    known = {study.name: study for study in chosen}
    expect(modules(chosen))
    try:
        tasks = [(names, directory, quick, seed, ledger) for names in groups(chosen)]
        for found in in_processes(tasks, _several, jobs):
            for name, error, values in found:
                if error:
                    failed.append((name, error))
                    report(name, "failed")
                    continue
                done[name] = Saved(study=known[name], **values)
                report(name, f"{done[name].seconds:.1f} s")
    except KeyboardInterrupt:
        interrupted = True
    return [done[name] for name in known if name in done], failed, interrupted


def modules(chosen: Sequence[Study]) -> list[str]:
    """Return what is imported to produce studies."""
    return [*_BACKENDS, "scipy.optimize", *(study.compute.__module__ for study in chosen)]


def groups(chosen: Sequence[Study]) -> list[tuple[str, ...]]:
    """Return names that belong together, the heaviest groups first, so that none is waited for at the end."""
    found: dict[str, list[Study]] = {}
    for study in chosen:
        found.setdefault(study.together or study.name, []).append(study)
    ranked = sorted(found.values(), key=lambda group: -sum(study.weight for study in group))
    return [tuple(study.name for study in group) for group in ranked]


def _several(
    names: tuple[str, ...], directory: Path, quick: bool, seed: int, ledger: Path | None
) -> list[tuple[str, str, dict[str, Any]]]:
    """Produce studies by name; functions do not travel between processes, numbers do."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    for name in names:
        try:
            saved = produce(studies(networks=True)[name], directory, quick=quick, seed=seed, ledger=ledger)
        except FltheoryError as error:
            found.append((name, str(error), {}))
            continue
        values = {key: getattr(saved, key) for key in ("caption", "command", "files", "seconds")}
        found.append((name, "", {"data": dict(saved.data), **values}))
    return found
