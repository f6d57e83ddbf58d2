"""A ledger in a few numbers: what holds as printed, what does not, and what is most striking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fltheory.validation.severity import ORDER, totals

MIXED = "MIXED"
"""Some readings, or parts, of what is printed fail and others do not."""


KINDS = ("bound", "lower", "rate", "rule", "lemma", "identity")
"""Kinds of claims, those with the most weight first."""


def summary(ledger: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return per paper how many statements hold as printed, fail, fail in part, are open, and were corrected.

    Those that fail, wholly or in part, are also counted by the gravest severity of their forms.
    """
    rows = []
    grave = totals(ledger)
    for tag in dict.fromkeys(entry["paper"] for entry in ledger["claims"]):
        own = [entry for entry in ledger["claims"] if entry["paper"] == tag]
        counted = Counter(printed(entry) for entry in own)
        faulty = [entry for entry in own if printed(entry) in ("VIOLATED", MIXED)]
        rows.append(
            {
                "paper": tag,
                "statements": len(own),
                "hold": counted["HOLDS"],
                "violated": counted["VIOLATED"],
                "mixed": counted[MIXED],
                "open": counted["INCONCLUSIVE"] + counted["NOT_APPLICABLE"],
                "corrected": sum(
                    any(not f["variant"].startswith("published") and f["verdict"] == "HOLDS" for f in entry["forms"])
                    for entry in faulty
                ),
                **{name: grave[tag][name] for name in ORDER},
            }
        )
    return rows


def printed(entry: Mapping[str, Any]) -> str:
    """Return the verdict on a statement as printed, by the rule that all counts follow.

    Every published form counts: the statement itself, and every reading or part of it. Those that do not apply to any
    instance are left aside. If all others hold, the statement holds as printed; if all fail, it is violated; if some
    fail and others do not, it is violated in part (:data:`MIXED`); otherwise it is open, as is a statement that could
    not be evaluated.
    """
    if entry["error"]:
        return "INCONCLUSIVE"
    published = [form["verdict"] for form in entry["forms"] if form["variant"].startswith("published")]
    verdicts = set(published) - {"NOT_APPLICABLE"}
    if not verdicts:
        return "NOT_APPLICABLE"
    if len(verdicts) == 1:
        return str(verdicts.pop())
    return MIXED if "VIOLATED" in verdicts else "INCONCLUSIVE"


def findings(ledger: Mapping[str, Any], count: int = 3) -> list[dict[str, str]]:
    """Return the most striking violations.

    Main results come before proof steps, those that fail in all readings before those that fail in part, bounds and
    rates before identities. Within a kind, those that fail by the larger factor come first. No paper has a second one
    before every other paper with violations has one. ``instead`` is what a corrected form that holds says, if there is
    one.
    """
    main = ("theorem", "corollary", "table", "remark", "figure")

    def rank(entry: Mapping[str, Any]) -> tuple[bool, bool, int, float]:
        name = str(entry["id"]).partition(".")[2]
        form = _failing(entry)
        ratio = (form["counterexample"] or {}).get("ratio") or 1.0
        return (not name.startswith(main), printed(entry) == MIXED, KINDS.index(entry["kind"]), -abs(float(ratio)))

    failed = sorted((entry for entry in ledger["claims"] if printed(entry) in ("VIOLATED", MIXED)), key=rank)
    before = Counter[str]()
    turns = []
    for entry in failed:
        turns.append((before[entry["paper"]], entry))
        before[entry["paper"]] += 1
    turns.sort(key=lambda turn: turn[0])
    return [
        {
            **{name: entry[name] for name in ("id", "title", "reference")},
            "variant": _failing(entry)["variant"],
            "why": _failing(entry)["reason"],
            "instead": _instead(entry),
        }
        for _, entry in turns[:count]
    ]


def _instead(entry: Mapping[str, Any]) -> str:
    ours = (form for form in entry["forms"] if form["variant"].startswith("corrected") and form["verdict"] == "HOLDS")
    return str(next((form["note"] for form in ours), ""))


def _failing(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    failed = (form for form in entry["forms"] if form["verdict"] == "VIOLATED")
    return next(form for form in failed if form["variant"].startswith("published"))
