"""Checking many claims on all cores, keeping what is finished when the user loses patience."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fltheory.claims import Entry
from fltheory.processes import expect, in_processes
from fltheory.validation import cache
from fltheory.validation.decide import Effort, check
from fltheory.validation.verdict import Checked

_USED = ("fltheory.strategies", "scipy.optimize", "scipy.signal")
_SLOW_FIRST = ("bound", "rate", "rule", "lemma", "identity")


def check_entry(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Checked:
    """Load and check one claim, or one form of it if it has that one.

    A claim that fails to run is reported as such and does not stop the others.
    """
    try:
        claim = entry.load()
        lacking = variant is not None and variant not in {form.variant for form in claim.forms}
        verdicts = [] if lacking else check(claim, variant=variant, effort=effort, seed=seed)
    except Exception as error:  # the code of a claim may be a user's
        return Checked(entry, (), (), (), (), f"{type(error).__name__}: {error}")
    forms = [claim.form(verdict.variant) for verdict in verdicts]
    return Checked(entry, claim.uses, tuple(f.latex() for f in forms), tuple(f.note for f in forms), tuple(verdicts))


def check_all(
    entries: Sequence[Entry],
    *,
    variant: str | None = None,
    effort: Effort,
    seed: int = 0,
    jobs: int = 1,
    fresh: bool = False,
    report: Callable[[Checked], None] = lambda checked: None,
) -> tuple[list[Checked], bool]:
    """Return the claims checked, in the order given, and whether the user interrupted.

    ``report`` is called with every claim as it is finished. Results do not depend on ``jobs``. What the same code has
    found before is taken over unless ``fresh`` is set.
    """
    known = {} if fresh else {entry.id: cache.recall(entry, variant, effort, seed) for entry in entries}
    done = {id_: checked for id_, checked in known.items() if checked is not None}
    for checked in done.values():
        report(checked)
    left = sorted((e for e in entries if e.id not in done), key=lambda entry: _SLOW_FIRST.index(entry.kind))
    expect((*_USED, *(entry.name for entry in left if entry.name)))
    interrupted = False
    try:
        for checked in in_processes([(entry, variant, effort, seed) for entry in left], check_entry, jobs):
            done[checked.entry.id] = checked
            cache.keep(checked, variant, effort, seed)
            report(checked)
    except KeyboardInterrupt:
        interrupted = True
    return [done[entry.id] for entry in entries if entry.id in done], interrupted
