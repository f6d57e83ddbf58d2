"""Clients whose objectives do not change and add up to the global one: what theorems without drifts assume."""

from __future__ import annotations

import numpy as np

from fltheory.bounds.observation import Facts, Requirement
from fltheory.quadratic.problem import Quadratic


def fixed_objectives(facts: Facts) -> list[Requirement]:
    """Return the requirements that no drift is drawn anew, and that drifts of clients cancel in the objective."""
    problem, found = facts.problem, []
    for name, words in (
        ("round_drift_sq", "objectives stay from round to round"),
        ("fresh_drift_sq", "the same clients in all rounds"),
    ):
        known = problem.constants().get(name)
        if known is not None:
            value = float(np.max(known.value))
            found.append(Requirement(words, value == 0.0, f"{name} = {value:g}", known.origin))
    if isinstance(problem, Quadratic):
        drift, growth = np.asarray(problem.client_drift), np.asarray(problem.client_growth)
        left = float(np.abs(problem.weights @ drift).max() + abs(problem.weights @ growth))
        size = max(float(np.abs(drift).max() + np.abs(growth).max()), 1.0)
        found.append(Requirement("drifts of the clients cancel", left <= 1e-9 * size, f"{left:g} remains"))
    return found
