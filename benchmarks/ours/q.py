"""Jobs Q and A through fltheory: any algorithm on Job Q's problem, by every step, by default, or exactly."""

from __future__ import annotations

from typing import Any

from benchmarks.protocol import Job, Result
from benchmarks.sizes import SINGLE
from fltheory import Experiment, Participation, Record, simulate
from fltheory.configuration import registry
from fltheory.quadratic import Quadratic, noisy_quadratic

MODES: dict[str, dict[str, Any]] = {
    "full": {"engine": "monte_carlo", "collapse": False},
    "default": {"engine": "monte_carlo", "collapse": True},
    "exact": {"engine": "exact"},
}


def job_q_problem(dim: int, num_clients: int, *, rotated: bool = True) -> Quadratic:
    """Return the problem of Job Q; without a rotation, large ones are quick to build. One client has no drift."""
    return noisy_quadratic(
        dim=dim,
        num_clients=num_clients,
        mu=1.0,
        L=20.0,
        client_drift_sq=1.0 if num_clients > 1 else 0.0,
        round_drift_sq=1.0,
        noise_sq=1.0,
        rotated=rotated,
        seed=0,
    )


def prepare(*, dim: int, num_clients: int, local_steps: int, rounds: int, replicates: int, rate: float) -> Job:
    """Return the job; the loop is compiled, or loaded from its cache, on two replicates and rounds."""
    many = job_q_problem(dim, num_clients)
    one = job_q_problem(dim, 1)

    def run(*, seed: int, algorithm: str, mode: str, rounds: int = rounds, replicates: int = replicates) -> Result:
        problem = one if algorithm in SINGLE else many
        experiment = Experiment(
            problem=problem,
            algorithm=registry.algorithms()[algorithm](),
            participation=Participation(num_clients=problem.num_clients, local_steps=local_steps),
            rounds=rounds,
            rate=rate,
        )
        # The job asks for distances, as its peers compute them; the spread of local models is not part of it.
        done = simulate(experiment, seed=seed, replicates=replicates, record=Record(consensus=False), **MODES[mode])
        return Result(done.distance_sq, note=str(done.provenance.get("steps", "")))

    for mode in MODES:
        run(seed=0, algorithm="fedavg", mode=mode, rounds=2, replicates=2)
    return run
