r"""Flexible participation: FedAvg whose weights follow the number of steps each client completed.

Of ``E`` assigned steps client ``i`` completes :math:`s_i \in \{0, \dots, E\}`; the server moves by

.. math:: w^{t+1} = w^t + \sum_i b_i\, p_i^t\,(w_{i,s_i} - w^t),

========  ==========================================================================================
scheme    :math:`p_i^t`
========  ==========================================================================================
A         :math:`\frac{N}{K_t}\,p_i` for the :math:`K_t` clients with :math:`s_i = E`, else 0; with
          :math:`K_t = 0` the round is skipped
B         :math:`p_i`
C         :math:`p_i\,E/s_i`, and 0 if :math:`s_i = 0`
========  ==========================================================================================

Here :math:`b_i` is the fast-reboot factor of a client that has just arrived (1 otherwise). The weights need not
sum to one, so displacements are added up, never models. They are computed from the step counts alone; weights of
a sampling design are not used, a client that was not asked simply has :math:`s_i = 0`.

The printed expansion of the aggregation sums the gradients up to :math:`s_i` inclusive; the algorithm takes
:math:`s_i` steps, and so does this file. Scheme A counts the traffic of every client that worked, also of those
whose result is then discarded.

Affine given the step counts. Scheme C with every client active is FedNova with the effective number of steps
fixed to ``E``; all schemes are FedAvg when every client completes ``E`` steps.

Source: Ruan et al., *Towards flexible device participation in federated learning*, AISTATS 2021, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.participation.schemes import Scheme, scheme_weights
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """The server model."""

    w: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruan(Algorithm):
    """FedAvg with aggregation scheme A, B or C.

    Parameters
    ----------
    scheme
        ``A`` (complete clients only), ``B`` (fixed weights) or ``C`` (weights inverse to the completed steps).
    """

    name: ClassVar[str] = "ruan"
    title: ClassVar[str] = "Ruan"

    scheme: str = "C"

    def __post_init__(self) -> None:
        arguments.choice("Ruan", "scheme", self.scheme, [scheme.value for scheme in Scheme])

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work)
        moved = local - sent
        weights = work.boost * scheme_weights(Scheme(self.scheme), work.p, work.steps, work.local_steps)
        w = state.w + aggregate(weights, moved)
        return RoundResult(State(w=w), local, uplink=(Message(moved),), downlink=(Message(sent),))
