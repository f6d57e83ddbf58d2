r"""DIANA: clients upload quantised differences between their gradient and what the server has learnt of it.

.. math:: m_i = Q\bigl(g_i(w^t) - h_i\bigr), \qquad \hat g = \sum_ip_ih_i + \sum_i\omega_im_i, \qquad
          v \leftarrow \beta v + \hat g, \qquad w^{t+1} = w^t - \eta\,v, \qquad h_i \leftarrow h_i + \alpha\,m_i,

with an unbiased random quantiser :math:`Q` (:mod:`fltheory.communication.quantisation`). With full gradients
:math:`h_i` tends to the gradient at the minimiser, so that less and less is quantised and the variance of the
quantiser vanishes, whatever the heterogeneity.

Reading taken.

* One gradient per round, as in the paper, whatever number of local steps is assigned: the minibatch of the first one.
  Hence one learning rate per round; schedules that change inside a round are refused.
* The paper has equal weights and full participation. Here the memory of the server, :math:`h = \sum_ip_ih_i`, has the
  weights of the objective, and messages have those of the sampling design :math:`\omega_i`, so that the estimate stays
  unbiased where these are. Absent clients send nothing and keep :math:`h_i`; a round without participants leaves the
  state alone.
* There is no regulariser, and one block of coordinates with the Euclidean norm. :math:`\alpha` is by default the
  largest of the theory, :math:`\frac1{1 + \omega}` with the bound :math:`\omega` on the relative variance of :math:`Q`.

The local model reported for a client is where its own estimate :math:`h_i + m_i` would have led. Chances of rounding
depend on what is rounded, so that the exact engine refuses the algorithm.

Source: Mishchenko, Gorbunov, Takáč and Richtárik, *Distributed learning with compressed gradient differences*, 2019,
Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, LocalWork, RoundResult, Uniform, aggregate
from fltheory.communication.messages import Coding, Message
from fltheory.communication.quantisation import Quantiser
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """Server model and velocity ``(replicates, dim)``; memories of gradients ``(replicates, clients, dim)``."""

    w: Floats
    v: Floats
    h_i: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class DIANA(Algorithm):
    """DIANA: gradient steps with quantised differences.

    Parameters
    ----------
    levels
        Levels of the quantiser.
    memory_rate
        ``alpha``; by default the largest of the theory, which depends on the dimension and the levels.
    momentum
        ``beta``, in ``[0, 1)``.
    """

    name: ClassVar[str] = "diana"
    title: ClassVar[str] = "DIANA"
    local_work: ClassVar[LocalWork] = LocalWork.ONE_GRADIENT

    levels: int = 4
    memory_rate: float | None = None
    momentum: float = 0.0

    def __post_init__(self) -> None:
        Quantiser(levels=self.levels)
        if self.memory_rate is not None:
            arguments.real("DIANA", "memory_rate", self.memory_rate, low=0, high=1)
        arguments.real("DIANA", "momentum", self.momentum, low=0, high=1, open_high=True)

    @property
    def rotation_equivariant(self) -> bool:
        return False

    @property
    def not_affine(self) -> str:
        return "random rounding of gradient differences"

    def chances(self, local_steps: int) -> Mapping[str, Uniform]:
        return {"round": Uniform()}

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, v=np.zeros_like(start), h_i=np.zeros((len(start), oracle.num_clients, oracle.dim)))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        quantiser, sent, active = Quantiser(levels=self.levels), state.w[:, None], work.active[:, :, None]
        alpha = 1.0 / (1.0 + quantiser.variance(oracle.dim)) if self.memory_rate is None else self.memory_rate
        gradient = oracle.gradient(sent, oracle.minibatch(0), active=work.active)
        message = np.where(active, quantiser(gradient - state.h_i, work.draws["round"]), 0.0)
        estimate = aggregate(work.p, state.h_i) + aggregate(work.weights, message)
        someone = active.any(axis=1)
        v = np.where(someone, self.momentum * state.v + estimate, state.v)
        w = np.where(someone, state.w - work.rate * v, state.w)
        return RoundResult(
            State(w=w, v=v, h_i=state.h_i + alpha * message),
            np.where(active, sent - work.rate * (state.h_i + message), sent),
            uplink=(Message(message, Coding.LEVELS, levels=self.levels),),
            downlink=(Message(sent),),
        )
