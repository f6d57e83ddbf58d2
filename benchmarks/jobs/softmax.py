"""Job L: FedAvg on softmax regression with minibatches, against scripts in NumPy and JAX."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks import sizes
from benchmarks.data import write_softmax
from benchmarks.jobs.comparison import Baseline, comparison
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.workers import Tool, interleaved

TITLE = (
    "L  softmax, N={num_clients}, {samples} samples of {features} features, {classes} classes, minibatch {batch}, "
    "K={local_steps} T={rounds}, {replicates} replicates"
)
OURS, LOOP, BATCHED, JAX = "fltheory", "NumPy, researcher's loop", "NumPy, batched", "JAX, jit + scan + vmap"
PEERS = {LOOP: "peers.l_numpy_loop", BATCHED: "peers.l_numpy_batched", JAX: "peers.l_jax"}


def run(options: Options) -> list[Table]:
    """Measure and return the table; the others are compared with the plainest tool that ran."""
    size = sizes.softmax(options.quick)
    data = options.folder / "softmax.npz"
    write_softmax(data, size)
    settings = {
        "data": str(data),
        "batch": size.batch,
        "local_steps": size.local_steps,
        "rounds": size.rounds,
        "replicates": size.replicates,
        "rate": size.rate,
        "l2": size.l2,
    }
    tools = [Tool(label=label, module=module, settings=settings) for label, module in PEERS.items()]
    tools.append(Tool(label=OURS, module="ours.logistic", settings={**settings, "binary": False}))
    measured = interleaved(tools, repetitions=options.repetitions, peers_python=options.peers_python)
    truth = next((entry.pooled() for entry in measured if not entry.failure), {})
    baselines = [
        Baseline(label=BATCHED, column="NumPy", required={OURS: 5.0}),
        Baseline(label=JAX, column="JAX", required={OURS: 5.0}),
    ]
    truths = {tool.label: truth for tool in tools}
    return [comparison(TITLE.format(**asdict(size)), measured, truths, baselines, quick=options.quick)]
