"""Irrational constants in statements over classes: rational numbers a little to the side that makes them stronger.

Certificates are in rational numbers. A goal whose two sides differ by an expression with a constant such as Euler's
number or a root of two follows from the one with a slightly smaller constant; the other way round nothing follows, so
that hypotheses with such constants are not used.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from fltheory.validation.proof.translate import Untranslatable

DIGITS = 40
"""Digits to which constants are evaluated."""

STEP = sp.Rational(1, 10**15)
"""By how much they are made smaller, at least and, but for rounding to a multiple of it, at most."""


def below(expression: Any) -> Any:
    """Return an expression that is at most the given one, whose constant term is rational.

    >>> below(sp.Symbol("x") + sp.sqrt(2))
    x + 707106781186547/500000000000000
    >>> below(sp.Symbol("x") + 2)
    x + 2
    """
    terms = sp.Add.make_args(sp.expand(expression))
    numbers = sp.Add(*(term for term in terms if not term.free_symbols))
    if numbers.is_Rational:
        return expression
    if not numbers.is_real:
        raise Untranslatable(f"{numbers} is no real number")
    value = sp.Rational(str(sp.N(numbers, DIGITS)))
    return sp.Add(*(term for term in terms if term.free_symbols), (sp.floor(value / STEP) - 1) * STEP)
