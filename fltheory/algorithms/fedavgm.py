r"""FedAvgM: federated averaging with heavy-ball momentum on the server.

.. math:: \Delta^t = \sum_i \omega_i\,(w_{i,s_i} - w^t), \qquad
          m \leftarrow \beta\, m + \Delta^t, \qquad w^{t+1} = w^t + \eta_g\, m ,

with FedAvg's local steps. With :math:`\beta = 0` this is FedAvg.

Reading taken. The momentum is undamped, as in the paper and in optimiser libraries; a factor :math:`1 - \beta` on
:math:`\Delta^t` is the same with another server rate. A round without participants leaves the state alone.

Source: Hsu, Qi and Brown, *Measuring the effects of non-identical data distribution for federated visual
classification*, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """Server model and momentum, each ``(replicates, dim)``."""

    w: Floats
    m: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedAvgM(Algorithm):
    """Federated averaging with server momentum.

    Parameters
    ----------
    momentum
        ``beta``, in ``[0, 1)``; 0 is FedAvg.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "fedavgm"
    title: ClassVar[str] = "FedAvgM"

    momentum: float = 0.9
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("FedAvgM", "momentum", self.momentum, low=0, high=1, open_high=True)
        arguments.real("FedAvgM", "server_rate", self.server_rate, low=0, open_low=True)

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, m=np.zeros_like(start))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work)
        moved = local - sent
        anyone = work.active.any(axis=1, keepdims=True)
        m = np.where(anyone, self.momentum * state.m + aggregate(work.weights, moved), state.m)
        w = np.where(anyone, state.w + self.server_rate * m, state.w)
        return RoundResult(State(w=w, m=m), local, uplink=(Message(moved),), downlink=(Message(sent),))
