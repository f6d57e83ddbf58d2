r"""Statements as LaTeX, in the notation of the papers.

Terms and factors stand in the order of :mod:`fltheory.bounds.term_order`, terms in that of the paper where it is known.
Long factors stand beside a fraction,
:math:`\frac{\mu}{2} \|w\|^2`, a number that the terms of a factor have in common in front of it,
:math:`2 (1 + \theta) L`, and brackets grow only around what is higher than a line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from fltheory.bounds import paper_order, term_order
from fltheory.bounds.quantities import Quantity, declaration

_HIGH = re.compile(r"\\(?:frac|sum|binom|left|sqrt\[)")
"""What is higher than a line."""


class _Latex(LatexPrinter):
    """SymPy's printer with the vocabulary of statements and the order of the papers."""

    def __init__(self, page: str) -> None:
        super().__init__({"mul_symbol": None})
        self._settings["page"] = page

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        known = declaration(expr)
        return known.latex if known else str(super()._print_Symbol(expr, style))

    def _print_Indexed(self, expr: Any) -> str:
        known = declaration(expr)
        return _filled(known.latex, map(self._print, expr.indices)) if known else str(super()._print_Indexed(expr))

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        known = declaration(expr)
        if known:
            return _raised(_filled(known.latex, map(self._print, expr.args)), exp)
        return str(super()._print_Function(expr, exp))

    def terms_of(self, expr: Any) -> list[Any]:
        """Return the terms of an expression in the order in which they are printed."""
        if not isinstance(expr, sp.Add):
            return [expr]
        found = term_order.terms(self._as_ordered_terms(expr))
        page = self._settings["page"]
        if not page:
            return found
        return [found[place] for place in paper_order.order(page, tuple(self._print(term) for term in found))]

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        first, *others = self.terms_of(expr)
        text = self._print(first)
        for term in others:
            minus = term.could_extract_minus_sign()
            added = self._print(-term if minus else term)
            text += f" - {self._closed(-term, added)}" if minus else f" + {added}"
        return str(text)

    def _print_Mul(self, expr: Any) -> str:
        number, rest = expr.as_coeff_Mul()
        return self._product(number, rest.as_ordered_factors())

    def _print_Pow(self, expr: Any) -> str:
        if _is_below(expr):
            return self._product(sp.Integer(1), [expr])
        if expr.exp.is_Integer and declaration(expr.base) is not None and "^" in self._print(expr.base):
            return f"{self._add_parens(self._print(expr.base))}^{{{self._print(expr.exp)}}}"
        return str(super()._print_Pow(expr))

    def _product(self, number: Any, factors: Iterable[Any]) -> str:
        """Return a product: its sign, a fraction of what is short, then what is long."""
        if not number.is_Rational:
            number, factors = sp.Integer(1), [number, *factors]
        above, below = list[Any](), list[Any]()
        for factor in factors:
            common, primitive = _primitive(factor)
            number *= common
            if _is_below(primitive):
                below.append(sp.Pow(primitive.base, -primitive.exp))
            else:
                above.append(primitive)
        above, below = term_order.factors(above), term_order.factors(below)
        beside: list[Any] = []
        if (below or number.q > 1) and not any(factor.has(*term_order.LARGE_KINDS) for factor in below):
            beside = [factor for factor in above if term_order.place(factor) >= term_order.LONG]
            above = above[: len(above) - len(beside)]
        fraction = bool(below) or number.q > 1
        text = self._row(abs(number.p), above, alone=fraction or not beside)
        if fraction:
            text = rf"\frac{{{text}}}{{{self._row(number.q, below)}}}"
        return ("- " if number < 0 else "") + " ".join(
            filter(None, (text, self._row(1, beside, alone=False) if beside else ""))
        )

    def _row(self, number: int, factors: list[Any], *, alone: bool = True) -> str:
        """Return a number and factors one after the other; all sums but the last one stand in brackets."""
        if not factors:
            return str(number)
        if len(factors) == 1 and number == 1 and alone and isinstance(factors[0], sp.Add):
            return str(self._print(factors[0]))
        written = [str(number)] if number != 1 else []
        for factor in factors:
            text = self._print(factor)
            open_end = isinstance(factor, sp.Sum) and factor is not factors[-1]
            if isinstance(factor, sp.Add) or open_end or text.startswith("-"):
                text = self._add_parens(text)
            written.append(self._closed(factor, text))
        return " ".join(written)

    def _closed(self, expr: Any, text: str) -> str:
        """Return a part of a formula, in brackets if it is a quantity whose own LaTeX is a sum of terms."""
        return self._add_parens(text) if declaration(expr) is not None and _is_sum(text) else text

    def _add_parens(self, s: str) -> str:
        return _enclosed("(", s, ")")

    def _print_Sum(self, expr: Any) -> str:
        body, *limits = expr.args
        signs = "".join(
            rf"\sum_{{{self._print(v)}={self._print(low)}}}^{{{self._print(high)}}} " for v, low, high in limits
        )
        inner = self._print(body)
        return signs + (self._add_parens(inner) if isinstance(body, sp.Add) or inner.startswith("-") else inner)

    def _print_EE(self, expr: Any, exp: Any = None) -> str:
        return _raised(rf"\mathbb{{E}}{_enclosed('[', self._print(expr.args[0]), ']')}", exp)

    def _print_Norm(self, expr: Any, exp: Any = None) -> str:
        return _raised(_enclosed(r"\|", self._print(expr.args[0]), r"\|"), exp)

    def _print_NormSq(self, expr: Any, exp: Any = None) -> str:
        text = _enclosed(r"\|", self._print(expr.args[0]), r"\|") + "^{2}"
        return _raised(self._add_parens(text), exp) if exp else text

    def _print_Inner(self, expr: Any, exp: Any = None) -> str:
        left, right = map(self._print, expr.args)
        return _raised(_enclosed(r"\langle ", f"{left}, {right}", r"\rangle "), exp).strip()

    def _print_Pos(self, expr: Any, exp: Any = None) -> str:
        return _raised(f"{self._add_parens(self._print(expr.args[0]))}_{{+}}", exp)

    def _print_Differ(self, expr: Any, exp: Any = None) -> str:
        left, right = map(self._print, expr.args)
        return _raised(rf"\mathbf{{1}}\left[{left} \ne {right}\right]", exp)

    def _print_BigO(self, expr: Any, exp: Any = None) -> str:
        return self._call("O", expr.args, exp)

    def _print_Max(self, expr: Any, exp: Any = None) -> str:
        return self._call(r"\max", sorted(expr.args, key=sp.default_sort_key), exp)

    def _print_Min(self, expr: Any, exp: Any = None) -> str:
        return self._call(r"\min", sorted(expr.args, key=sp.default_sort_key), exp)

    def _print_log(self, expr: Any, exp: Any = None) -> str:
        return self._call(r"\log", expr.args, exp)

    def _call(self, name: str, args: Iterable[Any], exp: Any) -> str:
        return _raised(name + self._add_parens(", ".join(map(self._print, args))), exp)


def as_used(quantity: Quantity, parts: Iterable[sp.Basic]) -> str:
    r"""Return the LaTeX of a quantity with the indices that formulas give it, for tables of symbols.

    >>> from fltheory.bounds.quantities import family, index, scalar
    >>> i, x = index("i"), family("x", "x_{<0>}", "the models")
    >>> as_used(x.label.quantity, [x[0] + 1, x[i] ** 2])
    'x_{i}'
    """
    found = {atom for part in parts for atom in part.atoms(sp.Indexed) if declaration(atom) == quantity}
    plain = [atom for atom in found if all(isinstance(index, sp.Symbol) for index in atom.indices)]
    different = [atom for atom in plain if len(set(atom.indices)) == len(atom.indices)]
    return min((latex(atom) for atom in different), key=lambda text: (len(text), text), default=quantity.with_indices)


def _is_below(factor: Any) -> bool:
    """Return whether a factor stands below a fraction."""
    return isinstance(factor, sp.Pow) and bool(factor.exp.is_Rational) and bool(factor.exp < 0)


def _primitive(factor: Any) -> tuple[Any, Any]:
    """Return the whole number that the terms of a factor have in common, and what is left of it."""
    base, exponent = factor.as_base_exp()
    if isinstance(base, sp.Add) and exponent in (1, -1):
        common, primitive = base.primitive()
        if common.is_Integer:
            return common**exponent, primitive**exponent
    return sp.Integer(1), factor


def _is_sum(text: str) -> bool:
    """Return whether LaTeX has a plus or minus outside of all brackets."""
    depth, bars = 0, 0
    for mark in re.findall(r"\\\||[{(\[]|[})\]]| [+-] ", text):
        bars ^= mark == r"\|"
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(mark, 0)
        if depth == 0 and not bars and mark in (" + ", " - "):
            return True
    return False


def _enclosed(opening: str, text: str, closing: str) -> str:
    if _HIGH.search(text):
        return rf"\left{opening}{text}\right{closing}"
    return f"{opening}{text}{closing}"


def _raised(text: str, exp: Any) -> str:
    return f"{text}^{{{exp}}}" if exp else text


def _filled(template: str, parts: Iterable[str]) -> str:
    for position, part in enumerate(parts):
        # A command that ends in a letter must not run into the next one.
        template = template.replace(f"<{position}>", f"{{{part}}}" if "\\" in part else part)
    return template


def terms_of(expression: sp.Basic, page: str = "") -> list[sp.Basic]:
    """Return the terms of a sum in the order in which :func:`latex` prints them, or the expression itself."""
    return _Latex(page).terms_of(expression)


@functools.cache
def latex(expression: sp.Basic, page: str = "") -> str:
    r"""Return LaTeX; ``<0>``, ``<1>`` in the LaTeX of a family or function stand for its indices or arguments.

    Terms stand in the order of the displays on a page, see :mod:`fltheory.bounds.paper_order`.

    >>> from fltheory.bounds.quantities import family, index, scalar
    >>> k, N = index("k"), scalar("N", "N", "number of things")
    >>> latex(sp.Sum(family("p", "p^{<0>}", "weights")[k], (k, 1, N)))
    '\\sum_{k=1}^{N} p^{k}'
    """
    if isinstance(expression, Relational):
        sign = {"<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">", "!=": r"\ne"}[expression.rel_op]
        return f"{latex(expression.lhs, page)} {sign} {latex(expression.rhs, page)}"
    return str(_Latex(page).doprint(expression))
