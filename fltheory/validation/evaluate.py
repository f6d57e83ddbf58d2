"""One form of a claim on one instance: both sides, by how much it holds, and where it is closest to failing."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from sympy.core.relational import Equality, GreaterThan, Relational, StrictGreaterThan, StrictLessThan

from fltheory.bounds.algebra import Compiled, Env, compiled, valued
from fltheory.bounds.claim import Assumption, Form, Range, Rejected
from fltheory.bounds.definitions import definitions
from fltheory.bounds.quantities import names_in
from fltheory.simulation.trajectories import Band

ROUNDING = 1e-9
"""Relative difference below which two float64 sides count as equal."""

NOTHING = 1e-12
"""Sides of an assumed equality in float64 that count as zero; a violation is confirmed without rounding."""

_DIGITS = 50
"""Digits to which a number that is not rational is compared with zero."""


class Evaluation(NamedTuple):
    """One relation at its worst place.

    Parameters
    ----------
    lhs, rhs
        The sides of ``lhs <= rhs`` (a ``>=`` is turned around) or ``lhs = rhs``; exact numbers in exact mode.
    score
        Larger is closer to failing: the logarithm of ``lhs / rhs`` where both are positive.
    violated
        Whether the relation fails by more than rounding (in exact mode: fails).
    relation
        Which of the relations of the form.
    where
        Values of the indices, entry of a curve, and outcome.
    equality
        Whether the relation is ``lhs = rhs``.
    """

    lhs: Any
    rhs: Any
    score: float
    violated: bool
    relation: int
    where: Mapping[str, int]
    equality: bool = False

    @property
    def margin(self) -> float | None:
        """Smallest ``rhs / lhs``; below 1 where the relation fails, ``None`` where there is nothing to compare.

        For an equality the smaller of the two ratios.
        """
        lhs, rhs = float(self.lhs), float(self.rhs)
        if not (lhs > 0 and math.isfinite(rhs / lhs)):
            return None
        return min(rhs / lhs, lhs / rhs) if self.equality and rhs > 0 else rhs / lhs


def read(form: Form, env: Env, *, exact: bool = False, side: str = "") -> Evaluation:
    """Return the evaluation of a form that is closest to failing.

    ``side`` says which limit of a :class:`~fltheory.simulation.trajectories.Band` stands for a sampled curve: ``low``
    or ``high``.
    """
    values = defined(form, {name: _limit(value, side) for name, value in env.items()}, exact=exact)
    evaluations = [
        evaluation
        for number, relation in enumerate(form.relations)
        for evaluation in _evaluations(relation, values, form.over, number, exact=exact)
    ]
    if not evaluations:
        raise Rejected("no index is in range")
    return max(evaluations, key=lambda evaluation: (evaluation.violated, evaluation.score))


def sides(form: Form, env: Env) -> tuple[Any, Any]:
    """Return both sides of the first relation of a form as arrays, smaller one first.

    Curves and indices give the axes; a sampled curve is its mean. Where a side has one value per outcome the last axis
    is that of the outcomes.
    """
    values = defined(form, {name: _limit(value, "") for name, value in env.items()})
    relation = form.relations[0]
    both = [compiled(relation.lhs), compiled(relation.rhs)]
    if isinstance(relation, GreaterThan | StrictGreaterThan):
        both.reverse()
    pairs = [
        np.broadcast_arrays(*(np.asarray(valued(side, values | place, exact=False), dtype=float) for side in both))
        for place in _index_values(form.over, values, exact=False)
    ]
    left, right = (np.array([pair[at] for pair in pairs]) for at in (0, 1))
    return (left, right) if form.over else (left[0], right[0])


def failing(relation: Relational, over: tuple[Range, ...], values: Env, *, exact: bool = False) -> str:
    """Return why an assumption or premise does not hold on an instance: its sides; empty if it holds.

    ``values`` are the quantities with the definitions of the form, see :func:`defined`.
    """
    for evaluation in _evaluations(relation, values, over, 0, exact=exact):
        if evaluation.violated and (exact or not _vanishing(evaluation)):
            return _both(evaluation)
    return ""


def _vanishing(evaluation: Evaluation) -> bool:
    """Return whether an equality of float64 sides compares nothing but rounding errors."""
    return evaluation.equality and max(abs(float(evaluation.lhs)), abs(float(evaluation.rhs))) < NOTHING


def closest(relation: Relational, over: tuple[Range, ...], values: Env, *, exact: bool = False) -> Evaluation | None:
    """Return the evaluation of an assumption that is closest to failing; ``None`` if no index is in range."""
    evaluations = _evaluations(relation, values, over, 0, exact=exact)
    return max(evaluations, key=lambda evaluation: evaluation.score, default=None)


def measured(relation: Relational, over: tuple[Range, ...], values: Env) -> str:
    """Return the sides of an assumption on an instance, where they are closest to failing it; smaller side first."""
    evaluation = closest(relation, over, values)
    return _both(evaluation) if evaluation is not None else ""


def _both(evaluation: Evaluation) -> str:
    place = ", ".join(f"{name}={value}" for name, value in evaluation.where.items())
    return f"{_shown(evaluation.lhs)} against {_shown(evaluation.rhs)}" + (f" at {place}" if place else "")


def holds(assumption: Assumption, form: Form, env: Env, *, exact: bool = False) -> bool:
    """Return whether an assumption holds on an instance."""
    return not failing(assumption.relation, assumption.over, defined(form, env, exact=exact), exact=exact)


def defined(form: Form, env: Env, *, exact: bool = False) -> dict[str, Any]:
    """Return the quantities, by name, with the definitions of a form carried out; what the instance gives stays.

    Definitions that depend on an index of the form are left out.
    """
    values = dict(form.named(env))
    indices = {i.name for i, _, _ in form.over}
    for definition in definitions(form.where):
        if definition.name not in values and not (definition.needs & indices) and definition.needs <= values.keys():
            values[definition.name] = definition.value(values, exact=exact)
    return values


class _Sides(NamedTuple):
    """A relation taken apart: the sides of ``lhs <= rhs`` or ``lhs = rhs``, and the quantities in it."""

    lhs: Compiled
    rhs: Compiled
    random: bool
    names: frozenset[str]
    equality: bool
    strict: bool


@functools.cache
def _sides(relation: Relational) -> _Sides:
    backward = isinstance(relation, GreaterThan | StrictGreaterThan)
    left, right = (relation.rhs, relation.lhs) if backward else (relation.lhs, relation.rhs)
    lhs, rhs = compiled(left), compiled(right)
    strict = isinstance(relation, StrictLessThan | StrictGreaterThan)
    return _Sides(lhs, rhs, lhs.random or rhs.random, names_in(relation), isinstance(relation, Equality), strict)


def _evaluations(
    relation: Relational, env: Env, over: tuple[Range, ...], number: int, *, exact: bool
) -> Iterator[Evaluation]:
    sides = _sides(relation)
    for indices in _index_values(over, env, exact=exact):
        values = {**env, **indices} if indices else env
        place = {name: value for name, value in indices.items() if name in sides.names}
        for outcome in range(len(env["chance"])) if sides.random else (0,):
            lhs = sides.lhs(values, exact=exact, outcome=outcome)
            rhs = sides.rhs(values, exact=exact, outcome=outcome)
            where = {**place, "outcome": outcome} if sides.random else place
            yield from _compared(sides, lhs, rhs, number, where, exact=exact)


def _index_values(over: tuple[Range, ...], env: Env, *, exact: bool) -> Iterator[dict[str, int]]:
    names, ends = _ranges(over)
    ranges = [range(int(low(env, exact=exact)), int(high(env, exact=exact)) + 1) for low, high in ends]
    for values in itertools.product(*ranges):
        yield dict(zip(names, values, strict=True))


@functools.cache
def _ranges(over: tuple[Range, ...]) -> tuple[list[str], list[tuple[Compiled, Compiled]]]:
    """Return the names of indices, and their first and last values."""
    ends = [(compiled(sp.sympify(low)), compiled(sp.sympify(high))) for _, low, high in over]
    return [str(i) for i, _, _ in over], ends


def _compared(
    sides: _Sides, lhs: Any, rhs: Any, number: int, where: dict[str, int], *, exact: bool
) -> Iterator[Evaluation]:
    equality, strict = sides.equality, sides.strict
    compare = _compare_exact if exact else _compare_float
    if not (isinstance(lhs, np.ndarray) or isinstance(rhs, np.ndarray)):
        score, violated = compare(lhs, rhs, equality=equality, strict=strict)
        yield Evaluation(lhs, rhs, score, violated, number, where, equality)
        return
    left, right = np.broadcast_arrays(np.asarray(lhs, dtype=object), np.asarray(rhs, dtype=object))
    if left.ndim and not exact:
        # One vectorised pass picks the worst entry of a curve; only that one is read.
        a, b = left.astype(float), right.astype(float)
        if not (np.all(np.isfinite(a)) and not np.any(np.isnan(b))):
            raise Rejected("a side is not finite")
        scores = _scores(a, b, equality=equality)
        entries = [np.unravel_index(int(np.argmax(scores)), scores.shape)]
    else:
        entries = list(np.ndindex(left.shape))
    for entry in entries:
        place = dict(where)
        if entry:
            place["entry"] = int(np.ravel_multi_index(entry, left.shape))
        score, violated = compare(left[entry], right[entry], equality=equality, strict=strict)
        yield Evaluation(left[entry], right[entry], score, violated, number, place, equality)


def _scores(lhs: Any, rhs: Any, *, equality: bool) -> Any:
    finite = np.isfinite(rhs)
    there = np.where(finite, rhs, 0.0)
    scale = np.maximum(np.abs(lhs), np.abs(there))
    gap = np.where(finite, (lhs - there) / np.where(scale > 0, scale, 1.0), -np.sign(rhs))
    if equality:
        return np.log(np.maximum(np.abs(gap), 1e-30))
    both = (lhs > 0) & (rhs > 0)
    ratio = np.log(np.where(both, lhs, 1.0)) - np.log(np.where(both & finite, rhs, 1.0))
    # Where a logarithm makes no sense: far below (satisfied) or far above (failed) what ratios reach.
    return np.where(both, np.where(finite, ratio, -1e3), np.where(gap > 0, 1e3 + gap, -1e3 + gap))


def _score(lhs: float, rhs: float, *, equality: bool) -> float:
    """Return what :func:`_scores` returns, for two numbers."""
    scale = max(abs(lhs), abs(rhs)) or 1.0
    gap = (lhs - rhs) / scale if math.isfinite(scale) else math.copysign(1.0, lhs - rhs)
    if equality:
        return math.log(max(abs(gap), 1e-30))
    if lhs > 0 and rhs > 0:
        return math.log(lhs) - math.log(rhs) if math.isfinite(rhs) else -1e3
    return 1e3 + gap if gap > 0 else -1e3 + gap


def _compare_float(lhs: Any, rhs: Any, *, equality: bool, strict: bool) -> tuple[float, bool]:
    a, b = float(lhs), float(rhs)
    if math.isnan(a) or math.isnan(b) or math.isinf(a):
        raise Rejected("a side is not finite")
    score = _score(a, b, equality=equality)
    scale = max(abs(a), abs(b)) if math.isfinite(b) else abs(a)
    off = abs(a - b) if equality else a - b
    return score, off >= -ROUNDING * scale if strict else off > ROUNDING * scale


def _compare_exact(lhs: Any, rhs: Any, *, equality: bool, strict: bool) -> tuple[float, bool]:
    a, b = sp.sympify(lhs), sp.sympify(rhs)
    # As in floating point: divided by zero, or the root of a negative number.
    if a.is_infinite or any(side is sp.nan or side.is_extended_real is False for side in (a, b)):
        raise Rejected("a side is not finite")
    score = _score(float(a), float(b), equality=equality)
    difference = a - b
    if equality:
        return score, not _is_zero(difference)
    if _is_zero(difference, prove=strict):
        return score, strict
    return score, bool(difference.evalf(_DIGITS) > 0)


def _is_zero(number: sp.Expr, *, prove: bool = False) -> bool:
    """Return whether a number is zero; one that is not rational, if it vanishes to 40 digits.

    A violation never hangs on such a number: it would have to exceed it. Where zero itself is a violation, because the
    relation is strict, ``prove`` asks for a proof.
    """
    if number.is_Rational:
        return bool(number == 0)
    if abs(number.evalf(_DIGITS)) > sp.Float(f"1e-{_DIGITS - 10}"):
        return False
    return not prove or bool(sp.simplify(number) == 0)


def _limit(value: Any, side: str) -> Any:
    if isinstance(value, Band):
        return value.mean if not side else getattr(value, side)
    return value


def _shown(value: Any) -> str:
    return f"{float(value):.6g}"


def sides_at(relation: Relational, over: tuple[Range, ...], values: Env) -> Iterator[tuple[Any, Any, bool]]:
    """Yield both sides of a relation, exact, for all indices, outcomes and entries, without comparing them.

    The sides are those of ``lhs <= rhs`` or ``lhs = rhs``; the last value says whether the relation was turned around.
    """
    sides = _sides(relation)
    backward = isinstance(relation, GreaterThan | StrictGreaterThan)
    for indices in _index_values(over, values, exact=True):
        place = {**values, **indices}
        for outcome in range(len(values["chance"])) if sides.random else (0,):
            lhs, rhs = (side(place, exact=True, outcome=outcome) for side in (sides.lhs, sides.rhs))
            left, right = np.broadcast_arrays(np.asarray(lhs, dtype=object), np.asarray(rhs, dtype=object))
            for entry in np.ndindex(left.shape):
                yield sp.sympify(left[entry]), sp.sympify(right[entry]), backward
