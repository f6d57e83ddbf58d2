"""The findings of the first page: violations that a reader can check by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fltheory.bounds.papers import paper_of
from fltheory.report.sections import parts
from fltheory.report.wording import NUMBER, instance, printed_sides, prose
from fltheory.validation.in_symbols import relation

_MAIN = ("theorem", "corollary", "lemma", "table", "remark")
_SIDES = ("lhs", "rhs")


_AS_PRINTED = ("published", "published@000", "published@003")


def findings(ledger: Mapping[str, Any], count: int = 3) -> list[dict[str, Any]]:
    """Return the violations that are easiest to check by hand, at most one of a paper.

    Fewest numbers first, then short numbers and short formulas; theorems and lemmas before steps of proofs. The form
    must be what is printed, not a reading of it, and the instance confirmed without rounding.
    """
    best: dict[str, tuple[float, dict[str, Any]]] = {}
    for entry in ledger["claims"]:
        for form in entry["forms"]:
            found = form["counterexample"]
            if form["variant"] in _AS_PRINTED and form["verdict"] == "VIOLATED" and _can_be_checked(found):
                cost = _cost(entry, form, found)
                if entry["paper"] not in best or cost < best[entry["paper"]][0]:
                    best[entry["paper"]] = cost, {"entry": entry, "form": form, "counterexample": found}
    chosen = sorted(best.values(), key=lambda item: item[0])[:count]
    return [_finding(**found) for _, found in chosen]


def _can_be_checked(found: Mapping[str, Any] | None) -> bool:
    return (
        found is not None
        and bool(found.get("quantities"))
        and found["arithmetic"] == "rational"
        and all(NUMBER.fullmatch(found[side]) for side in _SIDES)
    )


def _cost(entry: Mapping[str, Any], form: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """Return how hard a counterexample is to check by hand; theorems and lemmas are worth more work."""
    numbers = [value for row in found["quantities"] for value in row["values"]]
    digits = sum(len(value) - 1 for value in (*numbers, found["lhs"], found["rhs"]))
    # A quantity that is a side itself leaves nothing to compute.
    given = any(
        row["values"] == [found[side]] and len(row["symbol"]) > 12 for row in found["quantities"] for side in _SIDES
    )
    plain = not str(entry["id"]).partition(".")[2].startswith(_MAIN)
    return 2 * len(found["quantities"]) + len(numbers) + digits + len(form["latex"]) / 10 + 60 * plain + 100 * given


def _finding(entry: Mapping[str, Any], form: Mapping[str, Any], counterexample: Mapping[str, Any]) -> dict[str, Any]:
    left, right = printed_sides(form)
    sign = "&lt;" if relation(form["latex"]) == "ge" else "&gt;"
    sign = "≠" if counterexample["sign"] == "≠" else sign
    return {
        **{name: entry[name] for name in ("id", "reference")},
        "title": prose(entry["title"]),
        "paper": paper_of(entry["paper"]),
        "statement": parts(form["latex"])[0],
        "instance": instance(counterexample["quantities"]),
        "outcome": f"{left} {sign} {right}",
        "instead": next(
            (
                prose(other["note"])
                for other in entry["forms"]
                if other["variant"].startswith("corrected") and other["verdict"] == "HOLDS"
            ),
            "",
        ),
    }
