r"""FedDyn: a linear term on each client makes the local minimisers agree with the global one.

.. math:: w_i = \arg\min_w\ f_i(w) - \langle h_i, w\rangle + \frac{\alpha}{2}\|w - w^t\|^2, \qquad
          h_i \leftarrow h_i - \alpha\,(w_i - w^t) \quad (i \in S_t),

.. math:: h = \sum_i p_i h_i, \qquad
          w^{t+1} = w^t + \sum_i \omega_i\,(w_i - w^t) - \frac1\alpha h ,

with the *new* :math:`h`. Clients outside :math:`S_t` keep :math:`h_i`; the mean :math:`h` runs over *all* clients,
participants or not.

Reading taken.

* The local problem is solved exactly (``exact``), so that :math:`h_i = \nabla f_i(w_i)`, or by the assigned number of
  gradient steps from :math:`w^t`, when :math:`h_i` is an estimate. Either way the deterministic fixed point is the
  minimiser of :math:`\sum_i p_i f_i`.
* The paper has equal weights and updates :math:`h` by the increment
  :math:`-\frac{\alpha}{N} \sum_{i \in S_t} (w_i - w^t)`; the authors' code averages the memories of all ``N``
  clients, which is the same. Here :math:`p_i` replaces ``1/N``. For unequal weights the code instead uses
  :math:`\alpha / (N p_i)` on the client; that variant is not taken. Nor is its gradient clipping.
* The penalty is the squared norm. A round without participants leaves the state alone.

Source: Acar et al., *Federated learning based on dynamic regularization*, ICLR 2021; code alpemreacar/FedDyn.
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
    """Server model and mean memory ``(replicates, dim)``; the clients' memories ``(replicates, clients, dim)``."""

    w: Floats
    h: Floats
    h_i: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedDyn(Algorithm):
    """FedDyn: local objectives with dynamic regularisation.

    Parameters
    ----------
    alpha
        Strength of the quadratic pull.
    exact
        Solve the local problem exactly instead of running gradient steps.
    """

    name: ClassVar[str] = "feddyn"
    title: ClassVar[str] = "FedDyn"

    alpha: float = 0.1
    exact: bool = False

    def __post_init__(self) -> None:
        arguments.real("FedDyn", "alpha", self.alpha, low=0, open_low=True)
        arguments.boolean("FedDyn", "exact", self.exact)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        h_i = np.zeros((start.shape[0], oracle.num_clients, oracle.dim))
        return State(w=start, h=np.zeros_like(start), h_i=h_i)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        if self.exact:
            solved = oracle.prox(sent, pull=self.alpha, linear=-state.h_i)
            local = keep_absent(work.active, solved, sent)
        else:
            how = LocalSteps(correction=-state.h_i, pull=self.alpha, anchor=sent)
            local = oracle.local_steps(sent, work, how)
        # An absent client has not moved, so this leaves its memory as it was.
        moved = local - sent
        h_i = state.h_i - self.alpha * moved
        h = aggregate(work.p, h_i)
        anyone = work.active.any(axis=1, keepdims=True)
        w = np.where(anyone, state.w + aggregate(work.weights, moved) - h / self.alpha, state.w)
        return RoundResult(State(w=w, h=h, h_i=h_i), local, uplink=(Message(moved),), downlink=(Message(sent),))
