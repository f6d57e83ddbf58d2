"""Relations between vectors as problems about their inner products, for vectors of any dimension or of one.

Symbols for vectors occur in products of two, which are inner products, and numbers alone; a relation that is made of
anything else is refused, or restated with both sides squared.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp
from sympy.core.relational import Equality, Relational

from fltheory.validation.proof.constants import below
from fltheory.validation.proof.function_classes import Answers
from fltheory.validation.proof.parts import has_kinds, nodes, of_kinds, rooted
from fltheory.validation.proof.polynomials import Converter, NotPolynomial, longer
from fltheory.validation.proof.root_sums import Multiples, root_sum
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of
from fltheory.validation.proof.translate import Untranslatable

UNIT = "unit"
"""Symbol for the unit vector of one dimension."""

MOST_TERMS = 20000
"""Operations in a relation."""


def sequents(
    conditions: Sequence[Relational],
    known: Sequence[Relational],
    goals: Sequence[Relational],
    answers: Answers,
    vectors: Sequence[sp.Symbol],
    *,
    alone: bool,
) -> Iterator[Sequent]:
    """Yield the problems along one path; what the code has compared has to be numbers, not coordinates."""
    unit = [sp.Symbol(UNIT)] if alone else []
    symbols = [*vectors, *unit, *answers.numbers]
    made = Polynomials(symbols, len(vectors) + len(unit), alone=alone)
    ring, count = made.ring, made.count
    read = functools.partial(read_fact, made=made)
    sides = answers.inequalities(alone=alone, vector=made.vector, read=made.part)
    facts = [Fact(made.linear(side), Sign.NONNEGATIVE) for side in sides]
    facts += [Fact(made.difference(e, 0), Sign.ZERO) for e in answers.equations()]
    if alone:
        facts.append(Fact(ring.gens[count - 1] ** 2 - 1, Sign.ZERO))
    for relation in conditions:
        fact = read(relation)
        if _directed(fact, count):
            raise Untranslatable(f"the code compares coordinates: {relation}")
        facts.append(fact)
    for relation in (part for one in known for part in without_norms(one)):
        try:
            fact = read(relation)
        except Untranslatable:
            continue  # a hypothesis that is not used
        facts += consequences(fact, relation, count)
    facts = list(dict.fromkeys(facts))
    for relation in (part for one in goals for part in without_norms(one)):
        roots = root_sum(relation)
        if roots is not None:
            parts = [made.linear(made.part(part)) for part in roots]
            whole = [fact for fact in facts if not _directed(fact, count)]
            yield Multiples(ring, count).problem(whole, *parts)
            continue
        goal = read(_stronger(relation))
        if isinstance(relation, sp.Gt | sp.Lt):
            goal = Fact(goal.polynomial, Sign.POSITIVE)  # as a hypothesis it may lose its strictness, as a goal not
        if _directed(goal, count):
            if goal.sign is not Sign.ZERO:
                raise Untranslatable(f"a relation between coordinates: {relation}")
            yield Sequent(ring, tuple(facts), Fact(-(goal.polynomial**2), Sign.NONNEGATIVE))
        elif goal.sign is Sign.ZERO and goal.polynomial:
            for side in (1, -1):
                yield Sequent(ring, tuple(facts), Fact(goal.polynomial * side, Sign.NONNEGATIVE))
        else:
            yield Sequent(ring, tuple(facts), goal)


def _stronger(relation: Relational) -> Relational:
    """Return an inequality from which another one follows, with rational constants."""
    if not isinstance(relation, sp.Le | sp.Ge):
        return relation
    rest = relation.rhs - relation.lhs if isinstance(relation, sp.Le) else relation.lhs - relation.rhs
    # Roots of what is not a number are dealt with by squaring both sides.
    numbers = [n for n in of_kinds(rest, sp.Pow, sp.E.func) if not n.free_symbols and not n.is_Rational]
    if not numbers or rooted(rest) or has_kinds(rest, sp.Abs):
        return relation
    return sp.Ge(below(rest), 0, evaluate=False)


def consequences(fact: Fact, relation: Relational, count: int) -> list[Fact]:
    """Return what a hypothesis says of numbers and products of vectors; nothing if it is plainly true."""
    if _directed(fact, count):
        # A vector that is zero has no product with any other.
        vectors = fact.polynomial.ring.gens[:count] if fact.sign is Sign.ZERO else ()
        return [Fact(fact.polynomial * vector, Sign.ZERO) for vector in vectors]
    if not fact.polynomial.is_ground:
        return [fact]
    value = fact.polynomial.coeff(1)
    if value < 0 or (value != 0 and fact.sign is Sign.ZERO):
        raise Untranslatable(f"an assumption fails at these parameters: {relation}")
    return []


def without_norms(relation: Relational) -> Iterator[Relational]:
    """Yield relations that say the same as one.

    Norms that add up to zero are those of vectors that are zero; a maximum is at most what each of its members is.
    """
    if isinstance(relation, sp.Le) and isinstance(relation.lhs, sp.Max):
        for one in relation.lhs.args:
            yield sp.Le(one, relation.rhs, evaluate=False)
        return
    if not isinstance(relation, Equality) or relation.rhs != 0:
        yield relation
        return
    parts = [term.as_coeff_Mul() for term in sp.Add.make_args(relation.lhs)]
    if not all(weight > 0 and isinstance(root, sp.Pow) and root.exp == sp.Rational(1, 2) for weight, root in parts):
        yield relation
        return
    for _, root in parts:
        inside = root.base
        square = isinstance(inside, sp.Pow) and inside.exp == 2
        yield sp.Eq(inside.base if square else inside, 0, evaluate=False)


def _directed(fact: Fact, count: int) -> bool:
    """Return whether a fact is about vectors themselves, not about their inner products."""
    return any(sum(monomial[:count]) == 1 for monomial in fact.polynomial.monoms())


def read_fact(relation: Relational, *, made: Polynomials) -> Fact:
    """Return a relation as a polynomial that is zero or not negative."""
    if isinstance(relation, Equality):
        return Fact(made.difference(relation.lhs, relation.rhs), Sign.ZERO)
    if isinstance(relation, sp.Ge | sp.Gt):
        low, high = relation.rhs, relation.lhs
    elif isinstance(relation, sp.Le | sp.Lt):
        low, high = relation.lhs, relation.rhs
    else:
        raise Untranslatable(f"{relation} is no inequality")
    if any(has_roots(side) for side in (low, high)):
        squares = [squared(side, alone=made.alone) for side in (low, high)]
        if None not in squares:
            low, high = squares
    return Fact(made.difference(high, low), Sign.NONNEGATIVE)


def has_roots(expression: Any) -> bool:
    """Return whether an expression has roots or absolute values."""
    return any(
        isinstance(one, sp.Abs) or (isinstance(one, sp.Pow) and not one.exp.is_Integer) for one in nodes(expression)
    )


def squared(expression: Any, *, alone: bool) -> Any:
    """Return the square of a product of roots and norms with a number that is not negative; ``None`` for others."""
    total: Any = sp.Integer(1)
    for factor in sp.Mul.make_args(sp.sympify(expression)):
        if factor.is_Rational and factor >= 0:
            total *= factor**2
        elif isinstance(factor, sp.Pow) and (2 * factor.exp).is_Integer and not factor.exp.is_Integer:
            total *= factor.base ** (2 * factor.exp)
        elif alone and isinstance(factor, sp.Abs):
            total *= factor.args[0] ** 2
        else:
            return None
    return total


class Polynomials:
    """Makes polynomials of relations that are linear in products of two vectors, or in vectors, and in numbers.

    In one dimension a coordinate is the product with the unit vector, the last of the vectors.

    Parameters
    ----------
    symbols
        Vectors, then numbers.
    count
        How many of them are vectors.
    alone
        Whether there is one dimension.
    """

    def __init__(self, symbols: Sequence[Any], count: int, *, alone: bool) -> None:
        self.count, self.alone = count, alone
        self.ring = ring_of(symbol.name for symbol in symbols)
        self._names = {symbol: sp.Symbol(symbol.name) for symbol in symbols}
        self._convert = Converter(self.ring, self._names)
        self._degrees: dict[Any, frozenset[Any]] = {symbol: frozenset({1}) for symbol in symbols[:count]}

    def difference(self, one: Any, other: Any) -> Any:
        """Return the difference of two sides."""
        return self.linear(self.part(one - other))

    def part(self, expression: Any) -> Any:
        """Return the polynomial of an expression."""
        whole = {n: sp.Integer(int(n)) for n in of_kinds(expression, sp.Float) if float(n).is_integer()}
        plain = expression.xreplace(whole) if whole else expression
        if longer([plain], MOST_TERMS):
            raise Untranslatable("a relation that is too long")
        if not self.alone:
            self._degrees_of(plain)
        return self._polynomial(plain)

    def vector(self, expression: Any) -> Any:
        """Return the polynomial of a vector; in more than one dimension nobody knows what a constant would be."""
        made = self.part(expression)
        if not self.alone and made and self._degrees_of(expression) != {1}:
            raise Untranslatable("a constant where a vector is")
        return made

    def linear(self, made: Any) -> Any:
        """Return a polynomial if it is linear as it has to be, in one dimension with the unit vector put in."""
        ring, count = self.ring, self.count
        if self.alone:
            unit = ring.gens[count - 1]
            made = sum((part * unit if sum(m[:count]) == 1 else part for m, part in _parts(made, ring)), ring.zero)
        kinds = {(sum(monomial[:count]), sum(monomial[count:])) for monomial in made.monoms()}
        if not (kinds <= {(0, 0), (2, 0), (0, 1)} or kinds <= {(1, 0)}):
            raise Untranslatable("a relation that is not linear in inner products and values")
        return made

    def _polynomial(self, plain: Any) -> Any:
        try:
            return self._convert(plain)
        except NotPolynomial:  # roots may be gone when everything is expanded
            pass
        try:
            return self.ring.from_expr(sp.expand(plain).xreplace(self._names))
        except (ValueError, TypeError, KeyError) as error:
            raise Untranslatable(f"{plain} is no polynomial") from error

    def _degrees_of(self, expression: Any) -> frozenset[Any]:
        """Return in how many vectors terms of an expression are linear; refuse constants that are added to vectors.

        The code runs along one coordinate, where the sum of a vector and a constant looks like any other. In more
        dimensions nobody knows what the constant would be, even if it cancels later.
        """
        known = self._degrees.get(expression)
        if known is None:
            known = self._degrees[expression] = self._degrees_made(expression)
        return known

    def _degrees_made(self, expression: Any) -> frozenset[Any]:
        if not expression.args:
            return frozenset({0})
        parts = [self._degrees_of(part) for part in expression.args]
        if isinstance(expression, sp.Mul):
            return frozenset(sum(choice) for choice in itertools.product(*parts))
        if isinstance(expression, sp.Pow) and expression.exp.is_Rational:
            return frozenset(expression.exp * degree for degree in parts[0])
        found = frozenset().union(*parts)
        if isinstance(expression, sp.Add) and 1 in found and len(found) > 1:
            raise Untranslatable("a constant is added to a vector")
        return found


def _parts(polynomial: Any, ring: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the monomials of a polynomial, with the terms that they stand in."""
    for monomial, value in polynomial.terms():
        yield monomial, ring.from_dict({monomial: value})
