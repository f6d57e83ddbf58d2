"""Job O: overhead per point of a sweep, by the clock and in processor time, and the driver's memory.

Points cost next to nothing. Sweeps of two sizes take turns; the difference divided by that of the sizes is the price of
a point, what is left is the price of a call (starting processes, drawing the figure). Medians over the turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from typing import Any

from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.workers import ROOT

PLACES = (
    ("one process", "processes", 1, 5.0),
    ("two processes", "processes", 2, 5.0),
    ("Dask, two workers", "dask", 2, 20.0),
)
"""Where points run, and the milliseconds by the clock that are allowed."""


def run(options: Options) -> list[Table]:
    """Measure and return the tables."""
    small, large = (20, 80) if options.quick else (100, 500)
    table = Table(
        title=f"O  price of a point, from sweeps of {small} and {large} points, ms",
        columns=["where", "clock", "spread", "processor, all processes", "price of the call, s", "allowed"],
    )
    for label, backend, jobs, allowed in PLACES:
        try:
            found = _asked(backend, jobs, [small, large] * options.repetitions)
        except RuntimeError as error:
            table.rows.append([label, "-", "-", "-", "-", f"failed: {error}"])
            continue
        pairs = list(zip(found[::2], found[1::2], strict=True))
        clock = [1e3 * (b["seconds"] - a["seconds"]) / (large - small) for a, b in pairs]
        spent = [1e3 * (b["processor"] - a["processor"]) / (large - small) for a, b in pairs]
        middle = statistics.median(clock)
        call = statistics.median(a["seconds"] for a, _ in pairs) - 1e-3 * small * middle
        cells = [f"{middle:.2f}", f"{min(clock):.2f} to {max(clock):.2f}", f"{statistics.median(spent):.2f}"]
        verdict = f"{'ok' if middle <= allowed else 'MISSED'}: {allowed:g} ms"
        table.rows.append([label, *cells, f"{call:.2f}", verdict])
        table.records.append({"where": label, "clock": clock, "processor": spent, "call": call, "allowed": allowed})
    load = os.getloadavg()[0]
    table.notes.append(f"load {load:.1f} at the end: where others work too, the clock says more about them")
    return [table] if options.quick else [table, _memory()]


def _memory() -> Table:
    (found,) = _asked("memory", 1, [10_000])
    noted = {int(points): size / 1e6 for points, size in found["noted"].items()}
    table = Table(title="O  memory of the driver along 10,000 points, MB", columns=["after", *map(str, noted)])
    table.rows.append(["points", *(f"{size:.1f}" for size in noted.values())])
    table.records.append({"megabytes": noted})
    per_point = (noted[10_000] - noted[1000]) / 9000 * 1e3
    table.notes.append(f"{per_point:.1f} kB per point, which is what its results take")
    return table


def _asked(backend: str, jobs: int, sizes: list[int]) -> list[dict[str, Any]]:
    """Return what the sweeps took; they run in a session of their own, whose processes are counted."""
    command = [sys.executable, "-m", "benchmarks.ours.points", backend, str(jobs), *map(str, sizes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, start_new_session=True)
    if done.returncode:
        raise RuntimeError(["", *done.stderr.splitlines()][-1])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [{**one, "processor": one["noted"].get(str(one["points"]))} for one in found]
