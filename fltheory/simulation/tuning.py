"""The best constant learning rate, by minimising a recorded curve at its last round.

With the exact engine the loss is a smooth function of the rate without sampling error, so a coarse scan on a
logarithmic grid followed by a bounded scalar search finds the minimum; rates that diverge count as infinite.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory.errors import Diverged, NotApplicable
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment, require_experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Constant
from fltheory.simulation.trajectories import Trajectories

_GRID_PER_DECADE = 4
_TOLERANCE = 1e-3


class Tuned(NamedTuple):
    """The best rate, its loss, and the run that has it."""

    rate: float
    loss: float
    trajectories: Trajectories


def tune_rate(
    experiment: Experiment,
    *,
    quantity: str = "gap",
    low: float = 1e-4,
    high: float = 1.0,
    engine: str = "exact",
    seed: int = 0,
    replicates: int = 64,
) -> Tuned:
    """Return the constant rate in ``[low, high]`` with the smallest mean ``quantity`` after the last round.

    The rate is resolved to a relative 1e-3. If the loss still falls at an end of the interval, that end is
    returned: widen the interval.

    Parameters
    ----------
    experiment
        What to run; its own rate is ignored.
    quantity
        A recorded curve: ``gap``, ``distance_sq``, ``gradient_norm_sq``, ...
    low, high
        Interval of rates.
    engine, seed, replicates
        As for :func:`~fltheory.simulation.engines.simulate.simulate`. A sampling engine uses the same random numbers
        for
        every rate.

    Examples
    --------
    >>> from fltheory import Participation, noisy_quadratic
    >>> from fltheory.algorithms.fedavg import FedAvg
    >>> problem = noisy_quadratic(dim=3, num_clients=2, client_drift_sq=0, round_drift_sq=0, noise_sq=0, mu=2, L=2)
    >>> alone = Participation(num_clients=2, local_steps=1)
    >>> tuned = tune_rate(Experiment(problem=problem, algorithm=FedAvg(), participation=alone, rounds=1, rate=1.0))
    >>> round(tuned.rate, 2)
    0.5
    """
    from scipy.optimize import minimize_scalar

    require_experiment("tune_rate", experiment)
    low = arguments.real("tune_rate", "low", low, low=0, open_low=True)
    high = arguments.real("tune_rate", "high", high, low=low, open_low=True)
    runs: dict[float, Tuned] = {}

    def loss(log_rate: float) -> float:
        rate = math.exp(log_rate)
        trial = dataclasses.replace(experiment, rate=Constant(value=rate))
        try:
            run = simulate(trial, engine=engine, seed=seed, replicates=replicates, record=Record(consensus=False))
        except Diverged:
            return math.inf
        value = float(run.curve(quantity)[:, -1].mean())
        runs[log_rate] = Tuned(rate, value, run)
        return math.log(max(value, 1e-300))

    count = max(3, math.ceil(_GRID_PER_DECADE * math.log10(high / low)) + 1)
    grid = np.linspace(math.log(low), math.log(high), count)
    losses = [loss(float(x)) for x in grid]
    best = int(np.argmin(losses))
    if not math.isfinite(losses[best]):
        raise NotApplicable(
            f"every learning rate in [{low:g}, {high:g}] makes {experiment.algorithm.title} diverge; lower the interval"
        )
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, count - 1)]
    minimize_scalar(loss, bounds=(left, right), method="bounded", options={"xatol": _TOLERANCE})
    return min(runs.values(), key=lambda tuned: tuned.loss)
