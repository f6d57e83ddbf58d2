r"""FedAMP: no shared model; every client is pulled to a mixture of all models, the closer ones weighing more.

The objective is :math:`\sum_i f_i(w_i) + \lambda \sum_{i<j} A(\|w_i - w_j\|^2)` with
:math:`A(x) = 1 - e^{-x/\sigma}`. The cloud steps along the coupling, then clients step on their own objective:

.. math:: u_i = w_i + \alpha_k \sum_{j \ne i} \tfrac1\sigma e^{-\|w_i - w_j\|^2/\sigma}\,(w_j - w_i), \qquad
          w_i \leftarrow \arg\min_w f_i(w) + \frac{\lambda}{2\alpha_k}\|w - u_i\|^2 .

The weight that :math:`w_i` keeps, one minus the sum of the others, must stay in ``[0, 1]``; the start, where all
models agree, is the worst case and needs :math:`\alpha_k (N-1) \le \sigma`. Otherwise the round is refused.

``heuristic`` is HeurFedAMP: a fixed self-weight :math:`\xi`, the rest shared out by angle,

.. math:: u_i = w_i + (1 - \xi) \sum_{j \ne i}
          \frac{e^{\kappa\cos(w_i, w_j)}}{\sum_{h \ne i} e^{\kappa\cos(w_i, w_h)}}\,(w_j - w_i),

with cosine 0 where a model is zero.

Reading taken.

* The published weight has no factor 2 from the squared norm; it is absorbed in :math:`\alpha_k`.
* The client step is solved exactly (``exact``) or by the assigned number of gradient steps from :math:`w_i`.
* The cloud uses the last known model of absent clients, who keep their own.
* The paper's :math:`\sigma` is ``bandwidth`` in FedAMP and :math:`\kappa`, ``sharpness``, in HeurFedAMP.
* The model that is recorded is the plain mean of all :math:`w_i`; the personal ones are the algorithm's output.

Source: Huang et al., *Personalized cross-silo federated learning on non-IID data*, AAAI 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, keep_absent
from fltheory.communication.messages import Message
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import LocalSteps, Oracle, Round

_ROUNDING = 1e-9


class State(NamedTuple):
    """The clients' models, shape ``(replicates, clients, dim)``."""

    w_i: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedAMP(Algorithm):
    """FedAMP and HeurFedAMP: personal models that attract each other.

    Parameters
    ----------
    attraction
        ``lambda``; the client's pull to its mixture is ``attraction / cloud_rate``.
    cloud_rate
        ``alpha_k``, the cloud's step along the coupling.
    bandwidth
        ``sigma`` of FedAMP: squared distance at which attention has fallen by a factor e.
    heuristic
        Use HeurFedAMP's weights.
    self_weight, sharpness
        ``xi`` and ``kappa`` of HeurFedAMP.
    exact
        Solve the client step exactly instead of running gradient steps.
    """

    name: ClassVar[str] = "fedamp"
    title: ClassVar[str] = "FedAMP"

    attraction: float = 0.01
    cloud_rate: float = 0.01
    bandwidth: float = 1.0
    heuristic: bool = False
    self_weight: float = 0.1
    sharpness: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        for field in ("attraction", "cloud_rate", "bandwidth"):
            arguments.real("FedAMP", field, getattr(self, field), low=0, open_low=True)
        arguments.boolean("FedAMP", "heuristic", self.heuristic)
        arguments.real("FedAMP", "self_weight", self.self_weight, low=0, high=1)
        arguments.real("FedAMP", "sharpness", self.sharpness, low=0)
        arguments.boolean("FedAMP", "exact", self.exact)

    @property
    def not_affine(self) -> str:
        if self.heuristic:
            return f"attention weights exp(sharpness * cos(w_i, w_j)), sharpness = {self.sharpness:g}"
        return f"attention weights exp(-||w_i - w_j||^2 / bandwidth), bandwidth = {self.bandwidth:g}"

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w_i=np.repeat(start[:, None], oracle.num_clients, axis=1))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        weights = self._by_angle(state.w_i) if self.heuristic else self._by_distance(state.w_i)
        mixture = state.w_i + weights @ state.w_i - weights.sum(axis=2, keepdims=True) * state.w_i
        pull = self.attraction / self.cloud_rate
        if self.exact:
            local = keep_absent(work.active, oracle.prox(mixture, pull=pull), state.w_i)
        else:
            local = oracle.local_steps(state.w_i, work, LocalSteps(pull=pull, anchor=mixture))
        return RoundResult(State(w_i=local), local, uplink=(Message(local),), downlink=(Message(mixture),))

    def model(self, state: State) -> Floats:
        mean: Floats = state.w_i.mean(axis=1)
        return mean

    def personal(self, state: State) -> Floats:
        return state.w_i

    def _by_distance(self, w_i: Floats) -> Floats:
        """Return FedAMP's weights of the others, shape ``(replicates, clients, clients)``."""
        # Distances do not see a common shift; taking it out first keeps the differences from cancelling.
        centred = w_i - w_i.mean(axis=1, keepdims=True)
        size = np.sum(centred**2, axis=2)
        distance_sq = np.maximum(size[:, :, None] + size[:, None] - 2.0 * (centred @ centred.swapaxes(1, 2)), 0.0)
        attention: Floats = np.exp(-distance_sq / self.bandwidth) * _others(w_i)
        weights = self.cloud_rate / self.bandwidth * attention
        left = 1.0 - weights.sum(axis=2)
        if np.any(left < -_ROUNDING):
            raise NotApplicable(
                f"FedAMP.cloud_rate={self.cloud_rate:g} (alpha_k) leaves a client the self-weight {left.min():.3g}, "
                f"outside [0, 1]; lower cloud_rate to at most bandwidth / (clients - 1) = "
                f"{self.bandwidth / (w_i.shape[1] - 1):g}, or raise bandwidth"
            )
        return weights

    def _by_angle(self, w_i: Floats) -> Floats:
        """Return HeurFedAMP's weights of the others, shape ``(replicates, clients, clients)``."""
        length = np.sqrt(np.sum(w_i**2, axis=2, keepdims=True))
        unit = w_i / np.where(length > 0, length, 1.0)
        # cos <= 1, so the shift by one keeps the exponential in range without changing the shares.
        attention = np.exp(self.sharpness * (unit @ unit.swapaxes(1, 2) - 1.0)) * _others(w_i)
        total = attention.sum(axis=2, keepdims=True)
        return (1.0 - self.self_weight) * attention / np.where(total > 0, total, 1.0)


def _others(w_i: Floats) -> Floats:
    """Return the mask of all pairs of different clients."""
    return 1.0 - np.eye(w_i.shape[1])
