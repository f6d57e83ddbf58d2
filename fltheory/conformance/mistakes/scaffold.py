"""Readings of SCAFFOLD and known mistakes in its control variates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate, keep_absent
from fltheory.algorithms.scaffold import Scaffold, State
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading
from fltheory.problems.oracle import LocalSteps, Oracle, Round


@dataclass(frozen=True, slots=True)
class ScaffoldTerms:
    """What a rule may look at: the round so far."""

    algorithm: Scaffold
    state: State
    oracle: Oracle
    work: Round
    moved: Floats
    """Displacements of the clients, shape ``(replicates, clients, dim)``."""

    @property
    def path(self) -> Floats:
        """Mean gradient along the local path, correction included."""
        return -self.moved / (np.maximum(self.work.steps, 1)[:, :, None] * self.work.rate)


Rule = Callable[[ScaffoldTerms], Floats]


def _correction(state: State) -> Floats:
    return state.c[:, None] - state.c_i


def _fresh(facts: ScaffoldTerms) -> Floats:
    if facts.algorithm.option == "I":
        return facts.oracle.gradient(facts.state.w[:, None], active=facts.work.active)
    return facts.state.c_i - facts.state.c[:, None] + facts.path


def scaffold_round(
    *,
    correction: Callable[[State], Floats] = _correction,
    fresh: Rule = _fresh,
    kept: Callable[[Any, Floats, Floats], Floats] = keep_absent,
    mean: Callable[[ScaffoldTerms, Floats], Floats] = lambda facts, c_i: aggregate(facts.work.p, c_i),
) -> Perform:
    """Return SCAFFOLD's round with some of its rules replaced.

    Parameters
    ----------
    correction
        What is added to the clients' gradients.
    fresh
        New control variates of the participants.
    kept
        Those of all clients, from who took part, the new and the old ones.
    mean
        The server's control variate.
    """

    def perform(algorithm: Scaffold, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(correction=correction(state)))
        facts = ScaffoldTerms(algorithm, state, oracle, work, local - sent)
        c_i = kept(work.active, fresh(facts), state.c_i)
        w = state.w + algorithm.server_rate * aggregate(work.weights, local - sent)
        return RoundResult(State(w=w, c=mean(facts, c_i), c_i=c_i), local, uplink=(), downlink=())

    return perform


def _increment(facts: ScaffoldTerms, c_i: Floats) -> Floats:
    """Return the server variate moved by the mean increment, as the paper writes it: a wrong start stays wrong."""
    return np.asarray(facts.state.c + aggregate(facts.work.p, c_i - facts.state.c_i))


def _at_the_model(algorithm: Scaffold, start: Floats, oracle: Oracle, p: Floats) -> State:
    state = algorithm.init(start, oracle, p)
    return state._replace(c_i=np.repeat(start[:, None], oracle.num_clients, axis=1))


def _server_at_zero(algorithm: Scaffold, start: Floats, oracle: Oracle, p: Floats) -> State:
    return algorithm.init(start, oracle, p)._replace(c=np.zeros_like(start))


def _first_step_only(algorithm: Scaffold, state: State, oracle: Oracle, work: Round) -> RoundResult:
    sent = state.w[:, None]
    once = replace(work, steps=np.minimum(work.steps, 1))
    first = oracle.local_steps(sent, once, LocalSteps(correction=_correction(state)))
    # The gradient is full, so which minibatch the other steps would use does not matter.
    local = oracle.local_steps(first, replace(work, steps=np.maximum(work.steps - 1, 0)))
    facts = ScaffoldTerms(algorithm, state, oracle, work, local - sent)
    c_i = keep_absent(work.active, _fresh(facts), state.c_i)
    w = state.w + algorithm.server_rate * aggregate(work.weights, local - sent)
    return RoundResult(State(w=w, c=aggregate(work.p, c_i), c_i=c_i), local, uplink=(), downlink=())


def _from_new_mean(algorithm: Scaffold, state: State, oracle: Oracle, work: Round) -> RoundResult:
    result = algorithm.round(state, oracle, work)
    c_i = keep_absent(work.active, result.state.c_i + (state.c - result.state.c)[:, None], state.c_i)
    return result._replace(state=result.state._replace(c_i=c_i, c=aggregate(work.p, c_i)))


def _from_the_new_model(algorithm: Scaffold, state: State, oracle: Oracle, work: Round) -> RoundResult:
    result = algorithm.round(state, oracle, work)
    after = result.state
    path = (state.w - after.w)[:, None] / (np.maximum(work.steps, 1)[:, :, None] * work.rate)
    c_i = keep_absent(work.active, state.c_i - state.c[:, None] + path, state.c_i)
    return result._replace(state=after._replace(c_i=c_i, c=aggregate(work.p, c_i)))


def _absent_too(algorithm: Scaffold, state: State, oracle: Oracle, work: Round) -> RoundResult:
    everybody = replace(work, steps=np.where(work.active, work.steps, work.local_steps))
    result = algorithm.round(state, oracle, everybody)
    w = state.w + algorithm.server_rate * aggregate(work.weights, result.local - state.w[:, None])
    return result._replace(state=result.state._replace(w=w))


def _scaled_by_weight(algorithm: Scaffold, state: State, oracle: Oracle, work: Round) -> RoundResult:
    share = len(work.p) * work.p[None, :, None]
    sent = state.w[:, None]
    local = oracle.local_steps(sent, work, LocalSteps(correction=state.c[:, None] / share - state.c_i))
    path = (sent - local) / (np.maximum(work.steps, 1)[:, :, None] * work.rate)
    c_i = keep_absent(work.active, state.c_i - state.c[:, None] / share + path, state.c_i)
    w = state.w + algorithm.server_rate * aggregate(work.uniform, local - sent)
    c = state.c + aggregate(work.p, c_i - state.c_i)
    return RoundResult(State(w=w, c=c, c_i=c_i), local, uplink=(), downlink=())


def _option_two(algorithm: Scaffold) -> bool:
    return algorithm.option == "II"


def _from_zero(algorithm: Scaffold) -> bool:
    return algorithm.initial == "zero"


VARIANTS: tuple[Variant, ...] = (
    reading(
        "option-I",
        "option I, variates that are gradients at the server model",
        "the paper's first option",
        parameters={"option": "I"},
        applies=_option_two,
    ),
    reading(
        "option-II",
        "option II, variates that are mean gradients along the local path",
        "the paper's second option",
        parameters={"option": "II"},
        applies=lambda algorithm: algorithm.option == "I",
    ),
    reading(
        "variates-start-at-gradients",
        "control variates that start at the gradients of the first model",
        "the paper's second initialisation",
        parameters={"initial": "gradient"},
        applies=_from_zero,
    ),
    reading(
        "variates-start-at-zero",
        "control variates that start at zero",
        "the paper's experiments",
        parameters={"initial": "zero"},
        applies=lambda algorithm: algorithm.initial == "gradient",
    ),
    reading(
        "variate-scaled-by-weight",
        "the server variate divided by N p_i on the client, and models averaged uniformly",
        "the FedDyn repository",
        round=_scaled_by_weight,
        applies=_option_two,
    ),
    mistake(
        "variates-start-at-the-model",
        "clients' control variates that start as copies of the model instead of zero",
        "NIID-Bench issue #8",
        init=_at_the_model,
        **changed(scaffold_round, mean=_increment),
        applies=_from_zero,
    ),
    mistake(
        "server-variate-starts-at-zero",
        "clients starting at their gradients but the server variate at zero",
        init=_server_at_zero,
        **changed(scaffold_round, mean=_increment),
        applies=lambda algorithm: algorithm.initial == "gradient",
    ),
    mistake(
        "server-variate-over-participants",
        "the server variate averaged over the participants instead of all clients",
        "NIID-Bench issue #12",
        **changed(scaffold_round, mean=lambda f, c_i: f.state.c + aggregate(f.work.weights, c_i - f.state.c_i)),
    ),
    mistake(
        "server-variate-replaced",
        "the server variate replaced by the mean variate of the participants",
        **changed(scaffold_round, mean=lambda f, c_i: aggregate(f.work.weights, c_i)),
    ),
    mistake(
        "whole-variates-added",
        "the clients' whole variates added to the server's instead of their increments",
        "plato issue #382",
        **changed(scaffold_round, mean=lambda f, c_i: f.state.c + aggregate(f.work.p * f.work.active, c_i)),
    ),
    mistake(
        "server-variate-never-updated",
        "the server variate never updated",
        **changed(scaffold_round, mean=lambda f, c_i: f.state.c),
    ),
    mistake(
        "server-variate-summed",
        "the increments of the server variate summed instead of averaged",
        **changed(
            scaffold_round, mean=lambda f, c_i: f.state.c + len(f.work.p) * aggregate(f.work.p, c_i - f.state.c_i)
        ),
    ),
    mistake(
        "variates-divided-by-one",
        "the new variate not divided by the number of local steps (one epoch taken for one step)",
        "Scaffold-Federated-Learning issue #1 and PFLlib issue #160",
        **changed(
            scaffold_round,
            fresh=lambda f: f.state.c_i - f.state.c[:, None] - f.moved / f.work.rate,
        ),
        applies=_option_two,
    ),
    mistake(
        "variates-divided-by-assigned-steps",
        "the new variate divided by the steps asked for instead of those completed",
        **changed(
            scaffold_round,
            fresh=lambda f: f.state.c_i - f.state.c[:, None] - f.moved / (f.work.local_steps * f.work.rate),
        ),
        applies=_option_two,
    ),
    mistake(
        "variates-without-rate",
        "the new variate not divided by the local rate",
        "plato PR #386",
        **changed(
            scaffold_round,
            fresh=lambda f: f.state.c_i - f.state.c[:, None] + f.path * f.work.rate,
        ),
        applies=_option_two,
    ),
    mistake(
        "old-variate-dropped",
        "the client's old variate left out of the new one (c_i+ = -c + path)",
        **changed(scaffold_round, fresh=lambda f: -f.state.c[:, None] + f.path),
        applies=_option_two,
    ),
    mistake(
        "server-variate-not-subtracted",
        "the server variate not subtracted in the new variate (c_i+ = c_i + path)",
        **changed(scaffold_round, fresh=lambda f: f.state.c_i + f.path),
        applies=_option_two,
    ),
    mistake(
        "path-only",
        "the new variate the bare displacement rate, without c_i - c",
        **changed(scaffold_round, fresh=lambda f: f.path),
        applies=_option_two,
    ),
    mistake(
        "variates-from-the-new-mean",
        "the new variates computed with the server variate of the round to come",
        round=_from_new_mean,
        applies=_option_two,
    ),
    mistake(
        "variates-from-the-new-server-model",
        "the new variates computed with the averaged model instead of the client's own",
        round=_from_the_new_model,
        applies=_option_two,
    ),
    mistake(
        "option-I-at-the-local-model",
        "the new variate a gradient at the client's final model instead of the server's",
        **changed(scaffold_round, fresh=lambda f: f.oracle.gradient(f.state.w[:, None] + f.moved)),
    ),
    mistake(
        "correction-reversed",
        "the correction with the wrong sign, g_i - c + c_i, or the displacement in the new variate reversed",
        "fedbiomed issue #734",
        **changed(scaffold_round, correction=lambda state: state.c_i - state.c[:, None]),
    ),
    mistake(
        "server-variate-missing",
        "the server variate missing in the correction, g_i - c_i",
        **changed(scaffold_round, correction=lambda state: -state.c_i),
    ),
    mistake(
        "client-variate-missing",
        "the client's variate missing in the correction, g_i + c, or never stored",
        **changed(scaffold_round, correction=lambda state: state.c[:, None] + 0.0 * state.c_i),
    ),
    mistake(
        "no-correction",
        "no correction of the gradients, which is FedAvg",
        **changed(scaffold_round, correction=lambda state: 0.0 * state.c_i),
    ),
    mistake("corrected-once", "the correction applied in the first local step only", round=_first_step_only),
    mistake("variates-of-the-absent", "clients that are absent renewing their variates", round=_absent_too),
)
