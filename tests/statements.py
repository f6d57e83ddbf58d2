"""A snapshot of everything that is claimed: every form of every statement with its definitions and assumptions.

Published forms are transcriptions that no check can tell from the truth, and a changed constant in a corrected form may
go unnoticed by a search. So any change has to show in a diff that somebody approves. Renew the snapshot with

    python -m tests.statements
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Claim
from fltheory.bounds.printing import latex

FOLDER = Path(__file__).parent / "data" / "statements"


def lines(claim: Claim) -> Iterator[str]:
    """Yield the text of a claim: its forms, and the conditions of each."""
    yield f"{claim.id} ({claim.kind.value}): {claim.title} [{claim.citation.paper}, {claim.citation.reference}]"
    yield f"uses: {', '.join(claim.uses) or 'nothing'}"
    for form in claim.forms:
        yield f"{form.variant}: {form.note}".rstrip(": ")
        if form.intended:
            yield f"    intended by {', '.join(form.intended)}"
        yield from (f"    {part}" for part in form.latex().split(r",\quad "))
        for assumption in claim.assumptions_of(form):
            over = ", ".join(f"{latex(i)} from {low} to {high}" for i, low, high in assumption.over)
            words = f"    if {assumption.name}: {latex(assumption.relation)} ({assumption.origin.value})"
            yield words + (f" for {over}" if over else "")


def text(paper: str) -> str:
    """Return all statements of a paper."""
    claims = [entry.load() for entry in catalogue.index().values() if entry.paper == paper]
    return "\n\n".join("\n".join(lines(claim)) for claim in claims) + "\n"


def papers() -> list[str]:
    """Return the papers of the catalogue."""
    return sorted({entry.paper for entry in catalogue.index().values()})


def main() -> None:
    """Write the snapshot."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for paper in papers():
        (FOLDER / f"{paper}.txt").write_text(text(paper), encoding="utf-8")


if __name__ == "__main__":
    main()
