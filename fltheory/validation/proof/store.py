"""Certificates on disk: those that come with the package, and those that a user has made beside a ledger."""

from __future__ import annotations

from pathlib import Path

from fltheory.bounds.claim import Claim, Form
from fltheory.errors import FltheoryError
from fltheory.validation.proof import provers
from fltheory.validation.proof.certificate import Certificate, Hypotheses, file_of, load, statement_digest

SHIPPED = Path(__file__).parent / "certificates"
"""Certificates that come with the package."""

FOLDER = "certificates"
"""Folder beside a ledger with one file per certificate."""


def recall(claim: Claim, form: Form, *folders: Path) -> Certificate | None:
    """Return the first stored certificate of a form that proves it still; one of an earlier statement is ignored."""
    hypotheses = Hypotheses.of(claim, form)
    for folder in (*folders, SHIPPED):
        path = folder / file_of(claim.id, form.variant)
        if not path.exists():
            continue
        try:
            stored = load(path)
        except FltheoryError:
            continue
        if stored.statement == statement_digest(form, hypotheses) and not provers.replay(stored, form, hypotheses):
            return stored
    return None
