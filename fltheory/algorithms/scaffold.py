r"""SCAFFOLD: control variates replace each client's gradient direction by the average one.

.. math:: w \leftarrow w - \eta_l \bigl(g_i(w) + c - c_i\bigr), \qquad
          w^{t+1} = w^t + \eta_g \sum_i \omega_i\,(w_{i,s_i} - w^t),

and, with the *old* :math:`c` and :math:`c_i` and the rate of this very round,

.. math:: \text{option I: } c_i^+ = \nabla f_i(w^t), \qquad
          \text{option II: } c_i^+ = c_i - c + \frac{w^t - w_{i,s_i}}{s_i\,\eta_l}, \qquad
          c^+ = \sum_i p_i c_i^+ .

Absent clients keep :math:`c_i`. Option II stores the average gradient along the local path; its divisor is the
number of steps completed.

Reading taken.

* The paper has equal weights and writes the server's update as an increment,
  :math:`c + \frac1N \sum_{i \in S_t} (c_i^+ - c_i)`: a division by *all* ``N`` clients, which keeps
  :math:`c = \frac1N \sum_i c_i`. Here that mean itself is formed, with :math:`p_i` in place of ``1/N``, so it stays
  right when the weights change (an arrival, a departure). Unequal weights keep the minimiser of
  :math:`\sum_i p_i f_i` as fixed point. One public code instead scales :math:`c` by :math:`1/(N p_i)` on the client;
  that variant is not taken.
* Option I's extra pass uses the full gradient.
* Control variates start at zero, or at the gradients at the starting model.
* Where steps have rates of their own, :math:`s_i\eta_l` is the sum of the rates of the steps completed: option II then
  stores the average gradient along the path, weighted with the rates.

With full participation and equal step counts, option II from zero is FedGATE with :math:`\delta_i = c_i - c`, and
VRL-SGD if :math:`\eta_g = 1`.

Source: Karimireddy et al., *SCAFFOLD: stochastic controlled averaging for federated learning*, ICML 2020.
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
    """Server model and control variate ``(replicates, dim)``; the clients' ones ``(replicates, clients, dim)``."""

    w: Floats
    c: Floats
    c_i: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaffold(Algorithm):
    """SCAFFOLD: local steps with control variates.

    Parameters
    ----------
    option
        ``"I"`` (gradient at the server model) or ``"II"`` (average along the local path).
    initial
        Control variates before round 0: ``"zero"`` or ``"gradient"``.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "scaffold"
    title: ClassVar[str] = "SCAFFOLD"

    option: str = "II"
    initial: str = "zero"
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.choice("Scaffold", "option", self.option, ("I", "II"))
        arguments.choice("Scaffold", "initial", self.initial, ("zero", "gradient"))
        arguments.real("Scaffold", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        c_i = np.zeros((start.shape[0], oracle.num_clients, oracle.dim))
        if self.initial == "gradient":
            c_i = c_i + oracle.gradient(start[:, None])
        return State(w=start, c=aggregate(p, c_i), c_i=c_i)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        c = state.c[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(correction=c - state.c_i))
        moved = local - sent
        if self.option == "I":
            fresh = oracle.gradient(sent, active=work.active)
        else:
            fresh = state.c_i - c - moved / work.rate_sum
        c_i = keep_absent(work.active, fresh, state.c_i)
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        return RoundResult(
            State(w=w, c=aggregate(work.p, c_i), c_i=c_i),
            local,
            uplink=(Message(moved), Message(c_i - state.c_i)),
            downlink=(Message(sent), Message(c)),
        )
