"""Checking many claims on all cores, keeping what is finished when the user loses patience."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fltheory.claims import Entry
from fltheory.processes import in_processes
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
    error: str = ""

    @property
    def broken(self) -> bool:
        """Whether a form that is ours, and so must hold, does not, or the claim could not be evaluated at all."""
        return bool(self.error) or any(
            v.outcome is Outcome.VIOLATED and not v.variant.startswith("published") for v in self.verdicts
        )


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
    report: Callable[[Checked], None] = lambda checked: None,
) -> tuple[list[Checked], bool]:
    """Return the claims checked, in the order given, and whether the user interrupted.

    ``report`` is called with every claim as it is finished. Results do not depend on ``jobs``.
    """
    done: dict[str, Checked] = {}
    ordered = sorted(entries, key=lambda entry: _SLOW_FIRST.index(entry.kind))
    interrupted = False
    try:
        for checked in in_processes([(entry, variant, effort, seed) for entry in ordered], check_entry, jobs):
            done[checked.entry.id] = checked
            report(checked)
    except KeyboardInterrupt:
        interrupted = True
    return [done[entry.id] for entry in entries if entry.id in done], interrupted
