"""The findings of the first page: violations that a reader can check by hand in a minute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fltheory.bounds.papers import paper_of
from fltheory.bounds.plain_text import plain
from fltheory.report.formulas import mathml
from fltheory.report.sections import hypotheses, instance_table, parts
from fltheory.report.wording import NUMBER, compared, instance, prose
from fltheory.validation.in_symbols import PROBABILITY
from fltheory.validation.severity import ORDER

_MAIN = ("theorem", "corollary", "lemma", "table", "remark")
_SIDES = ("lhs", "rhs")
_AS_PRINTED = ("published", "published@000", "published@003")

CLOSE = 1.2
"""Sides whose ratio is smaller are less telling than those that are far apart."""


def findings(ledger: Mapping[str, Any], count: int = 3) -> list[dict[str, Any]]:
    """Return the most telling violations that are easy to check by hand, at most one of a paper.

    What is false as stated comes before gaps, those before misprints. Then come fewest numbers, short numbers and
    short formulas, theorems and lemmas before steps of proofs, instances without zeros before degenerate ones. The form
    must be what is printed, not a reading of it, and the instance confirmed without rounding; a comparison of two
    numbers that are given leaves nothing to check.
    """
    best: dict[str, tuple[tuple[int, float], dict[str, Any]]] = {}
    for entry in ledger["claims"]:
        for form in entry["forms"]:
            found = form["counterexample"]
            if form["variant"] in _AS_PRINTED and form["verdict"] == "VIOLATED" and _can_be_checked(form, found):
                cost = _gravity(form), _cost(entry, form, found)
                if entry["paper"] not in best or cost < best[entry["paper"]][0]:
                    best[entry["paper"]] = cost, {"entry": entry, "form": form, "counterexample": found}
    chosen = sorted(best.values(), key=lambda item: item[0])[:count]
    return [_finding(**found) for _, found in chosen]


def _gravity(form: Mapping[str, Any]) -> int:
    """Return the place of the severity of a form, the gravest first."""
    return len(ORDER) - 1 - ORDER.index(form["severity"]) if form.get("severity") in ORDER else len(ORDER)


def _can_be_checked(form: Mapping[str, Any], found: Mapping[str, Any] | None) -> bool:
    return (
        found is not None
        and bool(found.get("quantities"))
        and found["arithmetic"] == "rational"
        and all(NUMBER.fullmatch(found[side]) for side in _SIDES)
        and _unexplained(found) < len(_SIDES)
    )


def _unexplained(found: Mapping[str, Any]) -> int:
    """Return how many sides are quantities with a given value about which no assumption says more."""
    return 0 if found.get("hypotheses") else int(found.get("given", 0))


def _cost(entry: Mapping[str, Any], form: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """Return how hard a counterexample is to check by hand; theorems and lemmas are worth more work."""
    numbers = [value for row in found["quantities"] for value in row["values"]]
    digits = sum(len(value) - 1 for value in (*numbers, found["lhs"], found["rhs"]))
    formulas = [form["latex"], *(one["statement"] for one in found.get("hypotheses", ()))]
    length = sum(len(plain(formula)) for formula in formulas)
    zeros = sum(row["values"] == ["0"] for row in found["quantities"]) + 2 * sum(found[side] == "0" for side in _SIDES)
    plainly = not str(entry["id"]).partition(".")[2].startswith(_MAIN)
    near = found["sign"] != "≠" and 1 / CLOSE < float(found.get("ratio") or 0) < CLOSE
    spread: float = 2 * len(found["quantities"]) + len(numbers) + digits + length / 5 + 5 * zeros
    return float(spread) + 60 * plainly + 20 * near + 60 * _unexplained(found)


def _finding(entry: Mapping[str, Any], form: Mapping[str, Any], counterexample: Mapping[str, Any]) -> dict[str, Any]:
    statement, *defined = parts(form["latex"])
    return {
        **{name: entry[name] for name in ("id", "reference")},
        "title": prose(entry["title"]),
        "note": prose(form["note"]),
        "paper": paper_of(entry["paper"]),
        "statement": statement,
        "defined": defined,
        "symbols": [
            {"symbol": mathml(symbol, block=False), "meaning": prose(meaning)}
            for symbol, meaning in _symbols(counterexample["quantities"]).items()
        ],
        "instance": instance_table(counterexample),
        "line": instance(counterexample["quantities"]),
        "hypotheses": hypotheses(counterexample),
        "outcome": compared(form),
        "instead": next(
            (
                prose(other["note"])
                for other in entry["forms"]
                if other["variant"].startswith("corrected") and other["verdict"] == "HOLDS"
            ),
            "",
        ),
    }


def _symbols(quantities: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return symbols with what they mean; of members of a family, which mean the same, the first."""
    found: dict[str, str] = {}
    for row in quantities:
        if row["symbol"] != PROBABILITY and row["meaning"] not in found.values():
            found[row["symbol"]] = row["meaning"]
    return found
