r"""The terms of a form: summands and members of maxima, in its relations and in the definitions that they use.

All of a definition counts as a term if what it defines stands in several places: it is all of them at once. A check
tests a term if it would notice a change of it. So every term knows the form without it, with half of it and with twice
of it. Terms are looked for in numerators only, inside of sums, expectations, positive powers and maxima; vectors inside
of norms and inner products are left alone.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.relational import Equality, Unequality

from fltheory.bounds.algebra import EE, BigO, Pos
from fltheory.bounds.claim import Form
from fltheory.bounds.definitions import used
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import declaration

Path = tuple[int, ...]
"""Where a term stands in an expression: positions of arguments, from the outside."""


class Change(enum.Enum):
    """What is done to a term; the value is the factor."""

    DELETED = sp.Integer(0)
    HALVED = sp.Rational(1, 2)
    DOUBLED = sp.Integer(2)

    @property
    def word(self) -> str:
        """In words: deleted, halved, doubled."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a form.

    Parameters
    ----------
    form
        The form.
    part, path
        Where it stands: number of the relation, its side and the path in it; or number of the definition and the path.
    place
        The same for readers, as LaTeX: the symbol that is defined, or a side of the statement.
    shown
        The term as LaTeX; distinct in its place.
    defined
        Name of the quantity in whose definition it stands; empty for terms of the statement itself.
    """

    form: Form
    part: tuple[str, int, int]
    path: Path
    place: str
    shown: str
    defined: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Place and term, by which stored results are found again."""
        return self.place, self.shown

    def is_part_of(self, other: Term) -> bool:
        """Return whether this term is a factor, or a summand of a factor, of another one."""
        return self.part == other.part and self.path[: len(other.path)] == other.path

    def changed(self, change: Change) -> Form:
        """Return the form with this term changed; corrected and sharp forms stay what they are called."""
        kind, number, side = self.part
        if kind == "definition":
            target, value = self.form.where[number]
            where = list(self.form.where)
            where[number] = target, _changed(sp.sympify(value), self.path, change)
            return replace(self.form, where=tuple(where), intended=())
        relations = list(self.form.relations)
        sides = list(relations[number].args)
        sides[side] = _changed(sides[side], self.path, change)
        relations[number] = relations[number].func(*sides, evaluate=False)
        return replace(self.form, statement=tuple(relations), intended=())


def terms(form: Form) -> list[Term]:
    r"""Return all terms of a form.

    >>> from fltheory.bounds.quantities import scalar
    >>> a, b, c = (scalar(name, name, "any number") for name in "abc")
    >>> made = terms(Form(statement=sp.Le(a, b + c), where=((c, a * (b + 2)),)))
    >>> [(term.place, term.shown) for term in made]
    [('\\text{statement}', 'b'), ('\\text{statement}', 'c'), ('c', '2'), ('c', 'b')]
    """
    found = [*_of_relations(form), *_of_definitions(form)]
    seen: dict[tuple[str, str], int] = {}
    distinct = []
    for term in found:
        count = seen[term.key] = seen.get(term.key, 0) + 1
        distinct.append(term if count == 1 else replace(term, shown=rf"{term.shown}\ \text{{({count})}}"))
    return distinct


def _of_relations(form: Form) -> Iterator[Term]:
    for number, relation in enumerate(form.relations):
        if isinstance(relation, Unequality):
            continue
        place = r"\text{statement}" if len(form.relations) == 1 else rf"\text{{statement {number + 1}}}"
        for side in (0, 1) if isinstance(relation, Equality) else (1,):
            expression = relation.args[side]
            paths = list(_paths(expression))
            if not (expression.is_Add or expression == 0 or isinstance(relation, Equality) or expression.has(BigO)):
                paths = [(), *paths]
            for path in paths:
                yield Term(form, ("relation", number, side), path, place, latex(_at(expression, path)))


def _of_definitions(form: Form) -> Iterator[Term]:
    wanted = {id(definition) for definition in used(form.where, form.relations)}
    for number, definition in enumerate(form.where):
        if id(definition) not in wanted:
            continue
        target, value = definition
        expression, quantity = sp.sympify(value), declaration(target)
        assert quantity is not None
        single = [] if expression.is_number or _uses(form, quantity.name) < 2 else [()]
        for path in (*single, *_paths(expression)):
            shown = latex(_at(expression, path))
            yield Term(form, ("definition", number, 0), path, latex(target), shown, quantity.name)


def _uses(form: Form, name: str) -> int:
    """Return in how many places of a form a quantity stands."""
    values = [sp.sympify(value) for _, value in used(form.where, form.relations)]
    return sum(_count(part, name) for part in (*form.relations, *values))


def _count(expression: Any, name: str) -> int:
    quantity = declaration(expression)
    if quantity is not None and quantity.name == name:
        return 1
    return sum(_count(part, name) for part in expression.args)


def _paths(expression: Any, here: Path = ()) -> Iterator[Path]:
    """Yield the places of summands and of members of maxima and minima."""
    if isinstance(expression, sp.Add | sp.Max | sp.Min):
        for number, part in enumerate(expression.args):
            yield (*here, number)
            yield from _paths(part, (*here, number))
    elif isinstance(expression, sp.Mul):
        for number, part in enumerate(expression.args):
            yield from _paths(part, (*here, number))
    elif isinstance(expression, sp.Pow):
        if expression.exp.is_number and expression.exp > 0:
            yield from _paths(expression.base, (*here, 0))
    elif isinstance(expression, EE | BigO | Pos | ExprWithLimits):
        yield from _paths(expression.args[0], (*here, 0))


def _at(expression: Any, path: Path) -> Any:
    for number in path:
        expression = expression.args[number]
    return expression


def _changed(expression: Any, path: Path, change: Change) -> Any:
    """Return an expression with a term multiplied by a factor; a member of a maximum or minimum goes if deleted."""
    if not path:
        return change.value * expression
    number, rest = path[0], path[1:]
    arguments = list(expression.args)
    if not rest and change is Change.DELETED and isinstance(expression, sp.Max | sp.Min):
        del arguments[number]
    else:
        arguments[number] = _changed(arguments[number], rest, change)
    return expression.func(*arguments)
