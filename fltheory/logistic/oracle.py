"""The oracle of a logistic problem: everything an algorithm may ask, around an injected local-step loop.

The stepper (:func:`~fltheory.logistic.steps.reference_steps` or the compiled one) runs (G), the measurer, if any,
measures models in place of :func:`~fltheory.logistic.model.reference_measures`; gradients, curvatures and proximal
points are array code here. All of them refer to the objectives of the current round, that is, to its drifted labels
and its linear terms (:mod:`fltheory.logistic.additions`);
:meth:`LogisticOracle.objective` and :meth:`LogisticOracle.client_measures` refer to the expected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Purpose, Words
from fltheory.errors import InvalidParameter
from fltheory.logistic.additions import Additions
from fltheory.logistic.model import LogisticLoss, one_hot
from fltheory.logistic.solve import minimise, minimise_l1
from fltheory.logistic.steps import StepperInput, drawn_samples
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Round
from fltheory.problems.problem import Measures, Objective

if TYPE_CHECKING:
    from fltheory.logistic.problem import LogisticProblem

Stepper = Callable[[StepperInput], Floats]
Measurer = Callable[[LogisticLoss, Floats], Callable[[Floats], Measures]]

CURVATURES = ("exact", "diagonal", "fisher", "empirical-fisher")


class LogisticOracle:
    """Access to the clients' losses of one round, for a block of replicates.

    Parameters
    ----------
    problem
        The data and the model.
    seed
        Seed of minibatches and label drift.
    replicates
        Numbers of the replicates; a replicate gets the same random numbers in any block.
    stepper
        Runs the local steps.
    measurer
        Takes a loss and its minimiser, and returns what measures models against them; array code if ``None``.
    """

    def __init__(
        self,
        problem: LogisticProblem,
        *,
        seed: int,
        replicates: range,
        stepper: Stepper,
        measurer: Measurer | None = None,
    ) -> None:
        self._problem = problem
        self._replicates = len(replicates)
        self._stepper = stepper
        self._measurer = measurer
        self._minibatch_keys = seeding.RoundKeys(
            seeding.replicate_keys(seed, Purpose.MINIBATCH, replicates), problem.num_clients
        )
        self._drift_keys = seeding.replicate_keys(seed, Purpose.LABEL_DRIFT, replicates)
        self._additions = Additions(problem, seed=seed, replicates=replicates)
        self._keys: Words
        self._labels: Ints = problem.train.labels[None]
        self._losses = self._client_losses()
        self.begin_round(0)

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return self._problem.num_clients

    @property
    def dim(self) -> int:
        """Length of a model."""
        return self._problem.dim

    def begin_round(self, index: int) -> None:
        """Draw the labels and the drifts of round ``index``, and name its minibatches."""
        self._keys = self._minibatch_keys(index)
        self._additions.begin_round(index)
        if self._problem.label_drift:
            self._labels = self._drawn_labels(index)
        if self._problem.label_drift or self._additions.drift is not None:
            self._losses = self._client_losses()

    def minibatch(self, index: int) -> Minibatch:
        """Return the handle of the minibatch that local step ``index`` of this round would use."""
        return Minibatch(arguments.integer("LogisticOracle", "minibatch", index, low=0))

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        """Run steps of (G); see :meth:`fltheory.problems.oracle.Oracle.local_steps`."""
        shape = (self._replicates, self.num_clients)
        return self._additions.run(
            self._stepper,
            StepperInput(
                start=np.broadcast_to(start, np.broadcast_shapes((1, 1, self.dim), np.shape(start))),
                steps=np.array(np.broadcast_to(how.steps_in(work), shape), dtype=np.int64),
                features=self._problem.train.features,
                labels=self._labels,
                offsets=self._problem.train.offsets,
                keys=self._keys,
                batch_size=self._problem.batch_size or 0,
                l2=self._problem.l2,
                rates=how.rates_in(work),
                how=how,
            ),
        )

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        """Return the gradients at ``w``, shape ``(replicates, clients, dim)``; 0 for clients that nobody needs."""
        models = self._spread(w)
        result = np.zeros_like(models)
        for i, loss in enumerate(self._losses):
            if active is not None and not active[:, i].any():
                continue
            if minibatch is None or self._problem.batch_size is None:
                result[:, i] = loss.gradient(models[:, i])
                continue
            picked = drawn_samples(self._keys[:, i], minibatch.index, self._problem.batch_size, len(loss.weights))
            labels = np.broadcast_to(self._labels[:, self._problem.train.rows(i)], (len(picked), len(loss.weights)))
            sampled = LogisticLoss(
                features=loss.features[picked],
                targets=one_hot(np.take_along_axis(labels, picked, axis=1), loss.rows),
                weights=np.full(picked.shape[1], 1.0 / picked.shape[1]),
                l2=loss.l2,
                linear=loss.linear,
            )
            result[:, i] = sampled.gradient(models[:, i])
        if minibatch is not None and self._additions.noisy:
            result += self._additions.noise(minibatch.index)
        return result

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        r"""Return a curvature at ``w``, with as many replicates as ``w`` has (all, if labels drift and matter).

        ``exact`` and ``diagonal`` are the Hessian and its diagonal, :math:`\lambda` included. ``fisher`` is the
        diagonal of the Fisher information of the labels under the model, which is ``diagonal`` less
        :math:`\lambda`, since the regulariser is no part of the likelihood. ``empirical-fisher`` is the mean squared
        per-sample gradient of the likelihood at the observed labels. Clients that nobody needs get 0.
        """
        kind = arguments.choice("LogisticOracle", "curvature", kind, CURVATURES)
        replicates = self._replicates if kind == "empirical-fisher" and self._problem.label_drift else w.shape[0]
        models = np.broadcast_to(w, (replicates, self.num_clients, self.dim))
        parts = []
        for i, loss in enumerate(self._losses):
            if active is not None and not active[:, i].any():
                parts.append(np.zeros((replicates, *(self.dim,) * (1 + (kind == "exact")))))
            elif kind == "exact":
                parts.append(loss.hessian(models[:, i]))
            elif kind == "empirical-fisher":
                parts.append(loss.empirical_fisher_diagonal(models[:, i]))
            else:
                ridge = loss.l2 if kind == "diagonal" else 0.0
                parts.append(loss.fisher_diagonal(models[:, i]) + ridge)
        return np.stack(parts, axis=1)

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        """Multiply a curvature with vectors."""
        if curvature.ndim == 4:
            return np.asarray(np.matmul(curvature, vectors[..., None])[..., 0])
        return np.asarray(curvature * vectors)

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        """Return every client's proximal point; see :meth:`fltheory.problems.oracle.Oracle.prox`.

        Without l1 by Newton, otherwise by accelerated proximal gradient (:mod:`fltheory.logistic.solve`); both are
        accurate to about 1e-10. A Newton step solves ``dim`` linear equations per replicate and client.
        """
        pull = arguments.real("LogisticOracle", "pull", pull, low=0)
        l1 = arguments.real("LogisticOracle", "l1", l1, low=0)
        anchors = self._spread(anchor)
        slopes = np.zeros_like(anchors) if linear is None else self._spread(linear)
        if not (np.all(np.isfinite(anchors)) and np.all(np.isfinite(slopes))):
            return np.full_like(anchors, np.nan)
        result = np.empty_like(anchors)
        size = max(1, 4_000_000 // self.dim**2)  # bounds the memory that Newton's Hessians take
        for i, loss in enumerate(self._losses):
            for first in range(0, self._replicates, size):
                block = slice(first, first + size)
                a, slope = anchors[block, i], slopes[block, i]
                part = loss.for_models(block)
                if l1 == 0:
                    result[block, i] = minimise(part, a, pull=pull, anchor=a, linear=slope)
                else:
                    upper = float(self._problem.client_smoothness[i])
                    result[block, i] = minimise_l1(part, upper, anchor=a, pull=pull, l1=l1, linear=slope)
        return result

    def objective(self, p: Floats) -> Objective:
        """Return the expected objective with client weights ``p``."""
        objective = self._problem.objective(p)
        if self._measurer is None:
            return objective
        return replace(objective, measurer=self._measurer(objective.loss, objective.w_star))

    def enter(self, w: Floats) -> Floats:
        """Return ``w``: the oracle works in the coordinates of the problem."""
        return w

    def leave(self, w: Floats) -> Floats:
        """Return ``w``: the oracle works in the coordinates of the problem."""
        return w

    def client_measures(self, w: Floats) -> Mapping[str, Floats]:
        r"""Return :math:`f_i(w_i) - f_i^*` with the expected labels, shape ``(replicates, clients)``."""
        models = self._spread(w)
        gaps = np.empty(models.shape[:2])
        for i in range(self.num_clients):
            gaps[:, i] = self._problem.client_objective(i).gap(models[:, i])
        return {"personal_gap": gaps}

    def _spread(self, w: Floats) -> Floats:
        shape = (self._replicates, self.num_clients, self.dim)
        try:
            return np.array(np.broadcast_to(w, shape))
        except ValueError:
            raise InvalidParameter(
                f"LogisticOracle needs arrays that broadcast to (replicates, clients, dim) = {shape}, got {w.shape}"
            ) from None

    def _client_losses(self) -> list[LogisticLoss]:
        """Return the clients' losses with the labels and the linear terms of the round."""
        problem, drift = self._problem, self._additions.drift
        losses = []
        for i in range(self.num_clients):
            own = problem.train.rows(i)
            targets = one_hot(self._labels[:, own], problem.rows)
            weights = np.full(targets.shape[1], 1.0 / targets.shape[1])
            shared = targets[0] if len(targets) == 1 else targets
            linear = None if drift is None else drift[0 if len(drift) == 1 else slice(None), i]
            losses.append(
                LogisticLoss(
                    features=problem.train.features[own], targets=shared, weights=weights, l2=problem.l2, linear=linear
                )
            )
        return losses

    def _drawn_labels(self, index: int) -> Ints:
        """Return this round's labels, ``(replicates, samples)``: sample ``j`` uses words ``2j`` and ``2j + 1``."""
        problem = self._problem
        keys = seeding.client_keys(self._drift_keys, index, self.num_clients)
        labels = np.empty((self._replicates, len(problem.train.labels)), dtype=np.int64)
        for i in range(self.num_clients):
            own = problem.train.rows(i)
            drawn = seeding.uniforms(keys[:, i], 2 * (own.stop - own.start))
            fresh = (drawn[:, 1::2] * problem.num_classes).astype(np.int64)
            labels[:, own] = np.where(drawn[:, ::2] < problem.label_drift, fresh, problem.train.labels[own])
        return labels
