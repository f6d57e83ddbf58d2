"""The right-hand side of a statement, as a SymPy expression, as LaTeX and as a NumPy function of its constants."""

from __future__ import annotations

import difflib
import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Equality, GreaterThan, Relational, StrictGreaterThan

from fltheory._internal import arguments
from fltheory.bounds import symbols
from fltheory.bounds.algebra import BigO, Inner, Norm, NormSq, compiled, needed_by, valued
from fltheory.bounds.claim import Form
from fltheory.bounds.definitions import Definition, definitions, used
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import CHANCE, Quantity, Role
from fltheory.errors import InvalidParameter

RATE_NOTE = "a rate: the constant inside O() is not stated, so it is taken as 1"
"""What is said wherever a rate is evaluated."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Bound:
    """One relation of a form.

    Parameters
    ----------
    id, variant
        The statement and its form.
    direction
        ``upper``, ``lower`` or ``equal``.
    is_rate
        Whether the bound holds up to a constant that is not stated; it is then taken as 1.
    note
        What is special about the form, in one sentence.
    form, stated
        The form, and its right-hand side as it is stated, in the symbols that the form defines.
    """

    id: str
    variant: str
    direction: str
    is_rate: bool
    note: str
    form: Form
    stated: Any
    _left: Any

    @classmethod
    def of(cls, id_: str, form: Form, part: int = 0) -> Bound:
        """Return the bound that one relation of a form states."""
        relations = form.relations
        part = arguments.integer("bound", "part", part, low=0, high=len(relations) - 1)
        left, right, direction = _sides(relations[part])
        is_rate = isinstance(right, BigO)
        return cls(
            id=id_,
            variant=form.variant,
            direction=direction,
            is_rate=is_rate,
            note="; ".join(text for text in (form.note, RATE_NOTE if is_rate else "") if text),
            form=form,
            stated=right.args[0] if is_rate else right,
            _left=left,
        )

    @property
    def expr(self) -> Any:
        """The bound as a SymPy expression of primitive quantities, all definitions but recursions substituted.

        A family that is defined by a recursion stays in it; :attr:`definitions` has its first member and the next one.
        """
        return self.form.unfolded(self.stated)

    @property
    def left(self) -> Any:
        """What is bounded, all definitions substituted."""
        return self.form.unfolded(self._left)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions that the bound uses, in the order in which they are carried out."""
        return used(self.form.where, [self.stated])

    @property
    def symbols(self) -> tuple[Quantity, ...]:
        """The quantities that the bound is a function of."""
        found: dict[str, Quantity] = {}
        defined: set[str] = set()
        for part in (self.stated, *(value for _, value in self.definitions)):
            found |= needed_by(sp.sympify(part))
        for made in definitions(self.definitions):
            defined |= {made.name, *made.indices}
        return tuple(found[name] for name in sorted(found) if name not in defined)

    def latex(self, *, expanded: bool = False) -> str:
        """Return the statement as printed with its definitions, or the bound with everything substituted."""
        return latex(self.expr) if expanded else self.form.latex()

    def function(self) -> BoundFunction:
        """Return the bound as a function of its symbols, given as keywords."""
        return BoundFunction(self)

    def __repr__(self) -> str:
        names = ", ".join(quantity.name for quantity in self.symbols)
        return f"Bound({self.id!r}, {self.variant!r}, function of {names})"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.form.latex()}$"


_SHARED_AXES = ("clients", "outcomes")
"""Axes that all arrays of one evaluation share."""

_ADD_UP_TO_ONE = {CHANCE.label.quantity, symbols.p.label.quantity}
"""Probabilities of the outcomes, and objective weights of the clients."""


class BoundFunction:
    """A bound as a function of its constants; left-hand sides are not needed.

    Numbers may be arrays that broadcast against each other, such as ``tau=np.arange(1, 201)``. Quantities with an index
    are arrays over clients, rounds or steps; random ones have a leading axis over the outcomes, whose probabilities are
    ``chance``.
    """

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.symbols = bound.symbols
        self._definitions = definitions(bound.definitions)
        self._call = compiled(bound.stated)
        parts = [sp.sympify(part) for part in (bound.stated, *(value for _, value in bound.definitions))]
        self._vectors = set().union(*(_vector_names(part) for part in parts))
        self._counted = set().union(*(_counting_names(part) for part in parts))
        self.random = self._call.random
        """Whether it has one value per outcome, as the last axis."""

    def __call__(self, **constants: Any) -> Any:
        """Return the value, a float or an array."""
        self._check_names(constants)
        known = {quantity.name: quantity for quantity in self.symbols}
        for name, value in constants.items():
            self._check_value(known[name], value)
        self._check_lengths(known, constants)
        swept = {
            name: np.asarray(value, dtype=float)
            for name, value in constants.items()
            if self._is_number(known[name]) and np.ndim(value) > 0
        }
        env = {name: value for name, value in constants.items() if name not in swept}
        try:
            with np.errstate(all="ignore"):
                value = self._evaluated(env, swept)
        except ZeroDivisionError:
            value = np.nan
        if not np.all(np.isfinite(value)):
            raise InvalidParameter(
                f"{self.bound.id} {self.bound.variant} is not finite at {_shown(constants)}; "
                "check that no denominator vanishes"
            )
        return value

    def _evaluated(self, env: dict[str, Any], swept: dict[str, Any]) -> Any:
        if not swept:
            return self._valued(env)
        try:
            shape = np.broadcast_shapes(*(value.shape for value in swept.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {value.shape}" for name, value in swept.items())
            raise InvalidParameter(
                f"the bound of {self.bound.id} ({self.bound.variant}): arrays of numbers must have shapes that "
                f"broadcast against each other, got {shapes}"
            ) from None
        if not self._counted & swept.keys() and not self._call.random:
            return np.broadcast_to(np.asarray(self._valued(env | swept), dtype=float), shape).copy()
        spread = {name: np.broadcast_to(value, shape) for name, value in swept.items()}
        values = [self._valued(env | {name: one[at] for name, one in spread.items()}) for at in np.ndindex(shape)]
        return np.asarray(values, dtype=float).reshape(*shape, *np.shape(values[0]))

    def _valued(self, env: dict[str, Any]) -> Any:
        values = dict(env)
        for made in self._definitions:
            values[made.name] = made.value(values)
        value = valued(self._call, values)
        return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float)

    def _is_number(self, quantity: Quantity) -> bool:
        return quantity.role is Role.NUMBER and not quantity.axes and quantity.name not in self._vectors

    def _check_value(self, quantity: Quantity, value: Any) -> None:
        """Refuse what is no number, and numbers outside of the range in which the symbol is declared."""
        if quantity.role is Role.FUNCTION or quantity.name in self._vectors:
            return
        owner = f"the bound of {self.bound.id} ({self.bound.variant}): {quantity.described()}"
        try:
            entries = np.concatenate([np.zeros(0), *(part.ravel() for part in _parts(value, len(quantity.axes)))])
        except (TypeError, ValueError):
            raise InvalidParameter(f"{owner}, got {reprlib.repr(value)}") from None
        if np.any(np.isnan(entries)):
            raise InvalidParameter(f"{owner}, got {reprlib.repr(value)}; it must not be NaN")
        if not quantity.domain.contains(entries):
            raise InvalidParameter(f"{owner}, got {reprlib.repr(value)}")
        if quantity in _ADD_UP_TO_ONE and np.ndim(value) == 1 and abs(float(entries.sum()) - 1) > 1e-9:
            raise InvalidParameter(
                f"{owner}; they must sum to 1, got a sum of {entries.sum():.12g}; divide them by their sum"
            )

    def _check_lengths(self, known: dict[str, Quantity], constants: dict[str, Any]) -> None:
        """Refuse arrays that speak of different numbers of clients or of outcomes."""
        seen: dict[str, tuple[str, int]] = {}
        for name, value in constants.items():
            part = value
            for axis in known[name].axes:
                if isinstance(part, str) or not hasattr(part, "__len__"):
                    break  # what evaluates the bound says which axis is missing
                if axis in _SHARED_AXES:
                    other, size = seen.setdefault(axis, (name, len(part)))
                    if size != len(part):
                        raise InvalidParameter(
                            f"the bound of {self.bound.id} ({self.bound.variant}): all arrays over {axis} must be "
                            f"equally long, got {size} in {other} and {len(part)} in {name}"
                        )
                if not len(part):
                    break
                part = part[0]

    def _check_names(self, constants: dict[str, Any]) -> None:
        owner = f"the bound of {self.bound.id} ({self.bound.variant})"
        known = {quantity.name: quantity for quantity in self.symbols}
        for name in constants.keys() - known.keys():
            close = difflib.get_close_matches(name, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it is a function of {', '.join(known)}"
            raise InvalidParameter(f"{owner} has no symbol {name!r}; {hint}")
        missing = [known[name] for name in known if name not in constants]
        if missing:
            raise InvalidParameter(f"{owner} also needs:\n" + "\n".join(f"  {q.described()}" for q in missing))

    def __repr__(self) -> str:
        return f"{self.bound.id} {self.bound.variant}({', '.join(q.name for q in self.symbols)})"


def _parts(value: Any, axes: int) -> list[Any]:
    """Return the numbers of a value as arrays; what belongs to several outcomes or rounds may differ in length."""
    if isinstance(value, list | tuple) and axes > 1:
        return [array for part in value for array in _parts(part, axes - 1)]
    array = np.asarray(value)
    if array.dtype.kind in "cUS":
        raise TypeError("complex numbers and text are not real numbers")
    return [array.astype(float)]  # of objects, such as rational numbers, too


def _sides(relation: Relational) -> tuple[Any, Any, str]:
    if isinstance(relation, Equality):
        return relation.lhs, relation.rhs, "equal"
    if isinstance(relation, GreaterThan | StrictGreaterThan):
        return relation.lhs, relation.rhs, "lower"
    return relation.lhs, relation.rhs, "upper"


def _vector_names(expression: Any) -> set[str]:
    """Return symbols that are vectors: they stand in norms, inner products, or as arguments of functions."""
    holders = expression.atoms(Norm, NormSq, Inner, AppliedUndef)
    return {str(symbol) for holder in holders for symbol in holder.atoms(sp.Symbol)}


def _counting_names(expression: Any) -> set[str]:
    """Return symbols that count: limits of sums, positions in families, and all inside expectations over outcomes."""
    limits = {
        s for total in expression.atoms(sp.Sum) for limit in total.limits for e in limit[1:] for s in e.atoms(sp.Symbol)
    }
    places = {s for entry in expression.atoms(sp.Indexed) for e in entry.indices for s in e.atoms(sp.Symbol)}
    return {str(symbol) for symbol in limits | places}


def _shown(constants: dict[str, Any]) -> str:
    numbers = [f"{name}={value:g}" for name, value in constants.items() if np.ndim(value) == 0]
    return ", ".join(numbers) or "these values"
