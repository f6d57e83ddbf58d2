r"""pFedMe: gradient steps on the Moreau envelopes of the clients' objectives; personal models are the prox points.

The objective is :math:`\sum_i p_i F_i` with
:math:`F_i(w) = \min_\theta f_i(\theta) + \frac{\lambda}{2}\|\theta - w\|^2`, whose gradient is
:math:`\lambda\,(w - \hat\theta_i(w))`. From :math:`w_{i,0} = w^t`, local round ``r`` draws one minibatch, runs a few
inner steps of rate :math:`\eta_p` and one outer step:

.. math:: \theta \leftarrow \theta - \eta_p \bigl(g_i(\theta) + \lambda(\theta - w_{i,r})\bigr), \qquad
          w_{i,r+1} = w_{i,r} - \eta_l \lambda\,(w_{i,r} - \theta),

.. math:: w^{t+1} = w^t + \beta \sum_i \omega_i\,(w_{i,s_i} - w^t).

The number of local rounds is the step count ``s_i`` of the participation.

Reading taken.

* Inner iterate: the paper's prox problem is restarted from :math:`w_{i,r}` in every local round (``reset_inner``);
  the authors' code carries :math:`\theta` on from local round to local round. Both begin at :math:`w^t`.
* The code's extra weight decay on :math:`\theta` is left out.
* In the paper all clients work and the server then picks some; here only those picked work, which gives the same
  server model. :math:`\theta_i` is an output: it is kept for reporting, an absent client's stays what it was, and no
  later model depends on it.
* The server mean is in displacements, so ``server_mix`` above 1 extrapolates.

Stability needs roughly :math:`\eta_p(\lambda + L) < 2` and :math:`\eta_l\lambda < 2`.

Source: Dinh, Tran and Nguyen, *Personalized federated learning with Moreau envelopes*, NeurIPS 2020; code
CharlieDinh/pFedMe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, LocalWork, RoundResult, aggregate, keep_absent
from fltheory.communication.messages import Message
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """Server model ``(replicates, dim)`` and the latest personal models ``(replicates, clients, dim)``."""

    w: Floats
    theta: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class PFedMe(Algorithm):
    """Personalised federated learning with Moreau envelopes.

    Parameters
    ----------
    attraction
        ``lambda``, the pull of a personal model to the client's copy of the shared one.
    inner_steps, inner_rate
        Steps and rate with which the prox problem is solved.
    reset_inner
        Start every prox problem from the client's copy of the shared model, not from the last solution.
    server_mix
        ``beta``, the server's step towards the mean.
    """

    name: ClassVar[str] = "pfedme"
    title: ClassVar[str] = "pFedMe"
    local_work: ClassVar[LocalWork] = LocalWork.OWN_LOOP

    attraction: float = 15.0
    inner_steps: int = 5
    inner_rate: float = 0.05
    reset_inner: bool = True
    server_mix: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("PFedMe", "attraction", self.attraction, low=0, open_low=True)
        arguments.integer("PFedMe", "inner_steps", self.inner_steps, low=1)
        arguments.real("PFedMe", "inner_rate", self.inner_rate, low=0, open_low=True)
        arguments.boolean("PFedMe", "reset_inner", self.reset_inner)
        arguments.real("PFedMe", "server_mix", self.server_mix, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, theta=np.repeat(start[:, None], oracle.num_clients, axis=1))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = np.repeat(sent, oracle.num_clients, axis=1)
        theta = local
        for r in range(int(work.steps.max())):
            inner = LocalSteps(
                rate=self.inner_rate,
                steps=self.inner_steps,
                pull=self.attraction,
                anchor=local,
                minibatch=oracle.minibatch(r),
            )
            working = work.steps > r
            still = replace(work, steps=work.steps * working)
            solved = oracle.local_steps(local if self.reset_inner else theta, still, inner)
            theta = keep_absent(working, solved, theta)
            local = keep_absent(working, local - work.rate_of(r) * self.attraction * (local - theta), local)
        moved = local - sent
        w = state.w + self.server_mix * aggregate(work.weights, moved)
        theta = keep_absent(work.active, theta, state.theta)
        return RoundResult(State(w=w, theta=theta), local, uplink=(Message(moved),), downlink=(Message(sent),))

    def personal(self, state: State) -> Floats:
        return state.theta
