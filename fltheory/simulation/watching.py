r"""A look inside rounds: stochastic gradients and mean iterates of every local step, for any problem and algorithm.

A :class:`WatchedOracle` stands between an algorithm and the oracle of a problem. It takes local steps one at a time, on
the minibatches and with the rates that they have anyway, so the models come out as without it, and notes on the way

* the stochastic gradients :math:`g_i(w_{i,k}; \zeta_{i,k})` of the clients that take step :math:`k`, whether the step
  is taken by the oracle or by the algorithm itself;
* the mean iterate :math:`\bar w_k = \sum_i p_i w_{i,0} + \sum_i \omega_i\,(w_{i,k} - w_{i,0})` with the aggregation
  weights :math:`\omega_i` of the round. If everybody takes part it is :math:`\sum_i p_i w_{i,k}`, the virtual sequence
  in proofs about local SGD; a client that has finished stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import aggregate
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Oracle, Round, rate_of


class SeenGradient(NamedTuple):
    """Stochastic gradients of all clients at one time, or what is kept of them; 0 for clients that had none."""

    step: int
    """The local step, which is the number of the minibatch."""
    values: Floats


class WatchedOracle:
    """An oracle that notes what happens inside a round.

    Parameters
    ----------
    oracle
        Does the work.
    title
        Name of the algorithm, for messages.
    gradients
        What to keep of stochastic gradients, ``(replicates, clients, dim)``; ``None`` to leave them alone.
    """

    def __init__(self, oracle: Oracle, title: str, *, gradients: Callable[[Floats], Floats] | None) -> None:
        self._oracle = oracle
        self._title = title
        self._keep = gradients
        self._local_steps = 0
        self._someone = False
        self.gradients: list[SeenGradient] = []
        self._means: list[Floats] = []

    def begin(self, work: Round) -> None:
        """Forget the round before."""
        self._local_steps = work.local_steps
        self._someone = bool(work.active.any())
        self.gradients = []
        self._means = []

    def require_gradients(self) -> None:
        """Raise if somebody worked and no stochastic gradient was seen."""
        if self._someone and not self.gradients:
            raise NotApplicable(
                f"{self._title} takes no stochastic gradients in this setting, so there is no gradient_sq to record; "
                "drop gradient_sq from the record, or let the algorithm take gradient steps"
            )

    def mean_iterates(self, before: Floats) -> Floats:
        """Return the mean iterates after every assigned step, ``(replicates, local_steps, dim)``.

        ``before`` is the model before the round, ``(replicates, dim)``: where nobody works it stays.
        """
        if self._someone and not 0 < len(self._means) <= self._local_steps:
            raise NotApplicable(
                f"{self._title} has no mean iterate of every local step: its clients do not take their steps on the "
                "model one after the other; drop mean_iterate from the record, and record local_models or models"
            )
        means = self._means or [before]
        return np.stack([means[min(k, len(means) - 1)] for k in range(self._local_steps)], axis=1)

    @property
    def num_clients(self) -> int:
        return self._oracle.num_clients

    @property
    def dim(self) -> int:
        return self._oracle.dim

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        """Run steps of (G) one at a time."""
        counts, rates = how.steps_in(work), how.rates_in(work)
        replicates = max(len(start), len(counts))
        w = start = np.broadcast_to(start, (replicates, self.num_clients, self.dim))
        for k in range(int(counts.max(initial=0))):
            working, batch = counts > k, how.minibatch or self._oracle.minibatch(k)
            if self._keep is not None:
                self._note(batch, self._oracle.gradient(w, batch, active=working), working)
            if how.recentre:
                # What is subtracted belongs to the start, so these steps cannot begin anywhere else.
                so_far = replace(work, steps=np.minimum(counts, k + 1))
                w = self._oracle.local_steps(start, so_far, replace(how, steps=None))
            else:
                one = replace(work, steps=working.astype(np.int64), rates=(rate_of(rates, k),))
                single = replace(how, steps=None, rate=None, rate_factor=1.0, minibatch=batch)
                w = self._oracle.local_steps(w, one, single)
            if how.rate is None:  # otherwise these are steps of a loop inside the round's own
                self._means.append(aggregate(work.p, start) + aggregate(work.weights, w - start))
        return w

    def minibatch(self, index: int) -> Minibatch:
        return self._oracle.minibatch(index)

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        found = self._oracle.gradient(w, minibatch, active=active)
        if minibatch is not None and self._keep is not None:
            self._note(minibatch, found, np.ones((1, self.num_clients), dtype=np.bool_) if active is None else active)
        return found

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        return self._oracle.curvature(w, kind, active=active)

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        return self._oracle.apply(curvature, vectors)

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        return self._oracle.prox(anchor, pull=pull, l1=l1, linear=linear)

    def _note(self, batch: Minibatch, gradient: Floats, working: Active) -> None:
        if self._keep is not None and batch.index < self._local_steps:
            self.gradients.append(SeenGradient(batch.index, self._keep(np.where(working[:, :, None], gradient, 0.0))))
