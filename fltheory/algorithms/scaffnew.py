r"""Scaffnew (ProxSkip): clients communicate when a coin says so, and control variates keep them together meanwhile.

.. math:: \hat x_i = x_i - \gamma\,\bigl(g_i(x_i) - h_i\bigr), \qquad
          x_i \leftarrow \begin{cases} \sum_j p_j \hat x_j & \text{if } \theta = 1 \\ \hat x_i & \text{otherwise,}
          \end{cases} \qquad
          h_i \leftarrow h_i + \frac{q}{\gamma}\,(x_i - \hat x_i),

where the coin :math:`\theta`, one for all clients, shows 1 with probability :math:`q` (``probability``; ``p`` in the
paper). With exact gradients, :math:`\gamma = 1/L` and :math:`q = 1/\sqrt\kappa` the expected number of communications
to accuracy :math:`\epsilon` is :math:`O(\sqrt\kappa \log 1/\epsilon)`, whatever the heterogeneity.

Reading taken.

* The paper has no rounds: one iteration is one local step, followed by a coin. Here a round is ``local_steps``
  iterations, each with a coin of its own, so that a round costs as many gradients as a round of the other algorithms,
  and communication is counted where coins show 1. One local step per round is the paper's form, iteration by iteration.
* The model is :math:`\sum_i p_i x_i`, which communication does not change.
* The paper has equal weights and full participation. Here the mean has the weights of the objective, over the clients
  that take the iteration, :math:`p_j / \sum_l p_l`; the others keep :math:`x_i` and :math:`h_i`. This preserves
  :math:`\sum_i p_i h_i = 0`, hence the minimiser of :math:`\sum_i p_i f_i` as fixed point.
* Control variates start at zero. With rates that change, :math:`\gamma` is that of the iteration.

With :math:`q = 1` clients meet after every step, which is minibatch SGD: the mean gradient at a common model.

The coins are the algorithm's own random draws (:class:`~fltheory.algorithms.base.Chance`): a round is affine given its
coins, and the exact engine goes through all :math:`2^{\mathrm{local\_steps}}` of their outcomes.

Source: Mishchenko, Malinovsky, Stich and Richtárik, *ProxSkip: Yes! Local gradient steps provably lead to communication
acceleration! Finally!*, ICML 2022, Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, Chance, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """Mean model ``(replicates, dim)``; models and control variates of the clients ``(replicates, clients, dim)``."""

    w: Floats
    x: Floats
    h: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaffnew(Algorithm):
    """Scaffnew: local steps with control variates and random communication.

    Parameters
    ----------
    probability
        Probability that clients communicate after a local step.
    """

    name: ClassVar[str] = "scaffnew"
    title: ClassVar[str] = "Scaffnew"

    probability: float = 0.2

    def __post_init__(self) -> None:
        arguments.real("Scaffnew", "probability", self.probability, low=0, high=1, open_low=True)

    def chances(self, local_steps: int) -> Mapping[str, Chance]:
        return {"communicate": Chance.coin(self.probability, count=local_steps)}

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        x = np.repeat(start[:, None], oracle.num_clients, axis=1)
        return State(w=start, x=x, h=np.zeros_like(x))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        coins = work.draws["communicate"] > 0
        x, h, times = state.x, state.h, np.zeros((1, 1))
        for k in range(int(work.steps.max())):
            working = work.steps > k
            one = replace(work, steps=working.astype(np.int64), rates=(work.rate_of(k),))
            moved = oracle.local_steps(x, one, LocalSteps(correction=-h, minibatch=oracle.minibatch(k)))
            share = work.p * working
            total = share.sum(axis=1, keepdims=True)
            mean = aggregate(share / np.where(total > 0, total, 1.0), moved)[:, None]
            meeting = working & coins[:, k, None]
            x = np.where(meeting[:, :, None], mean, moved)
            h = h + self.probability / work.rate_of(k) * (x - moved)
            times = times + meeting
        w = aggregate(work.p, x)
        return RoundResult(
            State(w=w, x=x, h=h),
            x,
            uplink=(Message(x, times=times),),
            downlink=(Message(w[:, None], times=times),),
        )
