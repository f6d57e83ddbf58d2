r"""FedProx: local steps with a quadratic pull back to the server model.

.. math:: w \leftarrow w - \eta_l \bigl(g_i(w) + \rho\,(w - w^t)\bigr), \qquad
          w^{t+1} = w^t + \eta_g \sum_i \omega_i\,(w_{i,s_i} - w^t),

the gradient steps of :math:`f_i(w) + \frac{\rho}{2}\|w - w^t\|^2`. The paper writes :math:`\mu` for :math:`\rho`;
here ``mu`` is strong convexity only. The penalty is the *squared* norm: its gradient vanishes at :math:`w^t`.

Reading taken. The paper accepts any inexact minimiser of the local objective; the authors' code runs a fixed number
of gradient steps, and so does this file. The paper samples with probability :math:`p_i` and takes the plain mean, the
code samples uniformly and weighs by sample counts: both are choices of the sampling design, which supplies
:math:`\omega_i`. Stragglers are step counts ``s_i`` below the assigned number; their partial work is kept.

The displacement is :math:`w^t - w_{i,K} = \eta_l \sum_k (1 - \eta_l\rho)^{K-1-k}\, g_i(w_{i,k})`. With
:math:`\rho = 0` this is FedAvg.

Source: Li et al., *Federated optimization in heterogeneous networks*, MLSys 2020; code litian96/FedProx.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """The server model."""

    w: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedProx(Algorithm):
    """FedProx: federated averaging with a pull to the server model.

    Parameters
    ----------
    prox
        Strength of the pull to the server model (the paper's ``mu``).
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "fedprox"
    title: ClassVar[str] = "FedProx"

    prox: float = 0.1
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("FedProx", "prox", self.prox, low=0)
        arguments.real("FedProx", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(pull=self.prox, anchor=sent))
        moved = local - sent
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        return RoundResult(State(w=w), local, uplink=(Message(moved),), downlink=(Message(sent),))
