r"""Statements at fixed sizes: sums, expectations and families written out, so that only numbers are left.

Numbers of clients, steps, terms are given; an expectation runs over a few outcomes with probabilities that are symbols.
Vectors have one dimension, where :math:`\|v\|^2 = v^2` and :math:`\langle u, v\rangle = uv`. A function at a point is
a number of which nothing else is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fltheory.bounds.algebra import EE, BigO, Inner, Norm, NormSq, Pos, is_random
from fltheory.bounds.claim import Assumption, Form, Range
from fltheory.bounds.quantities import CHANCE, Declared, Domain, Role
from fltheory.validation.proof.translate import Untranslatable

OUTCOMES = 2
"""Outcomes of the probability space."""

MOST_TERMS = 4000
"""Operations in a relation that is written out."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """Relations between plain symbols.

    Parameters
    ----------
    hypotheses, goals
        What is assumed, and what is claimed.
    domains
        What is declared about the symbols.
    """

    hypotheses: tuple[Relational, ...]
    goals: tuple[Relational, ...]
    domains: Mapping[sp.Symbol, Domain]


def sizes_in(form: Form, assumptions: Iterable[Assumption]) -> dict[str, Domain]:
    """Return the symbols that have to be whole numbers before the statement can be written out."""
    relations = [*form.relations, *form.premises]
    unfolded = [form.unfolded(side) for relation in relations for side in relation.args]
    conditions = [form.unfolded(side) for a in assumptions for side in a.relation.args]
    ends = [form.unfolded(sp.sympify(end)) for _, *both in (*form.over, *_ranges(assumptions)) for end in both]
    found: dict[str, Domain] = {}
    places = [*ends]
    for expression in (*unfolded, *conditions):
        places += [end for total in expression.atoms(sp.Sum) for limits in total.limits for end in limits[1:]]
        places += [i for member in expression.atoms(sp.Indexed) for i in member.indices]
        places += [power.exp for power in expression.atoms(sp.Pow)]
        places += [a for call in expression.atoms(sp.binomial, sp.factorial) for a in call.args]
    # Indices that nothing ranges over, such as that of an arriving client, stand for one value each.
    places += [i for expression in (*unfolded, *conditions) for i in expression.free_symbols if _is_index(i)]
    bound = {i for expression in (*unfolded, *conditions) for s in expression.atoms(sp.Sum) for i in s.bound_symbols}
    indices = {i.name for i, _, _ in (*form.over, *_ranges(assumptions))} | {i.name for i in bound}
    for place in places:
        for symbol in place.free_symbols:
            if isinstance(symbol, Declared) and not symbol.quantity.first and not symbol.quantity.random:
                found[symbol.name] = Domain.SIZE if _is_index(symbol) else symbol.quantity.domain
    return {name: found[name] for name in sorted(found) if name not in indices}


def _is_index(symbol: Any) -> bool:
    return isinstance(symbol, Declared) and symbol.quantity.role is Role.INDEX


def _ranges(assumptions: Iterable[Assumption]) -> list[Range]:
    return [limits for assumption in assumptions for limits in assumption.over]


def has_outcomes(form: Form, assumptions: Iterable[Assumption]) -> bool:
    """Return whether anything random is in a statement or its assumptions."""
    relations = [*form.relations, *form.premises, *(a.relation for a in assumptions)]
    sides = [form.unfolded(side) for relation in relations for side in relation.args]
    return any(is_random(side) or any(is_random(m.args[0]) for m in side.atoms(EE)) for side in sides)


def has_norms(form: Form, assumptions: Iterable[Assumption]) -> bool:
    """Return whether a norm or an inner product is in a statement or its assumptions."""
    relations = [*form.relations, *form.premises, *(a.relation for a in assumptions)]
    return any(form.unfolded(side).has(Norm, NormSq, Inner) for relation in relations for side in relation.args)


def scalar_only(form: Form, assumptions: Iterable[Assumption]) -> bool:
    """Return whether a statement is about numbers only, with nothing to be written out."""
    kinds = (sp.Sum, sp.Indexed, EE, Norm, NormSq, Inner, AppliedUndef, sp.binomial, sp.factorial)
    relations = [*form.relations, *form.premises, *(a.relation for a in assumptions)]
    sides = [form.unfolded(side) for relation in relations for side in relation.args]
    return not form.over and not any(side.has(*kinds) or is_random(side) for side in sides)


def expanded(form: Form, assumptions: Iterable[Assumption], sizes: Mapping[str, int]) -> Expanded:
    """Return a statement at given sizes, with its assumptions and premises as hypotheses."""
    writer = _Writer(form, sizes)
    known: list[Relational] = []
    for assumption in assumptions:
        known += writer.relations(assumption.relation, assumption.over)
    for premise in form.premises:
        known += writer.relations(premise, ())
    goals = [made for relation in form.relations for made in writer.relations(relation, form.over)]
    known += writer.law()
    return Expanded(tuple(known), tuple(goals), dict(writer.domains))


@dataclass(slots=True)
class _Writer:
    """Writes relations out, and remembers which symbols it has made."""

    form: Form
    sizes: Mapping[str, int]
    domains: dict[sp.Symbol, Domain] = field(default_factory=dict)
    functions: dict[Any, sp.Symbol] = field(default_factory=dict)
    meant: dict[sp.Symbol, Any] = field(default_factory=dict)
    random: bool = False

    def relations(self, relation: Relational, over: tuple[Range, ...]) -> Iterator[Relational]:
        """Yield a relation for all values of its indices and all outcomes."""
        left, right = (self.form.unfolded(side) for side in relation.args)
        outcomes = range(OUTCOMES) if is_random(left) or is_random(right) else (0,)
        for place in self.places(over):
            for outcome in outcomes:
                yield relation.func(self.write(left, place, outcome), self.write(right, place, outcome), evaluate=False)

    def places(self, over: tuple[Range, ...]) -> Iterator[dict[str, int]]:
        ranges = []
        for _, low, high in over:
            ends = [self.whole(self.form.unfolded(sp.sympify(end)), {}) for end in (low, high)]
            ranges.append(range(ends[0], ends[1] + 1))
        for values in itertools.product(*ranges):
            yield {i.name: value for (i, _, _), value in zip(over, values, strict=True)}

    def law(self) -> list[Relational]:
        """Return what is known of the probabilities."""
        if not self.random:
            return []
        return [sp.Eq(sum(self.chance(o) for o in range(OUTCOMES)), 1, evaluate=False)]

    def chance(self, outcome: int) -> sp.Symbol:
        return self.symbol(f"{CHANCE.label.name}_{outcome}", Domain.PROBABILITY, (CHANCE.label.name, outcome))

    def symbol(self, name: str, domain: Domain, meant: Any) -> sp.Symbol:
        """Return the symbol of a number; ``meant`` tells numbers apart that would have the same name."""
        made = sp.Symbol(name)
        if self.meant.setdefault(made, meant) != meant:
            raise Untranslatable(f"{name} would stand for two quantities")
        self.domains[made] = domain
        return made

    def whole(self, expression: Any, place: Mapping[str, int]) -> int:
        value = self.write(expression, place, 0)
        if not value.is_Integer:
            raise Untranslatable(f"{expression} is not a whole number at these sizes")
        return int(value)

    def write(self, e: Any, place: Mapping[str, int], outcome: int) -> Any:
        """Return an expression in plain symbols."""
        if isinstance(e, Declared):
            return self.number(e, place, outcome)
        if isinstance(e, sp.Indexed):
            quantity = e.base.label.quantity
            at = [self.whole(i, place) for i in e.indices]
            if any(i < first for i, first in zip(at, quantity.first, strict=True)):
                raise Untranslatable(f"{e} before the first member of its family")
            last = [outcome] if quantity.random else []
            name = "_".join(map(str, (quantity.name, *at, *last)))
            return self.symbol(name, quantity.domain, (quantity.name, *at, *last))
        if isinstance(e, sp.Sum):
            return self.total(e, place, outcome)
        if isinstance(e, EE):
            if not is_random(e.args[0]):
                return self.write(e.args[0], place, outcome)
            self.random = True
            return sp.Add(*(self.chance(o) * self.write(e.args[0], place, o) for o in range(OUTCOMES)))
        if isinstance(e, sp.Rational):
            return e
        parts = [self.write(part, place, outcome) for part in e.args]
        if isinstance(e, NormSq):
            return parts[0] ** 2
        if isinstance(e, Norm):
            return sp.Abs(parts[0], evaluate=False)
        if isinstance(e, Inner):
            return parts[0] * parts[1]
        if isinstance(e, AppliedUndef):
            key = (e.func.__name__, *parts)
            if key not in self.functions:
                name = f"{e.func.__name__}_at_{len(self.functions)}"
                self.functions[key] = self.symbol(name, e.func.quantity.domain, key)
            return self.functions[key]
        if isinstance(e, BigO) or not isinstance(
            e, (sp.Add, sp.Mul, sp.Pow, sp.exp, sp.Max, sp.Min, sp.Abs, Pos, sp.binomial, sp.factorial)
        ):
            raise Untranslatable(f"{type(e).__name__} in {e}")
        made = e.func(*parts)
        if made.has(sp.zoo, sp.nan, sp.oo):
            raise Untranslatable(f"{e} is not defined at these sizes")
        return made

    def number(self, e: Declared, place: Mapping[str, int], outcome: int) -> Any:
        if e.name in place:
            return sp.Integer(place[e.name])
        if e.name in self.sizes:
            return sp.Integer(self.sizes[e.name])
        if e.quantity.role is Role.INDEX:
            raise Untranslatable(f"the index {e.name} has no range")
        if e.quantity.random:
            return self.symbol(f"{e.name}_{outcome}", e.quantity.domain, (e.name, outcome))
        return self.symbol(e.name, e.quantity.domain, e.name)

    def total(self, e: Any, place: Mapping[str, int], outcome: int) -> Any:
        body, *limits = e.args
        places = [dict(place)]
        for i, low, high in reversed(limits):  # the last one is the outermost
            places = [
                {**at, i.name: value} for at in places for value in range(self.whole(low, at), self.whole(high, at) + 1)
            ]
        made = sp.Add(*(self.write(body, at, outcome) for at in places))
        if made.count_ops() > MOST_TERMS:
            raise Untranslatable("a sum that is too long")
        return made
