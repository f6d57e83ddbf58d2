"""Checking many claims on all cores, keeping what is finished when the user loses patience."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from fltheory.claims import Entry
from fltheory.validation.decide import Effort, check
from fltheory.validation.verdict import Outcome, Verdict

_SLOW_FIRST = ("bound", "rate", "rule", "lemma", "identity")


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with its verdicts and the LaTeX of its forms."""

    entry: Entry
    uses: tuple[str, ...]
    latex: tuple[str, ...]
    notes: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def broken(self) -> bool:
        """Whether a form that is ours, and so must hold, does not."""
        return any(v.outcome is Outcome.VIOLATED and not v.variant.startswith("published") for v in self.verdicts)


def check_entry(entry: Entry, variant: str | None, effort: Effort, seed: int) -> Checked:
    """Load and check one claim."""
    claim = entry.load()
    verdicts = check(claim, variant=variant, effort=effort, seed=seed)
    forms = [claim.form(verdict.variant) for verdict in verdicts]
    return Checked(entry, claim.uses, tuple(f.latex() for f in forms), tuple(f.note for f in forms), tuple(verdicts))


def check_all(
    entries: Sequence[Entry],
    *,
    variant: str | None = None,
    effort: Effort,
    seed: int = 0,
    jobs: int = 1,
    report: Callable[[Checked], None] = lambda checked: None,
) -> tuple[list[Checked], bool]:
    """Return the claims checked, in the order given, and whether the user interrupted.

    ``report`` is called with every claim as it is finished. Results do not depend on ``jobs``.
    """
    done: dict[str, Checked] = {}

    def take(checked: Checked) -> None:
        done[checked.entry.id] = checked
        report(checked)

    interrupted = False
    try:
        if jobs == 1 or len(entries) == 1:
            for entry in entries:
                take(check_entry(entry, variant, effort, seed))
        else:
            _in_processes(entries, variant, effort, seed, jobs, take)
    except KeyboardInterrupt:
        interrupted = True
    return [done[entry.id] for entry in entries if entry.id in done], interrupted


def _in_processes(
    entries: Sequence[Entry],
    variant: str | None,
    effort: Effort,
    seed: int,
    jobs: int,
    take: Callable[[Checked], None],
) -> None:
    ordered = sorted(entries, key=lambda entry: _SLOW_FIRST.index(entry.kind))
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    try:
        futures = [pool.submit(check_entry, entry, variant, effort, seed) for entry in ordered]
        for future in as_completed(futures):
            take(future.result())
        pool.shutdown()
    except BaseException:
        for process in list((pool._processes or {}).values()):  # the pool offers no way to stop a running task
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which stops the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
