r"""What a reader needs to check a counterexample by hand: both sides term by term, and the assumptions on the instance.

A side such as :math:`\tau\sigma^2 + (M + \tau)\sum_i\|\xi_i\|^2` is told as :math:`2 + 6`, in the order in which the
formula prints its terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import GreaterThan, StrictGreaterThan

from fltheory.bounds.algebra import EE, Env, Norm, NormSq, compiled
from fltheory.bounds.claim import Assumption, Form
from fltheory.bounds.definitions import used
from fltheory.bounds.printing import latex, terms_of
from fltheory.bounds.quantities import declaration
from fltheory.bounds.term_order import LARGE_KINDS
from fltheory.errors import FltheoryError
from fltheory.validation.evaluate import Evaluation, closest
from fltheory.validation.instance_values import written

SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "<": "<", ">": ">", "!=": "≠"}
"""How relations compare their sides."""

MOST = 8
"""Terms of a side that are told one by one."""


def terms(form: Form, values: Env, evaluation: Evaluation, *, exact: bool) -> dict[str, str]:
    r"""Return each side as LaTeX with numbers for its terms, in the order of the formula: ``left`` and ``right``.

    A side without several terms is left out, as is one whose terms are no numbers. Where a definition says what a side
    is, its terms are told.

    Parameters
    ----------
    form
        The form that fails.
    values
        Its quantities by name, with the definitions carried out.
    evaluation
        Where it fails.
    exact
        Whether the values are exact numbers.
    """
    relation = form.relations[evaluation.relation]
    defined = {target: sp.sympify(value) for target, value in used(form.where, [relation])}
    place = {**values, **{name: at for name, at in evaluation.where.items() if name not in ("entry", "outcome")}}
    found = {}
    for name, side in (("left", relation.lhs), ("right", relation.rhs)):
        in_front, inner = _taken_apart(defined.get(side, side))
        parts = terms_of(inner, form.page)
        if 1 < len(parts) <= MOST:
            numbers = [_number(part, place, evaluation.where, exact=exact) for part in (in_front, *parts)]
            if all(numbers):
                found[name] = _written(numbers[0], numbers[1:])
    return found


def _taken_apart(side: Any) -> tuple[Any, Any]:
    """Return a product as its other factors and its longest sum."""
    sums = [factor for factor in sp.Mul.make_args(side) if isinstance(factor, sp.Add)]
    if not sums or sums[0] is side:
        return sp.Integer(1), side
    longest = max(sums, key=lambda one: (one.has(*LARGE_KINDS), len(one.args)))
    return side / longest, longest


def _written(in_front: str, numbers: Sequence[str]) -> str:
    text = numbers[0] + "".join(f" - {one[1:]}" if one.startswith("-") else f" + {one}" for one in numbers[1:])
    return text if in_front == "1" else rf"{in_front} \cdot ({text})"


def given(form: Form, evaluation: Evaluation) -> int:
    """Return how many sides are single quantities, or their norm or mean, that no definition explains."""
    relation = form.relations[evaluation.relation]
    defined = {target for target, _ in form.where}
    return sum(side not in defined and declaration(_inside(side)) is not None for side in (relation.lhs, relation.rhs))


def _inside(side: Any) -> Any:
    while isinstance(side, EE | Norm | NormSq):
        side = side.args[0]
    return side


def hypotheses(assumptions: Sequence[Assumption], values: Env, *, exact: bool) -> list[dict[str, str]]:
    """Return the assumptions with both sides on an instance, in the order of the formula, where they are closest.

    Those about quantities that the instance does not give are left out.
    """
    found = []
    for assumption in assumptions:
        relation = assumption.relation
        try:
            evaluation = closest(relation, assumption.over, values, exact=exact)
        except (FltheoryError, KeyError):
            continue
        if evaluation is None:
            continue
        left, right = written(evaluation.lhs), written(evaluation.rhs)
        if isinstance(relation, GreaterThan | StrictGreaterThan):
            left, right = right, left
        found.append({"statement": latex(relation), "lhs": left, "rhs": right, "sign": SIGNS[relation.rel_op]})
    return found


def _number(part: Any, values: Env, where: Mapping[str, int], *, exact: bool) -> str:
    """Return the value of a term at a place; empty if it is not a number there."""
    call = compiled(part)
    if not call.names <= values.keys():
        return ""
    value = np.asarray(call(values, exact=exact, outcome=where.get("outcome", 0)), dtype=object)
    if value.ndim and "entry" in where and where["entry"] < value.size:
        value = value.ravel()[where["entry"]]
    return written(value) if np.ndim(value) == 0 or np.size(value) == 1 else ""
