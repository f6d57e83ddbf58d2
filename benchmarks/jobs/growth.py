r"""Job G: how time and memory of each engine grow with each size.

One size is doubled at a time, the others stay at their base, and the slope of :math:`\log_2` of the cost against
:math:`\log_2` of the size is fitted by least squares over the larger half of the sizes, where fixed costs matter
least. A slope of 1 is linear growth. Memory is the peak that ``tracemalloc`` sees, so it includes arrays, not what
compiled loops keep on their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.workers import Tool, Worker, started

TOLERANCE = 0.2
"""How far a fitted slope may lie above the expected one."""

SIZES = ("dim", "num_clients", "local_steps", "rounds", "replicates", "per_round")
SYMBOLS = ("d", "N", "K", "T", "replicates", "clients per round")


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Where one engine is measured, and the largest slopes expected of it in the order of ``SIZES``.

    Parameters
    ----------
    engine
        Name of the engine.
    base
        Sizes from which one at a time is doubled.
    time, memory
        Largest slopes; ``None`` where a size does not apply.
    """

    engine: str
    base: dict[str, int]
    time: tuple[float | None, ...]
    memory: tuple[float | None, ...]


# Clients are exchangeable here; if they are not, probing the noise of every client on every client is quadratic in N.
ENGINES = (
    Growth(
        engine="every step",
        base={"dim": 64, "num_clients": 16, "local_steps": 16, "rounds": 8, "replicates": 64},
        time=(1, 1, 1, 1, 1, 1),
        memory=(1, 1, 0, 0, 1, 0),
    ),
    Growth(
        engine="default",
        base={"dim": 1024, "num_clients": 8, "local_steps": 16, "rounds": 16, "replicates": 64},
        time=(1, 1, 0, 1, 1, None),
        memory=(1, 1, 0, 0, 1, None),
    ),
    Growth(
        engine="exact",
        base={"dim": 256, "num_clients": 8, "local_steps": 16, "rounds": 64, "replicates": 1},
        time=(1, 1, 0, 1, None, None),
        memory=(1, 1, 0, 1, None, None),
    ),
    Growth(
        engine="reference",
        base={"dim": 32, "num_clients": 8, "local_steps": 8, "rounds": 4, "replicates": 64},
        time=(1, 1, 1, 1, 1, 1),
        memory=(1, 1, 0, 0, 1, 0),
    ),
)


def run(options: Options) -> list[Table]:
    """Measure and return the tables, one for time and one for memory."""
    tables = [
        Table(title=f"G  slopes of {what} (expected at most)", columns=["engine", *SYMBOLS])
        for what in ("time", "peak memory")
    ]
    tool = Tool(label="fltheory", module="ours.growth", settings={})
    with started([tool], options.peers_python) as workers:
        for growth in ENGINES:
            for table, traced, expected in zip(tables, (False, True), (growth.time, growth.memory), strict=True):
                _fill(table, growth, expected, workers[tool.label], traced=traced, options=options)
    tables[0].notes.append("one thread, FedAvg; at the sizes of the base (see the JSON) fixed costs can hide growth")
    tables[1].notes.append("memory against T: the recorded curves, a few numbers per replicate and round, do grow")
    return tables


def _fill(
    table: Table, growth: Growth, expected: tuple[float | None, ...], worker: Worker, *, traced: bool, options: Options
) -> None:
    cells = [growth.engine]
    for name, most in zip(SIZES, expected, strict=True):
        if most is None:
            cells.append("-")
            continue
        costs = _costs(growth, name, worker, traced=traced, options=options)
        slope = _slope(costs)
        holds = slope <= most + TOLERANCE
        cells.append(f"{'ok' if holds else 'MISSED'}: {slope:.2f} ({most:g})")
        table.records.append(
            {
                "engine": growth.engine,
                "size": name,
                "base": growth.base,
                "costs": {str(size): cost for size, cost in costs.items()},
                "slope": slope,
                "expected": most,
                "holds": holds,
            }
        )
    table.rows.append(cells)


def _costs(growth: Growth, name: str, worker: Worker, *, traced: bool, options: Options) -> dict[int, float]:
    """Return seconds or bytes by size; timed runs take turns, so that a slow moment does not bend the curve."""
    base = {**growth.base, "per_round": 0}
    first = 4 if name == "per_round" else base[name]
    sizes = [first * 2**power for power in range(4 if options.quick else 5)]
    if name == "per_round":
        base["num_clients"] = sizes[-1]
    repetitions = 1 if traced else options.repetitions
    costs = dict.fromkeys(sizes, math.inf)
    for turn in range(repetitions + 1):
        for size in sizes:
            answer = worker.ask(seed=turn, engine=growth.engine, traced=traced, **{**base, name: size})
            if "error" in answer:
                raise RuntimeError(f"{growth.engine} with {name}={size}: {answer['error']}")
            # The first turn loads compiled loops and is not counted.
            if turn:
                costs[size] = min(costs[size], answer["peak_bytes"] if traced else answer["seconds"])
    return costs


def _slope(costs: dict[int, float]) -> float:
    kept = sorted(costs)[len(costs) // 2 - 1 :]
    return float(np.polyfit(np.log2(kept), np.log2([costs[size] for size in kept]), 1)[0])
