"""The terms of every round of an experiment, built once where all rounds have the same law."""

from __future__ import annotations

import dataclasses

from fltheory.experiment import Experiment
from fltheory.oracle import Round


class Terms:
    """Asks an experiment's participation for rounds, with its problem's weights and its learning rate."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        stationary = experiment.participation.is_stationary
        self._keep_outcomes = stationary
        self._keep_sample = stationary and experiment.participation.is_deterministic(0)
        self._outcomes: list[tuple[float, Round]] | None = None
        self._sample: Round | None = None

    def sample(self, index: int, *, seed: int, replicates: range) -> Round:
        """Return round ``index`` as drawn for a block of replicates."""
        experiment, rate = self._experiment, self._experiment.rate_at(index)
        if self._sample is not None:
            return dataclasses.replace(self._sample, index=index, rate=rate)
        problem = experiment.problem
        work = experiment.participation.round(
            index, rate, problem.weights, problem.sample_counts, seed=seed, replicates=replicates
        )
        if self._keep_sample:
            self._sample = work
        return work

    def outcomes(self, index: int, *, limit: int) -> list[tuple[float, Round]]:
        """Return every possible round ``index`` with its probability; raises if there are more than ``limit``."""
        experiment, rate = self._experiment, self._experiment.rate_at(index)
        if self._outcomes is not None:
            return [(chance, dataclasses.replace(work, index=index, rate=rate)) for chance, work in self._outcomes]
        problem = experiment.problem
        listed = experiment.participation.round_outcomes(
            index, rate, problem.weights, problem.sample_counts, limit=limit
        )
        if self._keep_outcomes:
            self._outcomes = listed
        return listed
