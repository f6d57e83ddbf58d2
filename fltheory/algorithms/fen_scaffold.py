r"""FedElasticNet on SCAFFOLD (Algorithm 2): control variates, and an l1 pull that makes displacements sparse.

.. math:: w \leftarrow w - \eta_l\bigl(g_i(w) + c - c_i + \lambda_2 (w - w^t)
                + \lambda_1\,\mathrm{sign}(w - w^t)\bigr), \qquad
          c_i^+ = c_i - c + \frac{w^t - w_{i,s_i}}{s_i \eta_l},

.. math:: w^{t+1} = w^t + \eta_g \sum_i \omega_i\, \mathrm{cut}_\epsilon(w_{i,s_i} - w^t), \qquad
          c \leftarrow c + \sum_{i \in S} p_i\,(c_i^+ - c_i).

The control variate is option II as printed: it is made from the whole displacement, so the two penalties leak into
it, :math:`c_i^+` being the mean of :math:`g_i + \lambda_2(w - w^t) + \lambda_1\,\mathrm{sign}(w - w^t)` along the
local path. The minimiser with :math:`c_i = \nabla f_i` and :math:`c = 0` is still a fixed point, because
:math:`\mathrm{sign}(0) = 0`, but an unstable one: a perturbation of any size is met by steps of size
:math:`\eta_l\lambda_1`. Without noise the iterates settle at a distance of order :math:`\lambda_1`.

Readings taken: line 9 renews :math:`c_i` before line 10 transmits, so :math:`c_i` sees the displacement before the
cut; only :math:`\Delta_i` is cut, never :math:`c_i^+ - c_i` (the published counts of non-zeros are all above those
of one dense vector). Hence :math:`c = \sum_i p_i c_i` in every round, whatever the cut, and that mean is what is formed
here, so that it stays right when weights change. The paper weighs clients
equally; here :math:`p_i` stands in place of ``1/N`` and the design's :math:`\omega_i` in place of ``1/S``, which
keeps the minimiser of :math:`\sum_i p_i f_i` as the fixed point of the base algorithm.

Where steps have rates of their own, :math:`s_i\eta_l` is the sum of the rates of the steps completed.

With :math:`\lambda_1 = \lambda_2 = \epsilon = 0` this is SCAFFOLD with option II. Piecewise affine unless
:math:`\lambda_1 = \epsilon = 0`. Published values (neural networks): :math:`\lambda_2 = 0`,
:math:`\lambda_1 = 10^{-4}` or :math:`10^{-6}`, :math:`\epsilon` from :math:`10^{-4}` to :math:`9 \cdot 10^{-4}`.

Source: *Communication-efficient and drift-robust federated learning via elastic net*, anonymous, Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms import _elastic
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate, keep_absent
from fltheory.communication.messages import Coding, Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """The server model and the control variates of server and clients."""

    w: Floats
    c: Floats
    c_i: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedElasticNet2(Algorithm):
    r"""FedElasticNet for SCAFFOLD.

    Parameters
    ----------
    l1, l2
        :math:`\lambda_1, \lambda_2 \ge 0`.
    epsilon
        Displacements of at most this magnitude are sent as 0.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "fedelasticnet-2"
    title: ClassVar[str] = "FedElasticNet 2"

    l1: float = 1e-3
    l2: float = 0.0
    epsilon: float = 1e-4
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        _elastic.validate("FedElasticNet2", l1=self.l1, l2=self.l2, epsilon=self.epsilon)
        arguments.real("FedElasticNet2", "server_rate", self.server_rate, low=0, open_low=True)

    @property
    def rotation_equivariant(self) -> bool:
        return not self.not_affine

    @property
    def not_affine(self) -> str:
        return _elastic.piecewise(self.l1, self.epsilon)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        clients = np.zeros((start.shape[0], oracle.num_clients, oracle.dim))
        return State(w=start, c=np.zeros_like(start), c_i=clients)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        correction = state.c[:, None] - state.c_i
        local = _elastic.solve(oracle, work, sent, exact=False, l1=self.l1, l2=self.l2, linear=correction)
        moved = local - sent
        c_i = keep_absent(work.active, -correction - moved / work.rate_sum, state.c_i)
        change = c_i - state.c_i
        upload = _elastic.cut(moved, self.epsilon)
        after = State(
            w=state.w + self.server_rate * aggregate(work.weights, upload),
            c=aggregate(work.p, c_i),
            c_i=c_i,
        )
        return RoundResult(
            after,
            local,
            uplink=(Message(upload, Coding.SPARSE), Message(change)),
            downlink=(Message(sent), Message(state.c[:, None])),
        )
