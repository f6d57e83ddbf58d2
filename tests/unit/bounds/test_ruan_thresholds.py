"""Thresholds of the rule that excludes a departing client."""

import numpy as np
import pytest

from fltheory.bounds.claim import Rejected
from fltheory.bounds.ruan import eq_9
from fltheory.validation.search import random_points


def smallest_kept(env, last):
    """Return the smallest bound that keeps the client, up to a number of rounds after the departure."""
    reached = env["tau_0"] * env["E"] + env["gamma"]
    after = (last * env["D"] + env["V"]) / (last * env["E"] + reached)
    return min(env["V"] / reached, after)


@pytest.mark.parametrize("all_rounds", [False, True])
def test_the_rule_excludes_from_the_threshold_on_and_not_before(all_rounds):
    source, seen = eq_9.thresholds(all_rounds=all_rounds), set()
    for point in random_points(source.space, np.random.default_rng(3), 300):
        try:
            env = source.realise(point)
        except Rejected:
            continue
        threshold, reached = env["remaining"], env["tau_0"] * env["E"] + env["gamma"]
        for left, excluded in ((threshold * (1 - 1e-6), False), (threshold * (1 + 1e-6), True)):
            kept = smallest_kept(env, 1e30 if all_rounds else left)
            out = (env["V"] / reached + env["Gamma_gone"]) / (left * env["E"] + env["gamma"])
            # A threshold far below the offset moves neither bound by more than rounding.
            assert (kept >= out) == excluded or kept == pytest.approx(out, rel=1e-12)
        seen.add(env["D"] * reached >= env["E"] * env["V"])
    assert seen == {False, True}
