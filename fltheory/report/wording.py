"""Words for what the report shows: names of forms and papers, instances, why a form fails."""

from __future__ import annotations

import contextlib
import html
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fltheory.bounds.papers import labelled
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

_INDEX = re.compile(r"(?<![\w.&;])([A-Za-zα-ωΑ-Ω])_(\d+|[A-Za-zα-ωΑ-Ω]|max|min)(?!\w)")
_ID = re.compile(r"(?<![\w.-])[a-z]\w*\.[\w.-]*\w")
_POWER = re.compile(r"(?<=[\w)>])\^(-?[\d.]*\d)")

EXACT = re.compile(r"(?=.*[a-z]\()(?:sqrt|log|exp|[-+*/().\d ])+")
"""An exact number with roots and the like, as SymPy prints it."""

NUMBER = re.compile(r"-?\d+(?:/\d+)?")
"""A whole number or a fraction."""


_E_NOTATION = re.compile(r"(-?\d+(?:\.\d+)?)e([+-]\d+)")

DIGITS = 6
"""Digits of a numerator or denominator beyond which a fraction is told as a decimal number, about."""


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
    if any("." in side or _unreadable(side) for side in both):
        try:
            numbers = tuple(float(Fraction(side) if NUMBER.fullmatch(side) else side) for side in both)
        except (ValueError, ZeroDivisionError, OverflowError):
            return number(both[0]), number(both[1])
        digits = next((n for n in range(4, 17) if f"{numbers[0]:.{n}g}" != f"{numbers[1]:.{n}g}"), 17)
        both = f"{numbers[0]:.{digits}g}", f"{numbers[1]:.{digits}g}"
    return number(both[0]), number(both[1])


def _unreadable(text: str) -> bool:
    """Return whether a number is a fraction with more digits than anybody reads."""
    return bool(NUMBER.fullmatch(text)) and "/" in text and max(map(len, text.lstrip("-").split("/"))) > DIGITS


def decimal(text: str) -> str:
    """Return a fraction with many digits as a decimal number, about; empty for all others."""
    with contextlib.suppress(ZeroDivisionError, OverflowError):
        return f"{float(Fraction(text)):.6g}" if _unreadable(text) else ""
    return ""


def number(text: str) -> str:
    r"""Return a number as HTML: plain ones as text with a true minus sign, others as formulas.

    >>> number("-3/4"), number("5041/16384001"), number("5.71e+26")
    ('−3/4', '≈ 0.000307678', '5.71 · 10<sup>26</sup>')
    >>> print(number(r"1.3 \cdot 10^{-9} - 8"))  # text, which breaks between terms
    1.3 · 10<sup>−9</sup> − 8
    """
    if about := decimal(text):
        return f"≈ {number(about)}"
    if power := _E_NOTATION.fullmatch(text):
        return f"{power[1]} · 10<sup>{int(power[2])}</sup>".replace("-", "−")
    plain = re.sub(r" ?\\cdot ?10\^\{(-?\d+)\}", r" · 10<sup>\1</sup>", text).replace(r"\cdot", "·")
    if re.fullmatch(r"(?:[-+·\d./, ()]|<sup>-?\d+</sup>)+", plain):
        return plain.replace("-", "−")
    if EXACT.fullmatch(text):
        return mathml(as_latex(text), block=False)
    return mathml(text, block=False) if "\\" in text else html.escape(text.replace("**", "^"))


def _called(function: re.Match[str]) -> str:
    if function[1] == "exp":
        return f"e^{{{function[2]}}}"
    # Brackets that are not looked at again.
    return rf"\sqrt{{{function[2]}}}" if function[1] == "sqrt" else rf"\log⟦{function[2]}⟧"


def as_latex(text: str) -> str:
    r"""Return an exact number with roots and logarithms, as SymPy prints it, as LaTeX.

    >>> print(as_latex("3*sqrt(2)*sqrt(log(5))/4 - exp(-1)"))
    3\,\sqrt{2}\,\sqrt{\log(5)}/4 - e^{-1}
    """
    before = ""
    while text != before:
        before, text = text, re.sub(r"(sqrt|log|exp)\(([^()]*)\)", _called, text)
    return text.replace("**", "^").replace("*", r"\,").replace("⟦", "(").replace("⟧", ")")


def why(form: Mapping[str, Any]) -> str:
    """Return as HTML, in one sentence, why a form fails, or how it was found to hold."""
    found = form["counterexample"]
    if form["verdict"] == "VIOLATED" and found and not form["evidence"].get("sweeps"):
        left, right = printed_sides(form)
        place = ", ".join(f"{name} = {value}" for name, value in found["where"].items() if name not in HIDDEN)
        at = f" at {prose(place)}" if place else ""
        left, right = told(form, "left", left), told(form, "right", right)
        if found["sign"] == "≠":
            return f"The two sides are {left} and {right}, not equal, on the instance below{at}."
        return f"The left-hand side is {left}, the right-hand side {right}, on the instance below{at}."
    reason = prose(str(form["reason"]))
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def told(form: Mapping[str, Any], side: str, value: str) -> str:
    r"""Return the value of a side as HTML, behind the values of its terms where it has several.

    >>> print(told({"counterexample": {"terms": {"right": "2 + 6"}}}, "right", "8"))
    2 + 6 = 8
    """
    terms = (form["counterexample"].get("terms") or {}).get(side)
    return f"{number(terms)} = {value}".replace("= ≈", "≈") if terms else value


def compared(form: Mapping[str, Any]) -> str:
    r"""Return both sides of what fails as HTML, in the order of the formula, with the sign between them.

    >>> found = {"lhs": "10", "rhs": "8", "sign": ">", "terms": {"right": "2 + 6"}}
    >>> compared({"latex": r"x \le y", "counterexample": found})
    '10 &gt; 2 + 6 = 8'
    """
    left, right = printed_sides(form)
    sign = "&lt;" if relation(form["latex"]) == "ge" else "&gt;"
    sign = "≠" if form["counterexample"]["sign"] == "≠" else sign
    terms = (form["counterexample"].get("terms") or {}).get("left")
    left = f"{left} = {number(terms)}" if terms else left
    return f"{left} {sign} {told(form, 'right', right)}"


def prose(text: str) -> str:
    """Return a few words as HTML, with names of symbols as the symbols, their indices, and powers.

    >>> prose("steps of at most 1/(2 mu)"), prose("sigma_sq < Gamma_k^2")
    ('steps of at most 1/(2 μ)', 'σ² &lt; Γ<sub>k</sub><sup>2</sup>')
    """
    words = re.sub(_GREEK_WORD, lambda match: _GREEK[match[1]] + ("²" if match[2] else ""), html.escape(text))
    return _POWER.sub(r"<sup>\1</sup>", _INDEX.sub(r"\1<sub>\2</sub>", words))


class References:
    """Names of statements in sentences: as their papers number them, with links to those on the page.

    Parameters
    ----------
    known
        Paper and reference by id.
    there
        Ids of the statements on the page.
    """

    def __init__(self, known: Mapping[str, tuple[str, str]], there: Collection[str]) -> None:
        self._known, self._there = known, there

    def linked(self, text: str, paper: str) -> str:
        """Return a sentence of a paper's page as HTML, with names in place of ids.

        >>> known = {"ruan.eq-44": ("ruan", "(44)"), "li.lemma-1": ("li", "Lemma 1")}
        >>> References(known, {"ruan.eq-44"}).linked("rests on ruan.eq-44, li.lemma-1", "ruan")
        'rests on <a href="#ruan.eq-44">(44)</a>, Li et al., Lemma 1'
        """
        return _ID.sub(lambda match: self._named(match[0], paper), html.escape(text))

    def _named(self, id_: str, paper: str) -> str:
        if id_ not in self._known:
            return id_
        home, reference = self._known[id_]
        name = html.escape(reference if home == paper else labelled(home, reference))
        return f'<a href="#{html.escape(id_)}">{name}</a>' if id_ in self._there else name


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
    """Return a quantity of an instance with its value, or its values in the order of the outcomes, as HTML."""
    symbol = mathml(row["symbol"], block=False)
    if len(row["values"]) == 1:
        return f"{symbol} = {number(row['values'][0])}".replace("= ≈", "≈")
    return f"{symbol} = {' | '.join(map(number, row['values']))}"


def equations(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return as HTML the quantities of an instance that have one value; members of a family with the same one together.

    >>> rows = [{"symbol": name, "meaning": "their means", "values": ["1"]} for name in ("a", "b")]
    >>> equations(rows)
    ['<math><mi>a</mi></math> = <math><mi>b</mi></math> = 1']
    """
    alike: dict[tuple[str, str, bool], list[str]] = {}
    for row in rows:
        if len(row["values"]) == 1:
            key = row["meaning"], row["values"][0], row.get("assumed", False)
            alike.setdefault(key, []).append(mathml(row["symbol"], block=False))
    return [" = ".join([*symbols, number(value)]).replace("= ≈", "≈") for (_, value, _), symbols in alike.items()]


def instance(quantities: Sequence[Mapping[str, Any]]) -> str:
    """Return an instance in one line of HTML."""
    chance: list[str] = next((row["values"] for row in quantities if row["symbol"] == PROBABILITY), [])
    random = (row for row in quantities if row["symbol"] != PROBABILITY and len(row["values"]) > 1)
    text = ", ".join([*equations(quantities), *map(equation, random)])
    if chance and len(set(chance)) == 1:
        return f"{text}, in {len(chance)} outcomes of probability {number(chance[0])} each"
    return f"{text}, in outcomes of probability {' | '.join(map(number, chance))}" if chance else text
