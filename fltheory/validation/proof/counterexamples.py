"""A look at instances beyond the sizes of a certificate: what fails there is not worth one, whatever its sizes."""

from __future__ import annotations

from fltheory.bounds.claim import Form, Instances, Rejected
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


def _fails(form: Form, hypotheses: Hypotheses, check: Instances, point: dict[str, object]) -> bool:
    try:
        env = form.named(check.realise(point))
        values = defined(form, env)
        if any(failing(a.relation, a.over, values) for a in hypotheses.assumptions):
            return False
        if any(failing(premise, (), values) for premise in form.premises):
            return False
        found = read(form, env)
    except (Rejected, ArithmeticError):
        return False
    left, right = float(found.lhs), float(found.rhs)
    scale = max(abs(left), abs(right))
    off = abs(left - right) if found.equality else left - right
    return found.violated and off >= EXCESS * scale
