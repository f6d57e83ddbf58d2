"""Readings of FedNova and known mistakes in its normalisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.algorithms.fednova import FedNova, State
from fltheory.conformance.federation import Federation
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading
from fltheory.problems.oracle import LocalSteps, Oracle, Round


def _norms(algorithm: FedNova, work: Round) -> Floats:
    powers = abs(1.0 - work.rate * algorithm.prox) ** np.arange(int(work.steps.max()))
    sums: Floats = np.concatenate([[0.0], np.cumsum(powers)])
    return sums[work.steps]


def _steps(algorithm: FedNova, work: Round) -> Floats:
    return work.steps.astype(np.float64)


def _mean(weights: Floats, values: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray((weights * values).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0))


def fednova_round(
    *,
    norms: Callable[[FedNova, Round], Floats] = _norms,
    effective: Callable[[Round, Floats], Floats] = lambda work, norms: _mean(work.weights, norms),
) -> Perform:
    """Return FedNova's round with another measure of local work, or another effective number of steps."""

    def perform(algorithm: FedNova, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(pull=algorithm.prox, anchor=sent))
        measured = norms(algorithm, work)
        # Also scales the displacement of a client that completed less than one step's worth of work.
        scale = work.weights * effective(work, measured) / np.where(measured > 0, measured, 1.0)
        b = algorithm.server_momentum * state.b - aggregate(scale, local - sent) / work.rate
        return RoundResult(State(w=state.w - work.rate * b, b=b), local, uplink=(), downlink=())

    return perform


def _models_normalised(algorithm: FedNova, state: State, oracle: Oracle, work: Round) -> RoundResult:
    sent = state.w[:, None]
    local = oracle.local_steps(sent, work, LocalSteps(pull=algorithm.prox, anchor=sent))
    norms = _norms(algorithm, work)
    scale = work.weights * _mean(work.weights, norms) / np.where(norms > 0, norms, 1.0)
    return RoundResult(state._replace(w=aggregate(scale, local)), local, uplink=(), downlink=())


def _scaled_twice(work: Round, federation: Federation) -> Round:
    present = np.maximum(work.active.sum(axis=1, keepdims=True), 1)
    return replace(work, weights=work.uniform * len(work.p) / present)


def _mean_work(algorithm: FedNova) -> bool:
    return algorithm.effective_steps is None


def _pulled(algorithm: FedNova) -> bool:
    return algorithm.prox > 0 and _mean_work(algorithm)


VARIANTS: tuple[Variant, ...] = (
    reading(
        "effective-steps-from-counts",
        "the effective number of steps a mean of step counts although the pull damps the early ones",
        "the authors' repository",
        **changed(fednova_round, effective=lambda work, norms: _mean(work.weights, work.steps.astype(np.float64))),
        applies=_pulled,
    ),
    mistake(
        "work-counted-in-steps",
        "displacements divided by the number of steps although the pull damps the early ones",
        **changed(fednova_round, norms=_steps),
        applies=_pulled,
    ),
    mistake(
        "not-normalised",
        "displacements not normalised, which is FedAvg",
        **changed(fednova_round, norms=lambda algorithm, work: work.active.astype(np.float64)),
    ),
    mistake(
        "scaled-twice",
        "a plain mean over the participants multiplied by N / S once more",
        "FedLab 1.3's default option",
        work=_scaled_twice,
    ),
    mistake(
        "models-normalised",
        "models averaged with the normalised weights, which do not sum to one, instead of displacements",
        "fluke 0.8",
        round=_models_normalised,
        applies=lambda algorithm: _mean_work(algorithm) and algorithm.server_momentum == 0,
    ),
    mistake(
        "no-effective-steps",
        "the effective number of steps left out",
        **changed(fednova_round, effective=lambda work, norms: np.ones_like(norms[:, :1])),
        applies=_mean_work,
    ),
    mistake(
        "effective-steps-assigned",
        "the effective number of steps set to the number asked for",
        "Ruan's scheme C",
        **changed(fednova_round, effective=lambda work, norms: np.full_like(norms[:, :1], work.local_steps)),
        applies=_mean_work,
    ),
    mistake(
        "effective-steps-unweighted",
        "the effective number of steps a plain mean over the participants",
        **changed(fednova_round, effective=lambda work, norms: _mean(work.uniform, norms)),
        applies=_mean_work,
    ),
    mistake(
        "effective-steps-largest",
        "the effective number of steps the largest instead of the mean",
        **changed(fednova_round, effective=lambda work, norms: norms.max(axis=1, keepdims=True)),
        applies=_mean_work,
    ),
)
