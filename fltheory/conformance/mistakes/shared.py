"""Readings and mistakes about who takes part, for how long and with which weight: the same for many algorithms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.conformance.federation import Federation
from fltheory.conformance.variants import Variant, mistake, reading
from fltheory.problems.oracle import Round

WITH_MEMORY = ("scaffold", "feddyn", "fedgate", "vrl-sgd")
"""Algorithms that average the clients' memories with the objective weights."""

UNWEIGHTED = ("signsgd", "ruan", "efl", "fedamp", "gossip-sgd")
"""Algorithms that do not look at the weights of the sampling design."""

DISPLACED = ("fedavg", "fedprox", "scaffold", "fedgate", "mime", "mimelite")
"""Algorithms whose server moves by its rate times the mean displacement."""

STEPS_IRRELEVANT = ("signsgd", "minibatch-sgd")
"""Algorithms whose models do not depend on step counts as long as gradients are full."""


def _equal(work: Round) -> Floats:
    return np.full_like(work.p, 1.0 / len(work.p))


def _everybody_equal(work: Round, federation: Federation) -> Round:
    return replace(work, p=_equal(work), weights=work.uniform)


def _memories_equal(work: Round, federation: Federation) -> Round:
    return replace(work, p=_equal(work))


def _models_equal(work: Round, federation: Federation) -> Round:
    return replace(work, weights=work.uniform)


def _fixed(work: Round, federation: Federation) -> Round:
    return replace(work, weights=work.p * work.active)


def _unbiased(work: Round, federation: Federation) -> Round:
    active = work.active
    present = np.maximum(active.sum(axis=1, keepdims=True), 1)
    return replace(work, weights=work.p * active * len(work.p) / present)


def _by_work(work: Round, federation: Federation) -> Round:
    done = work.p * work.steps
    return replace(work, weights=done / np.maximum(done.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def _complete_only(work: Round, federation: Federation) -> Round:
    steps = np.where(work.steps == work.local_steps, work.steps, 0)
    share = work.weights * (steps > 0)
    total = share.sum(axis=1, keepdims=True)
    return replace(work, steps=steps, weights=share / np.where(total > 0, total, 1.0))


def _as_assigned(work: Round, federation: Federation) -> Round:
    return replace(work, steps=np.where(work.active, work.local_steps, 0))


def _everybody_works(work: Round, federation: Federation) -> Round:
    return replace(work, steps=np.where(work.active, work.steps, work.local_steps), weights=work.p[None])


def _first_rate(work: Round, federation: Federation) -> Round:
    return replace(work, rates=federation.rates[:1])


def _rate_on_the_model(algorithm: Any, w: Floats, result: RoundResult, work: Round) -> Floats:
    mean = w + aggregate(work.weights, result.local - w[:, None])
    return np.asarray(algorithm.server_rate * mean)


READINGS = (
    reading("uniform", "every client counting the same, whatever its number of samples", work=_everybody_equal),
    reading("fixed-weights", "an absent client counting as one that did not move", work=_fixed),
    reading(
        "unbiased-weights",
        "weights p_i N / S instead of weights that sum to one over the participants",
        "the analysis of FedAvg without replacement (Li et al., 2020)",
        work=_unbiased,
    ),
    reading(
        "complete-clients-only", "the work of stragglers thrown away", "FedProx's FedAvg baseline", work=_complete_only
    ),
)
MEMORY_READINGS = (
    reading("uniform-memory", "models weighted by samples but memories averaged uniformly", work=_memories_equal),
    reading("uniform-model", "memories weighted by samples but models averaged uniformly", work=_models_equal),
)
BY_WORK = reading(
    "weights-by-work", "weights proportional to the samples processed, n_i times the steps taken", work=_by_work
)
ASSIGNED_STEPS = mistake("assigned-steps", "stragglers running all the steps they were asked for", work=_as_assigned)
MISTAKES = (
    mistake("everybody-works", "absent clients taking part", work=_everybody_works),
    mistake("first-rate", "the local rate of the first round used in all rounds", work=_first_rate),
)
SERVER_RATE_IGNORED = mistake("server-rate-ignored", "the server rate ignored", parameters={"server_rate": 1.0})

SERVER_RATE_ON_THE_MODEL = mistake(
    "server-rate-on-the-model",
    "the server rate multiplying the mean model instead of the mean displacement",
    "fluke 0.8's SCAFFOLD",
    after=_rate_on_the_model,
)
SHARED = (
    *READINGS,
    *MEMORY_READINGS,
    BY_WORK,
    *MISTAKES,
    ASSIGNED_STEPS,
    SERVER_RATE_IGNORED,
    SERVER_RATE_ON_THE_MODEL,
)


def shared_variants(algorithm: Algorithm) -> tuple[Variant, ...]:
    """Return the shared variants that change something for this algorithm."""
    found: tuple[Variant, ...] = MISTAKES
    if algorithm.name not in STEPS_IRRELEVANT:
        found = (*found, ASSIGNED_STEPS)
    if algorithm.name not in UNWEIGHTED:
        found = (*found, *READINGS)
    if algorithm.name in WITH_MEMORY:
        found = (*found, *MEMORY_READINGS)
    if algorithm.name in ("fedavg", "fedprox"):
        found = (*found, BY_WORK)
    if hasattr(algorithm, "server_rate"):
        found = (*found, SERVER_RATE_IGNORED, SERVER_RATE_ON_THE_MODEL)
    return found


def is_shared(variant: Variant) -> bool:
    """Return whether a variant is one of this module."""
    return variant in SHARED
