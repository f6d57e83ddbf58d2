"""Expressions as polynomials, without expanding them first.

SymPy's own expansion makes an expression of every product before anything is added up. Here sums, products and powers
are those of polynomials, and what occurs several times in the relations of a problem is converted once.
"""

from __future__ import annotations

import math
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

    Attributes
    ----------
    ring
        The polynomials.
    quotients, relations
        Expressions that are no polynomials, and relations, with what has been made of them.
    zero, one
        Polynomials that are constant.

    Examples
    --------
    >>> from fltheory.validation.proof.sequent import ring_of
    >>> x, y = sp.symbols("x y")
    >>> Converter(ring_of(["x", "y"]))((x + y) ** 2 - x * y / 2)
    x**2 + 3/2*x*y + y**2
    """

    def __init__(self, ring: Any, names: Mapping[Any, Any] | None = None) -> None:
        self.ring = ring
        generators = dict(zip(ring.symbols, ring.gens, strict=True))
        self._known: dict[Any, Any] = dict(generators)
        for symbol, other in (names or {}).items():
            self._known[symbol] = generators[other]
        self.quotients: dict[Any, Any] = {}
        self.relations: dict[Any, Any] = {}
        self.zero, self.one = ring.zero, ring.one

    def __call__(self, expression: Any) -> Any:
        """Return the polynomial; raises :class:`NotPolynomial` if the expression is none as it is written."""
        known = self._known.get(expression)
        if known is None:
            known = self._made(expression)
            self._known[expression] = known
        return known

    def _made(self, expression: Any) -> Any:
        ring = self.ring
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


_PRIMES = [sp.prime(number) for number in range(5, 105)]
"""Values at which polynomials are compared."""


def divides(piece: Any, polynomial: Any) -> bool:
    """Return whether a polynomial with whole coefficients, irreducible, divides another.

    Where it does not, the values at one place tell, as a rule; it is divided only if they do not.

    >>> from fltheory.validation.proof.sequent import ring_of
    >>> x, y = ring_of(["x", "y"]).gens
    >>> divides(x + y, x**2 - y**2), divides(x + y, x**2 + y**2)
    (True, False)
    """
    if not polynomial:
        return True
    if polynomial.is_ground:
        return False
    if piece.ring.ngens <= len(_PRIMES) and all(value.denominator == 1 for value in piece.values()):
        common = math.lcm(*(int(value.denominator) for value in polynomial.values()))
        divisor = _value(piece, 1)
        if divisor and _value(polynomial, common) % divisor:
            return False
    return not polynomial.rem(piece)


def _value(polynomial: Any, factor: int) -> int:
    """Return the value of a polynomial times a number at one place."""
    total = 0
    for monomial, value in polynomial.terms():
        term = int(value.numerator) * (factor // int(value.denominator))
        for place, power in enumerate(monomial):
            if power:
                term *= _PRIMES[place] ** power
        total += term
    return total


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
