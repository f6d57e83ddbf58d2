"""The terms of every round of an experiment, built once for all rounds that have the same law."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from fltheory._internal import seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.seeding import Purpose
from fltheory.algorithms.base import Algorithm, Chance, Uniform
from fltheory.errors import NotAffine, NotApplicable
from fltheory.problems.oracle import Round
from fltheory.simulation.experiment import Experiment


class Terms:
    """Asks an experiment's participation for rounds, with its problem's weights and its learning rates.

    The algorithm's own chances are drawn, or listed, together with who takes part.
    """

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        stationary = experiment.participation.is_stationary
        self.stationary = stationary
        self._chances = experiment.algorithm.chances(experiment.participation.local_steps)
        self._keep_sample = stationary and experiment.participation.is_deterministic(0)
        self._outcomes: dict[bytes, list[tuple[float, Round]]] = {}
        self._sample: Round | None = None

    def sample(self, index: int, *, seed: int, replicates: range) -> Round:
        """Return round ``index`` as drawn for a block of replicates."""
        experiment, rates = self._experiment, self._experiment.rates_at(index)
        if self._sample is not None:
            work = dataclasses.replace(self._sample, index=index, rates=rates)
        else:
            problem = experiment.problem
            work = experiment.participation.round(
                index, rates, problem.weights, problem.sample_counts, seed=seed, replicates=replicates
            )
            if self._keep_sample:
                self._sample = work
        if not self._chances:
            return work
        draws = own_draws(experiment.algorithm, work, seed=seed, replicates=replicates, dim=experiment.problem.dim)
        return dataclasses.replace(work, draws=draws)

    def outcomes(self, index: int, *, limit: int) -> list[tuple[float, Round]]:
        """Return every possible round ``index`` with its probability; raises if there are more than ``limit``."""
        experiment, rates = self._experiment, self._experiment.rates_at(index)
        key = b"" if self.stationary else experiment.participation.law_key(index)
        if key in self._outcomes:
            kept = self._outcomes[key]
            return [(chance, dataclasses.replace(work, index=index, rates=rates)) for chance, work in kept]
        problem = experiment.problem
        listed = experiment.participation.round_outcomes(
            index, rates, problem.weights, problem.sample_counts, limit=limit
        )
        self._outcomes[key] = self._with_draws(listed, limit)
        return self._outcomes[key]

    def _with_draws(self, listed: list[tuple[float, Round]], limit: int) -> list[tuple[float, Round]]:
        """Return all pairs of an outcome of participation and one of the algorithm's own chances."""
        if not self._chances:
            return listed
        chances = {name: chance for name, chance in self._chances.items() if isinstance(chance, Chance)}
        if len(chances) < len(self._chances):
            raise NotAffine(
                f"{self._experiment.algorithm.title} draws uniform numbers of its own, which have no list of outcomes; "
                'simulate it with engine="monte_carlo"'
            )
        cases = len(listed) * math.prod(chance.num_outcomes for chance in chances.values())
        if cases > limit:
            raise NotApplicable(
                f"the draws of {self._experiment.algorithm.title} have {cases} outcomes in a round together with those "
                f"of participation, more than limit={limit}; use fewer local steps, or sample"
            )
        drawn = []
        for results in itertools.product(*(chance.outcomes() for chance in chances.values())):
            values = {name: np.array([result]) for name, (_, result) in zip(chances, results, strict=True)}
            drawn.append((math.prod(chance for chance, _ in results), values))
        return [
            (chance * own, dataclasses.replace(work, draws=values)) for chance, work in listed for own, values in drawn
        ]


def own_draws(algorithm: Algorithm, work: Round, *, seed: int, replicates: range, dim: int) -> dict[str, Floats]:
    """Return the results of an algorithm's chances in a round.

    Those of a :class:`Chance` have the shape ``(replicates, count)``, uniform numbers ``(replicates, clients, dim)``.
    """
    keys = seeding.split(seeding.replicate_keys(seed, Purpose.ALGORITHM, replicates), work.index)
    drawn = {}
    for number, (name, chance) in enumerate(algorithm.chances(work.local_steps).items()):
        own = seeding.split(keys, number)
        if isinstance(chance, Uniform):
            uniforms = seeding.uniforms(own, len(work.p) * dim)
            drawn[name] = uniforms.reshape(len(replicates), len(work.p), dim)
        else:
            drawn[name] = chance.sample(seeding.uniforms(own, chance.count))
    return drawn
