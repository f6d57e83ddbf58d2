"""Comparisons that ranges decide: rational interval arithmetic on expressions made of sums, products and powers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

Interval = tuple[Any, Any]
"""Lower and upper end, rational numbers."""


def decided(relation: Relational, ranges: Mapping[Any, Interval]) -> bool | None:
    """Return whether a comparison is true, or false, for all values in given ranges; ``None`` if that is open.

    >>> x = sp.Symbol("x", real=True)
    >>> half = {x: (sp.Integer(0), sp.Rational(1, 2))}
    >>> decided(x < 1, half), decided(x**2 > 1, half), decided(x > sp.Rational(1, 4), half)
    (True, False, None)
    """
    found = enclosure(relation.lhs - relation.rhs, ranges)
    if found is None:
        return None
    low, high = found
    if isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan):
        low, high = -high, -low
    if isinstance(relation, sp.StrictLessThan | sp.StrictGreaterThan):
        return True if high < 0 else False if low >= 0 else None
    if isinstance(relation, sp.LessThan | sp.GreaterThan):
        return True if high <= 0 else False if low > 0 else None
    return None


def enclosure(expression: Any, ranges: Mapping[Any, Interval]) -> Interval | None:
    """Return an interval that contains all values of an expression; ``None`` if it is made of something else."""
    if isinstance(expression, sp.Rational):
        return expression, expression
    if isinstance(expression, sp.Symbol):
        return ranges.get(expression)
    parts = [enclosure(part, ranges) for part in expression.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if isinstance(expression, sp.Add):
        return sum(low for low, _ in known), sum(high for _, high in known)
    if isinstance(expression, sp.Mul):
        product: Interval = (sp.Integer(1), sp.Integer(1))
        for part in known:
            ends = [a * b for a, b in itertools.product(product, part)]
            product = min(ends), max(ends)
        return product
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        return _power(known[0], int(expression.exp))
    return None


def _power(base: Interval, exponent: int) -> Interval | None:
    low, high = base
    if exponent < 0:
        if low <= 0 <= high:
            return None
        return _power((1 / high, 1 / low), -exponent)
    ends = [low**exponent, high**exponent]
    if low < 0 < high:
        ends.append(sp.Integer(0))
    return min(ends), max(ends)
