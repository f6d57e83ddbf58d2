"""Runs of the noisy-quadratic experiment that its figure and its table share."""

from __future__ import annotations

import functools

from fltheory.algorithms.base import Algorithm
from fltheory.bounds.cfl.settings import Result, Setting, tuned
from fltheory.participation import Participation
from fltheory.simulation.experiment import Experiment

TOGETHER = "noisy quadratics"
"""Both are produced by one process: tuning is most of the work of either."""


@functools.cache
def best(setting: Setting, algorithm: Algorithm, seed: int) -> Result:
    """Return the tuned run of an algorithm in a setting."""
    return tuned(setting, algorithm, seed=seed)


def experiment(setting: Setting, algorithm: Algorithm, rate: float, seed: int) -> Experiment:
    """Return the run at a constant rate."""
    return Experiment(
        problem=setting.problem(seed),
        algorithm=algorithm,
        participation=Participation(num_clients=setting.num_clients, local_steps=setting.local_steps),
        rounds=setting.rounds,
        rate=rate,
    )
