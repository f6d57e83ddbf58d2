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

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from fltheory.bounds.claim import Form, Instances
from fltheory.bounds.space import ExactPoint, Params
from fltheory.validation.evaluate import defined
from fltheory.validation.proof import instances, relevant
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.class_cases import (
    DIMENSION,
    Scope,
    discrete_cases,
    equal_points,
    exchanged,
    inhabited,
    makes_instance,
    numbers_of,
    plane_of,
    point_of,
    random_points,
    vector_names,
)
from fltheory.validation.proof.coordinates import Twins, same_answers
from fltheory.validation.proof.function_classes import Answers, any_functions
from fltheory.validation.proof.inner_products import UNIT, sequents
from fltheory.validation.proof.left_out import completed
from fltheory.validation.proof.sequent import Sequent
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.verdict import Strength

MOST_CASES = 4
"""Sizes and discrete parameters at which a form is certified."""

FEWEST = 3
"""Cases in which a form has to be certified at least."""

MOST_PATHS = 20
"""Paths through the code of an instance."""

_RESERVED = re.compile(rf"vector_\d+|value_\d+|{UNIT}")
"""Names of answers of functions."""


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
        if check is None or not check.rational or not vector_names(check.space):
            return []
        if not self.alone and _of_coordinates(form):
            return []
        cases = discrete_cases(check.space)
        repeated = cases * -(-FEWEST // len(cases))
        scopes = [{**discrete, **numbers_of(check.space, discrete, turn)} for turn, discrete in enumerate(repeated)]
        made: list[Scope] = [
            scope for scope in scopes if makes_instance(check, scope) and inhabited(form, hypotheses, check, scope)
        ]
        if len(made) <= MOST_CASES:
            return made
        # Spread over all sizes, small ones first.
        chosen = [made[round(number * (len(made) - 1) / (MOST_CASES - 1))] for number in range(MOST_CASES)]
        return completed(self, form, hypotheses, chosen, made, fewest=FEWEST)

    def sampled(self, hypotheses: Hypotheses, scope: Scope) -> tuple[Instances, Iterator[Params]] | None:
        """Return the widest instances, and points of them with the sizes and parameters of a case."""
        check = _widest(hypotheses)
        if check is None:
            return None
        return check, itertools.chain(random_points(check, scope), equal_points(check, scope))

    def required(self, scopes: Sequence[Scope]) -> int:
        """Return a few cases."""
        return min(len(scopes), FEWEST)

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Scope) -> list[Sequent]:
        """Return the problems along all paths through the code that makes an instance."""
        check = _widest(hypotheses)
        if check is None:
            raise Untranslatable("no instances")
        _, vectors, _ = point_of(check.space, scope)
        if len(set(vectors)) < len(vectors) or any(_RESERVED.fullmatch(vector.name) for vector in vectors):
            raise Untranslatable("a symbol would stand for two vectors")
        found: list[Sequent] = []
        for (known, goals, answers), conditions in self._paths(form, hypotheses, check, scope):
            if relevant.count(answers) > relevant.MANY:
                relevant.forget_others(answers, (*known, *goals, *conditions))
            found += sequents(conditions, known, goals, answers, [*vectors, *answers.vectors], alone=self.alone)
        if not found:
            raise Untranslatable("there is no instance with these parameters")
        return found

    def _paths(
        self, form: Form, hypotheses: Hypotheses, check: Instances, scope: Scope
    ) -> Iterator[tuple[tuple[list[Relational], list[Relational], Answers], tuple[Relational, ...]]]:
        """Yield hypotheses, goals and answers along all paths, with the comparisons that lead there.

        For vectors of any dimension the code is run in the plane too; hypotheses in which coordinates are not treated
        alike are left out. In one dimension the code is run again with the slopes of functions exchanged; where that
        gives other relations, both have to be proved.
        """
        point, _, _ = point_of(check.space, scope)
        found = list(instances.paths(lambda: _read(form, hypotheses, check, point, None), most=MOST_PATHS))
        if self.alone:
            turned, _, _ = point_of(check.space, exchanged(check.space, scope))
            others = list(instances.paths(lambda: _read(form, hypotheses, check, turned, None), most=MOST_PATHS))
            same = all(itertools.starmap(_same, itertools.zip_longest(found, others)))
            for (known, goals, answers), conditions in found if same else found + others:
                yield ([*itertools.chain(*known)], [*itertools.chain(*goals)], answers), conditions
            return
        flat, second = plane_of(check.space, scope)
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


def _same(one: instances.Path | None, other: instances.Path | None) -> bool:
    """Return whether two paths lead to the same relations between the same answers."""
    if one is None or other is None:
        return False
    ((*relations, answers), conditions), ((*relations_2, answers_2), conditions_2) = one, other
    return relations == relations_2 and conditions == conditions_2 and same_answers(answers, answers_2)


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
