"""How much of what holds is proved, by paper and kind, and which constants may be smaller: from a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fltheory.bounds.papers import paper_of
from fltheory.validation.summary import KINDS
from fltheory.validation.verdict import Strength

LOOSE = 2.0
"""Margin above which a corrected form deserves a sharper one."""


def loose(ledger: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Return corrected forms that no instance comes near, without a sharp form: claim, variant and margin.

    Exact bounds, lemmas and rules only: of a rate the margin is the inverse of the constant that the ``O`` stands for.
    """
    return [
        (entry["id"], form["variant"], form["margin"])
        for entry in ledger["claims"]
        if entry["kind"] in ("lemma", "bound", "rule")
        and not any(f["variant"].startswith("sharp") for f in entry["forms"])
        for form in entry["forms"]
        if form["variant"].startswith("corrected") and form["verdict"] == "HOLDS" and (form["margin"] or 0.0) > LOOSE
    ]


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
        *(
            f"| {paper_of(row['paper'])} | {row['kind']} | {row['hold']} | {row['proved']} | {row['certified']} |"
            for row in rows
        ),
    ]


def loose_in_words(ledger: Mapping[str, Any]) -> str:
    """Return the corrected forms that no instance comes near, in one sentence; empty if there are none."""
    found = ", ".join(f"`{id_}` {variant} ({margin:.3g})" for id_, variant, margin in loose(ledger))
    if not found:
        return ""
    return (
        f"Corrected forms without a sharp one that hold with more than a factor of {LOOSE:g} to spare on every "
        f"instance of the search, with that factor: {found}."
    )
