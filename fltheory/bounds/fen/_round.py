r"""Algorithm 3 (FedElasticNet for FedDyn) without rounding, and one round of it as quantities of statements.

A round solves every client's sub-problem exactly, so that coordinates can stay exactly where they were. What a client
then stores follows one of two rules:

``sign``
    line 5 as printed, :math:`m_k^t = m_k^{t-1} - \lambda_2\Delta_k - \lambda_1\operatorname{sign}(\Delta_k)` with
    :math:`\operatorname{sign}(0) = 0`. Then :math:`m_k^t = \nabla L_k(\theta_k^t) + e_k` with :math:`e_k = 0` where
    :math:`\Delta_k \ne 0`, and :math:`|e_k| \le \lambda_1` where :math:`\Delta_k = 0`.
``subgradient``
    the same with the subgradient :math:`s_k` of the optimality condition,
    :math:`\lambda_1 s_k = m_k^{t-1} - \nabla L_k(\theta_k^t) - \lambda_2\Delta_k`; then
    :math:`m_k^t = \nabla L_k(\theta_k^t)`.

The start is the printed one, :math:`h^0 = 0` and :math:`\nabla L_k(\theta_k^0) = 0`: local models start at minimisers
of their own losses. Some rounds with given participants lead to the beginning of the round in question; that round is
then taken with all :math:`\binom mP` possible sets of participants, equally likely.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from fltheory.bounds.claim import Instances
from fltheory.bounds.fen._prox import SHAPES, losses, quantities
from fltheory.bounds.functions import Kinked, Numbers
from fltheory.bounds.space import Integer, Integers, Params, Real, Space, ratio

Memory = Literal["sign", "subgradient"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class State:
    """Server model and memory ``(d,)``, what clients store and their models ``(m, d)``."""

    server: Numbers
    h: Numbers
    stored: Numbers
    local: Numbers


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ClientSolutions:
    """Every client's solution in a round, the sign of its update and the subgradient, ``(m, d)``."""

    tilde: Numbers
    sign: Numbers
    kick: Numbers


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Algorithm3:
    """The algorithm on given losses; updates of at most ``epsilon`` are sent as 0."""

    clients: Kinked
    l1: Any
    l2: Any
    memory: Memory = "sign"
    epsilon: Any = 0

    def start(self, server: Numbers) -> State:
        """Return the initial state."""
        zeros = self.clients.centre * 0
        return State(server=server, h=zeros[0], stored=zeros, local=self.clients.centre)

    def solve(self, state: State) -> ClientSolutions:
        """Solve all sub-problems."""
        found = self.clients.elastic(state.stored, state.server, pull=self.l2, l1=self.l1)
        moved = found.at - state.server
        kick = (state.stored - self.clients.gradients(found.at) - self.l2 * moved) / self.l1
        return ClientSolutions(tilde=found.at, sign=found.sign, kick=kick)

    def advance(self, state: State, solved: ClientSolutions, chosen: tuple[int, ...]) -> State:
        """Return the state after a round with the chosen clients."""
        active = np.zeros((len(state.local), 1), dtype=int)
        active[list(chosen)] = 1
        force = solved.sign if self.memory == "sign" else solved.kick
        moved = active * (solved.tilde - state.server)
        change = self.l2 * moved + self.l1 * (active * force)
        sent = 1 if self.epsilon == 0 else np.asarray(np.maximum(moved, -moved) > self.epsilon, dtype=bool).astype(int)
        # The server works out the sign from what it receives; a subgradient has to be sent.
        h = state.h - (sent * change if self.memory == "sign" else change).sum(axis=0) / len(state.local)
        return State(
            server=state.server + (sent * moved).sum(axis=0) / len(chosen) - h / self.l2,
            h=h,
            stored=state.stored - change,
            local=active * solved.tilde + (1 - active) * state.local,
        )

    def play(self, state: State, rounds: Iterator[tuple[int, ...]]) -> State:
        """Return the state after several rounds."""
        for chosen in rounds:
            state = self.advance(state, self.solve(state), chosen)
        return state


def draws(point: Params) -> list[tuple[int, ...]]:
    """Return all sets of participants of one round."""
    return list(itertools.combinations(range(point["m"]), min(point["P"], point["m"])))


def algorithm(point: Params, memory: Memory) -> Algorithm3:
    """Return the algorithm at a point; the quadratic penalty is given as a multiple of the smoothness."""
    return Algorithm3(
        clients=losses(point),
        l1=point["l1"],
        l2=point["beta"] * point["l2_over_beta"],
        memory=memory,
        epsilon=point.get("epsilon", 0),
    )


def constants(point: Params, fen: Algorithm3) -> dict[str, Any]:
    """Return the quantities that do not depend on the round."""
    clients, count = fen.clients, point["m"]
    return {
        "m": count,
        "P": min(point["P"], count),
        "d": point["d"],
        "beta": point["beta"],
        "lambda_1": fen.l1,
        "lambda_2": fen.l2,
        **quantities(clients),
        "theta_star": clients.stationary(),
    }


def begin(point: Params, fen: Algorithm3) -> State:
    """Return the state before the round in question."""
    options = draws(point)
    return fen.play(fen.start(point["start"]), (options[int(c) % len(options)] for c in point["who"]))


def realise(point: Params, memory: Memory) -> dict[str, Any]:
    """Return one round after some others, with all possible participants."""
    fen = algorithm(point, memory)
    before = begin(point, fen)
    solved = fen.solve(before)
    options = draws(point)
    after = [fen.advance(before, solved, chosen) for chosen in options]
    return constants(point, fen) | {
        "chance": [ratio(point, 1, len(options))] * len(options),
        "passed": point["past"] + 1,
        "epsilon": fen.epsilon,
        "server": before.server,
        "gamma_old": before.server + before.h / fen.l2,
        "gamma_new": [state.server + state.h / fen.l2 for state in after],
        "h_new": [state.h for state in after],
        "local_old": before.local,
        "local_new": [state.local for state in after],
        "stored_old": before.stored,
        "stored_new": [state.stored for state in after],
        "tilde": solved.tilde,
        "sign": solved.sign,
        "kick": solved.kick,
    }


SIZES = {"P": Integer(1, 3), "m": Integer(1, 3), "d": Integer(1, 2)}
"""Participants (at most all clients), clients, dimension."""

WIDE = Real(0.1, 100, log=True)
"""Quadratic penalty over smoothness, on both sides of every threshold."""

BEYOND_27 = Real(27.01, 300, log=True)
"""The same, beyond the threshold of the theorem."""

BEYOND_5 = Real(4.83, 300, log=True)
"""The same, beyond the threshold of the sharp forms."""


def one_round(memory: Memory = "sign", *, l2_over_beta: Real = WIDE) -> Instances:
    """Return rounds of the algorithm as instances."""
    return Instances(
        space=Space(
            {
                **SIZES,
                "past": Integer(0, 2),
                "who": Integers(0, 2, shape=("past",)),
                **SHAPES,
                "start": Real(-3, 3, shape=("d",)),
                "l1": Real(0.01, 10, log=True),
                "l2_over_beta": l2_over_beta,
            }
        ),
        realise=partial(realise, memory=memory),
    )
