"""Jobs L and P through fltheory: FedAvg on softmax or binary logistic regression."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks.protocol import Job, Result
from fltheory import Experiment, Participation, Record, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.logistic import LogisticProblem, Samples


def prepare(
    *,
    data: str,
    binary: bool,
    batch: int,
    local_steps: int,
    rounds: int,
    replicates: int,
    rate: float,
    l2: float,
    evaluated: int | None = None,
) -> Job:
    """Return the job: the server model's loss after every round.

    The problem is built and minimised here, once: fltheory records the gap, which needs the minimum.
    With ``evaluated`` the time is per round, and the curve ends after that many rounds.
    """
    with np.load(data) as stored:
        X, y = stored["X"], stored["y"]
        classes = 2 if binary else int(stored["classes"])
    problem = LogisticProblem(
        train=Samples.from_clients(list(X), list(y)), num_classes=classes, l2=l2, binary=binary, batch_size=batch
    )
    lowest = problem.objective().f_star
    participation = Participation(num_clients=problem.num_clients, local_steps=local_steps)

    def run(*, seed: int, rounds: int = rounds, replicates: int = replicates) -> Result:
        experiment = Experiment(
            problem=problem, algorithm=FedAvg(), participation=participation, rounds=rounds, rate=rate
        )
        began = perf_counter()
        done = simulate(experiment, seed=seed, replicates=replicates, record=Record(consensus=False))
        seconds = perf_counter() - began
        loss = done.gap + lowest
        if evaluated is None:
            return Result(loss, seconds=seconds)
        return Result(loss[:, : evaluated + 1], seconds=seconds / rounds)

    run(seed=0, rounds=2, replicates=2)
    return run
