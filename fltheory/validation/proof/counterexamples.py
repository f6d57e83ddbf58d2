"""A look at instances beyond the sizes of a certificate: what fails there is not worth one, whatever its sizes."""

from __future__ import annotations

from typing import Any

from fltheory.bounds.claim import Form, Instances, Rejected
from fltheory.bounds.space import Params, exact
from fltheory.validation.evaluate import defined, failing, read
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.search import sample

BUDGET = 600
"""Of the search whose random points are looked at."""

EXCESS = 1e-6
"""Relative difference from which a failure in floats is believed."""


def refuted(form: Form, hypotheses: Hypotheses) -> bool:
    """Return whether a form fails on one of some random instances of its own check, of any sizes."""
    check = hypotheses.check
    return isinstance(check, Instances) and any(
        _fails(form, hypotheses, check, point) for point in sample(check.space, BUDGET, seed=0)
    )


def _fails(form: Form, hypotheses: Hypotheses, check: Instances, point: dict[str, Any]) -> bool:
    """Return whether a form fails at a point, without rounding where the check can do without."""
    if not _failing(form, hypotheses, check, point, rounded=True):
        return False
    return not check.rational or _failing(form, hypotheses, check, exact(point), rounded=False)


def _failing(form: Form, hypotheses: Hypotheses, check: Instances, point: Params, *, rounded: bool) -> bool:
    sure = not rounded
    try:
        env = form.named(check.realise(point))
        values = defined(form, env, exact=sure)
        if any(failing(a.relation, a.over, values, exact=sure) for a in hypotheses.assumptions):
            return False
        if any(failing(premise, (), values, exact=sure) for premise in form.premises):
            return False
        found = read(form, env, exact=sure)
    except (Rejected, ArithmeticError):
        return False
    if sure or not found.violated:
        return found.violated
    left, right = float(found.lhs), float(found.rhs)
    return abs(left - right) >= EXCESS * max(abs(left), abs(right))
