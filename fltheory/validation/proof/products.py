r"""Certificates by products of hypotheses: a goal is a sum of nonnegative products, whose weights an LP finds.

A goal :math:`p \ge 0` follows from :math:`g_i \ge 0` and :math:`h_j = 0` if

.. math:: p = \sum_\alpha c_\alpha\, s_\alpha^2 \prod_i g_i^{\alpha_i} + \sum_j q_j h_j, \qquad c_\alpha \ge 0 .

Squares are of monomials, or of sums and differences of two. Which products may help is read off the monomials of the
goal; a linear program chooses among them; its solution is a vertex, so that exact weights are the solution of a linear
system in rational numbers. What is stored is checked by expanding it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from fltheory.validation.proof.sequent import Fact, Monomial, Sequent, Sign, fraction_text, terms_of

MOST = 9000
"""Products in one linear program."""

_SMALL = 1e-9
"""Weights of a linear program that count as zero."""

_MOST_SQUARED = 300
"""Monomials among which pairs are looked for whose sums and differences are squared."""

Term = dict[str, Any]
"""A product: weight ``c``, monomial ``m``, numbers of hypotheses ``f``, and a squared binomial ``s``; or ``e``, the
number of an equation, with its factor ``q``."""


def attempt(sequent: Sequent, *, seconds: float) -> dict[str, Any] | None:
    """Return products that add up to the goal, or to a contradiction of the hypotheses; ``None`` if none are found."""
    end = time.perf_counter() + seconds
    if sequent.goal.sign is Sign.ZERO:
        return _equation(sequent, end)
    for contradiction in (False, True):
        for level in range(3):
            if time.perf_counter() > end:
                return None
            terms = _by_level(sequent, level, end, contradiction=contradiction)
            if terms is not None and verified(sequent, {"terms": terms, "contradiction": contradiction}):
                return {"terms": terms, "contradiction": contradiction}
    return None


def _equation(sequent: Sequent, end: float) -> dict[str, Any] | None:
    """Prove an equation as two inequalities."""
    halves = []
    for side in (1, -1):
        half = Sequent(sequent.ring, sequent.hypotheses, Fact(sequent.goal.polynomial * side, Sign.NONNEGATIVE))
        found = attempt(half, seconds=max(end - time.perf_counter(), 0.0) / 2)
        if found is None:
            return None
        halves.append(found)
    return {"halves": halves}


def verified(sequent: Sequent, part: Mapping[str, Any]) -> bool:
    """Return whether stored products prove a problem: weights are not negative, and they add up to the goal."""
    if "halves" in part:
        sides = zip((1, -1), part["halves"], strict=True)
        return sequent.goal.sign is Sign.ZERO and all(
            verified(Sequent(sequent.ring, sequent.hypotheses, Fact(sequent.goal.polynomial * s, Sign.NONNEGATIVE)), h)
            for s, h in sides
        )
    if sequent.goal.sign is Sign.ZERO:
        return False
    ring, total, strict = sequent.ring, sequent.ring.zero, False
    for term in part["terms"]:
        if "e" in term:
            fact = sequent.hypotheses[term["e"]]
            if fact.sign is not Sign.ZERO:
                return False
            total += fact.polynomial * _read(ring, term["q"])
            continue
        weight = Fraction(term["c"])
        if weight < 0:
            return False
        product, positive = _product(sequent, term)
        if product is None:
            return False
        total += product * sp.QQ(weight.numerator, weight.denominator)
        strict = strict or (positive and weight > 0)
    if part["contradiction"]:
        # Something nonnegative equals minus one, or something positive equals zero.
        return bool(total == -1 or (total == 0 and strict))
    goal = sequent.goal.polynomial
    return bool(total == goal and (strict or sequent.goal.sign is Sign.NONNEGATIVE))


def _product(sequent: Sequent, term: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return a product of hypotheses, and whether it is positive; ``None`` if it may be negative."""
    ring, positive = sequent.ring, not term.get("s")
    signs = {place: fact.sign for place, fact in _single(sequent).items()}
    product = ring.one
    for place, power in enumerate(term["m"]):
        if power % 2 and place not in signs:
            return None, False
        positive = positive and (not power or signs.get(place) is Sign.POSITIVE)
        product *= ring.gens[place] ** power
    for number in term["f"]:
        fact = sequent.hypotheses[number]
        if fact.sign is Sign.ZERO:
            return None, False
        positive = positive and fact.sign is Sign.POSITIVE
        product *= fact.polynomial
    if term.get("s"):
        product *= _read(ring, term["s"]) ** 2
    return product, positive


def _read(ring: Any, stored: Sequence[Any]) -> Any:
    """Return a polynomial from its stored terms."""
    if any(power < 0 for _, monomial in stored for power in monomial):
        raise ValueError("a negative power")  # the ring would take it, and divide by what may be zero
    return ring.from_dict({tuple(monomial): _rational(value) for value, monomial in stored})


def _rational(text: str) -> Any:
    number = Fraction(text)
    return sp.QQ(number.numerator, number.denominator)


def _single(sequent: Sequent) -> dict[int, Fact]:
    """Return the symbols of which a hypothesis says that they are not negative, by place."""
    found: dict[int, Fact] = {}
    for fact in sequent.hypotheses:
        monomials = fact.polynomial.monoms()
        alone = len(monomials) == 1 and sum(monomials[0]) == 1 and fact.polynomial[monomials[0]] > 0
        if alone and fact.sign is not Sign.ZERO:
            found[monomials[0].index(1)] = fact
    return found


# Search


def _by_level(sequent: Sequent, level: int, end: float, *, contradiction: bool) -> list[Term] | None:
    """Return terms found with products of at most so many hypotheses that are no single symbols."""
    goal = sequent.ring(-1) if contradiction else sequent.goal.polynomial
    columns = _columns(sequent, goal, level, end)
    if not columns:
        return None
    weights = _solved(sequent, goal, columns, strict=sequent.goal.sign is Sign.POSITIVE and not contradiction)
    return None if weights is None else _terms(columns, weights)


def _columns(sequent: Sequent, goal: Any, level: int, end: float) -> list[tuple[Term, Any]] | None:
    """Return products that share monomials with the goal, or with other products, and their expansions."""
    ring = sequent.ring
    nonnegative = set(_single(sequent))
    bases = list(_bases(sequent, level))
    support: set[Monomial] = set(goal.monoms())
    found: dict[str, tuple[Term, Any]] = {}
    fresh = set(support)
    for _ in range(level + 1):
        more: set[Monomial] = set()
        for base, expansion in bases:
            for shift in _shifts(expansion, fresh, None if "e" in base else nonnegative):
                term = {**base, "q": [["1", list(shift)]]} if "e" in base else {**base, "m": list(shift)}
                key = repr(term)
                if key not in found:
                    product = expansion.mul_monom(shift)
                    found[key] = (term, product)
                    more.update(product.monoms())
                if len(found) > MOST or time.perf_counter() > end:
                    return None if time.perf_counter() > end else list(found.values())[:MOST]
        for term, product in _squares(ring, support | more, nonnegative):
            for base, expansion in bases if level else bases[:1]:
                if "e" not in base and len(found) < MOST:
                    combined = {**base, **term, "f": base["f"]}
                    found.setdefault(repr(combined), (combined, product * expansion))
        fresh = more - support
        support |= more
        if not fresh:
            break
    return list(found.values())


def _bases(sequent: Sequent, level: int) -> Iterator[tuple[Term, Any]]:
    """Yield products of hypotheses that are no single symbols, and equations."""
    ring = sequent.ring
    single = {id(fact) for fact in _single(sequent).values()}
    others = [
        (number, fact)
        for number, fact in enumerate(sequent.hypotheses)
        if id(fact) not in single and fact.sign is not Sign.ZERO
    ]
    yield {"c": "1", "f": [], "m": []}, ring.one
    for number, fact in others:
        yield {"c": "1", "f": [number], "m": []}, fact.polynomial
    for number, fact in enumerate(sequent.hypotheses):
        if fact.sign is Sign.ZERO:
            yield {"e": number, "q": []}, fact.polynomial
    if level:
        for place, (number, fact) in enumerate(others):
            for other, partner in others[place:]:
                yield {"c": "1", "f": [number, other], "m": []}, fact.polynomial * partner.polynomial


def _shifts(expansion: Any, support: set[Monomial], nonnegative: set[int] | None) -> Iterator[Monomial]:
    """Yield monomials that move a monomial of a product onto one of the support; odd powers need a sign."""
    seen = set()
    for monomial in expansion.monoms():
        for target in support:
            shift = tuple(t - m for t, m in zip(target, monomial, strict=True))
            if shift in seen or min(shift, default=0) < 0:
                continue
            seen.add(shift)
            if nonnegative is None or all(place in nonnegative or not power % 2 for place, power in enumerate(shift)):
                yield shift


def _squares(ring: Any, support: set[Monomial], nonnegative: set[int]) -> Iterator[tuple[Term, Any]]:
    """Yield squared sums and differences of two monomials, times a monomial, that fit into the support."""
    if len(support) > _MOST_SQUARED:
        return
    for target in sorted(support):
        for one in sorted(support):
            other = tuple(2 * t - o for t, o in zip(target, one, strict=True))
            if other > one and other in support:
                common = tuple(min(a, b) for a, b in zip(one, other, strict=True))
                halves = [tuple(p - c for p, c in zip(m, common, strict=True)) for m in (one, other)]
                if any(power % 2 for half in halves for power in half):
                    continue
                if any(power % 2 and place not in nonnegative for place, power in enumerate(common)):
                    continue
                roots = [tuple(power // 2 for power in half) for half in halves]
                for sign in ("1", "-1"):
                    term: Term = {"c": "1", "f": [], "m": list(common)}
                    term["s"] = [["1", list(roots[0])], [sign, list(roots[1])]]
                    product = _read(ring, term["s"]) ** 2
                    yield term, product.mul_monom(common)


def _solved(
    sequent: Sequent, goal: Any, columns: Sequence[tuple[Term, Any]], *, strict: bool
) -> list[tuple[int, Any]] | None:
    """Return exact weights of some columns, that add up to the goal."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows: dict[Monomial, int] = {}
    entries: list[tuple[int, int, float]] = []
    for number, (_, product) in enumerate(columns):
        for monomial, value in product.terms():
            entries.append((rows.setdefault(monomial, len(rows)), number, float(value)))
    if any(monomial not in rows for monomial in goal.monoms()):
        return None
    values, (at, number_of) = [e[2] for e in entries], ([e[0] for e in entries], [e[1] for e in entries])
    matrix = coo_array((values, (at, number_of)), shape=(len(rows), len(columns))).tocsr()
    right = np.zeros(len(rows))
    for monomial, value in goal.terms():
        right[rows[monomial]] = float(value)
    cost = np.array([_cost(term, sequent, strict=strict) for term, _ in columns])
    bounds = [(None, None) if "e" in term else (0, None) for term, _ in columns]
    for objective in (cost, np.where(cost < 0, 0.0, cost)) if strict else (cost,):
        limits: Any = {"A_eq": matrix, "b_eq": right, "bounds": bounds, "options": {"time_limit": 20.0}}
        solution: Any = linprog(objective, method="highs-ds", **limits)
        if solution.status == 0:
            chosen = [int(n) for n in np.flatnonzero(np.abs(solution.x) > _SMALL)]
            return _exact(goal, columns, chosen, solution.x)
    return None


def _cost(term: Term, sequent: Sequent, *, strict: bool) -> float:
    if "e" in term:
        return 0.0
    size = 1.0 + len(term["f"]) + 0.01 * sum(term["m"])
    return -size if strict and _product(sequent, term)[1] else size


def _exact(
    goal: Any, columns: Sequence[tuple[Term, Any]], chosen: list[int], floats: Any
) -> list[tuple[int, Any]] | None:
    """Return exact weights of the chosen columns: round numbers if they do, else the solution of the linear system."""
    for digits in (16, 1000, 10**6):
        guess = [(n, Fraction(float(floats[n])).limit_denominator(digits)) for n in chosen]
        total = goal.ring.zero
        for n, weight in guess:
            total += columns[n][1] * sp.QQ(weight.numerator, weight.denominator)
        if total == goal:
            return [(n, sp.QQ(w.numerator, w.denominator)) for n, w in guess]
    return _linear(goal, columns, chosen)


def _linear(goal: Any, columns: Sequence[tuple[Term, Any]], chosen: list[int]) -> list[tuple[int, Any]] | None:
    """Solve for the weights of chosen columns in rational numbers; ``None`` if there are none, or negative ones."""
    from sympy.polys.matrices import DomainMatrix

    if len(chosen) > 600:
        return None
    rows: dict[Monomial, int] = {}
    table: dict[int, dict[int, Any]] = {}
    for place, number in enumerate(chosen):
        for monomial, value in columns[number][1].terms():
            table.setdefault(rows.setdefault(monomial, len(rows)), {})[place] = value
    for monomial, value in goal.terms():
        if monomial not in rows:
            return None
        table[rows[monomial]][len(chosen)] = value
    matrix = DomainMatrix(table, (len(rows), len(chosen) + 1), sp.QQ)
    reduced, pivots = matrix.to_sparse().rref()
    if len(chosen) in pivots:
        return None
    found = reduced.to_dok()
    weights = [(chosen[p], found.get((row, len(chosen)), sp.QQ(0))) for row, p in enumerate(pivots)]
    if any(value < 0 and "e" not in columns[n][0] for n, value in weights):
        return None
    return [(n, value) for n, value in weights if value]


def _terms(columns: Sequence[tuple[Term, Any]], weights: list[tuple[int, Any]]) -> list[Term]:
    """Return terms as they are stored: weights put in, equations with one factor each."""
    stored: list[Term] = []
    factors: dict[int, list[Any]] = {}
    for number, weight in weights:
        term = columns[number][0]
        if "e" in term:
            factors.setdefault(term["e"], []).append([fraction_text(weight), term["q"][0][1]])
        elif weight:
            stored.append({**term, "c": fraction_text(weight)})
    return stored + [{"e": number, "q": factor} for number, factor in sorted(factors.items())]


def polynomial_terms(polynomial: Any) -> list[Any]:
    """Return a polynomial as it is stored."""
    return [[fraction_text(value), list(monomial)] for monomial, value in terms_of(polynomial)]
