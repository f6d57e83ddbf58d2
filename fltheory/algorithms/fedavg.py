r"""Federated averaging: local steps from the server model, then a weighted mean of the displacements.

.. math:: w_{i,k+1} = w_{i,k} - \eta_l\, g_i(w_{i,k}), \qquad
          w^{t+1} = w^t + \eta_g \sum_i \omega_i\,(w_{i,s_i} - w^t),

with the weights :math:`\omega_i` of the sampling design (``p_i`` under full participation). Displacements, not
models, are averaged, so weights that do not sum to one neither shrink nor blow up the iterate.

On quadratics the deterministic fixed point solves :math:`\sum_i p_i P_i H_i (w - m_i) = 0` with
:math:`P_i = \sum_{k<K} (I - \eta H_i)^k`: it is the minimiser only if ``K = 1`` or the Hessians agree.

Source: McMahan et al., *Communication-efficient learning of deep networks from decentralized data*, AISTATS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """The server model."""

    w: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedAvg(Algorithm):
    """Federated averaging.

    Parameters
    ----------
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "fedavg"
    title: ClassVar[str] = "FedAvg"

    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("FedAvg", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work)
        moved = local - sent
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        return RoundResult(State(w=w), local, uplink=(Message(moved),), downlink=(Message(sent),))
