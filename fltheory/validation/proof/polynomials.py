"""Expressions as polynomials, without expanding them first.

SymPy's own expansion makes an expression of every product before anything is added up. Here sums, products and powers
are those of polynomials, and what occurs several times in the relations of a problem is converted once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp


class NotPolynomial(ValueError):
    """An expression with a root, a quotient, or a function."""


class Converter:
    """Makes polynomials of one ring from expressions, remembering the parts.

    Parameters
    ----------
    ring
        The polynomials.
    names
        Which symbols of the ring stand for others.

    Examples
    --------
    >>> from fltheory.validation.proof.sequent import ring_of
    >>> x, y = sp.symbols("x y")
    >>> Converter(ring_of(["x", "y"]))((x + y) ** 2 - x * y / 2)
    x**2 + 3/2*x*y + y**2
    """

    def __init__(self, ring: Any, names: Mapping[Any, Any] | None = None) -> None:
        self._ring = ring
        generators = dict(zip(ring.symbols, ring.gens, strict=True))
        self._known: dict[Any, Any] = dict(generators)
        for symbol, other in (names or {}).items():
            self._known[symbol] = generators[other]

    def __call__(self, expression: Any) -> Any:
        """Return the polynomial; raises :class:`NotPolynomial` if the expression is none as it is written."""
        known = self._known.get(expression)
        if known is None:
            known = self._made(expression)
            self._known[expression] = known
        return known

    def _made(self, expression: Any) -> Any:
        ring = self._ring
        if isinstance(expression, sp.Rational):
            return ring.ground_new(sp.QQ(int(expression.p), int(expression.q)))
        if isinstance(expression, sp.Add):
            total: dict[Any, Any] = {}
            for part in expression.args:
                for monomial, value in self(part).items():
                    total[monomial] = total[monomial] + value if monomial in total else value
            return ring.from_dict({monomial: value for monomial, value in total.items() if value})
        if isinstance(expression, sp.Mul):
            first, *others = sorted((self(part) for part in expression.args), key=len)
            for other in others:
                first = first * other
            return first
        if isinstance(expression, sp.Pow) and expression.exp.is_Integer and expression.exp >= 0:
            return self(expression.base) ** int(expression.exp)
        raise NotPolynomial(str(type(expression).__name__))


def longer(expressions: Any, most: int) -> bool:
    """Return whether expressions together have more operations than a number, as SymPy counts them.

    Counting as SymPy does takes longer than all the rest, and is done only where the parts do not tell.

    >>> x = sp.Symbol("x")
    >>> longer([x + 1, x**2], 2), longer([x + 1, x**2], 1)
    (False, True)
    """
    several = list(expressions)
    parts, waiting = 0, list(several)
    # A part is at most one operation with those before it, and a number of two parts at most three.
    while waiting and 3 * parts <= most:
        one = waiting.pop()
        parts += 1
        waiting.extend(one.args)
    return 3 * parts > most and sum(one.count_ops() for one in several) > most
