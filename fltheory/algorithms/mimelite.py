r"""MIMELite: clients imitate a centralised optimiser with server statistics; no variance reduction.

.. math:: w \leftarrow w - \eta_l \bigl((1-\beta)\,g_i(w) + \beta\,m\bigr), \qquad
          w^{t+1} = w^t + \eta_g \sum_i \omega_i\,(w_{i,s_i} - w^t),

.. math:: m \leftarrow (1-\beta) \sum_{i \in S_t} \bar\omega_i \nabla f_i(w^t) + \beta\,m,
          \qquad \bar\omega_i = \omega_i \big/ \textstyle\sum_j \omega_j .

The momentum is frozen during the round and sees full gradients at the *old* server model, never gradients along a
local path. In the generic form this is rate :math:`(1-\beta)\eta_l` with the constant correction
:math:`\frac{\beta}{1-\beta} m`. With :math:`\beta = 0` the iterates are FedAvg's and no gradient is sent.

Reading taken: SGD and SGD with the paper's momentum, whose step is :math:`(1-\beta) g + \beta m` (heavy-ball libraries
have ``1`` in place of :math:`1-\beta`); adaptive base optimisers are not covered. The paper's plain mean over
participants becomes the one with :math:`\bar\omega_i`. A round without participants leaves the state alone.

Source: Karimireddy et al., *Breaking the centralized barrier for cross-device federated learning*, NeurIPS 2021; code
google/fedjax.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """Server model and momentum, each ``(replicates, dim)``."""

    w: Floats
    m: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class MimeLite(Algorithm):
    """MIMELite with SGD or momentum SGD as base optimiser.

    Parameters
    ----------
    momentum
        ``beta``, in ``[0, 1)``; 0 is SGD.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "mimelite"
    title: ClassVar[str] = "MIMELite"

    momentum: float = 0.9
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("MimeLite", "momentum", self.momentum, low=0, high=1, open_high=True)
        arguments.real("MimeLite", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, m=np.zeros_like(start))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent, beta = state.w[:, None], self.momentum
        correction = (beta / (1.0 - beta) * state.m)[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(rate_factor=1.0 - beta, correction=correction))
        moved = local - sent
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        if beta == 0:
            return RoundResult(State(w=w, m=state.m), local, uplink=(Message(moved),), downlink=(Message(sent),))
        full = oracle.gradient(sent, active=work.active)
        total = work.weights.sum(axis=1, keepdims=True)
        mean = aggregate(work.weights / np.where(total > 0, total, 1.0), full)
        m = np.where(total > 0, (1.0 - beta) * mean + beta * state.m, state.m)
        return RoundResult(
            State(w=w, m=m),
            local,
            uplink=(Message(moved), Message(full)),
            downlink=(Message(sent), Message(state.m[:, None])),
        )
