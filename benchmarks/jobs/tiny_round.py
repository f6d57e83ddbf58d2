"""Job P: one small FedAvg round, against Flower's simulation and FedJAX; seconds are per round."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks import sizes
from benchmarks.agreement import Estimate
from benchmarks.data import write_tiny
from benchmarks.jobs.comparison import Baseline, comparison
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.workers import Tool, interleaved, started

TITLE = (
    "P  seconds per round: logistic regression, N={num_clients} K={local_steps} d={features} minibatch {batch}, "
    "first {rounds} rounds"
)
OURS, FEDJAX, FLOWER = "fltheory", "FedJAX", "Flower, simulation"
REPLICATES = 256
"""Replicates that say how much the loss of a single run varies."""


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    size = sizes.tiny(options.quick)
    data = options.folder / "tiny.npz"
    write_tiny(data, size)
    settings = {
        "data": str(data),
        "batch": size.batch,
        "local_steps": size.local_steps,
        "rounds": size.rounds,
        "rate": size.rate,
        "l2": size.l2,
    }
    # Long enough that the call itself does not count as rounds; Flower's start-up does not either.
    mine = {**settings, "rounds": 10 * size.rounds, "evaluated": size.rounds, "binary": True, "replicates": 1}
    tools = [
        Tool(label=FLOWER, module="peers.p_flower", settings=settings),
        Tool(label=FEDJAX, module="peers.p_fedjax", settings=settings),
        Tool(label=OURS, module="ours.logistic", settings=mine),
    ]
    measured = interleaved(tools, repetitions=min(options.repetitions, 3), peers_python=options.peers_python)
    with started(tools[2:], options.peers_python) as workers:
        answer = workers[OURS].ask(seed=1000, replicates=REPLICATES)
    # A single run has no standard error of its own, so it is compared with the spread of the replicates.
    truth = {name: Estimate(mean, error * REPLICATES**0.5) for name, (mean, error) in answer["statistics"].items()}
    baselines = [
        Baseline(label=FEDJAX, column="FedJAX", required={OURS: 50.0}),
        Baseline(label=FLOWER, column="Flower", required={OURS: 500.0}),
    ]
    # FedJAX draws minibatches without replacement, which moves the mean loss a little.
    table = comparison(
        TITLE.format(**asdict(size)),
        measured,
        {tool.label: truth for tool in tools},
        baselines,
        quick=options.quick,
        nearly={FEDJAX: 0.02},
    )
    return [table]
