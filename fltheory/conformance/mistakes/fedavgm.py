"""Readings of FedAvgM and known mistakes in its momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading
from fltheory.problems.oracle import Oracle, Round


def fedavgm_round(
    *,
    momentum: Callable[[Any, Floats, Floats], Floats] = lambda a, m, mean: a.momentum * m + mean,
    step: Callable[[Any, Floats, Floats], Floats] = lambda a, m, mean: a.server_rate * m,
) -> Perform:
    """Return FedAvgM's round with another momentum, or another step from the new momentum and the mean displacement."""

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        local = oracle.local_steps(state.w[:, None], work)
        mean = aggregate(work.weights, local - state.w[:, None])
        m = momentum(algorithm, state.m, mean)
        w = state.w + step(algorithm, m, mean)
        return RoundResult(state._replace(w=w, m=np.asarray(m)), local, uplink=(), downlink=())

    return perform


VARIANTS: tuple[Variant, ...] = (
    reading(
        "damped",
        "damped momentum, with a factor 1 - beta on the displacement",
        **changed(fedavgm_round, momentum=lambda a, m, mean: a.momentum * m + (1.0 - a.momentum) * mean),
    ),
    reading(
        "nesterov",
        "Nesterov's momentum",
        **changed(fedavgm_round, step=lambda a, m, mean: a.server_rate * (mean + a.momentum * m)),
    ),
    mistake("no-momentum", "no momentum, which is FedAvg", **changed(fedavgm_round, momentum=lambda a, m, mean: mean)),
    mistake(
        "momentum-reversed",
        "the old momentum subtracted instead of added",
        **changed(fedavgm_round, momentum=lambda a, m, mean: mean - a.momentum * m),
    ),
    mistake(
        "momentum-on-top",
        "the momentum added on top of the mean displacement",
        **changed(fedavgm_round, step=lambda a, m, mean: mean + a.server_rate * m),
    ),
)
