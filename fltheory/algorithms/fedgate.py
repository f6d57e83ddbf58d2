r"""FedGATE: each client tracks the gap between its own average gradient and that of all.

.. math:: w \leftarrow w - \eta_l \bigl(g_i(w) - \delta_i\bigr), \qquad
          u_i = \frac{w^t - w_{i,s_i}}{s_i\,\eta_l}, \qquad
          \delta_i \leftarrow \delta_i + u_i - \sum_{j \in S_t} \bar p_j u_j, \qquad
          w^{t+1} = w^t + \gamma \sum_i \omega_i\,(w_{i,s_i} - w^t),

with :math:`\bar p_j = p_j / \sum_{l \in S_t} p_l`; absent clients keep :math:`\delta_i`.

Reading taken.

* The correction uses the *unscaled* mean, whatever :math:`\gamma` is, in the paper as in the code.
* The paper has equal weights and ``K`` steps for all, when :math:`u_i` is its upload divided by ``K``. With the mean
  over participants weighted by :math:`p` and each displacement divided by its own step count,
  :math:`\sum_i p_i \delta_i = 0` survives any participation, and the minimiser of :math:`\sum_i p_i f_i` is the fixed
  point. The server model moves with the weights of the sampling design.
* Where steps have rates of their own, :math:`s_i\eta_l` is the sum of the rates of the steps completed.
* No compression: the quantised variant FedCOMGATE is not covered.
* A participant receives the model to start from and, afterwards, the mean; both are counted.

With full participation and equal step counts this is SCAFFOLD option II with :math:`\delta_i = c_i - c`,
:math:`\gamma = \eta_g`; with :math:`\gamma = 1` it is VRL-SGD for any participation.

Source: Haddadpour et al., *Federated learning with compression: unified analysis and sharp guarantees*, AISTATS 2021;
code MLOPTPSU/FedTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate, keep_absent
from fltheory.communication.messages import Message
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """Server model ``(replicates, dim)`` and the clients' corrections ``(replicates, clients, dim)``."""

    w: Floats
    delta: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedGATE(Algorithm):
    """FedGATE without compression: local steps with gradient tracking.

    Parameters
    ----------
    server_rate
        The paper's ``gamma``.
    """

    name: ClassVar[str] = "fedgate"
    title: ClassVar[str] = "FedGATE"

    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("FedGATE", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, delta=np.zeros((start.shape[0], oracle.num_clients, oracle.dim)))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(correction=-state.delta))
        moved = local - sent
        u = -moved / work.rate_sum
        share = work.p * work.active
        total = share.sum(axis=1, keepdims=True)
        mean = aggregate(share / np.where(total > 0, total, 1.0), u)[:, None]
        delta = keep_absent(work.active, state.delta + u - mean, state.delta)
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        return RoundResult(
            State(w=w, delta=delta), local, uplink=(Message(moved),), downlink=(Message(sent), Message(mean))
        )
