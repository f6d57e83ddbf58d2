r"""Inequalities of Minkowski's kind: a sum of two roots on the larger side, as a problem without roots.

For :math:`a, b \ge 0` the square :math:`(\sqrt a + \sqrt b)^2` is the smallest value of
:math:`(1 + \theta)a + (1 + \frac1\theta)b` over all :math:`\theta > 0`. So
:math:`c + (\sqrt a + \sqrt b)^2 \ge 0` says that

.. math:: \theta c + (\theta + \theta^2)a + (1 + \theta)b \ge 0 \qquad\text{for all}\quad \theta > 0 .

Of what is linear in inner products and numbers there are then three multiples, by :math:`1, \theta` and
:math:`\theta^2`. With :math:`V = \theta v` for every vector they are linear in inner products again, :math:`\langle u,
v\rangle`, :math:`\langle u, V\rangle = \langle U, v\rangle` and :math:`\langle U, V\rangle`; numbers get a symbol for
each multiple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sympy as sp
from sympy.core.relational import Relational

from fltheory.validation.proof.parts import rooted
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

HALF = sp.Rational(1, 2)


class Sum(NamedTuple):
    """A relation that says that ``rest`` plus the square of the sum of the roots of ``one`` and ``other`` is >= 0."""

    rest: Any
    one: Any
    other: Any


def root_sum(relation: Relational) -> Sum | None:
    r"""Return a relation as one about a sum of two roots, squared; ``None`` if it is none.

    >>> x, y, z = sp.symbols("x y z")
    >>> sorted(root_sum(sp.Le(x, (sp.sqrt(y) + 2 * sp.sqrt(z)) ** 2 / 2, evaluate=False)), key=str)
    [-x, 2*z, y/2]
    >>> sorted(root_sum(sp.Le(sp.sqrt(x), sp.sqrt(y) + 3, evaluate=False)), key=str)
    [-x, 9, y]
    >>> root_sum(sp.Le(x, sp.sqrt(y) - 3, evaluate=False))
    """
    if not isinstance(relation, sp.Le | sp.Ge):
        return None
    low, high = (relation.rhs, relation.lhs) if isinstance(relation, sp.Ge) else (relation.lhs, relation.rhs)
    if not (rooted(low) or rooted(high)):
        return None
    terms = sp.Add.make_args(high - low)
    squares = [_square_of_sum(term) for term in terms]
    if sum(square is not None for square in squares) == 1:
        rest = sp.Add(*(term for term, square in zip(terms, squares, strict=True) if square is None))
        one, other = next(square for square in squares if square is not None)
        return None if rooted(rest) else Sum(rest, one, other)
    roots = [_square_of_root(term) for term in terms]
    less = [_square_of_root(-term) for term in terms]
    positive, negative = ([root for root in several if root is not None] for several in (roots, less))
    if len(terms) != 3 or (len(positive), len(negative)) != (2, 1) or not rooted(high - low):
        return None
    return Sum(-negative[0], *positive)


def _square_of_sum(term: Any) -> tuple[Any, Any] | None:
    """Return the squares of both parts if a term is a positive number times the square of a sum of two roots."""
    factor, power = term.as_coeff_Mul()
    if not (factor.is_Rational and factor > 0 and isinstance(power, sp.Pow) and power.exp == 2):
        return None
    parts = [_square_of_root(part) for part in sp.Add.make_args(power.base)]
    if len(parts) != 2 or None in parts or not rooted(power.base):
        return None
    return factor * parts[0], factor * parts[1]


def _square_of_root(term: Any) -> Any:
    """Return the square of a root times a positive number, or of such a number; ``None`` of anything else."""
    factor, power = term.as_coeff_Mul()
    if not (factor.is_Rational and factor > 0):
        return None
    if power == 1:
        return factor**2
    return factor**2 * power.base if isinstance(power, sp.Pow) and power.exp == HALF else None


class Multiples:
    """Makes multiples by powers of a positive number of polynomials that are linear in inner products and numbers.

    Parameters
    ----------
    ring
        Vectors, then numbers.
    count
        How many of them are vectors.
    """

    def __init__(self, ring: Any, count: int) -> None:
        names = [symbol.name for symbol in ring.symbols]
        numbers = names[count:]
        self.count, self.numbers = count, len(numbers)
        self.ring = ring_of(
            [*names[:count], *(f"{name} theta" for name in names[:count]), *numbers]
            + [f"{name} theta^{power}" for power in (1, 2) for name in (*numbers, "1")]
        )

    def times(self, polynomial: Any, power: int) -> Any:
        """Return a polynomial times a power, 0, 1 or 2, of the number."""
        return sum((self._term(m, power) * value for m, value in polynomial.terms()), self.ring.zero)

    def _term(self, monomial: Sequence[int], power: int) -> Any:
        gens, count = self.ring.gens, self.count
        vectors = [n for n, times in enumerate(monomial[:count]) for _ in range(times)]
        if vectors:
            one, other = vectors
            if power == 1:
                half = sp.QQ(1, 2)
                return (gens[one] * gens[count + other] + gens[count + one] * gens[other]) * half
            shift = count if power else 0
            return gens[shift + one] * gens[shift + other]
        place = next((n for n, times in enumerate(monomial[count:]) if times), self.numbers)
        if not power:
            return self.ring.one if place == self.numbers else gens[2 * count + place]
        return self._number(place, power)

    def _number(self, place: int, power: int) -> Any:
        """Return the symbol for a multiple of a number, the number one after all others."""
        return self.ring.gens[2 * self.count + self.numbers + (power - 1) * (self.numbers + 1) + place]

    def problem(self, facts: Sequence[Fact], rest: Any, one: Any, other: Any) -> Sequent:
        """Return the problem for the polynomials of a :class:`Sum`."""
        known = [Fact(self.times(fact.polynomial, power), fact.sign) for fact in facts for power in range(3)]
        known += [Fact(self._number(self.numbers, power), Sign.NONNEGATIVE) for power in (1, 2)]
        gens, count = self.ring.gens, self.count
        known += [
            Fact(gens[a] * gens[count + b] - gens[count + a] * gens[b], Sign.ZERO)
            for a in range(count)
            for b in range(a + 1, count)
        ]
        goal = self.times(rest, 1) + sum((self.times(p, n) for p, n in ((one, 1), (one, 2), (other, 0), (other, 1))))
        return Sequent(self.ring, tuple(known), Fact(goal, Sign.NONNEGATIVE))
