r"""Code that treats all coordinates alike: what one coordinate shows of a statement about vectors, and what it hides.

The code of a check is run along one coordinate. There the product of two coordinates is an inner product, the largest
square is the sum of squares, :math:`\langle u, v\rangle^2 = \|u\|^2\|v\|^2`, and the number of dimensions is one.
None of this holds for longer vectors. So the code is run once more in the plane, where every symbol for a vector has
a twin for the second coordinate. A relation :math:`r(x)` that is linear in inner products has to become

.. math:: r(x) + r(x') - r(0),

and one between vectors has to become itself, once for either coordinate. The slopes of functions change sides in the
second run, so that nothing can depend on which side of a kink is steep.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.relational import Equality, Relational

from fltheory.validation.proof.function_classes import Answers
from fltheory.validation.proof.parts import rooted
from fltheory.validation.proof.root_sums import root_sum
from fltheory.validation.proof.translate import Untranslatable

PLACES = 2
"""Random places at which relations are compared, in rational numbers."""

_DIGITS = 60
_SMALL = sp.Float("1e-40")

Groups = Sequence[Sequence[Relational]]
"""Relations at all their places, those of one statement together."""


class Twins:
    """Compares what the code says along one coordinate with what it says in the plane.

    Parameters
    ----------
    twins
        The symbol for the second coordinate of every vector.
    numbers
        Symbols for values of functions.
    """

    def __init__(self, twins: Mapping[sp.Symbol, sp.Symbol], numbers: Sequence[sp.Symbol]) -> None:
        rng = random.Random(20261119)
        self._at: list[tuple[NumbersAt, ...]] = []
        for _ in range(PLACES):
            shared = {number: _some(rng) for number in numbers}
            first = {symbol: _some(rng) for symbol in twins}
            second = {symbol: _some(rng) for symbol in twins}
            both = first | {twin: second[symbol] for symbol, twin in twins.items()}
            nought = dict.fromkeys(twins, sp.Integer(0))
            self._at.append(tuple(NumbersAt(shared | one) for one in (first, second, nought, both)))

    def alike(self, along: Sequence[Relational], plane: Sequence[Relational]) -> bool:
        """Return whether the relations of one statement are as they have to be."""
        if len(plane) == len(along):
            return all(self._sums(one, other) for one, other in zip(along, plane, strict=True))
        if len(plane) == 2 * len(along):
            pairs = zip(along, plane[::2], plane[1::2], strict=True)
            return all(self._copies(one, *other) for one, *other in pairs)
        return False

    def _sums(self, one: Relational, other: Relational) -> bool:
        """Return whether a relation between numbers is linear in inner products."""
        if _kind(one) != _kind(other):
            return False
        with contextlib.suppress(_Irrational):  # what is rational has no roots and no maximum: there is one part
            return all(
                first.gap(one) + second.gap(one) - nought.gap(one) == both.gap(other)
                for first, second, nought, both in self._at
            )
        parts, others = _parts(one), _parts(other)
        if len(parts) != len(others):
            return False
        for first, second, nought, both in self._at:
            expected = [first.value(p) + second.value(p) - nought.value(p) for p in parts]
            if not _same(expected, [both.value(p) for p in others]):
                return False
        return True

    def _copies(self, one: Relational, first: Relational, second: Relational) -> bool:
        """Return whether a relation between vectors says the same of either coordinate."""
        if not _kind(one) == _kind(first) == _kind(second):
            return False
        with contextlib.suppress(_Irrational):
            return all(
                left.gap(one) == both.gap(first) and right.gap(one) == both.gap(second)
                for left, right, _, both in self._at
            )
        part, *others = (high - low for low, high in map(_sides, (one, first, second)))
        return all(
            _same([here.value(part)], [both.value(another)])
            for left, right, _, both in self._at
            for here, another in zip((left, right), others, strict=True)
        )


class _Irrational(Exception):
    """A value that is not made of rational numbers by sums, products and whole powers."""


class NumbersAt:
    """Rational numbers for symbols, and what expressions are there.

    Parameters
    ----------
    at
        The number for each symbol.
    """

    def __init__(self, at: Mapping[Any, Any]) -> None:
        self._at = at
        self._known = {symbol: sp.QQ(number.p, number.q) for symbol, number in at.items()}

    def gap(self, relation: Relational) -> Any:
        """Return the larger side less the smaller one, a number of ``sympy.QQ``; raises for anything else."""
        low, high = _sides(relation)
        return self._rational(high) - self._rational(low)

    def value(self, expression: Any) -> Any:
        """Return the value of an expression, as SymPy has it."""
        found = sp.sympify(expression).xreplace(self._at)
        if found.free_symbols:
            raise Untranslatable("a parameter that shapes functions is in a relation")
        return found

    def _rational(self, expression: Any) -> Any:
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._made(expression)
        return known

    def _made(self, expression: Any) -> Any:
        if isinstance(expression, sp.Rational):
            return sp.QQ(expression.p, expression.q)
        if isinstance(expression, sp.Add):
            return sum(map(self._rational, expression.args))
        if isinstance(expression, sp.Mul):
            return math.prod(map(self._rational, expression.args))
        if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
            base = self._rational(expression.base)
            if base or expression.exp >= 0:
                return base ** int(expression.exp)
        raise _Irrational


def same_answers(along: Answers, plane: Answers) -> bool:
    """Return whether functions have been asked the same, whichever of their slopes is on the left."""
    return (
        [*map(_asked, along.seen.items())] == [*map(_asked, plane.seen.items())]
        and [*along.optima.values()] == [*plane.optima.values()]
        and [point for point, _ in along.pulled.values()] == [point for point, _ in plane.pulled.values()]
        and along.proximal.keys() == plane.proximal.keys()
        and all(along.proximal[key] == plane.proximal[key] for key in along.proximal)
    )


def _asked(item: tuple[Any, Any]) -> Any:
    (centre, knot, *slopes), known = item
    return centre, knot, sorted(slopes), known


def _some(rng: random.Random) -> sp.Rational:
    return sp.Rational(rng.choice((-1, 1)) * rng.randint(2, 40), 7)


def _same(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    if all(value.is_Rational for value in (*ones, *others)):
        return sorted(ones) == sorted(others)
    left, right = (sorted(sp.re(sp.N(value, _DIGITS)) for value in several) for several in (ones, others))
    return all(abs(a - b) < _SMALL * max(1, abs(a)) for a, b in zip(left, right, strict=True))


def _sides(relation: Relational) -> tuple[Any, Any]:
    """Return the smaller side first; for an equation, the left one."""
    return (relation.rhs, relation.lhs) if isinstance(relation, sp.Ge | sp.Gt) else (relation.lhs, relation.rhs)


def _kind(relation: Relational) -> str:
    """Return the sign of a relation, whichever side comes first."""
    return {sp.Ge: "<=", sp.Le: "<=", sp.Gt: "<", sp.Lt: "<"}.get(relation.func, "=")


def _parts(relation: Relational) -> list[Any]:
    """Return what has to be linear in inner products.

    The difference of both sides, or of their squares if they have roots; of norms that add up to zero, their squares;
    of a maximum, every member.
    """
    low, high = _sides(relation)
    if isinstance(relation, Equality) and high == 0:
        terms = [term.as_coeff_Mul() for term in sp.Add.make_args(low)]
        if low != 0 and all(isinstance(root, sp.Pow) and root.exp == sp.Rational(1, 2) for _, root in terms):
            return [root.base for _, root in terms]
    roots = root_sum(relation)
    if roots is not None:
        return list(roots)
    members = low.args if isinstance(low, sp.Max) else (low,)
    return [_difference(member, high) for member in members]


def _difference(low: Any, high: Any) -> Any:
    if not (rooted(low) or rooted(high)):
        return high - low
    numbers = all(not side.free_symbols or _product(side) for side in (low, high))
    return high**2 - low**2 if numbers else high - low


def _product(side: Any) -> bool:
    return not isinstance(side, sp.Add)
