"""Producing many figures on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fltheory._internal.processes import expect, in_processes
from fltheory.errors import FltheoryError, WorkerLost
from fltheory.figures.study import Asked, Saved, Study, produce, recalled, studies

_BACKENDS = tuple(f"matplotlib.backends.backend_{name}" for name in ("agg", "pdf", "svg"))


def produce_all(
    chosen: Sequence[Study],
    directory: Path,
    *,
    quick: bool,
    seed: int,
    jobs: int,
    ledger: Path | None = None,
    claims: Sequence[Path] = (),
    fresh: bool = True,
    report: Callable[[str, str], None] = lambda name, result: None,
) -> tuple[list[Saved], list[tuple[str, str]], bool]:
    """Return what was written, what failed and why, and whether the user interrupted.

    ``report`` is called with the name and the result of every study as it is finished. Unless ``fresh`` is set, what
    the same code has drawn before from the same verdicts is taken over.
    """
    done: dict[str, Saved] = {}
    failed: list[tuple[str, str]] = []
    interrupted = False
    known = {study.name: study for study in chosen}
    expect(modules(chosen))
    try:
        if not fresh:
            # Here, so that no process is started where nothing is to be drawn.
            for saved in _unchanged(chosen, directory, Asked(quick=quick, seed=seed, ledger=ledger, claims=(*claims,))):
                done[saved.study.name] = saved
                report(saved.study.name, "unchanged")
        left = [study for study in chosen if study.name not in done]
        tasks = [(names, directory, quick, seed, ledger, tuple(claims)) for names in groups(left)]
        for found in in_processes(tasks, _several, jobs, lost=_lost):
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


def _unchanged(chosen: Sequence[Study], directory: Path, asked: Asked) -> Iterator[Saved]:
    """Yield the figures of a folder that are what would be drawn now; a ledger that cannot be read matches none."""
    from fltheory.validation.ledger import load

    verdicts = None
    unreadable = False
    if asked.ledger is not None and any(study.needs_ledger for study in chosen):
        try:
            verdicts = load(asked.ledger)
        except FltheoryError:
            unreadable = True
    for study in chosen:
        if unreadable and study.needs_ledger:
            continue
        found = recalled(study, directory, asked, verdicts)
        if found is not None:
            yield found


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


def _lost(names: tuple[str, ...], *_: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Return studies that have ended their process."""
    return [(name, str(WorkerLost()), {}) for name in names]


def _several(
    names: tuple[str, ...],
    directory: Path,
    quick: bool,
    seed: int,
    ledger: Path | None,
    claims: tuple[Path, ...],
) -> list[tuple[str, str, dict[str, Any]]]:
    """Produce studies by name; functions do not travel between processes, numbers do."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    for name in names:
        try:
            saved = produce(
                studies(networks=True)[name],
                directory,
                quick=quick,
                seed=seed,
                ledger=ledger,
                claims=claims,
            )
        except FltheoryError as error:
            found.append((name, str(error), {}))
            continue
        except (Exception, SystemExit) as error:  # a figure may rest on a user's claims and ledger
            found.append((name, f"{type(error).__name__}: {error}", {}))
            continue
        values = {key: getattr(saved, key) for key in ("caption", "command", "files", "seconds")}
        found.append((name, "", {"data": dict(saved.data), **values}))
    return found
