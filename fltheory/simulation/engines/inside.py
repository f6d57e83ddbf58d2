r"""Expectations inside rounds: gradients, local models and mean iterates of every local step, without sampling.

Single local steps are affine like whole rounds. So what is asked for is appended to the algorithm's state: the wrapped
algorithm runs its round on an oracle that takes notes (:mod:`fltheory.simulation.watching`), and returns gradients,
local models and mean iterates as further rows. The propagation of moments then treats them as it treats any state, and
squared norms and gaps follow from their means and covariances.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import Oracle, Round
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.engines.affine import Layout
from fltheory.simulation.engines.expected import expected_curves
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.watching import SeenGradient, WatchedOracle

_NUMBERS = 2**26
"""Most numbers in the covariances of a state with what is looked at inside rounds."""

GRADIENTS, MODELS, MEANS = "inner_gradients", "inner_models", "inner_means"


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched(Algorithm):
    """An algorithm whose state shows what happens inside its rounds; built by :func:`watched`."""

    name: ClassVar[str] = "watched"
    title: ClassVar[str] = "watched"

    algorithm: Algorithm
    record: Record
    local_steps: int
    evaluations: tuple[tuple[int, int], ...] = ()
    """Local step of every stochastic gradient that a round may evaluate, and which one of that step it is."""

    @property
    def rotation_equivariant(self) -> bool:
        return self.algorithm.rotation_equivariant

    @property
    def not_affine(self) -> str:
        return self.algorithm.not_affine

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> Any:
        state = self.algorithm.init(start, oracle, p)
        models = np.repeat(start[:, None], oracle.num_clients, axis=1)
        means = np.repeat(start[:, None], self.local_steps, axis=1) if self.record.mean_iterate else None
        return self._joined(state, [], models, means)

    def round(self, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        inner = self._inner(state)
        if not self.record.watches:
            result = self.algorithm.round(inner, oracle, work)
            return result._replace(state=self._joined(result.state, [], result.local, None))
        watching = WatchedOracle(oracle, self.title, gradients=np.array if self.record.gradient_sq else None)
        watching.begin(work)
        result = self.algorithm.round(inner, watching, work)
        if self.record.gradient_sq:
            watching.require_gradients()
        means = watching.mean_iterates(self.algorithm.model(inner)) if self.record.mean_iterate else None
        return result._replace(state=self._joined(result.state, watching.gradients, result.local, means))

    def model(self, state: Any) -> Floats:
        return self.algorithm.model(self._inner(state))

    def _inner(self, state: Any) -> Any:
        kept = {name: value for name, value in state._asdict().items() if name not in (GRADIENTS, MODELS, MEANS)}
        return state.kind(**kept)

    def _joined(self, state: Any, gradients: Sequence[SeenGradient], local: Floats, means: Floats | None) -> Any:
        """Return the state with what was seen, each of shape ``(replicates, rows, dim)``."""
        more: dict[str, Floats] = {}
        if self.record.gradient_sq:
            found = dict(zip(numbered(gradients), gradients, strict=True))
            none = np.zeros(local.shape)
            values = [found[place].values if place in found else none for place in self.evaluations]
            more[GRADIENTS] = np.concatenate([np.broadcast_to(value, local.shape) for value in values], axis=1)
        if self.record.local_models:
            more[MODELS] = local
        if means is not None:
            more[MEANS] = means
        return _kind_of(type(state), tuple(more))(**state._asdict(), **more)


def _kind_of(kind: type[Any], more: tuple[str, ...]) -> type[Any]:
    """Return the type of states of ``kind`` with further fields."""
    fields = namedtuple("Joined", (*kind._fields, *more))  # type: ignore[misc]
    return type("Joined", (fields,), {"kind": kind, "__slots__": ()})


def numbered(gradients: Sequence[SeenGradient]) -> list[tuple[int, int]]:
    """Return the local step of every gradient, and which one of that step it is."""
    places: list[tuple[int, int]] = []
    for step, _ in gradients:
        places.append((step, sum(other == step for other, _ in places)))
    return places


def watched(experiment: Experiment, oracle: ClosedFormOracle, record: Record, work: Round) -> Watched:
    """Return the experiment's algorithm such that its state shows what is to be recorded.

    ``work`` is a possible round: it is run once, with all steps, to see which gradients are evaluated.
    """
    own = experiment.algorithm
    marks = {"title": own.title, "memory": own.memory, "autonomous": own.autonomous, "__slots__": ()}
    kind = type("Watched", (Watched,), marks)
    local_steps, clients = experiment.participation.local_steps, oracle.num_clients
    evaluations: list[tuple[int, int]] = []
    if record.gradient_sq:
        whole = replace(work, steps=np.full((1, clients), local_steps))
        oracle.arm(1, None, {})
        watching = WatchedOracle(oracle, own.title, gradients=np.array)
        watching.begin(whole)
        own.round(own.init(np.zeros((1, oracle.dim)), oracle, work.p), watching, whole)
        watching.require_gradients()
        evaluations = sorted(numbered(watching.gradients))
    rows = clients * (len(evaluations) + record.local_models) + local_steps * record.mean_iterate
    numbers = oracle.dim * rows**2 * (1 if oracle.separable else oracle.dim)
    if numbers > _NUMBERS:
        raise NotApplicable(
            f"what is recorded inside the rounds of {own.title} has covariances of {numbers} numbers, more than "
            f"{_NUMBERS}; use fewer clients or local steps, record less, or use the monte_carlo engine"
        )
    made: Watched = kind(algorithm=own, record=record, local_steps=local_steps, evaluations=tuple(evaluations))
    return made


class InsideMoments:
    """Collects, round by round, the expectations of what a :class:`Watched` algorithm shows."""

    def __init__(self, experiment: Experiment, algorithm: Watched, oracle: ClosedFormOracle, layout: Layout) -> None:
        self._experiment = experiment
        self._algorithm = algorithm
        self._oracle = oracle
        self._rows: dict[str, slice] = {}
        first = 0
        for name in layout.moving:
            self._rows[name] = slice(first, first + layout.rows[name])
            first += layout.rows[name]
        self._total = first
        clients, dim, columns = oracle.num_clients, oracle.dim, experiment.rounds + 1
        self._gradient_sq = np.zeros((columns, clients, algorithm.local_steps))
        start = oracle.enter(np.asarray(experiment.start))
        self._models = np.tile(start, (columns, clients, 1))
        self._means = np.tile(start, (columns, algorithm.local_steps, 1))
        inner = (dim,) if oracle.separable else (dim, dim)
        self._spreads = np.zeros((columns, algorithm.local_steps, *inner))

    def take(self, mean: Floats, covariance: Floats, column: int) -> None:
        """Take in the moments of the state after a round: ``(groups, size)`` and ``(groups, size, size)``."""
        record, dim = self._algorithm.record, self._oracle.dim
        if self._oracle.separable:
            rows = mean[:, : self._total].T
            variances = np.einsum("gaa->ag", covariance)[: self._total]
        else:
            rows = mean[0, : self._total * dim].reshape(self._total, dim)
            variances = np.einsum("aa->a", covariance[0])[: self._total * dim].reshape(self._total, dim)
        if record.gradient_sq:
            here = self._rows[GRADIENTS]
            norms = np.sum(rows[here] ** 2 + variances[here], axis=1).reshape(-1, self._oracle.num_clients)
            for (step, _), values in zip(self._algorithm.evaluations, norms, strict=True):
                self._gradient_sq[column, :, step] = np.maximum(self._gradient_sq[column, :, step], values)
        if record.local_models:
            self._models[column] = rows[self._rows[MODELS]]
        if record.mean_iterate:
            here = self._rows[MEANS]
            self._means[column] = rows[here]
            if self._oracle.separable:
                self._spreads[column] = variances[here]
            else:
                for k in range(here.stop - here.start):
                    block = slice((here.start + k) * dim, (here.start + k + 1) * dim)
                    self._spreads[column, k] = covariance[0, block, block]

    def curves(self, weights: Sequence[Floats]) -> dict[str, Floats]:
        """Return the curves; ``weights`` are those of the objective in every column."""
        record, found = self._algorithm.record, dict[str, Floats]()
        if record.gradient_sq:
            found["gradient_sq"] = self._gradient_sq
        if record.local_models:
            found["local_models"] = self._oracle.leave(self._models)
        if record.mean_iterate:
            columns, steps, dim = self._means.shape
            found["mean_iterate"] = self._oracle.leave(self._means)
            measured = expected_curves(
                replace(self._experiment, averaging=None),
                self._oracle,
                self._means.reshape(1, columns * steps, dim),
                self._spreads.reshape(1, columns * steps, *self._spreads.shape[2:]),
                [p for p in weights for _ in range(steps)],
            )
            for name in ("gap", "distance_sq"):
                found[f"mean_iterate_{name}"] = measured[name].reshape(columns, steps)
        return found
