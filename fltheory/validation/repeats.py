"""One answer out of several searches for the same claim, each with a seed of its own.

A form is violated if one search finds a counterexample; how many of them do says how much a single one is worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fltheory.validation.verdict import Checked, Decision, Verdict

SEARCHES = "searches"
"""Where a verdict keeps the answers of its searches, by seed."""

_DECISIVE = (Decision.VIOLATED, Decision.INCONCLUSIVE, Decision.HOLDS, Decision.NOT_APPLICABLE)
"""What counts if searches disagree, most first."""


def combined(found: Sequence[Checked]) -> Checked:
    """Return one claim out of the same claim checked with several seeds, in the order of the seeds.

    If a search could not be made at all, its error counts.
    """
    failed = next((checked for checked in found if checked.error), None)
    if failed is not None or len(found) == 1:
        return failed or found[0]
    verdicts = zip(*(checked.verdicts for checked in found), strict=True)
    return replace(found[0], verdicts=tuple(map(_joint, verdicts)), reused=all(checked.reused for checked in found))


def _joint(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of several searches: the first with the decisive answer, with the books of all.

    Where nothing fails, the one that came closest to it.
    """

    def rank(verdict: Verdict) -> tuple[int, float]:
        close = 0.0 if verdict.decision is Decision.VIOLATED else verdict.margin or 0.0
        return _DECISIVE.index(verdict.decision), close

    decisive = min(verdicts, key=rank)
    agreeing = sum(verdict.decision is decisive.decision for verdict in verdicts)
    # As in a single search, the margin of a violated form is that of its counterexample.
    several = [decisive] if decisive.decision is Decision.VIOLATED else verdicts
    margins = [verdict.margin for verdict in several if verdict.margin is not None]
    some = f"; found by {agreeing} of {len(verdicts)} searches" if agreeing < len(verdicts) else ""
    return replace(
        decisive,
        margin=min(margins, default=None),
        instances=sum(verdict.instances for verdict in verdicts),
        budget=sum(verdict.budget for verdict in verdicts),
        seconds=sum(verdict.seconds for verdict in verdicts),
        evidence={**decisive.evidence, SEARCHES: {str(v.seed): v.decision.value for v in verdicts}},
        reason=decisive.reason + some,
    )


def in_words(ledger: Mapping[str, Any]) -> list[str]:
    """Return how far the searches of a ledger agree: one sentence, then one line per form on which they do not."""
    forms = [
        (f"{entry['id']} {form['variant']}", form["evidence"][SEARCHES])
        for entry in ledger["claims"]
        for form in entry["forms"]
        if form["evidence"].get(SEARCHES)
    ]
    if not forms:
        return []
    split = [(name, Counter(answers.values())) for name, answers in forms if len(set(answers.values())) > 1]
    seeds = list(forms[0][1])
    return [
        f"Every form was searched with the seeds {seeds[0]} to {seeds[-1]}, and is violated if one search finds a "
        f"counterexample. All searches agree on {len(forms) - len(split)} of {len(forms)} forms"
        + ("; they do not on:" if split else "."),
        *(
            f"- `{name}`: " + ", ".join(f"{answer} {count}" for answer, count in counts.most_common())
            for name, counts in split
        ),
    ]
