r"""signSGD with majority vote: one sign per coordinate and client up, the sign of their sum down.

.. math:: m_i \leftarrow \beta m_i + (1-\beta)\, g_i(w^t), \qquad
          v = \mathrm{sign}\Bigl(\sum_{i \in S_t} \mathrm{sign}(m_i)\Bigr), \qquad
          w^{t+1} = w^t - \eta\,(v + \lambda w^t).

With :math:`\beta = 0` this is signSGD, otherwise Signum; :math:`\lambda` is weight decay. Absent clients keep
:math:`m_i` and do not vote.

Reading taken.

* One gradient per round, whatever number of local steps is assigned: the minibatch of the first local step. Hence one
  learning rate per round; schedules that change inside a round are refused.
* Every participant has one vote; objective and sampling weights play no role, so the fixed point is not the minimiser
  of :math:`\sum_i p_i f_i` even without noise.
* :math:`\mathrm{sign}(0) = 0`, in the votes and in a tie. One bit per coordinate is counted each way, as published,
  although a tie would need a third symbol.
* No error feedback. A round without participants leaves the state alone.

The local model reported for a client is where its own vote alone would have led.

Source: Bernstein et al., *signSGD with majority vote is communication efficient and fault tolerant*, ICLR 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, LocalWork, RoundResult, keep_absent
from fltheory.communication.messages import Coding, Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """Server model ``(replicates, dim)`` and the clients' momenta ``(replicates, clients, dim)``."""

    w: Floats
    m: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class SignSGD(Algorithm):
    """signSGD (or Signum) with majority vote.

    Parameters
    ----------
    momentum
        ``beta``, in ``[0, 1)``; 0 votes with plain gradients.
    weight_decay
        ``lambda``.
    """

    name: ClassVar[str] = "signsgd"
    title: ClassVar[str] = "signSGD"
    local_work: ClassVar[LocalWork] = LocalWork.ONE_GRADIENT

    momentum: float = 0.0
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        arguments.real("SignSGD", "momentum", self.momentum, low=0, high=1, open_high=True)
        arguments.real("SignSGD", "weight_decay", self.weight_decay, low=0)

    @property
    def rotation_equivariant(self) -> bool:
        return False

    @property
    def not_affine(self) -> str:
        return "signs of the gradients and of their vote"

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, m=np.zeros((start.shape[0], oracle.num_clients, oracle.dim)))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent, active = state.w[:, None], work.active[:, :, None]
        gradient = oracle.gradient(sent, oracle.minibatch(0), active=work.active)
        m = keep_absent(work.active, self.momentum * state.m + (1.0 - self.momentum) * gradient, state.m)
        votes = np.sign(m) * active
        vote = np.sign(votes.sum(axis=1))
        decay = self.weight_decay * state.w
        w = np.where(active.any(axis=1), state.w - work.rate * (vote + decay), state.w)
        return RoundResult(
            State(w=w, m=m),
            sent - work.rate * (votes + decay[:, None]) * active,
            uplink=(Message(votes, Coding.SIGN),),
            downlink=(Message(vote[:, None], Coding.SIGN),),
        )
