r"""The order in which a formula prints the terms of a sum and the factors of a product.

SymPy sorts both by name, so the order of the paper is lost. These rules restore what papers have in common:

* A sum begins with a positive term if it has one. Numbers stand before symbols, :math:`1 + \theta`, but behind counts,
  :math:`T + 1`. Then terms follow by their power of the learning rate.
* A product begins with parameters, :math:`\mu` before the learning rate; then come weights, other quantities with
  indices, functions, expectations, inner products, norms and sums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import sympy as sp

from fltheory.bounds.algebra import EE, Inner, Norm, NormSq
from fltheory.bounds.quantities import declaration

_LETTER = re.compile(r"(?:\\(?:bar|tilde|hat|overline|widetilde)(?![A-Za-z])|[{\s])*(\\[A-Za-z]+|.)")
"""The first symbol of LaTeX, behind accents."""

_COUNTS = frozenset({"t", "T", "N", "K", "E", "m", "i", "j", "k", "l", r"\tau"})
"""Symbols that count: a number is added behind them."""

_RATES = frozenset({r"\eta"})

_PARAMETERS: tuple[frozenset[str], ...] = (
    frozenset({r"\tau", "t"}),
    frozenset({r"\mu"}),
    frozenset({r"\alpha", r"\beta", r"\gamma", r"\delta", r"\theta", r"\kappa", r"\lambda", r"\rho", r"\omega"}),
    _RATES,
)
"""Parameters at the head of a product, in this order; all others follow, and last those of :data:`_BEHIND`."""

_BEHIND = frozenset({r"\sigma", r"\epsilon", r"\varepsilon", r"\Gamma", r"\Delta"})

_WEIGHTS: tuple[frozenset[str], ...] = (
    frozenset({"1", r"\mathbf", "p", "q", "n"}),
    frozenset({"s"}),
    frozenset({r"\alpha", r"\mathrm"}),
)
"""Quantities with indices at their head: weights, steps, whether a step is taken; all others follow."""

_SCALAR, _BRACKET, _INDEXED, _FUNCTION, LONG, _SUM = 0, 3.5, 10, 20, 30, 40
"""Places of kinds of factors. Those from :data:`LONG` on stand beside a fraction."""

_LARGE = (
    (sp.Sum, _SUM),
    (Norm | NormSq, LONG + 3),
    (Inner, LONG + 2),
    (EE, LONG),
)


LARGE_KINDS = (sp.Sum, Norm, NormSq, Inner, EE)
"""What makes a factor long."""

_NAMED = {r"\mathbb": LONG, r"\sum": _SUM}
"""How the LaTeX of an expectation or a sum begins that is a quantity of its own."""


def terms(ordered: Sequence[Any]) -> list[Any]:
    """Return the terms of a sum in the order in which they are printed, given in the order of SymPy."""
    counts = all(_letter(term) in _COUNTS for term in ordered if not term.is_number)

    def place(term: Any) -> tuple[bool, int, float]:
        minus = bool(term.could_extract_minus_sign())
        number = 0 if not term.is_number else 1 if counts or minus else -1
        return minus, number, _power_of_rate(term)

    return sorted(ordered, key=place)


def factors(ordered: Sequence[Any]) -> list[Any]:
    """Return the factors of a product in the order in which they are printed, given in the order of SymPy."""
    return sorted(ordered, key=place)


def place(factor: Any) -> float:
    """Return the place of a factor in a product; from :data:`LONG` on it is a norm, a sum, or contains one."""
    base, exponent = factor.as_base_exp()
    large = next((place for kind, place in _LARGE if isinstance(base, kind)), None)
    if large is not None:
        return large
    if base.is_number:
        return -1
    if isinstance(base, sp.Add):
        if base.has(*LARGE_KINDS):
            return LONG + 1
        return _INDEXED + 5 if base.has(sp.Indexed) or not exponent.is_number else _BRACKET
    if isinstance(base, sp.binomial):
        return -0.5
    letter = _letter(base)
    if isinstance(base, sp.Symbol):
        if letter in _NAMED:
            return _NAMED[letter]
        found = next((n for n, group in enumerate(_PARAMETERS) if letter in group), None)
        return _SCALAR + found if found is not None else 5 if letter in _BEHIND else 4
    if isinstance(base, sp.Indexed):
        return _INDEXED + next((n for n, group in enumerate(_WEIGHTS) if letter in group), len(_WEIGHTS))
    return _SUM - 2 if base.has(*LARGE_KINDS) else _FUNCTION


def _letter(expression: Any) -> str:
    """Return the symbol that a quantity is written with, without accents and indices."""
    known = declaration(expression)
    text = known.latex if known else str(expression) if isinstance(expression, sp.Symbol) else ""
    found = _LETTER.match(text)
    return found[1] if found else ""


def _power_of_rate(term: Any) -> float:
    """Return the power in which the learning rate is a factor of a term."""
    return float(
        sum(
            exponent
            for base, exponent in (factor.as_base_exp() for factor in sp.Mul.make_args(term))
            if exponent.is_number and _letter(base) in _RATES
        )
    )
