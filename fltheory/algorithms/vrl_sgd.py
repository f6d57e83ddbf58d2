r"""VRL-SGD: local steps corrected by how far each client strayed from the mean in earlier rounds.

.. math:: w \leftarrow w - \eta_l \bigl(g_i(w) - \delta_i\bigr), \qquad
          w^{t+1} = w^t + \sum_i \omega_i \Delta_i, \qquad
          \delta_i \leftarrow \delta_i + \frac{1}{\eta_l}
          \Bigl(\sum_j \bar p_j \frac{\Delta_j}{s_j} - \frac{\Delta_i}{s_i}\Bigr),

with :math:`\Delta_i = w_{i,s_i} - w^t` and the rate of the round just finished. With equal weights and ``K`` steps
for all this is the published :math:`\delta_i + (w^{t+1} - w_{i,K}) / (K \eta_l)`.

Reading taken.

* The paper has full participation. Here absent clients keep :math:`\delta_i`, and the mean is over the participants,
  :math:`\bar p_j = p_j / \sum_{l \in S_t} p_l`. This, and dividing each displacement by its own step count, preserves
  :math:`\sum_i p_i \delta_i = 0`, hence the minimiser of :math:`\sum_i p_i f_i` as fixed point.
* ``warm_up`` is the paper's variant whose first period is a single step; :math:`\delta_i` then starts from gradients
  at one common point.
* Where steps have rates of their own, :math:`s_i\eta_l` is the sum of the rates of the steps completed.
* One model per round is counted as downlink, as published: the new model ends one round and begins the next.
* Momentum and the initial epochs of plain SGD in the authors' code are not part of it.

Source: Liang et al., *Variance reduced local SGD with lower communication complexity*, 2019; code zerolxf/VRL-SGD.
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
class VRLSGD(Algorithm):
    """Variance reduced local SGD.

    Parameters
    ----------
    warm_up
        Let the first round have a single local step.
    """

    name: ClassVar[str] = "vrl-sgd"
    title: ClassVar[str] = "VRL-SGD"
    autonomous: ClassVar[bool] = False

    warm_up: bool = False

    def __post_init__(self) -> None:
        arguments.boolean("VRLSGD", "warm_up", self.warm_up)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, delta=np.zeros((start.shape[0], oracle.num_clients, oracle.dim)))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        single = self.warm_up and work.index == 0
        local = oracle.local_steps(sent, work, LocalSteps(correction=-state.delta, steps=1 if single else None))
        moved = local - sent
        per_step = moved / (work.rate_of(0) if single else work.rate_sum)
        share = work.p * work.active
        total = share.sum(axis=1, keepdims=True)
        mean = aggregate(share / np.where(total > 0, total, 1.0), per_step)[:, None]
        delta = keep_absent(work.active, state.delta + mean - per_step, state.delta)
        w = state.w + aggregate(work.weights, moved)
        return RoundResult(State(w=w, delta=delta), local, uplink=(Message(moved),), downlink=(Message(sent),))
