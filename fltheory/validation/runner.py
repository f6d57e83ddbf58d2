"""Checking many claims on all cores, keeping what is finished when the user loses patience."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence

from fltheory._internal.culprits import in_words
from fltheory._internal.processes import expect, in_processes
from fltheory._internal.provenance import now
from fltheory.bounds.catalogue import Entry
from fltheory.errors import FltheoryError, WorkerLost
from fltheory.validation import cache
from fltheory.validation.decide import Effort, check
from fltheory.validation.repeats import combined
from fltheory.validation.verdict import Checked

Task = tuple[Entry, str | None, Effort, int]
"""A claim, one form of it or all, how hard to look, and the seed."""

_USED = ("fltheory.strategies", "scipy.optimize", "scipy.signal")
_SLOW_FIRST = ("bound", "lower", "rate", "rule", "lemma", "identity")


def check_entry(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Checked:
    """Load and check one claim, or one form of it if it has that one.

    A claim that fails to run is reported as such and does not stop the others.
    """
    try:
        claim = entry.load()
        lacking = variant is not None and variant not in {form.variant for form in claim.forms}
        verdicts = [] if lacking else check(claim, variant=variant, effort=effort, seed=seed)
    except (Exception, SystemExit) as error:  # the code of a claim may be a user's
        text = str(error) if isinstance(error, FltheoryError) else in_words(error)
        return Checked(entry, (), (), (), (), text, traceback="".join(traceback.format_exception(error)))
    forms = [claim.form(verdict.variant) for verdict in verdicts]
    words = tuple(f.latex() for f in forms), tuple(f.note for f in forms)
    return Checked(entry, claim.uses, *words, tuple(verdicts), time=now())


def check_all(
    entries: Sequence[Entry],
    *,
    variant: str | None = None,
    effort: Effort,
    seed: int = 0,
    searches: int = 1,
    jobs: int = 1,
    fresh: bool = False,
    report: Callable[[Checked], None] = lambda checked: None,
) -> tuple[list[Checked], bool]:
    """Return the claims checked, in the order given, and whether the user interrupted.

    ``report`` is called with every claim as it is finished, once per search: ``searches`` of them, with the seeds from
    ``seed`` on. Results do not depend on ``jobs``. What the same code has found before is taken over unless ``fresh``
    is set.
    """
    tasks = [(entry, variant, effort, at) for at in range(seed, seed + searches) for entry in entries]
    done: dict[tuple[str, int], Checked] = {}
    for entry, _, _, at in () if fresh else tasks:
        known = cache.recall(entry, variant, effort, at)
        if known is not None:
            done[entry.id, at] = known
            report(known)
    left = [task for task in tasks if (task[0].id, task[3]) not in done]
    left.sort(key=lambda task: _SLOW_FIRST.index(task[0].kind))
    expect((*_USED, *(task[0].name for task in left if task[0].name)))
    interrupted = False
    try:
        for task, checked in in_processes([(task,) for task in left], _searched, jobs, lost=_lost):
            done[checked.entry.id, task[3]] = checked
            cache.keep(checked, *task[1:])
            report(checked)
    except KeyboardInterrupt:
        interrupted = True
    found = ([done[e.id, at] for at in range(seed, seed + searches) if (e.id, at) in done] for e in entries)
    return [combined(several) for several in found if several], interrupted


def _lost(task: Task) -> tuple[Task, Checked]:
    """Return a claim whose check has ended its process."""
    return task, Checked(task[0], (), (), (), (), str(WorkerLost()))


def _searched(task: Task) -> tuple[Task, Checked]:
    return task, check_entry(*task)
