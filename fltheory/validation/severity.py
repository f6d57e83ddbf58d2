"""How grave a violation is: a misprint, a gap in a proof, or a false statement.

Nobody writes a severity down. A form may say of which published form it is the intended reading, which is a fact about
the text; the rest follows from verdicts and from the proof graph:

* ``misprint``: a form that is declared the intended reading of the violated one holds;
* ``gap``: the statement is a step in proofs, and every result at the end of them holds as printed, or has misprints
  only;
* ``false``: anything else.

Results that a ledger does not contain count as refuted if the package ships a counterexample to a published form of
them, so that the answer does not depend on which claims were checked together.
"""

from __future__ import annotations

import enum
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fltheory.bounds import catalogue
from fltheory.errors import FltheoryError
from fltheory.validation import known


class Severity(enum.Enum):
    """How much of a violated statement survives, the mildest first."""

    MISPRINT = "misprint"
    """The intended formula is obvious and holds."""
    GAP = "gap"
    """A step is false, the conclusion survives."""
    FALSE = "false"
    """There is no repair without changing the claim."""


ORDER = tuple(severity.value for severity in Severity)


def graded(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a ledger with the severity of every violated published form; empty for all others.

    Empty, too, while the form that is declared to be meant has not been checked.
    """
    entries = {entry["id"]: entry for entry in document["claims"]}
    failed = any(_violated(entry) for entry in entries.values())
    users = _users(entries) if failed else {}
    claims = [
        {**entry, "forms": [{**form, "severity": _of(form, entry, entries, users)} for form in entry["forms"]]}
        for entry in document["claims"]
    ]
    return {**document, "claims": claims}


def worst(entry: Mapping[str, Any]) -> str:
    """Return the gravest severity among the forms of a statement; empty if no published form is violated."""
    found = [form.get("severity", "") for form in entry["forms"]]
    return max((one for one in found if one), key=ORDER.index, default="")


def totals(document: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """Return per paper how many statements have a violated published form, by the gravest severity among them."""
    counted: dict[str, Counter[str]] = {}
    for entry in document["claims"]:
        own = counted.setdefault(entry["paper"], Counter(dict.fromkeys(ORDER, 0)))
        if worst(entry):
            own[worst(entry)] += 1
    return counted


def in_words(document: Mapping[str, Any]) -> str:
    """Return the totals in one sentence; empty if nothing published is violated."""
    counted = sum(totals(document).values(), Counter[str]())
    every = sum(counted.values())
    if not every:
        return ""
    parts = ", ".join(f"{counted[one]} {word}" for one, word in zip(ORDER, ("misprints", "gaps", "false"), strict=True))
    return f"Of {every} statement{'s' * (every != 1)} with a violated published form, by the gravest one: {parts}."


def _of(
    form: Mapping[str, Any],
    entry: Mapping[str, Any],
    entries: Mapping[str, Mapping[str, Any]],
    users: Mapping[str, Sequence[str]],
) -> str:
    if form["verdict"] != "VIOLATED" or not form["variant"].startswith("published"):
        return ""
    if _misprinted(form, entry):
        return Severity.MISPRINT.value
    if set(form.get("meant", ())) - {other["variant"] for other in entry["forms"]}:
        return ""  # what was meant has not been checked
    ends = _ends(entry["id"], users)
    if ends and all(_survives(end, entries) for end in ends):
        return Severity.GAP.value
    return Severity.FALSE.value


def _violated(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [f for f in entry["forms"] if f["verdict"] == "VIOLATED" and f["variant"].startswith("published")]


def _misprinted(form: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    meant = form.get("meant", ())
    return any(other["variant"] in meant and other["verdict"] == "HOLDS" for other in entry["forms"])


def _survives(id_: str, entries: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a result holds as printed, up to misprints."""
    entry = entries.get(id_)
    if entry is None:
        try:
            return not known.stored(id_)
        except FltheoryError:
            return False
    published = [form for form in entry["forms"] if form["variant"].startswith("published")]
    fine = [form["verdict"] in ("HOLDS", "NOT_APPLICABLE") or _misprinted(form, entry) for form in published]
    return not entry["error"] and bool(fine) and all(fine)


def _ends(id_: str, users: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the results at the end of the proofs in which a statement is a step; empty if it is none."""
    seen, waiting = {id_}, list(users.get(id_, ()))
    found = set()
    while waiting:
        user = waiting.pop()
        if user in seen:
            continue
        seen.add(user)
        further = [other for other in users.get(user, ()) if other != user]
        waiting += further
        if not further:
            found.add(user)
    return found


def _users(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return by statement those whose published proofs use it: of the ledger, else of the package."""
    uses = {**_package_uses(), **{id_: tuple(entry["uses"]) for id_, entry in entries.items()}}
    users: dict[str, list[str]] = {}
    for id_, used in uses.items():
        for one in used:
            users.setdefault(one, []).append(id_)
    return users


@functools.cache
def _package_uses() -> dict[str, tuple[str, ...]]:
    return {id_: catalogue.uses(entry) for id_, entry in catalogue.index().items()}
