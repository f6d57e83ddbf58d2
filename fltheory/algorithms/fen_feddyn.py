r"""FedElasticNet on FedDyn (Algorithm 3): dynamic regularisation, and an l1 pull that makes displacements sparse.

.. math:: w_i = \arg\min_w f_i(w) - \langle h_i, w\rangle + \frac{\lambda_2}{2}\|w - w^t\|^2
                + \lambda_1\|w - w^t\|_1, \qquad
          h_i \leftarrow h_i - \lambda_2 \Delta_i - \lambda_1 s_i, \quad \Delta_i = w_i - w^t,

.. math:: h \leftarrow h - \sum_{i \in S} p_i\,\bigl(\lambda_2 \hat\Delta_i + \lambda_1 \hat s_i\bigr), \qquad
          w^{t+1} = w^t + \sum_i \omega_i \hat\Delta_i - \frac{1}{\lambda_2} h,

with :math:`\hat\Delta_i = \mathrm{cut}_\epsilon(\Delta_i)`, where coordinates of magnitude at most :math:`\epsilon`
are 0.

``memory_rule`` says what :math:`s_i` is. The optimality condition is
:math:`\nabla f_i(w_i) = h_i - \lambda_2\Delta_i - \lambda_1 s` for *some* subgradient :math:`s` of the l1 norm,
which is the sign where :math:`\Delta_i \ne 0` and anything in :math:`[-1, 1]` where :math:`\Delta_i = 0`.

``sign``
    :math:`s_i = \mathrm{sign}(\Delta_i)` with :math:`\mathrm{sign}(0) = 0`, as printed. Then
    :math:`h_i = \nabla f_i(w_i)` only off the zero set; on it :math:`h_i` does not move, and is wrong by up to
    :math:`\lambda_1` per coordinate. The server needs nothing but the displacement,
    :math:`\hat s_i = \mathrm{sign}(\hat\Delta_i)`.
``subgradient``
    on the zero set :math:`\lambda_1 s_i` is :math:`h_i - \nabla f_i(w_i)`, limited to
    :math:`[-\lambda_1, \lambda_1]`, which an exact solution satisfies by itself; so an exact solve stores
    :math:`h_i = \nabla f_i(w_i)`. It costs a full gradient, and a second message: the change of :math:`h_i` where
    :math:`\hat\Delta_i = 0` (elsewhere the server can work it out), so that :math:`h = \sum_i p_i h_i` always.

Readings taken: line 5 renews :math:`h_i` before line 6 transmits, so the client's memory sees the displacement
before the cut; line 11 is computed by the server, which has only what it received. With ``sign`` and
:math:`\epsilon > 0` therefore :math:`h \ne \sum_i p_i h_i`: a gap of up to :math:`\lambda_2\epsilon + \lambda_1`
per coordinate, client and round builds up. The paper's invariant needs :math:`\epsilon = 0`. The paper weighs
clients equally; here :math:`p_i` stands for ``1/N`` and :math:`\omega_i` for ``1/S``. The increments of line 11
suppose that the :math:`p_i` stay the same. A round without participants leaves the state alone.

Near the minimiser the l1 pull holds every client at :math:`w^t`. The ``subgradient`` rule then makes the server
step :math:`w - \frac{1}{\lambda_2}\nabla f(w)`, which converges to the minimiser if :math:`\lambda_2 > L/2` (and the
cut is off); for smaller :math:`\lambda_2`, and with the ``sign`` rule, the iterates stay at a distance of order
:math:`\lambda_1`.

With :math:`\lambda_1 = \epsilon = 0` this is FedDyn with :math:`\alpha = \lambda_2`, for the exact solve and for
local steps. Piecewise affine otherwise. Published values (neural networks): :math:`\lambda_1 = 10^{-4}` or
:math:`10^{-6}`, :math:`\lambda_2` from 0.01 to 0.05, :math:`\epsilon` from 0.001 to 0.01.

Source: *Communication-efficient and drift-robust federated learning via elastic net*, anonymous, Algorithm 3.
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
    """The server model, and the gradient memories of server and clients."""

    w: Floats
    h: Floats
    h_i: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedElasticNet3(Algorithm):
    r"""FedElasticNet for FedDyn.

    Parameters
    ----------
    l1, l2
        :math:`\lambda_1 \ge 0` and :math:`\lambda_2 > 0`.
    epsilon
        Displacements of at most this magnitude are sent as 0.
    exact
        Solve the sub-problem, instead of taking the round's local steps on it.
    memory_rule
        ``sign`` or ``subgradient``.
    """

    name: ClassVar[str] = "fedelasticnet-3"
    title: ClassVar[str] = "FedElasticNet 3"

    l1: float = 1e-3
    l2: float = 0.1
    epsilon: float = 1e-3
    exact: bool = False
    memory_rule: str = "sign"

    def __post_init__(self) -> None:
        _elastic.validate("FedElasticNet3", l1=self.l1, l2=self.l2, epsilon=self.epsilon, positive_l2=True)
        arguments.boolean("FedElasticNet3", "exact", self.exact)
        arguments.choice("FedElasticNet3", "memory_rule", self.memory_rule, ["sign", "subgradient"])

    @property
    def rotation_equivariant(self) -> bool:
        return not self.not_affine

    @property
    def not_affine(self) -> str:
        return _elastic.piecewise(self.l1, self.epsilon)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        clients = np.zeros((start.shape[0], oracle.num_clients, oracle.dim))
        return State(w=start, h=np.zeros_like(start), h_i=clients)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = _elastic.solve(oracle, work, sent, exact=self.exact, l1=self.l1, l2=self.l2, linear=-state.h_i)
        moved = local - sent
        force = self._force(moved)
        if self.memory_rule == "subgradient":
            balance = np.clip(state.h_i - oracle.gradient(local, active=work.active), -self.l1, self.l1)
            force = np.where(moved == 0.0, balance, force)
        h_i = keep_absent(work.active, state.h_i - force, state.h_i)

        upload = _elastic.cut(moved, self.epsilon)
        uplink: tuple[Message, ...] = (Message(upload, Coding.SPARSE),)
        if self.memory_rule == "sign":
            h = state.h - aggregate(work.p, self._force(upload))
        else:
            h = aggregate(work.p, h_i)
            uplink = (*uplink, Message(np.where(upload == 0.0, -force, 0.0), Coding.SPARSE))
        anyone = work.active.any(axis=1, keepdims=True)
        w = np.where(anyone, state.w + aggregate(work.weights, upload) - h / self.l2, state.w)
        return RoundResult(State(w=w, h=h, h_i=h_i), local, uplink=uplink, downlink=(Message(sent),))

    def _force(self, moved: Floats) -> Floats:
        """Return the gradient of both penalties, with 0 as the sign of 0."""
        return self.l2 * moved + self.l1 * np.sign(moved)
