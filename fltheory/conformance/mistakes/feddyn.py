"""Readings of FedDyn and known mistakes in its memories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.algorithms.feddyn import FedDyn, State
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading, stepped, unit
from fltheory.problems.oracle import Oracle, Round

LocalModels = Callable[[FedDyn, State, Oracle, Round], Floats]


def _local(algorithm: FedDyn, state: State, oracle: Oracle, work: Round) -> Floats:
    return algorithm.round(state, oracle, work).local


def feddyn_round(
    *,
    local: LocalModels = _local,
    client: Callable[[FedDyn, State, Floats], Floats] = lambda a, state, moved: state.h_i - a.alpha * moved,
    server: Callable[[FedDyn, State, Round, Floats, Floats], Floats] = lambda a, state, work, moved, h_i: aggregate(
        work.p, h_i
    ),
    subtract: Callable[[FedDyn, State, Floats], Floats] = lambda a, state, h: h / a.alpha,
) -> Perform:
    """Return FedDyn's round with some of its rules replaced.

    Parameters
    ----------
    local
        The clients' models.
    client
        Their new memories, from the displacements; an absent client has not moved.
    server
        The server's memory, from displacements and memories.
    subtract
        What is subtracted from the mean model, from the state and the new server memory.
    """

    def perform(algorithm: FedDyn, state: State, oracle: Oracle, work: Round) -> RoundResult:
        models = local(algorithm, state, oracle, work)
        moved = models - state.w[:, None]
        h_i = client(algorithm, state, moved)
        h = server(algorithm, state, work, moved, h_i)
        w = state.w + aggregate(work.weights, moved) - subtract(algorithm, state, h)
        return RoundResult(State(w=w, h=h, h_i=h_i), models, uplink=(), downlink=())

    return perform


def _subtracted_once(algorithm: FedDyn, state: State, work: Round, moved: Floats, h_i: Floats) -> Floats:
    models = aggregate(work.active / len(work.p), state.w[:, None] + moved)
    return np.asarray(state.h - algorithm.alpha * (models - state.w / len(work.p)))


def _steps(direction: Callable[[FedDyn, State, Floats, Floats], Floats]) -> LocalModels:
    def run(algorithm: FedDyn, state: State, oracle: Oracle, work: Round) -> Floats:
        sent = state.w[:, None]
        return stepped(oracle, work, sent, lambda g, local: direction(algorithm, state, g, local - sent))

    return run


def _absent_too(algorithm: FedDyn, state: State, oracle: Oracle, work: Round) -> RoundResult:
    everybody = replace(work, steps=np.where(work.active, work.steps, work.local_steps))
    every = algorithm.round(state, oracle, everybody)
    h = every.state.h
    w = state.w + aggregate(work.weights, every.local - state.w[:, None]) - h / algorithm.alpha
    return every._replace(state=every.state._replace(w=w))


def _scaled_pull(algorithm: FedDyn, state: State, oracle: Oracle, work: Round) -> RoundResult:
    """Return the authors' round: pull ``alpha / (N p_i)``, memories in units of models, averaged uniformly.

    The state's memories are kept as ``h_i = -alpha m_i`` of the code's ``m_i``.
    """
    alpha = algorithm.alpha
    share = (len(work.p) * work.p)[None, :, None]
    sent = state.w[:, None]
    local = stepped(oracle, work, sent, lambda g, w: g - state.h_i / share + alpha / share * (w - sent))
    moved = local - sent
    h_i = state.h_i - alpha * moved
    equal = np.full_like(work.p, 1.0 / len(work.p))
    h = aggregate(equal, h_i)
    w = state.w + aggregate(work.uniform, moved) - h / alpha
    return RoundResult(State(w=w, h=h, h_i=h_i), local, uplink=(), downlink=())


def _other_units(algorithm: FedDyn, state: State, oracle: Oracle, work: Round) -> RoundResult:
    pull = algorithm.alpha / (len(work.p) * work.p)[None, :, None]
    sent = state.w[:, None]
    local = stepped(oracle, work, sent, lambda g, w: g + pull * (w - sent + state.h_i))
    h_i = state.h_i + pull * (sent - local)
    h = aggregate(work.uniform, h_i)
    w = state.w + aggregate(work.weights, local - sent) + h
    return RoundResult(State(w=w, h=h, h_i=h_i), local, uplink=(), downlink=())


def _by_steps(algorithm: Any) -> bool:
    return not algorithm.exact


VARIANTS: tuple[Variant, ...] = (
    reading(
        "exact-local-solution",
        "the local problems solved exactly",
        "the paper's formulation",
        parameters={"exact": True},
        applies=_by_steps,
    ),
    reading(
        "pull-scaled-by-weight",
        "the pull divided by N p_i on the client, models and memories averaged uniformly",
        "the authors' repository",
        round=_scaled_pull,
        applies=_by_steps,
    ),
    mistake(
        "norm-without-square",
        "the penalty (alpha / 2) ||w - w_t|| without the square",
        "PFLlib's FedDyn client",
        **changed(feddyn_round, local=_steps(lambda a, state, g, moved: g - state.h_i + a.alpha / 2 * unit(moved))),
        applies=_by_steps,
    ),
    mistake(
        "memory-over-participants",
        "the server memory averaged over the participants instead of all clients",
        **changed(
            feddyn_round, server=lambda a, state, work, moved, h_i: state.h - a.alpha * aggregate(work.weights, moved)
        ),
    ),
    mistake(
        "old-model-subtracted-once",
        "the old model subtracted once from the sum of the models instead of once per participant in the server memory",
        "FedLab issue #319",
        **changed(feddyn_round, server=_subtracted_once),
    ),
    mistake(
        "memory-of-the-absent",
        "clients that are absent renewing their memories",
        round=_absent_too,
    ),
    mistake(
        "server-memory-late",
        "the server memory of the round before used in place of the new one",
        **changed(feddyn_round, subtract=lambda a, state, h: state.h / a.alpha),
    ),
    mistake(
        "server-memory-unused",
        "the server memory not subtracted from the mean",
        **changed(feddyn_round, subtract=lambda a, state, h: 0.0 * h),
    ),
    mistake(
        "server-memory-added",
        "the server memory added to the mean instead of subtracted",
        **changed(feddyn_round, subtract=lambda a, state, h: -h / a.alpha),
    ),
    mistake(
        "server-memory-undivided",
        "the server memory not divided by alpha",
        **changed(feddyn_round, subtract=lambda a, state, h: h),
    ),
    mistake(
        "server-memory-forgets",
        "the server memory replaced in every round instead of accumulated",
        **changed(feddyn_round, server=lambda a, state, work, moved, h_i: -a.alpha * aggregate(work.p, moved)),
    ),
    mistake(
        "client-memory-forgets",
        "the clients' memories replaced in every round instead of accumulated",
        **changed(
            feddyn_round,
            client=lambda a, state, moved: np.where(moved == 0.0, state.h_i, -a.alpha * moved),
            server=lambda a, state, work, moved, h_i: state.h - a.alpha * aggregate(work.p, moved),
        ),
    ),
    mistake(
        "client-memory-unscaled",
        "the clients' memories without the factor alpha",
        **changed(
            feddyn_round,
            client=lambda a, state, moved: state.h_i - moved,
            server=lambda a, state, work, moved, h_i: state.h - a.alpha * aggregate(work.p, moved),
        ),
    ),
    mistake(
        "memory-in-other-units",
        "memories of the authors' code with the wrong sign and a factor alpha too many, averaged over the participants",
        "fluke 0.8",
        round=_other_units,
        applies=_by_steps,
    ),
    mistake(
        "penalty-without-gradient",
        "a penalty without effect on the local steps (computed from detached parameters)",
        "FedLab 1.3",
        **changed(feddyn_round, local=_steps(lambda a, state, g, moved: g)),
        applies=_by_steps,
    ),
    mistake(
        "linear-term-missing",
        "the linear term missing in the local objective",
        **changed(feddyn_round, local=_steps(lambda a, state, g, moved: g + a.alpha * moved)),
        applies=_by_steps,
    ),
    mistake(
        "linear-term-reversed",
        "the clients' memories with the wrong sign, in their update or in the local objective",
        **changed(feddyn_round, local=_steps(lambda a, state, g, moved: g + state.h_i + a.alpha * moved)),
        applies=_by_steps,
    ),
    mistake(
        "pull-missing",
        "the quadratic pull missing in the local objective",
        **changed(feddyn_round, local=_steps(lambda a, state, g, moved: g - state.h_i)),
        applies=_by_steps,
    ),
    mistake(
        "pull-without-half",
        "the penalty alpha ||w - w_t||^2 without the factor 1/2",
        **changed(feddyn_round, local=_steps(lambda a, state, g, moved: g - state.h_i + 2 * a.alpha * moved)),
        applies=_by_steps,
    ),
)
