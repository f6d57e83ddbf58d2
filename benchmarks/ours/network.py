"""Job D through fltheory: FedAvg on a network with fully connected layers."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch

from benchmarks.protocol import Job, Result
from fltheory import Experiment, Participation, Record, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.deep import DeepProblem, Examples
from fltheory.deep.networks import MLP


def network_problem(data: str, hidden: list[int], batch: int) -> DeepProblem:
    """Return the problem; models are evaluated on as many training samples as there are test samples."""
    with np.load(data) as stored:
        X, y, X_test, y_test = (stored[name] for name in ("X", "y", "X_test", "y_test"))
        classes = int(stored["classes"])
    clients, samples = y.shape
    return DeepProblem(
        network=MLP(hidden=tuple(hidden)),
        train=Examples(inputs=X.reshape(-1, *X.shape[2:]), labels=y.ravel(), offsets=samples * np.arange(clients + 1)),
        test=Examples(inputs=X_test, labels=y_test, offsets=np.array([0, len(y_test)])),
        num_classes=classes,
        batch_size=batch,
        evaluated=len(y_test),
    )


def minibatches(problem: DeepProblem, *, seed: int, rounds: int, local_steps: int) -> list[Any]:
    """Return the samples of every step, by round, client and step, each counted from the client's first."""
    oracle = problem.compiled_oracle(seed=seed, replicates=range(1), rotation_equivariant=False)
    found = []
    for index in range(rounds):
        oracle.begin_round(index)
        rows = [oracle._batches(0, i, local_steps, None) for i in range(problem.num_clients)]
        found.append([(own - first).tolist() for own, first in zip(rows, problem.train.offsets, strict=False)])
    return found


def prepare(
    *,
    data: str,
    hidden: list[int],
    batch: int,
    local_steps: int,
    rounds: int,
    rate: float,
    threads: int | None = None,
) -> Job:
    """Return the job: the server model's training loss after every round; seconds are per round."""
    if threads is not None:
        torch.set_num_threads(threads)
    problem = network_problem(data, hidden, batch)
    participation = Participation(num_clients=problem.num_clients, local_steps=local_steps)

    def run(*, seed: int, rounds: int = rounds) -> Result:
        experiment = Experiment(
            problem=problem, algorithm=FedAvg(), participation=participation, rounds=rounds, rate=rate
        )
        began, before = perf_counter(), process_time()
        done = simulate(experiment, seed=seed, replicates=1, record=Record(consensus=False))
        seconds, spent = perf_counter() - began, process_time() - before
        note = f"processor time {spent / rounds:.3g} s per round"
        return Result(done.curve("loss"), seconds=seconds / rounds, note=note)

    run(seed=0, rounds=1)
    return run
