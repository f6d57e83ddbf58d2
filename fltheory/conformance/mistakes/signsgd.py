"""Readings of signSGD with majority vote and known mistakes in the vote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate, keep_absent
from fltheory.conformance.variants import Perform, Variant, mistake, reading
from fltheory.problems.oracle import Oracle, Round


def voting_round(vote: Callable[[Floats, Round], Floats]) -> Perform:
    """Return a round whose direction is ``vote(momenta, work)``, shape ``(replicates, dim)``."""

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        beta = algorithm.momentum
        gradient = oracle.gradient(state.w[:, None], oracle.minibatch(0))
        m = keep_absent(work.active, beta * state.m + (1.0 - beta) * gradient, state.m)
        w = state.w - work.rate * (vote(m, work) + algorithm.weight_decay * state.w)
        return RoundResult(state._replace(w=w, m=m), m, uplink=(), downlink=())

    return perform


VARIANTS: tuple[Variant, ...] = (
    reading(
        "weighted-vote",
        "votes weighted by sample counts",
        round=voting_round(lambda m, work: np.sign(aggregate(work.weights, np.sign(m)))),
    ),
    mistake(
        "sign-of-the-mean",
        "the sign of the mean gradient instead of a vote",
        round=voting_round(lambda m, work: np.sign(aggregate(work.weights, m))),
    ),
    mistake(
        "mean-of-the-signs",
        "the mean of the signs instead of its sign",
        round=voting_round(lambda m, work: aggregate(work.uniform, np.sign(m))),
    ),
    mistake(
        "absent-clients-vote",
        "absent clients voting with their last momentum",
        round=voting_round(lambda m, work: np.sign(np.sign(m).sum(axis=1))),
        applies=lambda algorithm: algorithm.momentum > 0,
    ),
)
