"""Statements over all functions of a class and all vectors of any dimension, on what the code of their check computes.

The code that makes an instance is run along one coordinate, whose entries are symbols for whole vectors; functions are
any of their class (:mod:`~fltheory.validation.proof.function_classes`). A product of two vectors is their inner
product, so every relation has to be linear in products of two vectors and in numbers: whatever else the code might do
with a coordinate (a sign, a maximum, a third factor) is refused. Sizes and parameters are numbers that the
certificate states. Parameters that only shape one function of a class (knots, slopes in between, l1 weights) are
symbols that no relation may contain.

In one dimension more can be read: coordinates are products with the unit vector, so that code may compare them and
constants may be added to them, and the number of dimensions is one.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Equality, Relational

from fltheory.bounds.claim import Form, Instances, Rejected
from fltheory.bounds.space import Choice, ExactPoint, Integer, Integers, Real, Space
from fltheory.validation.evaluate import defined, failing
from fltheory.validation.proof import instances, relevant
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.constants import below
from fltheory.validation.proof.coordinates import Twins, same_answers
from fltheory.validation.proof.function_classes import Answers, any_functions, twin
from fltheory.validation.proof.polynomials import Converter, NotPolynomial, longer
from fltheory.validation.proof.root_sums import Multiples, root_sum
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.verdict import Strength

DIMENSION = "d"
"""Parameter of a space that is the dimension of its vectors."""

SLOPES = {"left": 0, "right": 1}
"""Parameters that place the slopes of a function between its constants: at either end, so that the class is whole."""

KINKED = "kinked"
"""Word for functions whose class is known."""

MOST_CASES = 4
"""Sizes and discrete parameters at which a form is certified."""

MOST_TRIED = 64
"""Sizes and discrete parameters among which they are chosen."""

FEWEST = 3
"""Cases in which a form has to be certified at least."""

LARGEST_SIZE = 2
"""Largest number of clients, steps and the like."""

MOST_DRAWN = 100
"""Instances among which one that fulfils the assumptions is looked for."""

MOST_PATHS = 20
"""Paths through the code of an instance."""

MOST_TERMS = 20000
"""Operations in a relation."""

UNIT = "unit"
"""Symbol for the unit vector of one dimension."""

_RESERVED = re.compile(rf"vector_\d+|value_\d+|{UNIT}")
"""Names of answers of functions."""

_FRACTIONS = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
"""Places within the ranges of the parameters."""

Scope = Mapping[str, Any]


class WorstCase:
    """Statements over classes of functions, at stated sizes and parameters; ``alone``: in one dimension."""

    strength = Strength.CERTIFIED
    means = "quadratic"

    def __init__(self, *, alone: bool = False) -> None:
        self.alone = alone
        self.name = "worst-case-on-a-line" if alone else "worst-case"

    def scopes(self, form: Form, hypotheses: Hypotheses) -> list[Scope]:
        """Return sizes and parameters, if the check makes instances of vectors without rounding."""
        check = _widest(hypotheses)
        if check is None or not check.rational or not _vectors(check.space):
            return []
        if not self.alone and _of_coordinates(form):
            return []
        cases = _discrete(check.space)
        repeated = cases * -(-FEWEST // len(cases))
        scopes = [{**discrete, **_numbers(check.space, discrete, turn)} for turn, discrete in enumerate(repeated)]
        made: list[Scope] = [
            scope for scope in scopes if _makes_instance(check, scope) and _inhabited(form, hypotheses, check, scope)
        ]
        if len(made) <= MOST_CASES:
            return made
        # Spread over all sizes, small ones first.
        return [made[round(number * (len(made) - 1) / (MOST_CASES - 1))] for number in range(MOST_CASES)]

    def required(self, scopes: Sequence[Scope]) -> int:
        """Return a few cases."""
        return min(len(scopes), FEWEST)

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Scope) -> list[Sequent]:
        """Return the problems along all paths through the code that makes an instance."""
        check = _widest(hypotheses)
        if check is None:
            raise Untranslatable("no instances")
        _, vectors, _ = _point(check.space, scope)
        if len(set(vectors)) < len(vectors) or any(_RESERVED.fullmatch(vector.name) for vector in vectors):
            raise Untranslatable("a symbol would stand for two vectors")
        found: list[Sequent] = []
        for (known, goals, answers), conditions in self._paths(form, hypotheses, check, scope):
            if relevant.count(answers) > relevant.MANY:
                relevant.forget_others(answers, (*known, *goals, *conditions))
            found += _sequents(conditions, known, goals, answers, [*vectors, *answers.vectors], alone=self.alone)
        if not found:
            raise Untranslatable("there is no instance with these parameters")
        return found

    def _paths(
        self, form: Form, hypotheses: Hypotheses, check: Instances, scope: Scope
    ) -> Iterator[tuple[tuple[list[Relational], list[Relational], Answers], tuple[Relational, ...]]]:
        """Yield hypotheses, goals and answers along all paths, with the comparisons that lead there.

        For vectors of any dimension the code is run in the plane too; hypotheses in which coordinates are not treated
        alike are left out.
        """
        point, _, _ = _point(check.space, scope)
        found = list(instances.paths(lambda: _read(form, hypotheses, check, point, None), most=MOST_PATHS))
        if self.alone:
            for (known, goals, answers), conditions in found:
                yield ([*itertools.chain(*known)], [*itertools.chain(*goals)], answers), conditions
            return
        flat, second = _plane(check.space, scope)
        plane = list(instances.paths(lambda: _read(form, hypotheses, check, flat, second), most=MOST_PATHS))
        if len(plane) != len(found):
            raise Untranslatable("the code compares coordinates")
        for one, other in zip(found, plane, strict=True):
            ((known, goals, answers), conditions), ((known_2, goals_2, answers_2), conditions_2) = one, other
            twins = Twins(answers_2.twins or {}, answers.numbers)
            if not same_answers(answers, answers_2) or not twins.alike(conditions, conditions_2):
                raise Untranslatable("coordinates are not treated alike")
            pairs = [*zip(goals, goals_2, strict=True)]
            if not all(twins.alike(*pair) for pair in pairs):
                raise Untranslatable("a relation that is not linear in inner products and values")
            safe = [k for k, k_2 in zip(known, known_2, strict=True) if twins.alike(k, k_2)]
            yield ([*itertools.chain(*safe)], [*itertools.chain(*goals)], answers), conditions

    def words(self, form: Form, hypotheses: Hypotheses, scopes: Sequence[Scope]) -> str:
        """Return sizes and parameters, one case after the other."""
        cases = "; ".join(
            ", ".join(f"{name} = {_shown(value)}" for name, value in scope.items() if name != DIMENSION)
            for scope in scopes
        )
        functions = any(quantity.role.value == "function" for quantity in form.quantities())
        vectors = "all vectors of one dimension" if self.alone else "all vectors of any dimension"
        return ("all functions of the class, " if functions else "") + f"{vectors}, at {cases}"


def _read(
    form: Form, hypotheses: Hypotheses, check: Instances, point: ExactPoint, twins: Mapping[Any, Any] | None
) -> tuple[list[list[Relational]], list[list[Relational]], Answers]:
    """Return hypotheses and goals of an instance, those of one statement together."""
    with any_functions(None if twins is None else dict(twins)) as answers:
        env = form.named(check.realise(point))
        values = defined(form, env, exact=True)
        known = [list(one) for one in instances.declared_by_quantity(form, values)]
        known += [instances.relations(one.relation, one.over, values) for one in hypotheses.assumptions]
        known += [instances.relations(premise, (), values) for premise in form.premises]
        goals = [instances.relations(one, form.over, values) for one in form.relations]
    return known, goals, answers


def _widest(hypotheses: Hypotheses) -> Instances | None:
    """Return the instances that a certificate is about: those of the check, or those that include them."""
    check = hypotheses.check
    if not isinstance(check, Instances):
        return None
    return check if check.within is None else check.within


def _of_coordinates(form: Form) -> bool:
    """Return whether a form is about single coordinates, or about how many there are."""
    coordinates = any(form.unfolded(side).has(sp.Abs) for relation in form.relations for side in relation.args)
    return coordinates or DIMENSION in {quantity.name for quantity in form.quantities()}


def _shown(value: Any) -> str:
    return f"({', '.join(map(_shown, value))})" if isinstance(value, list) else str(value)


# Points


def _vectors(space: Space) -> list[str]:
    """Return the parameters that are vectors: their last axis is the dimension, and their range has no direction."""
    if not isinstance(space.parameters.get(DIMENSION), Integer):
        return []
    return [name for name, p in _along(space) if p.shape[-1] == DIMENSION and p.low == -p.high and name not in SLOPES]


def _along(space: Space) -> list[tuple[str, Real]]:
    """Return the parameters with an axis for the coordinates."""
    reals = [(name, parameter) for name, parameter in space.items() if isinstance(parameter, Real)]
    return [(name, parameter) for name, parameter in reals if DIMENSION in parameter.shape]


def _discrete(space: Space) -> list[dict[str, Any]]:
    """Return small sizes and words, each with full arrays of whole numbers and with mixed ones."""
    whole = [name for name, parameter in space.items() if isinstance(parameter, Integer | Choice)]
    ranked = sorted(
        itertools.product(*(range(len(_options(name, space))) for name in whole)), key=lambda at: (sum(at), at)
    )
    found: list[dict[str, Any]] = []
    for at in ranked:
        sizes = {name: _options(name, space)[n] for name, n in zip(whole, at, strict=True)}
        for mixed in (False, True):
            made = {**sizes, **{n: _whole(space, n, sizes, mixed) for n, p in space.items() if isinstance(p, Integers)}}
            if made not in found:
                found.append(made)
    return found[:MOST_TRIED]


def _makes_instance(check: Instances, scope: Scope) -> bool:
    """Return whether there is an instance with these parameters: at some vectors, in floats."""
    point, symbols, shapes = _point(check.space, scope)
    swap: dict[Any, Any] = {symbol: number % 7 - 3 for number, symbol in enumerate(symbols)}
    swap |= {symbol: parameter.at(0.5) for symbol, parameter in shapes.items()}
    try:
        check.realise(_in_floats(check.space, point, swap))
    except Rejected:
        return False
    return True


def _inhabited(form: Form, hypotheses: Hypotheses, check: Instances, scope: Scope) -> bool:
    """Return whether there is an instance with these parameters that fulfils assumptions and premises."""
    point, symbols, shapes = _point(check.space, scope)
    rng = np.random.default_rng(0)
    for _ in range(MOST_DRAWN):
        # Assumptions about vectors are often about how long they are, so lengths differ, and many vectors are zero.
        long, share = 10.0 ** rng.uniform(-2, 1), rng.choice((0.0, 0.3, 1.0))
        names = {symbol.name.split("_")[0]: rng.uniform() < share for symbol in symbols}
        swap: dict[Any, Any] = {s: long * rng.normal() * names[s.name.split("_")[0]] for s in symbols}
        swap |= {symbol: parameter.at(rng.uniform()) for symbol, parameter in shapes.items()}
        try:
            env = form.named(check.realise(_in_floats(check.space, point, swap)))
            values = defined(form, env)
            if not any(failing(a.relation, a.over, values) for a in hypotheses.assumptions) and not any(
                failing(premise, (), values) for premise in form.premises
            ):
                return True
        except (Rejected, ArithmeticError):
            continue
    return False


def _in_floats(space: Space, point: ExactPoint, swap: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a point with numbers in place of its symbols."""
    some: dict[str, Any] = {}
    for name, value in point.items():
        if not isinstance(space.parameters[name], Real):
            some[name] = value
        elif isinstance(value, np.ndarray):
            some[name] = np.array([float(swap.get(x, x)) for x in value.reshape(-1)]).reshape(value.shape)
        else:
            some[name] = float(value)
    return some


def _options(name: str, space: Space) -> list[Any]:
    parameter = space.parameters[name]
    if isinstance(parameter, Choice):
        # Which shape functions have does not matter where they are any of their class.
        return [KINKED] if KINKED in parameter.options else list(parameter.options)
    assert isinstance(parameter, Integer)
    if name == DIMENSION:
        return [1]
    return list(range(parameter.low, min(parameter.high, max(parameter.low, LARGEST_SIZE)) + 1))


def _whole(space: Space, name: str, sizes: dict[str, Any], mixed: bool) -> list[Any]:
    parameter = space.parameters[name]
    assert isinstance(parameter, Integers)
    high = int(sizes[parameter.high]) if isinstance(parameter.high, str) else parameter.high
    made = np.full(space.shape(name, sizes), high, dtype=int)
    if mixed:
        made.reshape(-1)[::2] = max(parameter.low, min(1, high))
    stored: list[Any] = made.tolist()
    return stored


def _numbers(space: Space, discrete: Mapping[str, Any], turn: int) -> dict[str, Any]:
    """Return values of the parameters that are no vectors, as text; each case has others.

    Slopes between zero and one are shares, and the class is whole; others bound the class, and are stated.
    """
    along = dict(_along(space))
    found: dict[str, Any] = {}
    for order, name in enumerate(space.reals()):
        parameter = space.parameters[name]
        assert isinstance(parameter, Real)
        if name in along:
            if name in SLOPES and parameter.high != 1:
                low = (Fraction(0), *_FRACTIONS[1:])[turn % len(_FRACTIONS)]
                found[name] = str(_steepest(parameter) * (1 if SLOPES[name] else low))
            continue
        shape = space.shape(name, discrete)
        entries = np.empty(shape, dtype=object)
        for number, at in enumerate(np.ndindex(shape)):
            entries[at] = str(_inside(parameter, _FRACTIONS[(turn + order + number) % len(_FRACTIONS)]))
        found[name] = entries.tolist()
    return found


def _inside(parameter: Real, fraction: Fraction) -> Fraction:
    """Return a round number at some place within a range."""
    low, high, share = parameter.low, parameter.high, float(fraction)
    if parameter.log and high > 10 * low:
        share = (share + 0.5) / 2  # near the ends of wide ranges programs are badly conditioned
    value = low * (high / low) ** share if parameter.log else low + (high - low) * share
    lowest, highest = Fraction(str(low)), Fraction(str(high))
    if lowest == highest:
        return lowest
    for denominator in (1, 2, 4, 8, 100, 10**6):
        near = Fraction(value).limit_denominator(denominator)
        if lowest < near <= highest and abs(float(near) - value) <= 0.2 * max(abs(value), 1e-9):
            return near
    return highest


def _steepest(parameter: Real) -> Fraction:
    """Return the upper end of a range, as it is written."""
    return Fraction(str(parameter.high))


def _plane(space: Space, scope: Scope) -> tuple[ExactPoint, dict[sp.Symbol, sp.Symbol]]:
    """Return the point in the plane, with a twin for every vector, and slopes of functions on the other side."""
    swapped = {**SLOPES, **{name: scope[name] for name in SLOPES if name in scope}}
    if SLOPES.keys() <= space.parameters.keys():
        swapped = dict(zip(SLOPES, reversed([swapped[name] for name in SLOPES]), strict=True))
    point, vectors, shapes = _point(space, scope)
    twins = {symbol: twin(symbol) for symbol in (*vectors, *shapes)}
    made: dict[str, Any] = {**point, DIMENSION: 2}
    for name, _ in _along(space):
        if name in SLOPES:
            first = np.full(np.shape(point[name]), sp.Rational(swapped[name]), dtype=object)
            made[name] = _doubled(first, space, name, first)
        else:
            second = np.empty(np.shape(point[name]), dtype=object)
            for at in np.ndindex(second.shape):
                second[at] = twins[point[name][at]]
            made[name] = _doubled(point[name], space, name, second)
    return ExactPoint(made), twins


def _doubled(first: Any, space: Space, name: str, second: Any) -> Any:
    parameter = space.parameters[name]
    assert isinstance(parameter, Real)
    return np.concatenate([first, second], axis=parameter.shape.index(DIMENSION))


def _point(space: Space, scope: Scope) -> tuple[ExactPoint, list[sp.Symbol], dict[sp.Symbol, Real]]:
    """Return a point with symbols for vectors and for what shapes functions; the vectors, and the ranges of shapes."""
    made: dict[str, Any] = {}
    symbols: list[sp.Symbol] = []
    shapes: dict[sp.Symbol, Real] = {}
    vectors, along = _vectors(space), dict(_along(space))
    for name, parameter in space.items():
        if not isinstance(parameter, Real):
            value = scope[name]
            made[name] = np.array(value, dtype=int) if isinstance(parameter, Integers) else value
            continue
        shape = space.shape(name, scope)
        array = np.empty(shape, dtype=object)
        for at in np.ndindex(shape):
            if name in vectors:
                # Not real, so that the root of a square does not become an absolute value, which a sum of absolute
                # values would be along one coordinate.
                array[at] = sp.Symbol("_".join([name, *map(str, at)]))
                symbols.append(array[at])
            elif name in SLOPES and name in along:
                array[at] = sp.Rational(scope.get(name, SLOPES[name]))
            elif name in along:
                array[at] = sp.Symbol("_".join(["shape", name, *map(str, at)]))
                shapes[array[at]] = parameter
            else:
                text = scope[name]
                for place in at:
                    text = text[place]
                array[at] = sp.Rational(text)
        made[name] = array if shape else array[()]
    return ExactPoint(made), symbols, shapes


# Problems


def _sequents(
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
    made = _Polynomials(symbols, len(vectors) + len(unit), alone=alone)
    ring, count = made.ring, made.count
    read = functools.partial(_fact, made=made)
    sides = answers.inequalities(alone=alone, vector=made.vector, read=made.part)
    facts = [Fact(made.linear(side), Sign.NONNEGATIVE) for side in sides]
    facts += [read(sp.Eq(e, 0, evaluate=False)) for e in answers.equations()]
    if alone:
        facts.append(Fact(ring.gens[count - 1] ** 2 - 1, Sign.ZERO))
    for relation in conditions:
        fact = read(relation)
        if _directed(fact, count):
            raise Untranslatable(f"the code compares coordinates: {relation}")
        facts.append(fact)
    for relation in (part for one in known for part in _without_norms(one)):
        try:
            fact = read(relation)
        except Untranslatable:
            continue  # a hypothesis that is not used
        facts += _consequences(fact, relation, count)
    facts = list(dict.fromkeys(facts))
    for relation in (part for one in goals for part in _without_norms(one)):
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
    numbers = [n for n in rest.atoms(sp.Pow, sp.E.func) if not n.free_symbols and not n.is_Rational]
    if not numbers or any(p.free_symbols and not p.exp.is_Integer for p in rest.atoms(sp.Pow)) or rest.has(sp.Abs):
        return relation
    return sp.Ge(below(rest), 0, evaluate=False)


def _consequences(fact: Fact, relation: Relational, count: int) -> list[Fact]:
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


def _without_norms(relation: Relational) -> Iterator[Relational]:
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


def _fact(relation: Relational, *, made: _Polynomials) -> Fact:
    """Return a relation as a polynomial that is zero or not negative."""
    if isinstance(relation, Equality):
        return Fact(made.difference(relation.lhs, relation.rhs), Sign.ZERO)
    if isinstance(relation, sp.Ge | sp.Gt):
        low, high = relation.rhs, relation.lhs
    elif isinstance(relation, sp.Le | sp.Lt):
        low, high = relation.lhs, relation.rhs
    else:
        raise Untranslatable(f"{relation} is no inequality")
    if any(_roots(side) for side in (low, high)):
        squares = [_squared(side, alone=made.alone) for side in (low, high)]
        if None not in squares:
            low, high = squares
    return Fact(made.difference(high, low), Sign.NONNEGATIVE)


def _roots(expression: Any) -> bool:
    return expression.has(sp.Abs) or any(not power.exp.is_Integer for power in expression.atoms(sp.Pow))


def _squared(expression: Any, *, alone: bool) -> Any:
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


class _Polynomials:
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
        whole = {n: sp.Integer(int(n)) for n in expression.atoms(sp.Float) if float(n).is_integer()}
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
