r"""MIME: clients imitate a centralised optimiser with server statistics and variance-reduced local gradients.

With :math:`c = \sum_{i \in S_t} \bar\omega_i \nabla f_i(w^t)`, full gradients at the server model, one exchange
earlier, and momentum :math:`m` frozen during the round, local steps are

.. math:: d = g_i(w; \zeta) - g_i(w^t; \zeta) + c, \qquad
          w \leftarrow w - \eta_l \bigl((1-\beta)\,d + \beta\,m\bigr),

.. math:: w^{t+1} = w^t + \eta_g \sum_i \omega_i\,(w_{i,s_i} - w^t), \qquad m \leftarrow (1-\beta)\,c + \beta\,m .

Both gradients in :math:`d` use the same minibatch, so noise that does not depend on the point cancels exactly. In the
generic form this is rate :math:`(1-\beta)\eta_l` with the constant correction :math:`c + \frac{\beta}{1-\beta}m`.

Reading taken.

* SGD (:math:`\beta = 0`) and SGD with the paper's momentum, whose step is :math:`(1-\beta) g + \beta m`; heavy-ball
  libraries have ``1`` in place of :math:`1 - \beta`. Adaptive base optimisers are not covered.
* The statistics see full gradients at the *old* server model, never gradients along a local path.
* The paper's plain mean over participants becomes :math:`\bar\omega_i = \omega_i / \sum_j \omega_j`, so that one
  noiseless local step is FedAvg's for any weights. A round without participants leaves the state alone.

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
class Mime(Algorithm):
    """MIME with SGD or momentum SGD as base optimiser.

    Parameters
    ----------
    momentum
        ``beta``, in ``[0, 1)``; 0 is SGD.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "mime"
    title: ClassVar[str] = "MIME"

    momentum: float = 0.9
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("Mime", "momentum", self.momentum, low=0, high=1, open_high=True)
        arguments.real("Mime", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, m=np.zeros_like(start))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent, beta = state.w[:, None], self.momentum
        full = oracle.gradient(sent, active=work.active)
        total = work.weights.sum(axis=1, keepdims=True)
        c = aggregate(work.weights / np.where(total > 0, total, 1.0), full)
        correction = (c + beta / (1.0 - beta) * state.m)[:, None]
        how = LocalSteps(rate_factor=1.0 - beta, correction=correction, recentre=True)
        local = oracle.local_steps(sent, work, how)
        moved = local - sent
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        m = np.where(total > 0, (1.0 - beta) * c + beta * state.m, state.m)
        statistics = (Message(state.m[:, None]),) if beta > 0 else ()
        return RoundResult(
            State(w=w, m=m),
            local,
            uplink=(Message(full), Message(moved)),
            downlink=(Message(sent), Message(c[:, None]), *statistics),
        )
