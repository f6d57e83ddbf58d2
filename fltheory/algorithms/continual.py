r"""Continual learning by a single learner: one task per round, with or without elastic weight consolidation.

Task :math:`f_t` arrives in round ``t``, starts from the last model and is followed for ``K`` steps.

``naive``
    :math:`w \leftarrow w - \eta\, g_t(w)`: nothing is remembered, so the model forgets. This is FedAvg with one client.
``ewc``
    elastic weight consolidation,

    .. math:: w \leftarrow w - \eta\,\bigl(g_t(w) + \lambda F\,(w - w^t)\bigr), \qquad
              F = \sum_{\tau<t} \mathrm{diag}\,F_\tau(w^{\tau+1}),

    with :math:`F_\tau` the Fisher information of task :math:`\tau` at the model where it ended.

Reading taken for ``ewc``: the published penalty is for two tasks. For more, one keeps either a quadratic per old
task, each around its own solution, or a single one; here it is a single one, with the Fisher diagonals added up
and the *last* task's final model as anchor. Since the learner is alone that model is :math:`w^t` itself, so the
state needs no separate anchor. Gradients of old tasks at their solutions are taken to be zero, as in the original.

The regularised learner with gradient *and* curvature memory, :math:`\frac1t\sum_{\tau\le t} f_\tau` in Taylor
models, is ``cfl-r`` with one client and ``server_rate = 1``; it is not repeated here.

Affine for ``naive``, and for ``ewc`` with ``fisher`` on quadratics, whose Fisher diagonal is the Hessian's. An
empirical Fisher depends on the iterates. There is nobody to talk to, so no messages are sent.

Source: Kirkpatrick et al., *Overcoming catastrophic forgetting in neural networks*, PNAS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, keep_absent, no_curvature
from fltheory.errors import InvalidParameter
from fltheory.problems.oracle import LocalSteps, Oracle, Round


class State(NamedTuple):
    """The model, and the Fisher diagonals of the tasks so far, summed."""

    w: Floats
    curvature: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Continual(Algorithm):
    r"""Plain continual learning, or EWC.

    Parameters
    ----------
    variant
        ``naive`` or ``ewc``.
    strength
        :math:`\lambda \ge 0`, the weight of the consolidation term; read by ``ewc`` only.
    fisher
        ``fisher`` (exact diagonal) or ``empirical-fisher`` (mean squared gradients); read by ``ewc`` only.
    """

    name: ClassVar[str] = "continual"
    title: ClassVar[str] = "Continual learning"
    memory: ClassVar[tuple[str, ...]] = ("curvature",)

    variant: str = "naive"
    strength: float = 1.0
    fisher: str = "fisher"

    def __post_init__(self) -> None:
        arguments.choice("Continual", "variant", self.variant, ["naive", "ewc"])
        arguments.real("Continual", "strength", self.strength, low=0)
        arguments.choice("Continual", "fisher", self.fisher, ["fisher", "empirical-fisher"])

    @property
    def rotation_equivariant(self) -> bool:
        return self.variant == "naive"

    @property
    def not_affine(self) -> str:
        if self.variant == "ewc" and self.fisher == "empirical-fisher":
            return "empirical Fisher memory, the squared gradients at the end of each task"
        return ""

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        if oracle.num_clients != 1:
            raise InvalidParameter(
                f"Continual needs a problem with num_clients=1, got num_clients={oracle.num_clients}; "
                "for several clients use 'cfl-r'"
            )
        if self.variant == "naive":
            return State(w=start, curvature=np.zeros((1, 1, oracle.dim)))
        return State(w=start, curvature=no_curvature(oracle, start, self.fisher))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        start = state.w[:, None]
        if self.variant == "naive":
            local = oracle.local_steps(start, work)
            return RoundResult(state._replace(w=local[:, 0]), local, uplink=(), downlink=())
        local = oracle.local_steps(start, work, LocalSteps(pull=self.strength * state.curvature, anchor=start))
        total = state.curvature + oracle.curvature(local, self.fisher)
        curvature = keep_absent(work.active, total, state.curvature)
        return RoundResult(State(w=local[:, 0], curvature=curvature), local, uplink=(), downlink=())
