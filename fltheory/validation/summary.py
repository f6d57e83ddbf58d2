"""A ledger in a few numbers: what holds as printed, what does not, and what is most striking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

MIXED = "MIXED"
"""Some readings, or parts, of what is printed fail and others do not."""


def summary(ledger: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return per paper how many statements hold as printed, fail, fail in part, are open, and were corrected."""
    rows = []
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
            }
        )
    return rows


def printed(entry: Mapping[str, Any]) -> str:
    """Return the verdict on a statement as printed.

    Where only readings or parts of it are checked and some of them fail while others do not, the answer is
    :data:`MIXED`.
    """
    forms = [form for form in entry["forms"] if form["variant"].startswith("published")]
    verdicts = {form["verdict"] for form in forms if form["variant"] == "published"} or {f["verdict"] for f in forms}
    if len(verdicts) == 1:
        return str(verdicts.pop())
    if "VIOLATED" in verdicts:
        return MIXED
    return "INCONCLUSIVE" if verdicts else "NOT_APPLICABLE"


def findings(ledger: Mapping[str, Any], count: int = 3) -> list[dict[str, str]]:
    """Return the most striking violations: main results before proof steps, bounds and rates before identities.

    Within a kind, those that fail by the larger factor come first. No paper has a second one before every other paper
    with violations has one. ``instead`` is what a form of ours that holds says, if there is one.
    """
    kinds = ("bound", "rate", "rule", "lemma", "identity")
    main = ("theorem", "corollary", "table", "remark", "figure")

    def rank(entry: Mapping[str, Any]) -> tuple[int, int, float]:
        name = str(entry["id"]).partition(".")[2]
        form = _failing(entry)
        ratio = (form["counterexample"] or {}).get("ratio") or 1.0
        return (not name.startswith(main), kinds.index(entry["kind"]), -abs(float(ratio)))

    failed = sorted((entry for entry in ledger["claims"] if printed(entry) == "VIOLATED"), key=rank)
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
    failed: Mapping[str, Any] = next(form for form in entry["forms"] if form["verdict"] == "VIOLATED")
    return failed
