r"""Minibatch SGD: every client averages its minibatch gradients at the server model; no local movement.

.. math:: \bar g_i = \frac{1}{s_i} \sum_{k < s_i} g_i(w^t; \zeta_k), \qquad
          w^{t+1} = w^t - \eta_g \eta_l \sum_i \omega_i\, \bar g_i,

with the weights :math:`\omega_i` of the sampling design. It is the reference that local methods have to beat: the
same data and the same communication, all gradients at one point.

A client that completes only ``s_i`` of its ``K`` gradients sends the mean of those it has. To compare with a local
method on equal communication, use the total movement of its ``K`` steps, :math:`\eta = K \eta_l \eta_g`: set
``server_rate`` to ``K`` times the other method's server rate.

There is one step, hence one learning rate, per round; schedules that change inside a round are refused.

The ``k``-th gradient uses the minibatch that local step ``k`` of the other algorithms would use. With one step per
round this is FedAvg; on quadratics the deterministic fixed point is the minimiser of :math:`\sum_i p_i f_i` for any
``K``.

Source: Woodworth, Patel and Srebro, *Minibatch vs local SGD for heterogeneous distributed learning*, NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, LocalWork, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """The server model."""

    w: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class MinibatchSGD(Algorithm):
    """Minibatch SGD: one server step per round along the mean gradient.

    Parameters
    ----------
    server_rate
        ``eta_g``; the step is ``server_rate`` times the local rate.
    """

    name: ClassVar[str] = "minibatch-sgd"
    title: ClassVar[str] = "Minibatch SGD"
    local_work: ClassVar[LocalWork] = LocalWork.MEAN_GRADIENT

    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("MinibatchSGD", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        mean = np.zeros((state.w.shape[0], oracle.num_clients, oracle.dim))
        for k in range(int(work.steps.max())):
            working = work.steps > k
            share = working / np.maximum(work.steps, 1)
            mean = mean + share[:, :, None] * oracle.gradient(sent, oracle.minibatch(k), active=working)
        rate = self.server_rate * work.rate
        w = state.w - rate * aggregate(work.weights, mean)
        return RoundResult(State(w=w), sent - rate * mean, uplink=(Message(mean),), downlink=(Message(sent),))
