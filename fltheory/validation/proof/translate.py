r"""From relations between scalars to polynomial problems.

Denominators are cleared, with a case for either sign where the sign is not plain; ``Max``, ``Min``, ``Abs`` and the
positive part become cases; roots become new nonnegative symbols with their powers as equations, exponentials new
positive symbols between Taylor polynomials; equations that give a symbol are substituted. A statement says nothing
where it is not defined, so denominators are not zero and radicands not negative. Integers are taken for real numbers,
which proves more.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.relational import Equality, GreaterThan, Relational, StrictGreaterThan, StrictLessThan

from fltheory.bounds.algebra import BigO, Pos
from fltheory.bounds.quantities import Domain
from fltheory.errors import FltheoryError
from fltheory.validation.proof.exponentials import without_exponentials
from fltheory.validation.proof.parts import has_kinds, nodes, of_kinds
from fltheory.validation.proof.polynomials import Converter, NotPolynomial, divides, longer
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

MOST_CASES = 128
"""Cases that one relation may split into."""

MOST_OPERATIONS = 4000
"""Operations in a goal and its hypotheses."""

MOST_ABSOLUTE = 4
"""Absolute values in a relation that are split into cases; where there are more, they are roots of squares."""

LARGEST = 20_000
"""Terms of the largest polynomial that is looked at."""

_SMALL = 40
"""Terms of an equation that is looked at for powers."""

_SHORT = 300
"""Operations in a sum up to which SymPy sees by itself that nothing is left of it."""

_SPLIT = (sp.Max, sp.Min, sp.Abs, Pos)


class Untranslatable(FltheoryError):
    """A statement that is no polynomial problem, or one too large."""


def sequents(hypotheses: Iterable[Relational], goal: Relational, domains: Mapping[sp.Symbol, Domain]) -> list[Sequent]:
    """Return the polynomial problems that together say that a relation follows from others.

    Parameters
    ----------
    hypotheses, goal
        Relations between plain symbols.
    domains
        What is declared about the symbols; any real number for those that are missing.
    """
    given = [_with_few_cases(_checked(relation)) for relation in hypotheses]
    claim = _with_few_cases(_checked(goal))
    if longer((*given, claim), MOST_OPERATIONS):
        raise Untranslatable(f"more than {MOST_OPERATIONS} operations")
    found = []
    for known, claimed in itertools.islice(_cases([*given], claim), MOST_CASES + 1):
        plain, exponentials = without_exponentials([*known, claimed])
        for symbol in exponentials:
            _new(symbol.name, {other.name for relation in (*known, claimed) for other in relation.free_symbols})
        relations, domain = _without_roots(plain, {**domains, **exponentials})
        found += list(_polynomial(relations[:-1], relations[-1], domain))
        if len(found) > MOST_CASES:
            raise Untranslatable(f"more than {MOST_CASES} cases")
    return found


def _checked(relation: Any) -> Relational:
    """Return a relation whose sides are made of what can be translated."""
    if not isinstance(relation, Relational):
        raise Untranslatable(f"{relation} is no relation")
    if has_kinds(relation, BigO):
        raise Untranslatable("a rate is not a polynomial problem")
    for node in nodes(relation):
        known = isinstance(node, (sp.Symbol, sp.Rational, sp.Add, sp.Mul, sp.Pow, sp.exp, Relational, *_SPLIT))
        if not known:
            raise Untranslatable(f"{type(node).__name__} in {node}")
        if isinstance(node, sp.Pow) and not node.exp.is_Rational:
            raise Untranslatable(f"the exponent of {node} is not a number")
    return relation


def _with_few_cases(relation: Relational) -> Relational:
    absolute = of_kinds(relation, sp.Abs)
    if len(absolute) <= MOST_ABSOLUTE:
        return relation
    inner = [piece for piece in absolute if not has_kinds(piece.args[0], sp.Abs)]
    roots = {piece: sp.Pow(piece.args[0] ** 2, sp.Rational(1, 2), evaluate=False) for piece in inner}
    return _with_few_cases(_swapped(relation, roots))


# Cases


def _cases(known: list[Relational], goal: Relational) -> Iterator[tuple[list[Relational], Relational]]:
    """Yield the problem without maxima, minima, absolute values and positive parts, case by case."""
    pieces = set().union(*(of_kinds(relation, *_SPLIT) for relation in (*known, goal)))
    inner = sorted((p for p in pieces if not any(has_kinds(a, *_SPLIT) for a in p.args)), key=sp.default_sort_key)
    if not inner:
        yield known, goal
        return
    for value, conditions in _branches(inner[0]):
        replaced = [_replaced(relation, inner[0], value) for relation in known]
        yield from _cases([*replaced, *conditions], _replaced(goal, inner[0], value))


def _branches(piece: Any) -> list[tuple[Any, list[Relational]]]:
    if isinstance(piece, sp.Abs):
        (inside,) = piece.args
        return [(inside, [_ge(inside, 0)]), (-inside, [_ge(-inside, 0)])]
    options = [*piece.args, sp.Integer(0)] if isinstance(piece, Pos) else list(piece.args)
    sign = -1 if isinstance(piece, sp.Min) else 1
    return [(one, [_ge(sign * one, sign * other) for other in options if other is not one]) for one in options]


def _ge(one: Any, other: Any) -> Relational:
    return sp.Ge(one, other, evaluate=False)


def _replaced(relation: Relational, old: Any, new: Any) -> Relational:
    return relation.func(*(side.xreplace({old: new}) for side in relation.args), evaluate=False)


# Roots


def _without_roots(
    relations: Sequence[Relational], domains: Mapping[sp.Symbol, Domain]
) -> tuple[list[Relational], dict[sp.Symbol, Domain]]:
    """Return relations without roots, the defining equations of new symbols first, and the domains with those."""
    if all(map(_rational, relations)):
        return [_plain(relation) for relation in relations], dict(domains)
    current = [_pulled(relation, domains) for relation in relations]
    domain = dict(domains)
    taken = {symbol.name for relation in current for symbol in relation.free_symbols}
    powers: dict[sp.Symbol, int] = {}
    for power in set().union(*(of_kinds(relation, sp.Pow) for relation in current)):
        if isinstance(power.base, sp.Symbol) and power.exp.q > 1:
            powers[power.base] = math.lcm(powers.get(power.base, 1), int(power.exp.q))
    swaps = {}
    for symbol, order in sorted(powers.items(), key=lambda item: str(item[0])):
        # A symbol with a root is itself a power of that root, whatever is said about it.
        root = sp.Symbol(_new(f"{symbol.name}_root", taken), positive=True)
        swaps[symbol] = root**order
        domain[sp.Symbol(root.name)] = Domain.POSITIVE if domain.get(symbol) is Domain.POSITIVE else Domain.NONNEGATIVE
    current = [_plain(_swapped(relation, swaps)) for relation in current]
    extra: list[Relational] = []
    extra += [fact for symbol in swaps for fact in _declared(_plain(swaps[symbol]), domain.get(symbol, Domain.REAL))]
    number = 0
    while True:
        found = set().union(*(of_kinds(r, sp.Pow) for r in (*current, *extra)))
        roots = sorted((p for p in found if p.exp.q > 1 and _rational(p.base)), key=sp.default_sort_key)
        if not roots:
            return [*extra, *current], domain
        number += 1
        base, order = roots[0].base, int(roots[0].exp.q)
        symbol = sp.Symbol(_new(f"root_{number}", taken))
        domain[symbol] = Domain.NONNEGATIVE
        swap = {p: symbol ** int(p.exp * order) for p in found if p.base == base and order % p.exp.q == 0}
        current = [_swapped(relation, swap) for relation in current]
        extra = [_swapped(relation, swap) for relation in extra]
        extra.append(sp.Eq(symbol**order, base, evaluate=False))


def _new(name: str, taken: set[str]) -> str:
    """Return the name of a new symbol, if there is none of that name."""
    if name in taken:
        raise Untranslatable(f"{name} is the name of a quantity")
    return name


def _rational(expression: Any) -> bool:
    return not any(isinstance(one, sp.Pow) and one.exp.q > 1 for one in nodes(expression))


def _swapped(relation: Relational, swap: Mapping[Any, Any]) -> Relational:
    return relation.func(*(side.xreplace(swap) for side in relation.args), evaluate=False)


def _plain(made: Any) -> Any:
    """Return an expression whose symbols carry no assumptions."""
    names = {symbol: sp.Symbol(symbol.name) for symbol in made.free_symbols}
    if all(symbol == plain for symbol, plain in names.items()):
        return made
    if isinstance(made, Relational):
        return _swapped(made, names)
    return made.xreplace(names)


def _pulled(relation: Relational, domains: Mapping[sp.Symbol, Domain]) -> Relational:
    """Return a relation in which roots of products with nonnegative symbols are products of roots."""
    positive = {
        symbol: sp.Symbol(symbol.name, positive=True)
        for symbol in relation.free_symbols
        if domains.get(symbol, Domain.REAL).low is not None
    }

    def pull(side: Any) -> Any:
        changed = side.xreplace(positive)
        # What positive symbols allow holds for zero as well, wherever both sides are defined.
        return _plain(sp.expand_power_base(changed))

    return relation.func(*map(pull, relation.args), evaluate=False)


# Polynomials


def _polynomial(
    known: Sequence[Relational], goal: Relational, domains: Mapping[sp.Symbol, Domain]
) -> Iterator[Sequent]:
    symbols = sorted(set().union(goal.free_symbols, *(relation.free_symbols for relation in known)), key=str)
    convert = _converter(tuple(symbol.name for symbol in symbols))
    ring = convert.ring
    nonnegative = {s.name for s in symbols if domains.get(s, Domain.REAL).low is not None}
    declared = [fact for s in symbols for fact in _declared(s, domains.get(s, Domain.REAL))]
    parts = [_fraction(relation, convert) for relation in (*declared, *known, goal)]
    unclear: list[Any] = []
    certain: list[Any] = []
    for _, factors, _ in parts:
        for factor, _ in factors:
            plain_sign = _plain_sign(factor, nonnegative)
            target = certain if plain_sign else unclear
            oriented = factor if plain_sign >= 0 else -factor
            if oriented not in target:
                target.append(oriented)
    if 2 ** len(unclear) > MOST_CASES:
        raise Untranslatable("too many denominators of unknown sign")
    for signs in itertools.product((1, -1), repeat=len(unclear)):
        oriented = dict(zip(unclear, signs, strict=True))
        facts = [_fact(part, oriented, nonnegative) for part in parts]
        facts[:0] = [Fact(factor, Sign.POSITIVE) for factor in certain]
        facts[:0] = [Fact(factor * sign, Sign.POSITIVE) for factor, sign in oriented.items()]
        yield _reduced(ring, facts[:-1], facts[-1])


def _declared(symbol: Any, domain: Domain) -> list[Relational]:
    """Return what a domain says."""
    found: list[Relational] = []
    if domain is Domain.POSITIVE:
        found.append(sp.Gt(symbol, 0, evaluate=False))
    elif domain.low is not None:
        found.append(_ge(symbol, domain.low))
    if domain.high is not None:
        found.append(_ge(domain.high, symbol))
    if domain is Domain.BINARY:
        found.append(sp.Eq(symbol * (1 - symbol), 0, evaluate=False))
    return found


_Part = tuple[Any, list[tuple[Any, int]], Sign]
"""Numerator, factors of the denominator with their powers, and what is said about the quotient."""


@functools.lru_cache(maxsize=4)
def _converter(names: tuple[str, ...]) -> Converter:
    """Return what makes polynomials in symbols of given names; most goals have the hypotheses of the last ones."""
    return Converter(ring_of(names))


def _fraction(relation: Relational, convert: Converter) -> _Part:
    """Return a relation as a quotient that is nonnegative, positive or zero."""
    if relation not in convert.relations:
        convert.relations[relation] = _fraction_made(relation, convert)
    found: _Part = convert.relations[relation]
    return found


def _fraction_made(relation: Relational, convert: Converter) -> _Part:
    backward = isinstance(relation, GreaterThan | StrictGreaterThan)
    left, right = (relation.rhs, relation.lhs) if backward else (relation.lhs, relation.rhs)
    sign = Sign.NONNEGATIVE
    if isinstance(relation, Equality):
        sign = Sign.ZERO
    elif isinstance(relation, StrictLessThan | StrictGreaterThan):
        sign = Sign.POSITIVE
    elif not isinstance(relation, sp.Le | sp.Ge):
        raise Untranslatable(f"{relation} is no inequality")
    try:
        numerator, factors = _quotient(right - left, convert)
    except NotPolynomial:
        numerator, factors = _together(right - left, convert)
    if len(numerator) > LARGEST:
        raise Untranslatable(f"a polynomial with {len(numerator)} terms")
    if sign is Sign.ZERO and 1 < len(numerator) <= _SMALL:
        # A square is zero where its root is.
        scale = math.lcm(*(int(value.denominator) for value in numerator.values()))
        numerator = math.prod((factor for factor, _ in _factored(numerator)[1]), start=convert.one).quo_ground(scale)
    left_over = []
    for factor, times in sorted(factors.items(), key=lambda item: str(item[0])):
        count = times
        while count:
            quotient, rest = divmod(numerator, factor)
            if rest:
                break
            numerator, count = quotient, count - 1
        # Where the quotient was printed with it, it is not zero, though it may cancel.
        left_over.append((factor, count))
    return numerator, left_over, sign


def _together(difference: Any, convert: Converter) -> tuple[Any, dict[Any, int]]:
    """Return a numerator, and irreducible factors of the denominator with their powers."""
    top, bottom = _printed(difference)
    numerator = _element(top, convert)
    factors: dict[Any, int] = {}
    for part in sp.Mul.make_args(bottom):
        base, power = part.as_base_exp()
        constant, pieces = _factored(_element(base, convert))
        numerator = numerator.quo_ground(constant ** int(power))
        for piece, times in pieces:
            factors[piece] = factors.get(piece, 0) + int(times) * int(power)
    return numerator, factors


@functools.lru_cache(maxsize=1024)
def _printed(difference: Any) -> tuple[Any, Any]:
    """Return both parts of a quotient; the same relation is a hypothesis of many problems."""
    top, bottom = sp.fraction(sp.together(difference))
    return top, bottom


_Quotient = tuple[Any, dict[Any, int]]
"""Numerator, and irreducible factors of the denominator with their powers; nothing has been cancelled."""


def _quotient(expression: Any, convert: Converter) -> _Quotient:
    """Return what :func:`_together` returns, much faster; raises :class:`NotPolynomial` where the two may differ.

    Where SymPy cancels what is the same in both parts of a quotient, nothing says any more that it is not zero.
    Products in which something can be cancelled, and short sums of which nothing is left, are left to SymPy.
    """
    try:
        return convert(expression), {}
    except NotPolynomial:
        pass
    found: _Quotient | None = convert.quotients.get(expression)
    if found is None:
        if isinstance(expression, sp.Add):
            found = _sum([_quotient(part, convert) for part in expression.args], convert)
            if found[0].is_ground and not longer([expression], _SHORT):
                raise NotPolynomial
        elif isinstance(expression, sp.Mul):
            found = _product([_quotient(part, convert) for part in expression.args], convert)
        elif isinstance(expression, sp.Pow) and expression.exp.is_Integer:
            found = _power(_quotient(expression.base, convert), int(expression.exp), convert)
        else:
            raise NotPolynomial
        convert.quotients[expression] = found
    return found


def _sum(parts: Sequence[_Quotient], convert: Converter) -> _Quotient:
    common: dict[Any, int] = {}
    for _, factors in parts:
        for piece, times in factors.items():
            common[piece] = max(common.get(piece, 0), times)
    total = convert.zero
    for numerator, factors in parts:
        for piece, times in common.items():
            if times > factors.get(piece, 0):
                numerator = numerator * piece ** (times - factors.get(piece, 0))
        total = total + numerator
    return total, common


def _product(parts: Sequence[_Quotient], convert: Converter) -> _Quotient:
    numerator, factors = convert.one, dict[Any, int]()
    for place, (above, below) in enumerate(parts):
        numerator = numerator * above
        others = [other for number, (other, _) in enumerate(parts) if number != place and not other.is_ground]
        for piece, times in below.items():
            if any(divides(piece, other) for other in others):
                raise NotPolynomial
            factors[piece] = factors.get(piece, 0) + times
    return numerator, factors


def _power(part: _Quotient, power: int, convert: Converter) -> _Quotient:
    numerator, factors = part
    if power >= 0:
        return numerator**power, {piece: times * power for piece, times in factors.items()}
    constant, pieces = _factored(numerator)
    top = math.prod((piece ** (-times * power) for piece, times in factors.items()), start=convert.one)
    return top.quo_ground(constant**-power), {piece: -times * power for piece, times in pieces}


def _factored(polynomial: Any) -> tuple[Any, list[tuple[Any, int]]]:
    """Return a number and irreducible factors with their powers, found in as few symbols as there are."""
    if polynomial.is_ground:
        return polynomial.coeff(1), []
    ring = polynomial.ring
    used = sorted({n for monomial in polynomial.monoms() for n, power in enumerate(monomial) if power})
    small = ring_of(ring.symbols[n].name for n in used)
    constant, pieces = _moved(polynomial, small, used).factor_list()
    back = [(_spread(piece, ring, used), times) for piece, times in pieces]
    return constant, back


def _spread(polynomial: Any, ring: Any, used: list[int]) -> Any:
    """Undo :func:`_moved`."""
    made = {}
    for monomial, value in polynomial.terms():
        powers = [0] * ring.ngens
        for place, power in zip(used, monomial, strict=True):
            powers[place] = power
        made[tuple(powers)] = value
    return ring.from_dict(made)


def _element(expression: Any, convert: Converter) -> Any:
    try:
        return convert(expression)
    except NotPolynomial as error:
        raise Untranslatable(f"{expression} is no polynomial") from error


def _plain_sign(factor: Any, nonnegative: set[str]) -> int:
    """Return the sign of a factor that is not zero, if its coefficients tell; 0 if they do not."""
    free = [n for n, symbol in enumerate(factor.ring.symbols) if symbol.name not in nonnegative]
    if any(monomial[n] % 2 for monomial in factor.monoms() for n in free):
        return 0
    values = factor.coeffs()
    return 1 if all(c > 0 for c in values) else -1 if all(c < 0 for c in values) else 0


def _fact(part: _Part, oriented: Mapping[Any, int], nonnegative: set[str]) -> Fact:
    numerator, factors, sign = part
    for factor, times in factors:
        if times % 2 and sign is not Sign.ZERO:
            plain_sign = _plain_sign(factor, nonnegative)
            direction = plain_sign or oriented[factor]
            numerator = numerator * direction
    return Fact(numerator, sign)


def _reduced(ring: Any, known: list[Fact], goal: Fact) -> Sequent:
    """Return the problem with equations that give a symbol substituted, symbols that are left, and facts only once."""
    facts = [*known, goal]
    gone: set[int] = set()
    while True:
        found = next(
            (
                (number, place)
                for number, fact in enumerate(facts[:-1])
                if fact.sign is Sign.ZERO
                for place in range(ring.ngens)
                if _solvable(fact.polynomial, place)
            ),
            None,
        )
        if found is None:
            break
        number, place = found
        generator = ring.gens[place]
        polynomial = facts[number].polynomial
        slope = polynomial.diff(generator).coeff(1)
        value = generator - polynomial / slope
        gone.add(place)
        facts = [Fact(fact.polynomial.compose(generator, value), fact.sign) for fact in facts]
        if any(len(fact.polynomial) > LARGEST for fact in facts):
            raise Untranslatable("substitution makes a polynomial too large")
    used = {n for fact in facts for monomial in fact.polynomial.monoms() for n, power in enumerate(monomial) if power}
    kept = sorted(used)
    small = ring_of(ring.symbols[n].name for n in kept)
    moved = [Fact(_moved(fact.polynomial, small, kept), fact.sign) for fact in facts]
    *rest, claimed = moved
    return Sequent(small, tuple(_worth(rest)), claimed)


def _solvable(polynomial: Any, place: int) -> bool:
    """Return whether a polynomial is a number times a symbol, plus something without that symbol."""
    with_it = [monomial for monomial in polynomial.monoms() if monomial[place]]
    return len(with_it) == 1 and sum(with_it[0]) == 1


def _moved(polynomial: Any, ring: Any, kept: list[int]) -> Any:
    return ring.from_dict({tuple(monomial[n] for n in kept): value for monomial, value in polynomial.terms()})


def _worth(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts that say something, each once; of two about one polynomial the strict one."""
    scaled = [Fact(_scaled(fact.polynomial), fact.sign) for fact in facts]
    strict = {fact.polynomial for fact in scaled if fact.sign is Sign.POSITIVE}
    seen = set()
    for fact in scaled:
        says = not (fact.polynomial.is_ground and _true(fact))
        weaker = fact.sign is Sign.NONNEGATIVE and fact.polynomial in strict
        if says and not weaker and fact not in seen:
            seen.add(fact)
            yield fact


def _true(fact: Fact) -> bool:
    """Return whether a fact about a number is true."""
    value = fact.polynomial.coeff(1)
    if fact.sign is Sign.ZERO:
        return bool(value == 0)
    return bool(value > 0 if fact.sign is Sign.POSITIVE else value >= 0)


def _scaled(polynomial: Any) -> Any:
    """Return a polynomial times a positive number, with whole coefficients that have no common divisor."""
    if not polynomial:
        return polynomial
    values = polynomial.coeffs()
    bottom = math.lcm(*(int(value.denominator) for value in values))
    top = math.gcd(*(int(value.numerator) * (bottom // int(value.denominator)) for value in values))
    return polynomial * sp.QQ(bottom, top)
