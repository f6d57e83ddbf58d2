r"""An instance in the symbols of the paper: the quantities that occur in a statement, with their values.

The parameters of a counterexample say how an instance is made; a reader of the paper asks for :math:`\theta`,
:math:`\gamma_\tau` or :math:`F_k(w^*)` instead. Every row gives one symbol, or one member of a family, as LaTeX. Random
quantities have one value per outcome, and a row of its own gives the probabilities.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from fltheory.bounds.algebra import Env, compiled, is_random, needed_by, valued
from fltheory.bounds.claim import Assumption, Form
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import Quantity, Role, declaration

MEMBERS = 6
"""Members of a family that are listed one by one."""

OUTCOMES = 8
"""Outcomes up to which all of them are shown; beyond, only the one on which the statement fails."""

ENTRIES = 24
"""Numbers that a row has room for."""

Row = dict[str, Any]
"""``symbol`` and ``values`` as LaTeX, one value or one per outcome, and ``meaning`` in words."""


def instance_values(
    form: Form, values: Env, exact: bool, where: Mapping[str, int], assumptions: Sequence[Assumption] = ()
) -> list[Row]:
    """Return the rows of an instance.

    Parameters
    ----------
    form
        The form that fails.
    values
        Its quantities by name, with the definitions carried out.
    exact
        Whether the values are exact numbers.
    where
        Indices, entry of a curve and outcome at which it fails.
    assumptions
        Assumptions of the form; the rows of what occurs in them alone say that it is ``assumed``.
    """
    rows: list[Row] = []
    stated = form.quantities()
    known = stated + _assumed(assumptions, stated)
    random = any(quantity.random for quantity in known)
    chance = list(values["chance"]) if random and "chance" in values else []
    chosen = [n for n, probability in enumerate(chance) if probability != 0 or n == where.get("outcome")]
    if len(chosen) > OUTCOMES:
        chosen = [where["outcome"]] if "outcome" in where else []
    for quantity in sorted(known, key=_place):
        if quantity.role is Role.FUNCTION or quantity.name == "chance" or quantity.name not in values:
            continue
        found = _rows(quantity, values[quantity.name], where, chosen)
        rows += found if quantity in stated else ({**row, "assumed": True} for row in found)
    for atom in _applied(form, values, where, exact=exact):
        value = valued(compiled(atom), values, exact=exact)
        known_as = declaration(atom)
        several = [value[n] for n in chosen] if is_random(atom) else [value]
        if several and known_as is not None:
            rows.append(_row(latex(atom), known_as.meaning, several))
    rows = [row for row in rows if all(row["values"])]
    if any(len(row["values"]) > 1 for row in rows):
        shown = [written(chance[n]) for n in chosen]
        rows.insert(0, {"symbol": r"\mathbb{P}", "meaning": "probability of the outcome", "values": shown})
    return rows


def _assumed(assumptions: Sequence[Assumption], stated: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities that occur in assumptions alone."""
    known = {quantity.name for quantity in stated}
    found = {name: quantity for one in assumptions for name, quantity in needed_by(one.relation).items()}
    return [found[name] for name in sorted(found.keys() - known) if found[name].role is not Role.INDEX]


def _place(quantity: Quantity) -> tuple[bool, bool, str]:
    return quantity.random, quantity.role is Role.FAMILY, quantity.name


def _row(symbol: str, meaning: str, values: list[Any]) -> Row:
    shown = [written(value) for value in values]
    return {"symbol": symbol, "meaning": meaning, "values": shown[:1] if len(set(shown)) == 1 else shown}


def _rows(quantity: Quantity, value: Any, where: Mapping[str, int], chosen: list[int]) -> Iterator[Row]:
    """Yield one row, or one for every member of a small family."""
    if quantity.random:
        if not chosen:
            return
        per_outcome = [value[n] for n in chosen]
    else:
        per_outcome = [value]
    entry = where.get("entry")
    if quantity.role is Role.NUMBER and entry is not None and quantity.shape != ("dim",):  # a curve
        per_outcome = [one[entry] if np.ndim(one) and entry < len(one) else one for one in per_outcome]
    sizes = np.shape(np.asarray(per_outcome[0], dtype=object))[: len(quantity.first)]
    if len(sizes) < len(quantity.first):
        return
    if int(np.prod(sizes, dtype=int)) <= MEMBERS:
        for member in itertools.product(*map(range, sizes)):
            symbol = quantity.latex
            for axis, (at, first) in enumerate(zip(member, quantity.first, strict=True)):
                symbol = symbol.replace(f"<{axis}>", str(at + first))
            yield _row(symbol, quantity.meaning, [_at(one, member) for one in per_outcome])
        return
    if len(sizes) == 1 and entry is not None and entry < sizes[0]:
        symbol = quantity.latex.replace("<0>", str(entry + quantity.first[0]))
        yield _row(symbol, quantity.meaning, [_at(one, (entry,)) for one in per_outcome])


def _at(value: Any, member: tuple[int, ...]) -> Any:
    for at in member:
        value = value[at]
    return value


def _applied(form: Form, values: Env, where: Mapping[str, int], *, exact: bool) -> list[Any]:
    """Return the values of functions in a form, at the indices at which it fails and those of its sums."""
    fixed = {i: sp.Integer(where[i.name]) for i, _, _ in form.over if i.name in where}
    found: dict[Any, None] = {}
    for part in form.parts():
        for atom, ranges in _atoms(part, {}):
            free = [symbol for symbol in ranges if symbol in atom.free_symbols]
            spans = []
            for symbol in free:
                low, high = (compiled(sp.sympify(end).subs(fixed)) for end in ranges[symbol])
                if not (low.names | high.names) <= values.keys() or low.random or high.random:
                    break
                spans.append(range(int(low(values, exact=exact)), int(high(values, exact=exact)) + 1))
            else:
                for place in itertools.islice(itertools.product(*spans), MEMBERS):
                    one = atom.subs({**fixed, **dict(zip(free, map(sp.Integer, place), strict=True))})
                    if compiled(one).names <= values.keys():
                        found[one] = None
    return list(found)[: 2 * MEMBERS]


def _atoms(expression: Any, ranges: dict[Any, Any]) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield values of functions with the ranges of the sums in which they stand."""
    if isinstance(expression, sp.Sum):
        body, *limits = expression.args
        yield from _atoms(body, {**ranges, **{symbol: (low, high) for symbol, low, high in limits}})
        return
    if isinstance(expression, AppliedUndef):
        yield expression, ranges
        return
    for part in getattr(expression, "args", ()):
        yield from _atoms(part, ranges)


def written(value: Any) -> str:
    r"""Return a number or an array of few numbers as LaTeX; empty if it is neither.

    >>> written(0.75), written(np.array([1, 2.5])), written(1.2e-9)
    ('3/4', '(1, 5/2)', '1.2 \\cdot 10^{-9}')
    """
    if callable(value):
        return ""
    array = np.asarray(value, dtype=object)
    if array.ndim == 0:
        return _number(array.item())
    if array.size > ENTRIES or array.size == 0:
        return ""
    if array.size == 1:
        return _number(array.ravel()[0])
    return _nested([part for part in array if np.size(part)])


def _nested(parts: Any) -> str:
    inner = (_nested(part) if np.ndim(part) else _number(part) for part in parts)
    return f"({', '.join(inner)})"


def _number(value: Any) -> str:
    if isinstance(value, sp.Basic):
        if not value.is_Float:
            return str(value) if value.is_Rational else latex(value)
        value = float(value)
    if isinstance(value, bool | int | np.integer | np.bool_):
        return str(int(value))
    number = float(value)
    small = Fraction(number).limit_denominator(64) if np.isfinite(number) else None
    if small is not None and float(small) == number and abs(small.numerator) <= 999:
        return str(small)
    digits, _, power = f"{number:.6g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits.replace("inf", r"\infty")
