"""What is known about a form of a statement: whether it may be relied on, and where that is known from.

A published form may be false. Its verdict comes out of a check: out of a ledger, or out of the counterexamples that
come with the package. A form that is known to be false guarantees nothing, however close it comes to a run.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fltheory.validation import known
from fltheory.validation import ledger as ledgers
from fltheory.validation.verdict import Decision


class Standing(enum.Enum):
    """What a bound is worth on an experiment whose setting meets its assumptions."""

    BOUND = "bound"
    """A bound from above against which nothing is known."""
    RATE = "rate"
    """A law up to constants, evaluated with the constant 1: no guarantee, but comparable with other laws."""
    LOWER = "lower bound"
    """A bound from below."""
    REFUTED = "refuted"
    """A counterexample to the form is known, so that it guarantees nothing."""
    EXCEEDED = "exceeded"
    """The run itself exceeds the bound although all assumptions that were checked are met."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What is known about a form.

    Parameters
    ----------
    refuted
        Whether a counterexample is known.
    words
        The verdict with its strength and severity, and where it is from.
    """

    refuted: bool
    words: str


class KnownVerdicts:
    """What is known about all forms: verdicts of a ledger where there is one, else the shipped counterexamples.

    Parameters
    ----------
    ledger
        File of a ledger that ``fltheory check`` or ``fltheory validate`` has written, or its content.
    """

    def __init__(self, ledger: Mapping[str, Any] | str | os.PathLike[str] | None = None) -> None:
        if isinstance(ledger, str | os.PathLike):
            ledger = ledgers.load(Path(ledger))
        self._forms = {
            (claim["id"], form["variant"]): form
            for claim in (() if ledger is None else ledger["claims"])
            for form in claim["forms"]
        }

    def of(self, id_: str, variant: str) -> Evidence:
        """Return what is known about a form."""
        form = self._forms.get((id_, variant))
        if form is not None and form["verdict"] in (Decision.HOLDS.value, Decision.VIOLATED.value):
            grave = ", ".join(form[name] for name in ("severity", "strength") if form.get(name))
            words = f"{form['verdict']}{f' ({grave})' if grave else ''} in the ledger"
            return Evidence(refuted=form["verdict"] == Decision.VIOLATED.value, words=words)
        if any(one["variant"] == variant for one in known.shipped(id_)):
            return Evidence(refuted=True, words="a counterexample comes with the package")
        return Evidence(refuted=False, words="no counterexample is known")
