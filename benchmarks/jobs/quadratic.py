"""Job Q: FedAvg on a noisy quadratic, every noise vector drawn, against scripts in NumPy, JAX and numba."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from benchmarks import sizes
from benchmarks.agreement import Estimate, fedavg_distances, summary
from benchmarks.data import write_quadratic
from benchmarks.jobs.comparison import Baseline, comparison
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.workers import Tool, interleaved, started

TITLE = "Q  noisy quadratic, d={dim} N={num_clients} K={local_steps} T={rounds}, {replicates} replicates"
ALGORITHMS = ("fedavg", "scaffold", "cfl-r")
REQUIRED = {
    "fltheory, every step": 12.0,
    "fltheory, default": 80.0,
    "fltheory, exact fedavg": 500.0,
    "fltheory, exact scaffold": 100.0,
    "fltheory, exact cfl-r": 100.0,
}
PEERS = {
    "NumPy, researcher's loop": "peers.q_numpy_loop",
    "NumPy, batched": "peers.q_numpy_batched",
    "numba, NumPy's normals": "peers.q_numba_predrawn",
    "JAX, jit + scan + vmap": "peers.q_jax",
}


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    size = sizes.quadratic(options.quick)
    data = options.folder / "quadratic.npz"
    write_quadratic(data, size)
    tools = [*_peers(data, size), *_ours(size)]
    measured = interleaved(tools, repetitions=options.repetitions, peers_python=options.peers_python)
    baselines = [
        Baseline(label="NumPy, batched", column="NumPy"),
        Baseline(label="JAX, jit + scan + vmap", column="JAX", required=REQUIRED),
    ]
    truths = _truths(tools, data, size, options)
    return [comparison(TITLE.format(**asdict(size)), measured, truths, baselines, quick=options.quick)]


def _peers(data: Path, size: sizes.QuadraticSize) -> list[Tool]:
    settings = {
        "data": str(data),
        "local_steps": size.local_steps,
        "rounds": size.rounds,
        "replicates": size.replicates,
        "rate": size.rate,
    }
    return [Tool(label=label, module=module, settings=settings) for label, module in PEERS.items()]


def _ours(size: sizes.QuadraticSize) -> list[Tool]:
    requests = {
        "fltheory, every step": {"algorithm": "fedavg", "mode": "full"},
        "fltheory, default": {"algorithm": "fedavg", "mode": "default"},
        **{f"fltheory, exact {name}": {"algorithm": name, "mode": "exact"} for name in ALGORITHMS},
    }
    settings = asdict(size)
    return [Tool(label=label, module="ours.q", settings=settings, request=words) for label, words in requests.items()]


def _truths(
    tools: list[Tool], data: Path, size: sizes.QuadraticSize, options: Options
) -> dict[str, dict[str, Estimate]]:
    """Return what each tool has to find: FedAvg in closed form, the others' moments from every step simulated."""
    curve = fedavg_distances(data, local_steps=size.local_steps, rounds=size.rounds, rate=size.rate)
    fedavg = summary(curve)
    truths: dict[str, dict[str, Estimate]] = {tool.label: fedavg for tool in tools}
    with started(_ours(size)[:1], options.peers_python) as workers:
        (worker,) = workers.values()
        for name in ALGORITHMS[1:]:
            answer = worker.ask(seed=1000, algorithm=name, mode="full")
            truths[f"fltheory, exact {name}"] = {
                column: Estimate(*pair) for column, pair in answer["statistics"].items()
            }
    return truths
