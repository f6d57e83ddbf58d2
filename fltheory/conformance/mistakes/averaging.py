"""Mistakes in the local loop and the mean of FedAvg, which FedProx shares: copying, downloading, clearing gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate, keep_absent
from fltheory.conformance.variants import Variant, mistake, stepped
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class LocalState(NamedTuple):
    """Server model ``(replicates, dim)`` and the clients' last models ``(replicates, clients, dim)``."""

    w: Floats
    local: Floats


def prox_of(algorithm: Any) -> float:
    """Return the strength of the pull to the server model; FedAvg has none."""
    return float(getattr(algorithm, "prox", 0.0))


def local_models(algorithm: Any, sent: Floats, oracle: Oracle, work: Round) -> Floats:
    """Return the local models of FedAvg or FedProx."""
    return oracle.local_steps(sent, work, LocalSteps(pull=prox_of(algorithm), anchor=sent))


def averaged(algorithm: Any, state: Any, local: Floats, work: Round) -> RoundResult:
    """Return FedAvg's server step from given local models."""
    w = state.w + algorithm.server_rate * aggregate(work.weights, local - state.w[:, None])
    return RoundResult(state._replace(w=w), local, uplink=(), downlink=())


def along(direction: Callable[[Any, Floats, Floats, Floats], Floats]) -> Callable[..., RoundResult]:
    """Return a round whose local steps go along ``direction(algorithm, gradient, local, sent)``."""

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = stepped(oracle, work, sent, lambda gradient, w: direction(algorithm, gradient, w, sent))
        return averaged(algorithm, state, local, work)

    return perform


def _never_cleared(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
    sent = state.w[:, None]
    total: Floats = np.zeros((1, 1, 1))

    def direction(gradient: Floats, local: Floats) -> Floats:
        nonlocal total
        total = total + gradient + prox_of(algorithm) * (local - sent)
        return total

    return averaged(algorithm, state, stepped(oracle, work, sent, direction), work)


def _one_model_for_all(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
    sent = state.w[:, None]
    current, models = sent, []
    for client in range(oracle.num_clients):
        alone = replace(work, steps=np.where(np.arange(oracle.num_clients) == client, work.steps, 0))
        ended = oracle.local_steps(current, alone, LocalSteps(pull=prox_of(algorithm), anchor=sent))[
            :, client : client + 1
        ]
        current = ended
        models.append(ended)
    return averaged(algorithm, state, np.concatenate(models, axis=1), work)


def _with_local(algorithm: Any, start: Floats, oracle: Oracle, p: Floats) -> LocalState:
    return LocalState(w=start, local=np.repeat(start[:, None], oracle.num_clients, axis=1))


def _not_downloaded(algorithm: Any, state: LocalState, oracle: Oracle, work: Round) -> RoundResult:
    local = oracle.local_steps(state.local, work, LocalSteps(pull=prox_of(algorithm), anchor=state.w[:, None]))
    result = averaged(algorithm, state, local, work)
    return result._replace(state=result.state._replace(local=local))


def _stale_models(algorithm: Any, state: LocalState, oracle: Oracle, work: Round) -> RoundResult:
    fresh = local_models(algorithm, state.w[:, None], oracle, work)
    local = keep_absent(work.active, fresh, state.local)
    w = state.w + algorithm.server_rate * aggregate(work.p, local - state.w[:, None])
    return RoundResult(LocalState(w=w, local=local), local, uplink=(), downlink=())


def _weights_of_all(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
    local = local_models(algorithm, state.w[:, None], oracle, work)
    mean = aggregate(work.p * work.active, local)
    w = state.w + algorithm.server_rate * (mean - state.w)
    return RoundResult(state._replace(w=w), local, uplink=(), downlink=())


def _more_steps(extra: int) -> Callable[..., RoundResult]:
    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        counted = replace(work, steps=np.where(work.active, work.steps + extra, 0))
        return averaged(algorithm, state, local_models(algorithm, state.w[:, None], oracle, counted), work)

    return perform


AVERAGING: tuple[Variant, ...] = (
    mistake(
        "one-model-for-all",
        "one model object trained by all clients in turn instead of a copy for each",
        round=_one_model_for_all,
    ),
    mistake(
        "not-downloaded",
        "clients going on from their own last model instead of the server's",
        init=_with_local,
        round=_not_downloaded,
    ),
    mistake(
        "stale-models",
        "the last models of absent clients averaged in",
        init=_with_local,
        round=_stale_models,
    ),
    mistake(
        "weights-of-all",
        "models averaged with the weights of all clients, so that absent ones pull the model towards zero",
        round=_weights_of_all,
    ),
    mistake(
        "gradients-never-cleared", "gradients that pile up over the local steps (no zero_grad)", round=_never_cleared
    ),
    mistake(
        "gradient-at-server-model",
        "all local gradients taken at the server model",
        round=lambda algorithm, state, oracle, work: averaged(
            algorithm,
            state,
            state.w[:, None] - work.rate * work.steps[:, :, None] * oracle.gradient(state.w[:, None]),
            work,
        ),
    ),
    mistake("one-step-short", "one local step too few", round=_more_steps(-1)),
    mistake("one-step-more", "one local step too many", round=_more_steps(1)),
    mistake(
        "ascent",
        "local steps that go up the gradient",
        round=along(lambda algorithm, gradient, local, sent: -gradient + prox_of(algorithm) * (local - sent)),
    ),
)
