"""Job G through fltheory: one run at given sizes, timed, or traced for its peak of memory."""

from __future__ import annotations

import tracemalloc
from time import perf_counter
from typing import Any

from benchmarks.ours.q import job_q_problem
from benchmarks.protocol import Job, Result
from fltheory import Experiment, Participation, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.participation.selection import WithoutReplacement

ENGINES: dict[str, dict[str, Any]] = {
    "reference": {"engine": "reference"},
    "every step": {"engine": "monte_carlo", "collapse": False},
    "default": {"engine": "monte_carlo", "collapse": True},
    "exact": {"engine": "exact"},
}


def prepare() -> Job:
    """Return the job; it measures itself, since building the problem does not count."""

    def run(
        *,
        seed: int,
        engine: str,
        dim: int,
        num_clients: int,
        local_steps: int,
        rounds: int,
        replicates: int,
        per_round: int,
        traced: bool,
    ) -> Result:
        selection = {"selection": WithoutReplacement(size=per_round, renormalise=False)} if per_round else {}
        experiment = Experiment(
            problem=job_q_problem(dim, num_clients, rotated=False),
            algorithm=FedAvg(),
            participation=Participation(num_clients=num_clients, local_steps=local_steps, **selection),
            rounds=rounds,
            rate=0.01,
        )
        # One thread: with two, a number of blocks that is odd would bend the curve.
        words = {"seed": seed, "replicates": replicates, "threads": 1, **ENGINES[engine]}
        if traced:
            tracemalloc.start()
            done = simulate(experiment, **words)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return Result(done.distance_sq, peak_bytes=peak)
        began = perf_counter()
        done = simulate(experiment, **words)
        return Result(done.distance_sq, seconds=perf_counter() - began)

    return run
