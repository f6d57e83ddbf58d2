r"""CFL-R: each client remembers its past objectives by their second-order Taylor models.

In round ``t`` (from 1) client ``i`` has an objective :math:`f_{t,i}` of its own, and works on

.. math:: \pi_t f_{t,i}(w) + \sum_{\tau<t} p_\tau \Bigl(\langle \hat g_{\tau,i}, w\rangle
          + \tfrac12 (w - \hat w_{\tau,i})^\top \hat H_{\tau,i} (w - \hat w_{\tau,i})\Bigr),
          \qquad \pi_t = p_t, \quad \sum_{\tau \le t} p_\tau = 1,

where :math:`\hat H, \hat g` are curvature and gradient at the client's model :math:`\hat w` at the end of round
:math:`\tau`. One local step, with :math:`G = \sum_{\tau<t} p_\tau(\hat g_\tau - \hat H_\tau \hat w_\tau)` and
:math:`H = \sum_{\tau<t} p_\tau \hat H_\tau`, is

.. math:: w \leftarrow w - \eta_l\bigl(\pi_t\, g_{t,i}(w) + G_i + H_i w\bigr), \qquad
          w^{t+1} = w^t + \eta_g \sum_i \omega_i\,(w_{i,s_i} - w^t),

that is, (G) with rate :math:`\eta_l\pi_t`, correction :math:`G_i/\pi_t`, pull :math:`H_i/\pi_t` and the origin as
anchor.

``weighting``
    ``uniform``: :math:`p_\tau = 1/t`. ``geometric``: :math:`p_\tau \propto \phi^{t-\tau}` with ``forgetting``
    :math:`\phi`, so :math:`\pi_t = (1-\phi)/(1-\phi^t)`. ``current``: :math:`\pi_t = 1`, which is FedAvg and sends
    no memory.
``form``
    ``weighted`` is Algorithm 1: the memory is a weighted mean of the past, rescaled by :math:`1 - \pi_t` each
    round. ``sum`` is Algorithm 2: plain sums and the step :math:`\frac{\eta_l}{t}(g + G + Hw)`; uniform weights
    only. Under full participation the two agree to rounding.

The paper has full participation and equal client weights; here :math:`\omega_i` are the weights of the sampling
design. A client that is absent keeps its memory as it is, while :math:`\pi_t` goes on counting rounds: in the
weighted form its past keeps total weight :math:`1 - \pi_t`, in the sum form (rounds taken part in)/``t``; a client
that first appears in round ``t > 1`` has no past and takes steps scaled by :math:`\pi_t`. In scenario S1 the
client in slot ``i`` inherits its memory. A minus sign printed once before the server step is a slip; the algorithm
boxes have a plus.

On quadratics with ``exact`` curvature and ``full`` gradient, :math:`\hat g - \hat H\hat w = -Hm` does not depend on
the iterates and the local objective is exactly :math:`\sum_\tau p_\tau f_{\tau,i}`. With a diagonal of a dense
Hessian the remainder makes ``G`` a true part of the state (still affine); a ``stochastic`` gradient, from a
minibatch that no local step used, freezes its noise into ``G``. An empirical Fisher depends on the iterates, and
the round is not affine.

Traffic: displacement, gradient and curvature up; model and both aggregates down. An exact Hessian counts as
``d(d+1)/2`` numbers, whatever basis the oracle works in.

Source: Guo, Lin and Tang, *A new analysis framework for federated learning on time-evolving heterogeneous data*, 2021,
Algorithms 1 and 2.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate, keep_absent, no_curvature
from fltheory.communication.messages import Message
from fltheory.errors import InvalidParameter
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """The server model and each client's memory of its past objectives."""

    w: Floats
    gradient: Floats
    curvature: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class CFLR(Algorithm):
    r"""Continual federated learning with second-order regularisation.

    Parameters
    ----------
    weighting
        ``uniform``, ``geometric`` or ``current``: the weights :math:`p_\tau` of the rounds so far.
    forgetting
        :math:`\phi` in ``(0, 1)``; read by ``geometric`` only.
    form
        ``weighted`` (Algorithm 1) or ``sum`` (Algorithm 2).
    curvature
        ``exact``, ``diagonal``, ``fisher`` or ``empirical-fisher``.
    gradient
        ``full`` or ``stochastic``: the gradient that is remembered.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "cfl-r"
    title: ClassVar[str] = "CFL-R"
    memory: ClassVar[tuple[str, ...]] = ("curvature",)
    autonomous: ClassVar[bool] = False

    weighting: str = "uniform"
    forgetting: float = 0.9
    form: str = "weighted"
    curvature: str = "exact"
    gradient: str = "full"
    server_rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.choice("CFLR", "weighting", self.weighting, ["uniform", "geometric", "current"])
        arguments.real("CFLR", "forgetting", self.forgetting, low=0, high=1, open_low=True, open_high=True)
        arguments.choice("CFLR", "form", self.form, ["weighted", "sum"])
        arguments.choice("CFLR", "curvature", self.curvature, ["exact", "diagonal", "fisher", "empirical-fisher"])
        arguments.choice("CFLR", "gradient", self.gradient, ["full", "stochastic"])
        arguments.real("CFLR", "server_rate", self.server_rate, low=0, open_low=True)
        if self.form == "sum" and self.weighting != "uniform":
            raise InvalidParameter(
                f"CFLR.form must be 'weighted' when weighting={self.weighting!r}, got form='sum'; "
                "plain sums exist for uniform weights only"
            )

    @property
    def rotation_equivariant(self) -> bool:
        return self.curvature == "exact"

    @property
    def not_affine(self) -> str:
        if self.curvature == "empirical-fisher" and self.weighting != "current":
            return "empirical Fisher memory, the squared gradients at the last local models"
        return ""

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(
            w=start,
            gradient=np.zeros((start.shape[0], oracle.num_clients, oracle.dim)),
            curvature=no_curvature(oracle, start, self.curvature),
        )

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        share = self._share(work.index + 1)
        # ``gain`` turns the stored memory into G/pi and H/pi; ``keep`` and ``add`` renew it after the round.
        gain, keep, add = ((1.0 - share) / share, 1.0 - share, share) if self.form == "weighted" else (1.0, 1.0, 1.0)
        how = LocalSteps(rate_factor=share, correction=gain * state.gradient, pull=gain * state.curvature)
        local = oracle.local_steps(sent, work, how)
        moved = local - sent
        w = state.w + self.server_rate * aggregate(work.weights, moved)
        if self.weighting == "current":
            return RoundResult(state._replace(w=w), local, uplink=(Message(moved),), downlink=(Message(sent),))

        batch = None if self.gradient == "full" else oracle.minibatch(work.local_steps)
        fresh = oracle.gradient(local, batch, active=work.active)
        curvature = oracle.curvature(local, self.curvature, active=work.active)
        constant = fresh - oracle.apply(curvature, local)
        after = State(
            w=w,
            gradient=keep_absent(work.active, keep * state.gradient + add * constant, state.gradient),
            curvature=keep_absent(work.active, keep * state.curvature + add * curvature, state.curvature),
        )
        return RoundResult(
            after,
            local,
            uplink=(Message(moved), Message(fresh), self._curvature_message(curvature, oracle.dim)),
            downlink=(Message(sent), Message(state.gradient), self._curvature_message(state.curvature, oracle.dim)),
        )

    def _share(self, number: int) -> float:
        """Return the weight of the current objective in the round with this number, from 1."""
        if self.weighting == "current":
            return 1.0
        if self.weighting == "uniform":
            return 1.0 / number
        share: float = (1.0 - self.forgetting) / (1.0 - self.forgetting**number)
        return share

    def _curvature_message(self, curvature: Floats, dim: int) -> Message:
        if self.curvature != "exact":
            return Message(curvature)
        # Oracles may hold a Hessian in its eigenbasis; what travels is a symmetric matrix all the same.
        return _triangle(dim)


@functools.cache
def _triangle(dim: int) -> Message:
    """Return a message of the size of a symmetric matrix."""
    return Message(np.broadcast_to(1.0, (1, 1, dim * (dim + 1) // 2)))
