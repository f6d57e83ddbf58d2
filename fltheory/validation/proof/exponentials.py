r"""Exponentials as polynomial problems: a new positive symbol for each, between its Taylor polynomials.

Exponents that are rational multiples of one expression are powers of one symbol :math:`E = e^y`. Of it nothing is
known but, for all real :math:`y` and odd :math:`n`,

.. math:: e^y \ge \sum_{j \le n}\frac{y^j}{j!}, \qquad e^y\sum_{j \le n}\frac{(-y)^j}{j!} \le 1,

since the remainder of a Taylor polynomial of odd degree is an even power times something positive. What follows from
these follows for the exponential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from fltheory.bounds.quantities import Domain
from fltheory.validation.proof.parts import of_kinds

DEGREES = (1, 3, 5)
"""Degrees of the Taylor polynomials, all odd."""


def without_exponentials(relations: Sequence[Relational]) -> tuple[list[Relational], dict[sp.Symbol, Domain]]:
    """Return relations without exponentials, what is known of the new symbols first, and their domains.

    >>> x = sp.Symbol("x")
    >>> (first, *_, last), domains = without_exponentials([sp.Le(sp.exp(-2 * x), sp.exp(-x), evaluate=False)])
    >>> print(first, last, list(domains), sep="; ")
    exponential_1 >= x + 1; exponential_1**(-2) <= 1/exponential_1; [exponential_1]
    """
    powers = sorted(set().union(*(of_kinds(relation, sp.exp) for relation in relations)), key=sp.default_sort_key)
    if not powers:
        return list(relations), {}
    groups: dict[Any, dict[Any, Any]] = {}
    for power in powers:
        number, core = sp.expand(power.args[0]).primitive()
        if core.could_extract_minus_sign():
            number, core = -number, sp.expand(-core)
        groups.setdefault(core, {})[power] = number
    known: list[Relational] = []
    swap: dict[Any, Any] = {}
    domains: dict[sp.Symbol, Domain] = {}
    for place, (core, several) in enumerate(groups.items(), 1):
        symbol = sp.Symbol(f"exponential_{place}")
        domains[symbol] = Domain.POSITIVE
        unit = reduce(_common, (abs(number) for number in several.values()))
        swap |= {power: symbol ** int(number / unit) for power, number in several.items()}
        known += _about(symbol, unit * core)
    changed = [
        relation.func(*(side.xreplace(swap) for side in relation.args), evaluate=False) for relation in relations
    ]
    return [*known, *changed], domains


def _common(one: Any, other: Any) -> Any:
    """Return the largest number of which two rational ones are whole multiples."""
    return sp.Rational(math.gcd(one.p * other.q, other.p * one.q), one.q * other.q)


def _about(symbol: sp.Symbol, exponent: Any) -> list[Relational]:
    """Return what is known of an exponential."""
    found: list[Relational] = []
    for degree in DEGREES:
        upward, downward = (
            sp.expand(sum((sign * exponent) ** j / sp.factorial(j) for j in range(degree + 1))) for sign in (1, -1)
        )
        found.append(sp.Ge(symbol, upward, evaluate=False))
        found.append(sp.Le(symbol * downward, 1, evaluate=False))
    return found
