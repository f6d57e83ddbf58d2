r"""APFL: FedAvg for a shared model, and beside it a personal model that learns what the mixture of both misses.

With :math:`\bar v_i = \alpha v_i + (1-\alpha) w_i`, each local step takes one minibatch and

.. math:: w_i \leftarrow w_i - \eta_l\, g_i(w_i), \qquad v_i \leftarrow v_i - \eta_l\,\alpha\, g_i(\bar v_i), \qquad
          \alpha_i \leftarrow \mathrm{clip}_{[0,1]}\bigl(\alpha_i - \eta_l\langle v_i - w_i, g_i(\bar v_i)\rangle\bigr),

the last one only if ``adaptive``. The server averages the :math:`w_i` as FedAvg does; :math:`v_i` and
:math:`\alpha_i` never leave the client. The personal model is the mixture, formed between rounds with the server's
:math:`w`.

Reading taken, where public codes differ: the paper's. All gradients are taken at the old iterates with the same
minibatch (FedTorch moves :math:`w_i` first); parameters are mixed, not outputs; the :math:`v` step keeps its factor
:math:`\alpha` (FedJAX drops it); :math:`\alpha_i` moves in every local step and has no ridge term (FedTorch: once a
round, with one).

With fixed :math:`\alpha` one step is linear in :math:`(w_i, v_i)` on quadratics; adaptive mixing is not. The shared
model is FedAvg's in either case. With :math:`\alpha = 0` the :math:`v_i` stay where they are; with
:math:`\alpha = 1` they are purely local SGD.

Source: Deng, Kamani and Mahdavi, *Adaptive personalized federated learning*, 2020; code MLOPTPSU/FedTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, LocalWork, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """Server model ``(replicates, dim)`` and the clients' own parts ``(replicates, clients, dim)``."""

    w: Floats
    v: Floats


class AdaptiveState(NamedTuple):
    """The same with the mixing weights ``(replicates, clients, 1)``."""

    w: Floats
    v: Floats
    alpha: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class APFL(Algorithm):
    """Adaptive personalised federated learning.

    Parameters
    ----------
    mixing
        ``alpha`` in ``[0, 1]``, the share of the client's own part; where it starts if adaptive.
    adaptive
        Learn one mixing weight per client.
    """

    name: ClassVar[str] = "apfl"
    title: ClassVar[str] = "APFL"
    local_work: ClassVar[LocalWork] = LocalWork.OWN_LOOP

    mixing: float = 0.5
    adaptive: bool = False

    def __post_init__(self) -> None:
        arguments.real("APFL", "mixing", self.mixing, low=0, high=1)
        arguments.boolean("APFL", "adaptive", self.adaptive)

    @property
    def not_affine(self) -> str:
        return "adaptive mixing weights alpha_i" if self.adaptive else ""

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State | AdaptiveState:
        v = np.repeat(start[:, None], oracle.num_clients, axis=1)
        if not self.adaptive:
            return State(w=start, v=v)
        return AdaptiveState(w=start, v=v, alpha=np.full((*v.shape[:2], 1), float(self.mixing)))

    def round(self, state: State | AdaptiveState, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local, v = np.repeat(sent, oracle.num_clients, axis=1), state.v
        alpha = self._alpha(state)
        for k in range(int(work.steps.max())):
            batch = oracle.minibatch(k)
            working = work.steps > k
            rate = work.rate_of(k) * working[:, :, None]
            shared = oracle.gradient(local, batch, active=working)
            mixed = oracle.gradient(alpha * v + (1.0 - alpha) * local, batch, active=working)
            slope = np.sum((v - local) * mixed, axis=2, keepdims=True) if self.adaptive else 0.0
            local, v = local - rate * shared, v - rate * alpha * mixed
            if self.adaptive:
                alpha = np.clip(alpha - rate * slope, 0.0, 1.0)
        moved = local - sent
        w = state.w + aggregate(work.weights, moved)
        after = AdaptiveState(w=w, v=v, alpha=np.asarray(alpha)) if self.adaptive else State(w=w, v=v)
        return RoundResult(after, local, uplink=(Message(moved),), downlink=(Message(sent),))

    def personal(self, state: State | AdaptiveState) -> Floats:
        alpha = self._alpha(state)
        return alpha * state.v + (1.0 - alpha) * state.w[:, None]

    def _alpha(self, state: State | AdaptiveState) -> Floats | float:
        return state.alpha if isinstance(state, AdaptiveState) else self.mixing
