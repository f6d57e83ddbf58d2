"""Words for what the report shows: names of forms and papers, instances, why a form fails."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fltheory.bounds.papers import PAPERS
from fltheory.report.formulas import mathml

_VERSIONS = {"000": "long version", "003": "short version"}
_HEADS = {"published": "as printed", "corrected": "corrected", "sharp": "sharp"}
NUMBER = re.compile(r"-?\d+(?:/\d+)?")
"""A whole number or a fraction."""


def form_name(variant: str) -> str:
    """Return a name for a form.

    >>> form_name("published@000"), form_name("published@eq-11"), form_name("corrected@on-the-fly")
    ('Long version, as printed', 'As printed: (11)', 'Corrected: on the fly')
    """
    kind, _, reading = variant.partition("@")
    version, _, rest = reading.partition("-")
    name = _HEADS[kind]
    if version in _VERSIONS:
        name, reading = f"{_VERSIONS[version]}, {name}", rest
    reading = re.sub(r"(?:\beq-)?(?<![\w.])(\d+)(?![\w.])", r"(\1)", reading)
    words = re.sub(r"(?<=\))-(?=\()", ", ", reading).replace("-", " ")
    return name[0].upper() + name[1:] + (f": {words}" if words else "")


def paper_name(tag: str) -> str:
    """Return the short name of a paper, or its tag."""
    return PAPERS[tag].short if tag in PAPERS else tag


def sides(counterexample: Mapping[str, Any]) -> tuple[str, str]:
    """Return both sides of what fails as HTML, floats with as many digits as tell them apart."""
    both = str(counterexample["lhs"]), str(counterexample["rhs"])
    if any("." in side for side in both):
        try:
            numbers = tuple(map(float, both))
        except ValueError:
            return number(both[0]), number(both[1])
        digits = next((n for n in range(4, 17) if f"{numbers[0]:.{n}g}" != f"{numbers[1]:.{n}g}"), 17)
        both = f"{numbers[0]:.{digits}g}", f"{numbers[1]:.{digits}g}"
    return number(both[0]), number(both[1])


def number(text: str) -> str:
    """Return a number as HTML: plain ones as text with a true minus sign, others as formulas."""
    if re.fullmatch(r"[-\d./, ()]+", text):
        return text.replace("-", "−")
    return mathml(text, block=False) if "\\" in text else html.escape(text.replace("**", "^"))


def why(form: Mapping[str, Any]) -> str:
    """Return as HTML, in one sentence, why a form fails, or how it was found to hold."""
    found = form["counterexample"]
    if form["verdict"] == "VIOLATED" and found and not form["evidence"].get("sweeps"):
        left, right = sides(found)
        place = ", ".join(
            f"{name} = {value}" for name, value in found["where"].items() if name not in ("outcome", "entry")
        )
        at = f" at {html.escape(place)}" if place else ""
        if found["sign"] == "≠":
            return f"The two sides are {left} and {right}, not equal, on the instance below{at}."
        return f"The left-hand side is {left}, the right-hand side {right}, on the instance below{at}."
    reason = html.escape(str(form["reason"]))
    reason = re.sub(r"\b([A-Za-z_]+)\^(-?[\d.]*\d)", r"\1<sup>\2</sup>", reason)
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def equation(row: Mapping[str, Any]) -> str:
    """Return a quantity of an instance with its value, or its values, as HTML."""
    symbol = mathml(row["symbol"], block=False)
    if len(row["values"]) == 1:
        return f"{symbol} = {number(row['values'][0])}"
    return f"{symbol} = {' or '.join(dict.fromkeys(map(number, row['values'])))}"


def instance(quantities: Sequence[Mapping[str, Any]]) -> str:
    """Return an instance in one line of HTML."""
    chance: list[str] = next((row["values"] for row in quantities if row["symbol"] == r"\mathbb{P}"), [])
    text = ", ".join(equation(row) for row in quantities if row["symbol"] != r"\mathbb{P}")
    if chance and len(set(chance)) == 1:
        return f"{text}, in {len(chance)} outcomes of probability {number(chance[0])} each"
    return f"{text}, with probabilities {', '.join(map(number, chance))}" if chance else text
