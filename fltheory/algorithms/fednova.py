r"""FedNova: displacements are divided by the work behind them, so unequal step counts do not bias the objective.

Client ``i`` runs ``s_i`` steps, plain or with FedProx's pull :math:`\rho`, and ends at
:math:`w^t - \eta_l \sum_k a_{i,k}\, g_i(w_{i,k})` with :math:`a_{i,k} = (1 - \eta_l\rho)^{s_i - 1 - k}`. The server
normalises by :math:`\|a_i\|_1 = \sum_{j < s_i} |1 - \eta_l\rho|^j` (the number of steps if :math:`\rho = 0`):

.. math:: D = \tau_{\mathrm{eff}} \sum_i \omega_i \frac{w^t - w_{i,s_i}}{\eta_l \|a_i\|_1}, \qquad
          b \leftarrow \gamma b + D, \qquad w^{t+1} = w^t - \eta_l\, b.

Reading taken.

* :math:`\tau_{\mathrm{eff}} = \sum_i \omega_i \|a_i\|_1 / \sum_i \omega_i`, the paper's mean over the participants
  (the code takes the mean of ``s_i`` instead when :math:`\rho \ne 0`), or a fixed number. Fixed to the number of
  assigned steps with everybody active, this is Ruan's scheme C.
* Server momentum :math:`\gamma` is heavy ball on :math:`b`, in units of gradients, as in the code. A round without
  participants leaves the state alone.
* FedAvg is the same formula with weights proportional to :math:`\omega_i \|a_i\|_1`; with equal step counts,
  :math:`\rho = 0` and weights that sum to one the two agree.

Where steps have rates of their own, :math:`\eta_l` is their mean over the assigned steps, and
:math:`\eta_l a_{i,k} = \eta_k \prod_{k<j<s_i} (1 - \eta_j\rho)`.

A step count travels with each displacement; it is not counted as communication.

Source: Wang et al., *Tackling the objective inconsistency problem in heterogeneous federated optimization*, NeurIPS
2020; code JYWa/FedNova.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """Server model and server momentum, each ``(replicates, dim)``."""

    w: Floats
    b: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedNova(Algorithm):
    """FedNova: averages of normalised displacements.

    Parameters
    ----------
    prox
        Strength of the pull to the server model in the local steps.
    effective_steps
        ``tau_eff``; the participants' mean of ``||a_i||_1`` if ``None``.
    server_momentum
        ``gamma``, in ``[0, 1)``.
    """

    name: ClassVar[str] = "fednova"
    title: ClassVar[str] = "FedNova"

    prox: float = 0.0
    effective_steps: float | None = None
    server_momentum: float = 0.0

    def __post_init__(self) -> None:
        arguments.real("FedNova", "prox", self.prox, low=0)
        if self.effective_steps is not None:
            arguments.real("FedNova", "effective_steps", self.effective_steps, low=0, open_low=True)
        arguments.real("FedNova", "server_momentum", self.server_momentum, low=0, high=1, open_high=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, b=np.zeros_like(start))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work, LocalSteps(pull=self.prox, anchor=sent))
        moved = local - sent
        norms, unit = self._norms(work), work.mean_rate
        effective: Floats | float
        if self.effective_steps is None:
            total = work.weights.sum(axis=1, keepdims=True)
            effective = (work.weights * norms).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
        else:
            effective = self.effective_steps
        direction = -aggregate(work.weights * effective / np.where(norms > 0.0, norms, 1.0), moved) / unit
        anyone = work.active.any(axis=1, keepdims=True)
        b = np.where(anyone, self.server_momentum * state.b + direction, state.b)
        w = np.where(anyone, state.w - unit * b, state.w)
        return RoundResult(State(w=w, b=b), local, uplink=(Message(moved),), downlink=(Message(sent),))

    def _norms(self, work: Round) -> Floats:
        """Return ``||a_i||_1``, shape ``(replicates | 1, clients)``; 0 for absent clients."""
        most = int(work.steps.max())
        if len(work.rates) == 1:
            powers = abs(1.0 - work.rate * self.prox) ** np.arange(most)
            sums: Floats = np.concatenate([[0.0], np.cumsum(powers)])
            return sums[work.steps]
        lengths = [0.0]
        for rate in work.rates[:most]:
            lengths.append(lengths[-1] * abs(1.0 - rate * self.prox) + rate)
        return np.array(lengths)[work.steps] / work.mean_rate
