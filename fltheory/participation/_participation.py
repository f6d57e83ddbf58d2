"""One participation model: selection, step counts and timeline put together."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Purpose
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.participation.selection import Everyone, Mask, Selection
from fltheory.participation.steps import FullSteps, StepLaw, step_counts
from fltheory.participation.timeline import Timeline
from fltheory.problems.oracle import Rates, Round


class Draw(NamedTuple):
    """Sampled rounds.

    Parameters
    ----------
    steps
        Completed steps, shape ``(replicates, clients)``.
    weights
        Aggregation weights, shape ``(replicates, clients)``.
    """

    steps: Ints
    weights: Floats


class Outcomes(NamedTuple):
    """The law of one round.

    Parameters
    ----------
    probability
        Probabilities of the outcomes, shape ``(outcomes,)``.
    steps
        Completed steps, shape ``(outcomes, clients)``.
    weights
        Aggregation weights, shape ``(outcomes, clients)``.
    """

    probability: Floats
    steps: Ints
    weights: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Participation:
    """Who works in each round, for how many steps, and with which aggregation weights.

    A client that is not selected has 0 steps and weight 0, and so has a selected client that completes no step:
    its weight is lost, the weights of the others are not raised to make up for it. (The schemes of
    :mod:`fltheory.participation.schemes` compute their own weights from the steps.)

    The selection acts on the members of the objective; the step counts are independent of the selection, between
    clients and between rounds. The draw of a replicate depends on seed, replicate and round only, not on which
    other replicates are drawn with it.

    Parameters
    ----------
    num_clients
        Number of clients, those that arrive later included.
    local_steps
        Steps assigned to each client (``E`` in the papers).
    selection
        Who is asked.
    steps
        How many of the assigned steps an asked client completes.
    timeline
        Arrivals and departures.
    """

    num_clients: int
    local_steps: int
    selection: Selection = field(default_factory=Everyone)
    steps: StepLaw = field(default_factory=FullSteps)
    timeline: Timeline = field(default_factory=Timeline)

    def __post_init__(self) -> None:
        arguments.integer("Participation", "num_clients", self.num_clients, low=1)
        arguments.integer("Participation", "local_steps", self.local_steps, low=1)
        parts = (("selection", Selection), ("steps", StepLaw), ("timeline", Timeline))
        for part, kind in parts:
            value = getattr(self, part)
            # A class has all the attributes of its instances, so the protocol alone would let it through.
            if isinstance(value, type) or not isinstance(value, kind):
                raise arguments.fail(
                    "Participation", part, f"a {kind.__name__}", value, "see fltheory.participation for the choices"
                )
        self.timeline.check(self.num_clients)
        self.selection.check(self.timeline.fewest_members(self.num_clients))
        self.steps.check(self.num_clients, self.local_steps)

    def step_pmf(self, index: int) -> Floats:
        """Return each client's law of completed steps in round ``index`` if asked, shape ``(clients, E + 1)``."""
        pmf = self.steps.probabilities(index, num_clients=self.num_clients, local_steps=self.local_steps)
        present = self.timeline.present(index, self.num_clients)
        if present.all():
            return pmf
        return np.where(present[:, None], pmf, np.arange(self.local_steps + 1) == 0)

    def members(self, index: int) -> Mask:
        """Return who is in the objective in round ``index``, shape ``(clients,)``."""
        return self.timeline.members(index, self.num_clients)

    def is_deterministic(self, index: int) -> bool:
        """Return whether round ``index`` has only one outcome."""
        all_asked = self.selection.asks_all(int(np.count_nonzero(self.members(index))))
        return all_asked and bool(np.all(self.step_pmf(index).max(axis=1) == 1.0))

    @property
    def is_stationary(self) -> bool:
        """Whether all rounds have the same law: nobody arrives or departs and step counts do not change."""
        return not self.timeline.events and self.steps.stationary

    def law_key(self, index: int) -> bytes:
        """Return a key that two rounds share if and only if they have the same law of terms, learning rates aside."""
        return self.members(index).tobytes() + self.step_pmf(index).tobytes() + self.boost(index).tobytes()

    def objective_weights(self, index: int, p: Floats, sample_counts: Floats) -> Floats:
        """Return the weights of the objective in round ``index``, shape ``(clients,)``.

        They are ``p`` while all clients are members, and otherwise the members' shares of the samples.
        """
        members = self.members(index)
        if members.all():
            return arguments.probabilities("Participation", "p", p, shape=(self.num_clients,))
        counts = arguments.array("Participation", "sample_counts", sample_counts, shape=(self.num_clients,), low=0.0)
        counted = counts * members
        if counted.sum() <= 0:
            raise InvalidParameter(
                f"Participation.sample_counts must be positive for some client of the objective, got none in round "
                f"{index}; give every client samples"
            )
        return arguments.frozen(counted / counted.sum())

    def checked_weights(self, index: int, p: Floats) -> Floats:
        """Return ``p`` if it can be the objective weights in force in round ``index``, otherwise raise."""
        weights = arguments.probabilities("Participation", "p", p, shape=(self.num_clients,))
        outside = np.flatnonzero(weights * ~self.members(index))
        if outside.size:
            raise InvalidParameter(
                f"Participation.p must be zero for clients outside the objective in round {index}, got "
                f"{weights[outside[0]]:g} at index ({outside[0]},); pass what objective_weights returns"
            )
        return weights

    def restart_before(self, index: int) -> int:
        """Return the latest round, at most ``index``, in which the learning rate restarts; 0 if it never did."""
        return self.timeline.restart_before(index)

    def boost(self, index: int) -> Floats:
        """Return the fast-reboot factor on the weights in round ``index``, shape ``(clients,)``."""
        return self.timeline.boost(index, self.num_clients)

    def sample(self, index: int, p: Floats, *, seed: int, replicates: range) -> Draw:
        """Draw round ``index`` for a block of replicates; ``p`` are the objective weights in force."""
        return self._sample(index, self.checked_weights(index, p), seed=seed, replicates=replicates)

    def outcomes(self, index: int, p: Floats, *, limit: int = 4096) -> Outcomes:
        """Return the joint law of steps and weights in round ``index``; ``p`` are the weights in force.

        Equal outcomes are merged. More than ``limit`` cases before merging raise
        :class:`~fltheory.errors.NotApplicable`.
        """
        p, members = self.checked_weights(index, p), self.members(index)
        self._check_cases(self.selection.cases(int(np.count_nonzero(members))), limit)
        chance, multiplicity = self.selection.outcomes(p, members)
        omega = self.selection.weights(multiplicity, p, members)
        pmf = self.step_pmf(index)
        # Python integers: the number of cases can exceed 64 bits.
        supports = [np.flatnonzero(row) for row in pmf]
        asked = [np.flatnonzero(row) for row in multiplicity]
        self._check_cases(sum(math.prod(len(supports[i]) for i in clients) for clients in asked), limit)
        probability, steps, weights = [], [], []
        for case, clients in enumerate(asked):
            counts = np.array(list(itertools.product(*(supports[i] for i in clients))), dtype=np.int64)
            full = np.zeros((len(counts), self.num_clients), dtype=np.int64)
            full[:, clients] = counts
            probability.append(chance[case] * np.prod(pmf[clients, counts], axis=1))
            steps.append(full)
            weights.append(np.where(full > 0, omega[case], 0.0))
        return _merged(np.concatenate(probability), np.concatenate(steps), np.concatenate(weights))

    def round(
        self, index: int, rates: Rates | float, p: Floats, sample_counts: Floats, *, seed: int, replicates: range
    ) -> Round:
        """Return the terms of round ``index`` for a block of replicates.

        ``rates`` is one learning rate, or one per assigned step. ``p`` and ``sample_counts`` are the problem's own;
        the timeline turns them into the weights in force. A deterministic round has one row for all replicates.
        """
        in_force = self.objective_weights(index, p, sample_counts)
        if self.is_deterministic(index):
            draw = self._only_draw(index, in_force)
        else:
            draw = self._sample(index, in_force, seed=seed, replicates=replicates)
        return self._terms(index, rates, in_force, draw)

    def round_outcomes(
        self, index: int, rates: Rates | float, p: Floats, sample_counts: Floats, *, limit: int = 4096
    ) -> list[tuple[float, Round]]:
        """Return every possible round ``index`` with its probability; arguments as for :meth:`round`."""
        in_force = self.objective_weights(index, p, sample_counts)
        law = self.outcomes(index, in_force, limit=limit)
        return [
            (float(law.probability[o]), self._terms(index, rates, in_force, Draw(law.steps[[o]], law.weights[[o]])))
            for o in range(len(law.probability))
        ]

    def _sample(self, index: int, p: Floats, *, seed: int, replicates: range) -> Draw:
        members = self.members(index)
        keys = seeding.split(seeding.replicate_keys(seed, Purpose.SELECTION, replicates), index)
        multiplicity = self.selection.sample(p, members, keys)
        own = seeding.client_keys(
            seeding.replicate_keys(seed, Purpose.STEP_COUNTS, replicates), index, self.num_clients
        )
        completed = step_counts(self.step_pmf(index), seeding.uniforms(own, 1)[..., 0])
        return self._draw(index, p, multiplicity, completed)

    def _only_draw(self, index: int, p: Floats) -> Draw:
        everyone = self.members(index).astype(np.int64)[None]
        return self._draw(index, p, everyone, self.step_pmf(index).argmax(axis=1)[None])

    def _draw(self, index: int, p: Floats, multiplicity: Ints, completed: Ints) -> Draw:
        omega = self.selection.weights(multiplicity, p, self.members(index))
        steps = np.where(multiplicity > 0, completed, 0)
        return Draw(steps, np.where(steps > 0, omega, 0.0))

    def _terms(self, index: int, rates: Rates | float, p: Floats, draw: Draw) -> Round:
        return Round(
            index=index,
            rates=rates if isinstance(rates, tuple) else (rates,),
            local_steps=self.local_steps,
            p=p,
            steps=draw.steps,
            weights=draw.weights,
            boost=self.boost(index),
        )

    def _check_cases(self, cases: int, limit: int) -> None:
        if cases > limit:
            raise NotApplicable(
                f"Participation.outcomes would have to enumerate {cases} cases of {self.selection.name} selection and "
                f"{self.steps.name} step counts, more than limit={limit}; use fewer clients or steps, raise the "
                "limit, or sample"
            )


def _merged(probability: Floats, steps: Ints, weights: Floats) -> Outcomes:
    """Return the law with equal rows joined and impossible ones dropped."""
    if len(probability) == 1:
        return Outcomes(probability, steps, weights)
    possible = probability > 0
    rows = np.hstack([steps, weights])[possible]
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    joined: Floats = np.bincount(group.ravel(), weights=probability[possible]).astype(np.float64)
    return Outcomes(joined, steps[possible][first], weights[possible][first])
