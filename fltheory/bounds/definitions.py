r"""Definitions of a statement: symbols that stand for expressions, evaluated or substituted.

A definition gives a symbol, ``(gamma, Max(...))``, or every member of a family, ``(B[t], ...)`` with an index symbol
``t``. It may use what was defined before it. Evaluating a statement carries definitions out one after the other,
members of families when they are asked for; substituting them leaves an expression in primitive quantities only.

A family may also be defined by a recursion, as two definitions that follow each other: its first member,
``(a[0, k], ...)``, and every later one by the one before it, ``(a[t + 1, k], ... a[t, k] ...)``. A recursion is
evaluated, but not substituted: the family stays in the expression.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits

from fltheory.bounds.algebra import Compiled, Env, compiled, valued
from fltheory.bounds.quantities import Declared, Quantity, Role, declaration, index, names_in
from fltheory.errors import InvalidParameter

Definition = tuple[Any, Any]
"""A symbol or a member of a family, and the expression that it stands for."""


@dataclass(frozen=True, slots=True)
class Defined:
    """A definition that can be evaluated.

    Parameters
    ----------
    quantity
        What is defined.
    indices
        Names of the indices of a member of a family; empty for a symbol.
    call
        Its expression; of a recursion that of the member at the first index plus 1.
    start
        Of a recursion, the expression of its first member.
    """

    quantity: Quantity
    indices: tuple[str, ...]
    call: Compiled
    start: Compiled | None = None

    @property
    def name(self) -> str:
        """Name of what is defined."""
        return self.quantity.name

    @property
    def needs(self) -> frozenset[str]:
        """Names of the quantities that the definition refers to."""
        if self.start is None:
            return self.call.names - set(self.indices)
        return (self.call.names | self.start.names) - {self.name, *self.indices}

    def value(self, env: Env, *, exact: bool = False) -> Any:
        """Return the value of what is defined: with a leading axis of outcomes if that is random."""
        if not self.indices:
            return valued(self.call, env, exact=exact)
        if not self.quantity.random:
            return _Members(self, env, exact)
        return [_Members(self, env, exact, outcome) for outcome in range(len(env["chance"]))]


class _Members:
    """A defined family: members are computed when they are asked for, once."""

    def __init__(self, defined: Defined, env: Env, exact: bool, outcome: int = 0) -> None:
        self._defined, self._env, self._exact, self._outcome = defined, env, exact, outcome
        self._at: tuple[int, ...] = ()
        self._known: dict[tuple[int, ...], Any] = {}

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, np.ndarray):
            return np.array([self[int(i)] for i in position.ravel()]).reshape(position.shape)
        at = (*self._at, int(position))
        if len(at) < len(self._defined.indices):
            deeper = _Members(self._defined, self._env, self._exact, self._outcome)
            deeper._at, deeper._known = at, self._known
            return deeper
        if self._defined.start is not None:  # upwards, since a call for every earlier member is too deep
            for earlier in range(at[0]):
                self._keep((earlier, *at[1:]))
        return self._keep(at)

    def _keep(self, at: tuple[int, ...]) -> Any:
        if at not in self._known:
            self._known[at] = self._member(at)
        return self._known[at]

    def _member(self, at: tuple[int, ...]) -> Any:
        defined = self._defined
        place = {name: i + first for name, i, first in zip(defined.indices, at, defined.quantity.first, strict=True)}
        if defined.start is None:
            return defined.call({**self._env, **place}, exact=self._exact, outcome=self._outcome)
        if at[0] < 0:
            raise InvalidParameter(f"{defined.name} is asked for before its first member")
        if at[0] == 0:
            return defined.start({**self._env, **place}, exact=self._exact)
        whole = _Members(defined, self._env, self._exact)
        whole._known = self._known
        place[defined.indices[0]] -= 1
        return defined.call({**self._env, **place, defined.name: whole}, exact=self._exact)


@functools.cache
def definitions(where: tuple[Definition, ...]) -> tuple[Defined, ...]:
    """Return definitions that can be evaluated, in order, or say which one cannot be.

    >>> from fltheory.bounds.quantities import scalar
    >>> x, y = scalar("x", "x", "any number"), scalar("y", "y", "twice that")
    >>> [defined.value({"x": 4}) for defined in definitions(((y, 2 * x),))]
    [8]
    """
    made = tuple(_in_order(where))
    for number, defined in enumerate(made):
        late = defined.needs & {other.name for other in made[number:]}
        if late:
            raise InvalidParameter(
                f"the definition of {defined.name} uses {', '.join(sorted(late))}, which is not defined before it; "
                "put definitions into the order in which they are carried out"
            )
    names = [one.name for number, one in enumerate(made) if number == 0 or made[number - 1] is not one]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(f"{', '.join(twice)} is defined twice; remove one of the definitions")
    return made


def _in_order(where: tuple[Definition, ...]) -> Iterator[Defined]:
    """Yield one definition for every entry, for both entries of a recursion the same one."""
    rest = list(where)
    while rest:
        target, value = rest.pop(0)
        again = bool(rest) and isinstance(rest[0][0], sp.Indexed) and rest[0][0].base == getattr(target, "base", None)
        if again and _is_first(target):
            yield from [_recursion(target, sp.sympify(value), *rest.pop(0))] * 2
        else:
            yield _defined(target, sp.sympify(value))


def _is_first(target: Any) -> bool:
    """Return whether a definition gives the first member of a recursion."""
    return isinstance(target, sp.Indexed) and target.indices[0] == declaration(target).first[0]  # type: ignore[union-attr]


def _recursion(target: Any, value: sp.Expr, later: Any, step: Any) -> Defined:
    others = target.indices[1:]
    before = [symbol for symbol in later.indices[0].free_symbols if _is_index(symbol)]
    if len(before) != 1 or later != target.base[(before[0] + 1, *others)] or declaration(target).random:  # type: ignore[union-attr]
        raise InvalidParameter(
            f"the definition of {target} must be followed by that of the member after any other one, such as "
            f"{target.base.label.name}[t + 1] with an index t and the same other indices; got {later}. What is random "
            "cannot be defined so"
        )
    made = _defined(target.base[(before[0], *others)], sp.sympify(step))
    start = _defined(target.base[(before[0], *others)], value)
    return Defined(made.quantity, made.indices, made.call, start.call)


def used(where: tuple[Definition, ...], expressions: Iterable[sp.Basic]) -> tuple[Definition, ...]:
    """Return the definitions that expressions use, directly or by way of others, in their order."""
    names = set().union(*(names_in(expression) for expression in expressions))
    found = []
    for definition, made in reversed(list(zip(where, definitions(where), strict=True))):
        if made.name in names:
            found.append(definition)
            names |= made.needs
    return tuple(reversed(found))


def _defined(target: Any, value: sp.Expr) -> Defined:
    quantity = declaration(target)
    indices = target.indices if isinstance(target, sp.Indexed) else ()
    single = isinstance(target, Declared) and target.quantity.role is Role.NUMBER
    member = bool(indices) and len(set(indices)) == len(indices) and all(_is_index(i) for i in indices)
    if quantity is None or not (single or member):
        raise InvalidParameter(
            f"a definition must give a declared symbol, or a member of a family at distinct indices, got {target}"
        )
    call = compiled(value)
    if call.random and not quantity.random:
        raise InvalidParameter(
            f"{quantity.name} is defined by what depends on the outcome; declare it with random=True, or define it by "
            "an expectation"
        )
    return Defined(quantity, tuple(i.name for i in indices), call)


def _is_index(symbol: Any) -> bool:
    return isinstance(symbol, Declared) and symbol.quantity.role is Role.INDEX


def unfolded(where: tuple[Definition, ...], expression: Any) -> sp.Expr:
    """Return an expression with all definitions substituted, so that only primitive quantities are left.

    >>> from fltheory.bounds.quantities import family, scalar
    >>> x, t, b = scalar("x", "x", "any number"), index("t"), family("b", "b_{<0>}", "multiples", first=0)
    >>> unfolded(((b[t], t * x),), sp.Sum(b[t + 1], (t, 0, 3)))
    Sum(x*(t + 1), (t, 0, 3))
    """
    found = sp.sympify(expression)
    for (target, value), made in reversed(list(zip(where, definitions(where), strict=True))):
        if made.start is not None:
            continue
        found = _replaced(found, target, sp.sympify(value))
    return found


def _replaced(expression: Any, target: Any, value: sp.Expr) -> Any:
    """Return an expression in which a definition is carried out; indices of sums around it stay what they are."""
    if expression == target and not isinstance(target, sp.Indexed):
        return value
    if isinstance(expression, sp.Indexed) and isinstance(target, sp.Indexed) and expression.base == target.base:
        at = [_replaced(i, target, value) for i in expression.indices]
        return _fresh(value, at).xreplace(dict(zip(target.indices, at, strict=True)))
    if not expression.args or declaration(target).name not in names_in(expression):  # type: ignore[union-attr]
        return expression
    if isinstance(expression, ExprWithLimits):
        inside = value.free_symbols - set(getattr(target, "indices", ()))
        expression = _renamed(expression, expression, inside)
    return expression.func(*(_replaced(part, target, value) for part in expression.args))


def _fresh(value: sp.Expr, at: list[Any]) -> sp.Expr:
    """Return an expression whose sums have none of the symbols of the given indices as theirs."""
    used = set().union(*(sp.sympify(i).free_symbols for i in at))
    for total in value.atoms(ExprWithLimits):
        value = value.xreplace({total: _renamed(total, value, used)})
    return value


def _renamed(total: ExprWithLimits, around: sp.Expr, used: set[Any]) -> ExprWithLimits:
    """Return a sum whose indices are none of the symbols that are put into it."""
    for clashing in sorted(set(total.bound_symbols) & used, key=str):
        taken = {symbol.name for symbol in (around.atoms(sp.Symbol) | used) if isinstance(symbol, sp.Symbol)}
        name = next(name for name in _primed(clashing.name) if name not in taken)
        total = total.xreplace({clashing: index(name, clashing.quantity.latex + "'")})
    return total


def _primed(name: str) -> Iterator[str]:
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1
