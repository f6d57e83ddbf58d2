"""Known mistakes in the gradient tracking of FedGATE, which VRL-SGD shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate, keep_absent
from fltheory.conformance.variants import Perform, Variant, changed, mistake
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class FedGateTerms(NamedTuple):
    """What a rule for the corrections may look at."""

    algorithm: Any
    delta: Floats
    work: Round
    moved: Floats
    path: Floats
    """Mean gradients along the local paths, shape ``(replicates, clients, dim)``."""


def _over_participants(facts: FedGateTerms, values: Floats) -> Floats:
    share = facts.work.p * facts.work.active
    total = share.sum(axis=1, keepdims=True)
    return aggregate(share / np.where(total > 0, total, 1.0), values)[:, None]


def _track(facts: FedGateTerms) -> Floats:
    return facts.delta + facts.path - _over_participants(facts, facts.path)


def tracking_round(
    *,
    track: Callable[[FedGateTerms], Floats] = _track,
    sign: float = -1.0,
    kept: Callable[[Any, Floats, Floats], Floats] = keep_absent,
) -> Perform:
    """Return a round of gradient tracking with another rule for the corrections or another sign of their use."""

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(correction=sign * state.delta))
        moved = local - sent
        path = -moved / (np.maximum(work.steps, 1)[:, :, None] * work.rate)
        delta = kept(work.active, track(FedGateTerms(algorithm, state.delta, work, moved, path)), state.delta)
        rate = getattr(algorithm, "server_rate", 1.0)
        w = state.w + rate * aggregate(work.weights, moved)
        return RoundResult(state._replace(w=w, delta=delta), local, uplink=(), downlink=())

    return perform


def _scaled_mean(facts: FedGateTerms) -> Floats:
    return np.asarray(facts.delta + facts.path - facts.algorithm.server_rate * _over_participants(facts, facts.path))


def _undivided(facts: FedGateTerms) -> Floats:
    upload = -facts.moved / facts.work.rate
    return np.asarray(facts.delta + upload - _over_participants(facts, upload))


def _assigned(facts: FedGateTerms) -> Floats:
    upload = -facts.moved / (facts.work.local_steps * facts.work.rate)
    return np.asarray(facts.delta + upload - _over_participants(facts, upload))


TRACKING: tuple[Variant, ...] = (
    mistake("correction-reversed", "the correction with the wrong sign", **changed(tracking_round, sign=1.0)),
    mistake(
        "corrections-forget",
        "the corrections replaced in every round instead of accumulated",
        **changed(tracking_round, track=lambda f: f.path - _over_participants(f, f.path)),
    ),
    mistake(
        "mean-not-subtracted",
        "the mean not subtracted in the new corrections",
        **changed(tracking_round, track=lambda f: f.delta + f.path),
    ),
    mistake(
        "not-divided-by-steps",
        "the displacements in the new corrections not divided by the number of steps",
        **changed(tracking_round, track=_undivided),
    ),
    mistake(
        "divided-by-assigned-steps",
        "the displacements in the new corrections divided by the steps asked for instead of those completed",
        **changed(tracking_round, track=_assigned),
    ),
    mistake(
        "mean-over-all",
        "the mean in the new corrections over all clients, absent ones counting as zero",
        **changed(tracking_round, track=lambda f: f.delta + f.path - aggregate(f.work.p, f.path)[:, None]),
    ),
    mistake(
        "absent-clients-too",
        "the mean subtracted from the corrections of absent clients too",
        **changed(tracking_round, kept=lambda active, new, old: new),
    ),
)

VARIANTS: tuple[Variant, ...] = (
    mistake(
        "mean-scaled-by-server-rate",
        "the mean in the new corrections scaled by the server rate",
        **changed(tracking_round, track=_scaled_mean),
    ),
    *TRACKING,
)
