"""Readings of gossip SGD and known mistakes in how models are mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading
from fltheory.problems.oracle import Oracle, Round


def gossip_round(
    *, mixed: Callable[[Floats, Floats, Floats, Floats], Floats] = lambda moved, start, matrix, share: matrix @ moved
) -> Perform:
    """Return a round of gossip SGD that mixes in another way."""

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        moved = oracle.local_steps(state.x, work)
        matrix = algorithm.matrix(work.index, work.p, work.active)
        after = mixed(moved, state.x, matrix, work.p * work.active)
        x = np.where(work.active[:, :, None], after, state.x)
        return RoundResult(state._replace(w=aggregate(work.p, x), x=x), x, uplink=(), downlink=())

    return perform


def _others(moved: Floats, start: Floats, matrix: Floats, share: Floats) -> Floats:
    links = matrix * ~np.eye(matrix.shape[-1], dtype=np.bool_)
    total = links.sum(axis=2, keepdims=True)
    return np.asarray(np.where(total > 0, links @ moved / np.where(total > 0, total, 1.0), moved))


def _copied(moved: Floats, start: Floats, matrix: Floats, share: Floats) -> Floats:
    total = np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(np.zeros_like(moved) + aggregate(share / total, moved)[:, None])


VARIANTS: tuple[Variant, ...] = (
    reading(
        "steps-added-after-mixing",
        "the models before the local steps mixed, and every client's own displacement added",
        "D-PSGD (Lian et al., 2017)",
        **changed(gossip_round, mixed=lambda moved, start, matrix, share: matrix @ start + (moved - start)),
    ),
    mistake(
        "never-mixed",
        "models never mixed",
        **changed(gossip_round, mixed=lambda moved, start, matrix, share: moved),
    ),
    mistake(
        "own-model-left-out", "a client's own model left out of its average", **changed(gossip_round, mixed=_others)
    ),
    mistake(
        "mean-copied-to-all",
        "every client going on from the mean of all models",
        applies=lambda algorithm: algorithm.mixing != ("mean",),
        **changed(gossip_round, mixed=_copied),
    ),
)
