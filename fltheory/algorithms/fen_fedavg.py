r"""FedElasticNet on FedAvg and FedProx (Algorithm 1): sparse displacements through an l1 pull to the server model.

.. math:: w_i = \arg\min_w f_i(w) + \frac{\lambda_2}{2}\|w - w^t\|^2 + \lambda_1\|w - w^t\|_1, \qquad
          w^{t+1} = w^t + \sum_i \omega_i\, \mathrm{cut}_\epsilon(w_i - w^t),

where :math:`\mathrm{cut}_\epsilon` sets coordinates of magnitude at most :math:`\epsilon` to 0. With ``exact`` the
sub-problem is solved as printed; otherwise the clients take their subgradient steps
:math:`w \leftarrow w - \eta(g_i(w) + \lambda_2(w - w^t) + \lambda_1\,\mathrm{sign}(w - w^t))`, which hardly ever
return exact zeros, so that only the cut makes the message sparse.

Weights of the server step (line 7 prints :math:`n_i/n` with ``n`` the data of all clients, summed over the
participants):

``design``
    those of the sampling design, as in every other algorithm here.
``all``
    line 7 to the letter, :math:`p_i` of the participants: with partial participation the step shrinks by the absent
    share.
``participants``
    :math:`p_i / \sum_{j \in S} p_j`, the usual reading.

All three agree under full participation. With local steps, :math:`\lambda_1 = \epsilon = 0` and ``design`` this is
FedProx with pull :math:`\lambda_2`, and FedAvg if that is 0 too. The round is piecewise affine, not affine, unless
:math:`\lambda_1 = \epsilon = 0`. Published values (neural networks): :math:`\lambda_1 = 10^{-6}`, :math:`\lambda_2`
from :math:`10^{-6}` to :math:`10^{-4}`, :math:`\epsilon` from :math:`10^{-3}` to :math:`9 \cdot 10^{-3}`.

Source: *Communication-efficient and drift-robust federated learning via elastic net*, anonymous, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms import _elastic
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Coding, Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """The server model."""

    w: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedElasticNet1(Algorithm):
    r"""FedElasticNet for FedAvg and FedProx.

    Parameters
    ----------
    l1, l2
        :math:`\lambda_1, \lambda_2 \ge 0`.
    epsilon
        Displacements of at most this magnitude are sent as 0.
    exact
        Solve the sub-problem, instead of taking the round's local steps on it.
    weights
        ``design``, ``all`` or ``participants``.
    """

    name: ClassVar[str] = "fedelasticnet-1"
    title: ClassVar[str] = "FedElasticNet 1"

    l1: float = 1e-3
    l2: float = 0.1
    epsilon: float = 1e-3
    exact: bool = False
    weights: str = "design"

    def __post_init__(self) -> None:
        _elastic.validate("FedElasticNet1", l1=self.l1, l2=self.l2, epsilon=self.epsilon)
        arguments.boolean("FedElasticNet1", "exact", self.exact)
        arguments.choice("FedElasticNet1", "weights", self.weights, ["design", "all", "participants"])

    @property
    def rotation_equivariant(self) -> bool:
        return not self.not_affine

    @property
    def not_affine(self) -> str:
        return _elastic.piecewise(self.l1, self.epsilon)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = _elastic.solve(oracle, work, sent, exact=self.exact, l1=self.l1, l2=self.l2)
        moved = _elastic.cut(local - sent, self.epsilon)
        w = state.w + aggregate(self._weights(work), moved)
        return RoundResult(State(w=w), local, uplink=(Message(moved, Coding.SPARSE),), downlink=(Message(sent),))

    def _weights(self, work: Round) -> Floats:
        if self.weights == "design":
            return work.weights
        present = work.p * work.active
        if self.weights == "all":
            return present
        total = present.sum(axis=1, keepdims=True)
        return np.asarray(present / np.where(total > 0, total, 1.0), dtype=np.float64)
