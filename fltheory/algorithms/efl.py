r"""Elastic federated learning: a pull towards the coordinates that mattered to the others, and ternary messages.

Client ``i`` takes :math:`s_i \le E` steps on
:math:`f_i(w) + \frac\lambda2\sum_j (w - w_j)^\top \mathrm{diag}(u_j)(w - w_j)`,

.. math:: w \leftarrow w - \eta\Bigl(g_i(w) + \lambda \sum_j u_j \odot w - \lambda \sum_j v_j\Bigr),

with the Fisher diagonals :math:`u_j` and :math:`v_j = u_j \odot w_j` that the clients reported last. It then sends
:math:`\mathrm{ST}(R_i + w_{i,s_i} - w^t)`, :math:`u_i` and :math:`v_i`, and keeps what ST left out as its residual
:math:`R_i`. The server forms

.. math:: D = R + \sum_i p_i^t\,\mathrm{ST}(\cdot)_i, \qquad R \leftarrow D - \mathrm{ST}(D), \qquad p_i^t = p_i E/s_i

(0 if :math:`s_i = 0`; scheme C of :mod:`fltheory.algorithms.ruan`, with its fast-reboot factor), and broadcasts
:math:`\mathrm{ST}(D)` with the new sums of :math:`u_j` and :math:`v_j`. ST is
:class:`~fltheory.communication.compression.SparseTernary`; ``compression = None`` sends everything, and both residuals
stay 0.

Readings taken where the two versions of the paper are silent or disagree:

1. *Bookkeeping.* The algorithm box adds the uncompressed :math:`D` to the server model while the clients add
   :math:`\mathrm{ST}(D)`. ``printed`` does that: :math:`D` already contains the old residual, which is thus counted
   again in every round, and :math:`w - w_{\mathrm{client}} = \sum_t R^t` drifts. ``consistent`` moves the server by
   :math:`\mathrm{ST}(D)` too, so that the copies agree and :math:`w^t + R^t` is the start plus all that was
   received. (The short version lets the clients add :math:`D` itself and send uncompressed updates, so that its
   residuals have no meaning; it is not offered.)
2. *Elastic sum.* It runs over all ``N`` clients and is not divided by ``N``: for the same pull with more clients,
   :math:`\lambda` must shrink like ``1/N``.
3. *Second statistic.* The long version's box has lost the model in :math:`v_i = u_i \odot w_i`; its text and the
   short version have it.
4. *Absent clients* cannot refresh :math:`u_i, v_i, R_i`: the last values stay in force. Before a client's first
   round they are 0, so there is no elastic term in round 1. All clients, absent or not, share one copy of the
   broadcasts.

On quadratics the ``fisher`` diagonal is constant, and without compression the round is affine in
:math:`(w, \{v_i\})`. An empirical Fisher (mean squared gradient) or ST makes it nonlinear. ``elasticity = 0``
without compression is scheme C.

Source: Ma et al., *EFL: elastic federated learning on non-IID data* (long) and *Towards heterogeneous clients with
elastic federated learning* (short), Algorithms 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate, keep_absent, no_curvature
from fltheory.communication.compression import TIES, SparseTernary, feedback
from fltheory.communication.messages import Coding, Message
from fltheory.participation.schemes import Scheme, scheme_weights
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """Server model, the clients' copy of it, residuals of both sides, and the clients' last statistics."""

    w: Floats
    w_client: Floats
    residual: Floats
    client_residual: Floats
    u: Floats
    v: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class EFL(Algorithm):
    r"""Elastic federated learning.

    Parameters
    ----------
    elasticity
        :math:`\lambda \ge 0`, the weight of the elastic term.
    fisher
        ``fisher`` (exact diagonal) or ``empirical-fisher`` (mean squared gradients).
    compression
        ``q``, the fraction of coordinates sent in each direction; ``None`` switches compression off.
    bookkeeping
        ``printed`` or ``consistent``: whether the server moves by ``D`` or by ``ST(D)``.
    ties
        ``exact`` or ``threshold``, see :mod:`fltheory.communication.compression`.
    """

    name: ClassVar[str] = "efl"
    title: ClassVar[str] = "EFL"
    memory: ClassVar[tuple[str, ...]] = ("u",)

    elasticity: float = 0.01
    fisher: str = "fisher"
    compression: float | None = None
    bookkeeping: str = "consistent"
    ties: str = "exact"

    def __post_init__(self) -> None:
        arguments.real("EFL", "elasticity", self.elasticity, low=0)
        arguments.choice("EFL", "fisher", self.fisher, ["fisher", "empirical-fisher"])
        if self.compression is not None:
            arguments.real("EFL", "compression", self.compression, low=0, high=1, open_low=True)
        arguments.choice("EFL", "bookkeeping", self.bookkeeping, ["printed", "consistent"])
        arguments.choice("EFL", "ties", self.ties, TIES)

    @property
    def rotation_equivariant(self) -> bool:
        return False

    @property
    def not_affine(self) -> str:
        parts = []
        if self.compression is not None:
            parts.append(f"sparse ternary compression, q = {self.compression:g}")
        if self.fisher == "empirical-fisher":
            parts.append("empirical Fisher statistics, the squared gradients at the last local models")
        return " and ".join(parts)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        clients = np.zeros((start.shape[0], oracle.num_clients, oracle.dim))
        u = self._per_client(no_curvature(oracle, start, self.fisher), oracle)
        return State(w=start, w_client=start, residual=np.zeros_like(start), client_residual=clients, u=u, v=clients)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        compressor = None if self.compression is None else SparseTernary(fraction=self.compression, ties=self.ties)
        coding = Coding.DENSE if compressor is None else Coding.TERNARY
        begin = state.w_client[:, None]
        elastic = LocalSteps(
            correction=-self.elasticity * state.v.sum(axis=1, keepdims=True),
            pull=self.elasticity * state.u.sum(axis=1, keepdims=True),
        )
        local = oracle.local_steps(begin, work, elastic)
        sent, left = feedback(compressor, state.client_residual, local - begin)
        fresh = self._per_client(oracle.curvature(local, self.fisher, active=work.active), oracle)
        u = keep_absent(work.active, fresh, state.u)
        v = keep_absent(work.active, oracle.apply(fresh, local), state.v)

        weights = work.boost * scheme_weights(Scheme.C, work.p, work.steps, work.local_steps)
        received = aggregate(weights, sent)
        broadcast, residual = feedback(compressor, state.residual, received)
        step = broadcast if self.bookkeeping == "consistent" else broadcast + residual
        after = State(
            w=state.w + step,
            w_client=state.w_client + broadcast,
            residual=residual,
            client_residual=keep_absent(work.active, left, state.client_residual),
            u=u,
            v=v,
        )
        totals = (Message(u.sum(axis=1, keepdims=True)), Message(v.sum(axis=1, keepdims=True)))
        return RoundResult(
            after,
            local,
            uplink=(Message(sent, coding), Message(u), Message(v)),
            downlink=(Message(broadcast[:, None], coding), *totals),
        )

    @staticmethod
    def _per_client(curvature: Floats, oracle: Oracle) -> Floats:
        """Spell a shared curvature out for every client, since the elastic term sums over clients."""
        return np.broadcast_to(curvature, (curvature.shape[0], oracle.num_clients, oracle.dim))
