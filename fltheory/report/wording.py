"""Words for what the report shows: names of forms and papers, instances, why a form fails."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from fltheory.report.formulas import mathml
from fltheory.validation.in_symbols import GREEK, HIDDEN, PROBABILITY, relation, settings

_VERSIONS = {"000": "long version", "003": "short version"}
_HEADS = {"published": "as printed", "corrected": "corrected", "sharp": "sharp"}
SEVERITIES = {"misprint": "a misprint", "gap": "a gap in a proof", "false": "false as stated"}
"""What the severity of a violation says."""

_GREEK = {
    name: unicodedata.lookup(
        f"GREEK {'SMALL' if name.islower() else 'CAPITAL'} LETTER {name.upper().replace('BDA', 'DA')}"
    )
    for name in GREEK
}
_GREEK_WORD = re.compile(rf"(?<![A-Za-z_@.])(?<![a-z]-)({'|'.join(_GREEK)})(_sq)?(?![A-Za-z]|-[a-z])")

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
        left, right = printed_sides(form)
        place = ", ".join(f"{name} = {value}" for name, value in found["where"].items() if name not in HIDDEN)
        at = f" at {prose(place)}" if place else ""
        if found["sign"] == "≠":
            return f"The two sides are {left} and {right}, not equal, on the instance below{at}."
        return f"The left-hand side is {left}, the right-hand side {right}, on the instance below{at}."
    reason = prose(str(form["reason"]))
    reason = re.sub(r"(\w|\))\^(-?[\d.]*\d)", r"\1<sup>\2</sup>", reason)
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def prose(text: str) -> str:
    """Return a few words as HTML, with names of symbols as the symbols.

    >>> prose("steps of at most 1/(2 mu)"), prose("sigma_sq < Gamma_k")
    ('steps of at most 1/(2 μ)', 'σ² &lt; Γ_k')
    """
    return re.sub(_GREEK_WORD, lambda match: _GREEK[match[1]] + ("²" if match[2] else ""), html.escape(text))


def printed_sides(form: Mapping[str, Any]) -> tuple[str, str]:
    r"""Return both sides as HTML, in the order of the formula: a statement with ≥ is checked as one with ≤.

    >>> found = {"lhs": "1/308", "rhs": "0"}
    >>> printed_sides({"latex": r"x \ge \frac{1}{308}", "counterexample": found})
    ('0', '1/308')
    """
    left, right = sides(form["counterexample"])
    return (right, left) if relation(form["latex"]) == "ge" else (left, right)


def ratio(form: Mapping[str, Any]) -> str:
    """Return what the margin of a form is the smallest value of."""
    if form["evidence"].get("sweeps"):
        return "claimed/measured"
    return "lhs/rhs" if relation(form["latex"]) == "ge" else "rhs/lhs"


def certified(form: Mapping[str, Any]) -> list[str]:
    """Return the settings of the generator for which there is a certificate, if the sentence leaves them out."""
    return settings(str((form["evidence"].get("certificate") or {}).get("covers") or ""))


def equation(row: Mapping[str, Any]) -> str:
    """Return a quantity of an instance with its value, or its values, as HTML."""
    symbol = mathml(row["symbol"], block=False)
    if len(row["values"]) == 1:
        return f"{symbol} = {number(row['values'][0])}"
    return f"{symbol} = {' or '.join(dict.fromkeys(map(number, row['values'])))}"


def instance(quantities: Sequence[Mapping[str, Any]]) -> str:
    """Return an instance in one line of HTML."""
    chance: list[str] = next((row["values"] for row in quantities if row["symbol"] == PROBABILITY), [])
    text = ", ".join(equation(row) for row in quantities if row["symbol"] != PROBABILITY)
    if chance and len(set(chance)) == 1:
        return f"{text}, in {len(chance)} outcomes of probability {number(chance[0])} each"
    return f"{text}, with probabilities {', '.join(map(number, chance))}" if chance else text
