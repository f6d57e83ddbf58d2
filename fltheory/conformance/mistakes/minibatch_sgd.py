"""Known mistakes in minibatch SGD."""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.conformance.variants import Variant, mistake
from fltheory.problems.oracle import Oracle, Round


def _summed(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
    total = np.zeros((1, 1, 1))
    for k in range(int(work.steps.max())):
        total = total + (work.steps > k)[:, :, None] * oracle.gradient(state.w[:, None], oracle.minibatch(k))
    w = state.w - algorithm.server_rate * work.rate * aggregate(work.weights, total)
    return RoundResult(state._replace(w=w), total, uplink=(), downlink=())


def _moving(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
    local = oracle.local_steps(state.w[:, None], work)
    moved = (local - state.w[:, None]) / np.maximum(work.steps, 1)[:, :, None]
    w = state.w + algorithm.server_rate * aggregate(work.weights, moved)
    return RoundResult(state._replace(w=w), local, uplink=(), downlink=())


VARIANTS: tuple[Variant, ...] = (
    mistake("summed", "the gradients of a round summed instead of averaged", round=_summed),
    mistake("moving", "gradients taken along a local path instead of at the server model", round=_moving),
)
