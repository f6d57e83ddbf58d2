"""How much of what holds is proved: counts by paper and kind, from a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fltheory.validation.summary import KINDS
from fltheory.validation.verdict import Strength


def coverage(ledger: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row per paper and kind: how many forms hold, and how many of them are proved or certified."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for entry in ledger["claims"]:
        counts = found.setdefault((entry["paper"], entry["kind"]), Counter())
        counts.update(form.get("strength", "") for form in entry["forms"] if form["verdict"] == "HOLDS")
    papers = list(dict.fromkeys(entry["paper"] for entry in ledger["claims"]))
    return [
        {
            "paper": paper,
            "kind": kind,
            "hold": found[paper, kind].total(),
            **{one.value: found[paper, kind][one.value] for one in (Strength.PROVED, Strength.CERTIFIED)},
        }
        for paper in papers
        for kind in KINDS
        if (paper, kind) in found and found[paper, kind].total()
    ]


def table(ledger: Mapping[str, Any]) -> list[str]:
    """Return the counts as lines of a Markdown table; none if nothing is proved."""
    rows = coverage(ledger)
    if not any(row["proved"] + row["certified"] for row in rows):
        return []
    return [
        "| paper | kind | forms that hold | proved | certified |",
        "|---|---|---|---|---|",
        *(f"| {row['paper']} | {row['kind']} | {row['hold']} | {row['proved']} | {row['certified']} |" for row in rows),
    ]
