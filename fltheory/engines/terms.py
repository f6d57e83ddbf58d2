"""The terms of every round of an experiment, built once for all rounds that have the same law."""

from __future__ import annotations

import dataclasses

from fltheory.experiment import Experiment
from fltheory.oracle import Round


class Terms:
    """Asks an experiment's participation for rounds, with its problem's weights and its learning rate."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        stationary = experiment.participation.is_stationary
        self._stationary = stationary
        self._keep_sample = stationary and experiment.participation.is_deterministic(0)
        self._outcomes: dict[bytes, list[tuple[float, Round]]] = {}
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
        key = b"" if self._stationary else experiment.participation.law_key(index)
        if key in self._outcomes:
            return [(chance, dataclasses.replace(work, index=index, rate=rate)) for chance, work in self._outcomes[key]]
        problem = experiment.problem
        listed = experiment.participation.round_outcomes(
            index, rate, problem.weights, problem.sample_counts, limit=limit
        )
        self._outcomes[key] = listed
        return listed
