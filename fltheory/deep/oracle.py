"""The oracle of a network: everything an algorithm may ask of the clients' losses, computed with PyTorch.

Models are NumPy vectors outside and tensors inside. Minibatches are those of the logistic problems, drawn with
replacement and addressed by seed, replicate, round, client and step; so a softmax network in double precision takes
the very steps of :class:`~fltheory.logistic.LogisticProblem`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Purpose
from fltheory.deep import curvatures
from fltheory.deep.bench import Bench
from fltheory.deep.walks import Walk
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic.steps import drawn_samples
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Round
from fltheory.problems.problem import Objective

if TYPE_CHECKING:
    from fltheory.deep.flat import FlatNetwork
    from fltheory.deep.problem import DeepProblem

CURVATURES = ("exact", "diagonal", "fisher", "empirical-fisher")


class DeepOracle:
    """Access to the clients' losses, for a block of replicates.

    Parameters
    ----------
    problem
        Network and data.
    bench
        Where it is run.
    seed
        Seed of the minibatches.
    replicates
        Numbers of the replicates; a replicate gets the same minibatches in any block.
    """

    def __init__(self, problem: DeepProblem, bench: Bench, *, seed: int, replicates: range) -> None:
        self._problem = problem
        self._bench = bench
        self._replicates = len(replicates)
        self._round_keys = seeding.RoundKeys(
            seeding.replicate_keys(seed, Purpose.MINIBATCH, replicates), problem.num_clients
        )
        self._keys = self._round_keys(0)

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return self._problem.num_clients

    @property
    def dim(self) -> int:
        """Length of a model."""
        return self._problem.dim

    def begin_round(self, index: int) -> None:
        """Name the minibatches of round ``index``."""
        self._keys = self._round_keys(index)

    def minibatch(self, index: int) -> Minibatch:
        """Return the handle of the minibatch that local step ``index`` of this round would use."""
        return Minibatch(arguments.integer("DeepOracle", "minibatch", index, low=0))

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        """Run steps of (G); see :meth:`fltheory.problems.oracle.Oracle.local_steps`."""
        counts = np.broadcast_to(how.steps_in(work), (self._replicates, self.num_clients))
        rates = how.rates_in(work)
        result = np.array(self._spread(start))

        def one(network: FlatNetwork, place: tuple[int, int]) -> None:
            r, i = place
            batches = self._batches(r, i, int(counts[r, i]), how.minibatch)
            task = Walk(start=result[r, i], batches=batches, rates=rates, how=how.at(r, i))
            result[r, i] = self._bench.walker(network, self._bench.train, task)

        self._bench.each(one, zip(*np.nonzero(counts), strict=True))
        return result

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        """Return the gradients at ``w``, shape ``(replicates, clients, dim)``; 0 for clients that nobody needs."""
        models = self._spread(w)
        result = np.zeros(models.shape)

        def one(network: FlatNetwork, place: tuple[int, int]) -> None:
            r, i = place
            rows = self._batches(r, i, 1, minibatch)[0] if minibatch is not None else self._rows(i)
            network.w.copy_(self._bench.tensor(models[place]))
            inputs, labels = self._samples(rows)
            result[place] = network.gradient(inputs, labels, self._problem.l2).numpy()

        self._only(one, result, active)
        return result

    def hessian_products(self, w: Floats, vectors: Floats, *, active: Active | None = None) -> Floats:
        """Return the clients' Hessians at ``w`` times vectors, over all their samples; 0 for clients not needed."""
        models, vectors = self._spread(w), self._spread(vectors)
        result = np.zeros(models.shape)

        def one(network: FlatNetwork, place: tuple[int, int]) -> None:
            network.w.copy_(self._bench.tensor(models[place]))
            inputs, labels = self._samples(self._rows(place[1]))
            vector = self._bench.tensor(vectors[place])
            result[place] = curvatures.hessian_product(network, inputs, labels, vector, self._problem.l2).numpy()

        self._only(one, result, active)
        return result

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        """Return a curvature at ``w``, with as many replicates as ``w`` has; 0 for clients that nobody needs.

        ``exact`` and ``diagonal`` are the Hessian and its diagonal, with the regulariser, for small networks only;
        ``fisher`` and ``empirical-fisher`` are those of :mod:`fltheory.deep.curvatures`, over the client's samples.
        """
        kind = arguments.choice("DeepOracle", "curvature", kind, CURVATURES)
        models = np.broadcast_to(w, (w.shape[0], self.num_clients, self.dim))
        if kind in ("exact", "diagonal"):
            curvatures.require_small(self.dim)
        result = np.zeros((*models.shape, self.dim) if kind == "exact" else models.shape)

        def one(network: FlatNetwork, place: tuple[int, int]) -> None:
            r, i = place
            network.w.copy_(self._bench.tensor(models[r, i]))
            likely = kind in ("fisher", "empirical-fisher")
            inputs, labels = self._samples(self._rows(i)[: self._problem.fisher_samples if likely else None])
            if kind == "fisher":
                result[r, i] = curvatures.fisher(network, inputs)
            elif kind == "empirical-fisher":
                result[r, i] = curvatures.empirical_fisher(network, inputs, labels)
            else:
                matrix = curvatures.hessian(network, inputs, labels, self._problem.l2)
                result[r, i] = matrix if kind == "exact" else matrix.diagonal()

        self._only(one, result, active)
        return result

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        """Multiply a curvature with vectors."""
        if curvature.ndim == 4:
            return np.asarray(np.matmul(curvature, vectors[..., None])[..., 0])
        return np.asarray(curvature * vectors)

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        """Refuse: nobody knows the minimiser of a network's loss."""
        raise NotApplicable(
            "the local problem of a network cannot be solved exactly; let the algorithm take gradient steps instead"
        )

    def objective(self, p: Floats) -> Objective:
        """Return the objective with client weights ``p``."""
        return self._problem.objective_on(self._bench, p)

    def enter(self, w: Floats) -> Floats:
        """Return ``w``: the oracle works in the coordinates of the problem."""
        return w

    def leave(self, w: Floats) -> Floats:
        """Return ``w``: the oracle works in the coordinates of the problem."""
        return w

    def client_measures(self, w: Floats) -> Mapping[str, Floats]:
        """Return loss and accuracy of personal models, each on its client's own samples."""
        return self._problem.client_measures(self._bench, self._spread(w))

    def _batches(self, r: int, i: int, steps: int, minibatch: Minibatch | None) -> Ints:
        """Return the rows of a client's minibatches, ``(steps, batch)``: fresh ones, or always the same."""
        rows, size = self._rows(i), self._problem.batch_size
        if size is None:
            return np.array(np.broadcast_to(rows, (steps, len(rows))))
        if minibatch is not None:
            drawn = drawn_samples(self._keys[r, i], minibatch.index, size, len(rows))
            return np.array(np.broadcast_to(rows[drawn], (steps, size)))
        return rows[drawn_samples(self._keys[r, i], 0, steps * size, len(rows))].reshape(steps, size)

    def _rows(self, i: int) -> Ints:
        own = self._problem.train.rows(i)
        return np.arange(own.start, own.stop)

    def _samples(self, rows: Ints) -> tuple[Any, Any]:
        inputs, labels, _ = self._bench.train
        return inputs[rows], labels[rows]

    def _only(self, one: Any, result: Floats, active: Active | None) -> None:
        """Fill in the results of those who are needed; memory of the others stays untouched."""
        needed = np.broadcast_to(True if active is None else active, result.shape[:2])
        self._bench.each(one, zip(*np.nonzero(needed), strict=True))

    def _spread(self, w: Floats) -> Floats:
        """Return one model per replicate and client, without a copy."""
        shape = (self._replicates, self.num_clients, self.dim)
        try:
            return np.broadcast_to(w, shape)
        except ValueError:
            raise InvalidParameter(
                f"DeepOracle needs arrays that broadcast to (replicates, clients, dim) = {shape}, got {w.shape}"
            ) from None
