r"""FedOpt: the mean displacement drives Adagrad, Adam or Yogi on the server (FedAdagrad, FedAdam, FedYogi).

With FedAvg's local steps and :math:`\Delta^t = \sum_i \omega_i\,(w_{i,s_i} - w^t)`, per coordinate,

.. math:: m \leftarrow \beta_1 m + (1 - \beta_1)\,\Delta^t, \qquad
          w^{t+1} = w^t + \eta_g \frac{m}{\sqrt{v} + \tau},

.. math:: v \leftarrow \begin{cases}
             v + (\Delta^t)^2 & \text{adagrad} \\
             \beta_2 v + (1 - \beta_2) (\Delta^t)^2 & \text{adam} \\
             v - (1 - \beta_2) (\Delta^t)^2\, \mathrm{sign}(v - (\Delta^t)^2) & \text{yogi}
          \end{cases}

Reading taken.

* :math:`m` starts at zero and :math:`v` at :math:`\tau^2`, the smallest value that the paper allows; codes often start
  :math:`v` at zero (``second_start``).
* The paper has no bias correction. With ``bias_correction`` the server rate of the :math:`t`-th round, from 1, is
  multiplied by :math:`\sqrt{1 - \beta_2^t} / (1 - \beta_1^t)`, as in Adam (Kingma and Ba, 2015); Adagrad's second
  moment is a sum and has no factor.
* A round without participants leaves the state alone and is not counted.

Source: Reddi et al., *Adaptive federated optimization*, ICLR 2021.
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
    """Server model, first and second moment, and rounds with participants so far, each ``(replicates, dim)``."""

    w: Floats
    m: Floats
    v: Floats
    rounds: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedOpt(Algorithm):
    """Adaptive optimisation on the server.

    Parameters
    ----------
    rule
        ``"adagrad"``, ``"adam"`` or ``"yogi"``.
    beta_1, beta_2
        Decay of the first and of the second moment, in ``[0, 1)``; Adagrad has no ``beta_2``.
    tau
        Degree of adaptivity, added to the root of the second moment.
    second_start
        Second moment before round 0; ``tau ** 2`` if ``None``.
    bias_correction
        Correct for moments that start at zero.
    server_rate
        ``eta_g``.
    """

    name: ClassVar[str] = "fedopt"
    title: ClassVar[str] = "FedOpt"

    rule: str = "adam"
    beta_1: float = 0.9
    beta_2: float = 0.99
    tau: float = 1e-3
    second_start: float | None = None
    bias_correction: bool = False
    server_rate: float = 0.1

    def __post_init__(self) -> None:
        arguments.choice("FedOpt", "rule", self.rule, ("adagrad", "adam", "yogi"))
        arguments.real("FedOpt", "beta_1", self.beta_1, low=0, high=1, open_high=True)
        arguments.real("FedOpt", "beta_2", self.beta_2, low=0, high=1, open_high=True)
        arguments.real("FedOpt", "tau", self.tau, low=0, open_low=True)
        if self.second_start is not None:
            arguments.real("FedOpt", "second_start", self.second_start, low=0)
        arguments.boolean("FedOpt", "bias_correction", self.bias_correction)
        arguments.real("FedOpt", "server_rate", self.server_rate, low=0, open_low=True)

    @property
    def rotation_equivariant(self) -> bool:
        return False

    @property
    def not_affine(self) -> str:
        return "division by the roots of the second moments"

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        v = self.tau**2 if self.second_start is None else self.second_start
        return State(w=start, m=np.zeros_like(start), v=np.full_like(start, v), rounds=np.zeros_like(start))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work)
        moved = local - sent
        mean = aggregate(work.weights, moved)
        anyone = work.active.any(axis=1, keepdims=True)
        m = np.where(anyone, self.beta_1 * state.m + (1.0 - self.beta_1) * mean, state.m)
        v = np.where(anyone, self.second_moment(state.v, mean**2), state.v)
        count = state.rounds + anyone
        step = self.server_rate * self.correction(np.maximum(count, 1.0)) * m / (np.sqrt(v) + self.tau)
        w = np.where(anyone, state.w + step, state.w)
        return RoundResult(
            State(w=w, m=m, v=v, rounds=count), local, uplink=(Message(moved),), downlink=(Message(sent),)
        )

    def second_moment(self, v: Floats, squares: Floats) -> Floats:
        """Return the second moments after squared displacements ``squares``."""
        if self.rule == "adagrad":
            return v + squares
        if self.rule == "adam":
            return self.beta_2 * v + (1.0 - self.beta_2) * squares
        return np.asarray(v - (1.0 - self.beta_2) * squares * np.sign(v - squares))

    def correction(self, count: Floats) -> Floats | float:
        """Return the factor on the server rate in the ``count``-th round, from 1."""
        if not self.bias_correction:
            return 1.0
        second = 1.0 if self.rule == "adagrad" else np.sqrt(1.0 - self.beta_2**count)
        return np.asarray(second / (1.0 - self.beta_1**count))
