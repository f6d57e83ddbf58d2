r"""What the rounds of a logistic problem add to its gradients: drifts and noise that do not depend on the model.

As in the quadratics, the gradient of client ``i`` in round ``t`` is
:math:`\nabla f_i(w) + \delta_i + \delta_{t,i} + \xi_{t,i}`, and a stochastic gradient adds :math:`\nu_{t,i,k}` that is
fresh in every step ``k``. Adding a vector to a gradient is adding a linear term to the objective, so Hessians, Fisher
information and Bregman divergences stay what they are. The vectors enter (G) where a correction does, which leaves the
loops over samples alone; where gradients at two points are subtracted (``recentre``) they cancel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fltheory._internal import seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.seeding import Purpose
from fltheory.problems.oracle import Minibatch, rate_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fltheory.logistic.problem import LogisticProblem
    from fltheory.logistic.steps import StepperInput


class Additions:
    """The added vectors of one round, for a block of replicates.

    Parameters
    ----------
    problem
        Says how large they are.
    seed, replicates
        Which random numbers; a replicate gets the same ones in any block.
    """

    def __init__(self, problem: LogisticProblem, *, seed: int, replicates: range) -> None:
        self._problem = problem
        self._round_keys = {
            purpose: seeding.RoundKeys(seeding.replicate_keys(seed, purpose, replicates), problem.num_clients)
            for purpose in (Purpose.STEP_NOISE, Purpose.ROUND_DRIFT, Purpose.FRESH_CLIENTS)
        }
        self._sigma = np.sqrt(problem.noise_sq / problem.dim)[None, :, None]
        self._index = 0
        self.drift: Floats | None = None
        """What is added to all gradients of the round, ``(replicates | 1, clients, dim)``; ``None`` for nothing."""

    def begin_round(self, index: int) -> None:
        """Draw the drifts of round ``index``."""
        problem = self._problem
        self._index = index
        drift = None if problem.client_drift is None else problem.client_drift[None]
        if problem.fresh_drift_sq > 0:
            fresh = np.sqrt(problem.fresh_drift_sq / problem.dim) * self._vectors(Purpose.FRESH_CLIENTS, 0)
            if problem.fresh_drift_centred:
                clients = problem.num_clients
                fresh = (fresh - fresh.mean(axis=1, keepdims=True)) * np.sqrt(clients / (clients - 1))
            drift = fresh if drift is None else drift + fresh
        if problem.round_drift_sq > 0:
            xi = np.sqrt(problem.round_drift_sq / problem.dim) * self._vectors(Purpose.ROUND_DRIFT, 0)
            drift = xi if drift is None else drift + xi
        self.drift = drift

    @property
    def noisy(self) -> bool:
        """Whether stochastic gradients have noise besides the choice of samples."""
        return bool(np.any(self._sigma))

    def noise(self, index: int) -> Floats:
        """Return the noise of minibatch ``index`` of this round, shape ``(replicates, clients, dim)``."""
        return np.asarray(self._sigma * self._vectors(Purpose.STEP_NOISE, index))

    def run(self, stepper: Callable[[StepperInput], Floats], work: StepperInput) -> Floats:
        """Run local steps with everything that the round adds."""
        if work.how.recentre:
            return stepper(work)
        how = work.how
        fixed = np.zeros((1, 1, self._problem.dim)) if how.correction is None else how.correction
        if self.drift is not None:
            fixed = fixed + self.drift
        if not self.noisy:
            return stepper(work._replace(how=replace(how, correction=fixed)))
        if work.fixed >= 0:
            return stepper(work._replace(how=replace(how, correction=fixed + self.noise(work.fixed))))
        w = np.array(np.broadcast_to(work.start, (*work.steps.shape, work.start.shape[-1])))
        for k in range(int(work.steps.max(initial=0))):
            step = replace(how, correction=fixed + self.noise(k), minibatch=Minibatch(k))
            now, rates = (work.steps > k).astype(np.int64), (rate_of(work.rates, k),)
            w = stepper(work._replace(start=w, steps=now, rates=rates, how=step))
        return w

    def _vectors(self, purpose: Purpose, index: int) -> Floats:
        keys, dim = self._round_keys[purpose](self._index), self._problem.dim
        draw = seeding.normals if self._problem.noise_law == "gaussian" else seeding.bounded
        return draw(keys, dim, vector=index)
