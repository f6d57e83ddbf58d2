"""Job D: FedAvg on a network, against what a researcher writes in PyTorch; seconds are per round.

Timed runs draw their own minibatches. That all tools do the same is checked by one further run each, in which the
scripts are given the minibatches that fltheory draws: then the losses after every round have to agree up to the
rounding of single precision.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks import sizes
from benchmarks.agreement import Estimate
from benchmarks.data import write_network
from benchmarks.jobs.comparison import Baseline, comparison
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.workers import Measured, Tool, interleaved, started

TITLE = (
    "D  seconds per round: FedAvg on a network {side}x{side}-{hidden}-{classes}, N={num_clients}, {samples} samples "
    "each, minibatch {batch}, K={local_steps}, evaluated on {tests} and {tests} samples; single precision"
)
LOOP, LOOP_ONE = "PyTorch, researcher's loop", "PyTorch, researcher's loop, one thread"
OURS, OURS_ONE = "fltheory", "fltheory, one thread"
ROUNDING = 1e-4
"""Relative difference between losses that is put down to the order of sums in single precision."""


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    size = sizes.network(options.quick)
    data = options.folder / "network.npz"
    write_network(data, size)
    settings = {
        "data": str(data),
        "hidden": list(size.hidden),
        "batch": size.batch,
        "local_steps": size.local_steps,
        "rounds": size.rounds,
        "rate": size.rate,
    }
    tools = [
        Tool(label=LOOP, module="peers.d_torch_loop", settings=settings),
        Tool(label=LOOP_ONE, module="peers.d_torch_loop", settings={**settings, "threads": 1}),
        Tool(label=OURS, module="ours.network", settings=settings),
        Tool(label=OURS_ONE, module="ours.network", settings={**settings, "threads": 1}),
    ]
    measured = interleaved(tools, repetitions=options.repetitions, peers_python=options.peers_python)
    if not any(entry.failure for entry in measured[2:]):
        _check(measured, settings, options)
    truth = measured[2].pooled()
    table = comparison(
        TITLE.format(**{**asdict(size), "hidden": "-".join(map(str, size.hidden))}),
        measured,
        {tool.label: truth for tool in tools},
        [Baseline(label=LOOP, column="loop"), Baseline(label=LOOP_ONE, column="one thread")],
        quick=options.quick,
        nearly=dict.fromkeys((tool.label for tool in tools), ROUNDING),
    )
    return [table]


def _check(measured: list[Measured], settings: dict[str, Any], options: Options) -> None:
    """Put statistics of runs with the same minibatches in the place of those of the timed runs."""
    from benchmarks.ours.network import minibatches, network_problem

    problem = network_problem(settings["data"], settings["hidden"], settings["batch"])
    batches = minibatches(problem, seed=0, rounds=settings["rounds"], local_steps=settings["local_steps"])
    able = [entry for entry in measured if not entry.failure]
    with started([entry.tool for entry in able], options.peers_python) as workers:
        for entry in able:
            given = {"batches": batches} if entry.tool.is_peer else {}
            answer = workers[entry.tool.label].ask(seed=0, **given)
            entry.statistics = [{name: Estimate(*pair) for name, pair in answer["statistics"].items()}]
