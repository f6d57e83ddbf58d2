"""What a sweep found: which algorithm does best where, one line per run as CSV, everything as JSON."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from fltheory._internal.files import replacing
from fltheory._internal.provenance import commit, versions
from fltheory.simulation.run_result import LEVEL
from fltheory.sweep.grid import Grid, shown
from fltheory.sweep.run import Swept
from fltheory.sweep.store import Run


def curves(runs: Sequence[Run]) -> list[str]:
    """Return the names of all curves that any of the runs has recorded."""
    return list(dict.fromkeys(name for run in runs for name in run.final))


def quantity(runs: Sequence[Run]) -> str:
    """Return the curve by which runs are compared: the gap, or the loss where no minimiser is known."""
    names = curves(runs)
    return "gap" if "gap" in names or not names else names[0]


def best(runs: Sequence[Run]) -> list[bool]:
    """Return which runs have the smallest value of their point, or one that its band does not tell from it.

    Runs of one point stand together. An algorithm on its own is not compared with anything.
    """
    name = quantity(runs)
    marks: list[bool] = []
    for _, group in groupby(runs, key=lambda run: run.point):
        several = list(group)
        values = [_ends(run, name) for run in several]
        tops = [(mean, high) for mean, _, high in (value for value in values if value is not None)]
        limit = min(tops)[1] if len(several) > 1 and tops else None
        marks += [limit is not None and value is not None and value[1] <= limit for value in values]
    return marks


def document(
    grid: Grid, title: str | None, swept: Swept, directory: Path | None, figures: Sequence[Path]
) -> dict[str, Any]:
    """Return everything as plain JSON types."""
    entries = []
    for run, mark in zip(swept.runs, best(swept.runs), strict=True):
        entry: dict[str, Any] = {"point": run.point, "label": run.label, "algorithm": run.algorithm}
        entry |= {"engine": run.engine, "seed": run.seed, "replicates": run.replicates, "status": run.status}
        entry |= {"error": run.error or None, "seconds": run.seconds, "best": mark, "final": run.final, "key": run.key}
        entries.append(entry)
    return {
        "configuration": grid.source.path,
        "title": title,
        "sweep": {axis.name: list(axis.values) for axis in grid.axes},
        "points": len(grid),
        "runs": len(swept.runs),
        "reused": swept.reused,
        "compared_by": quantity(swept.runs),
        "level": LEVEL,
        "output": None if directory is None else str(directory),
        "results": entries,
        "figures": [path.name for path in figures],
        "versions": dict(versions()),
        "commit": commit(),
    }


def write_csv(grid: Grid, runs: Sequence[Run], path: Path) -> None:
    """Write one line per run: swept values, label, last value and half-width of every curve, status, seconds."""
    names = curves(runs)
    heads = [axis.name for axis in grid.axes] + ["label"]
    heads += [head for name in names for head in (name, f"{name}_half_width")]
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*heads, "status", "seconds"])
        for run in runs:
            found = [run.final.get(name, {}) for name in names]
            values = [last.get(which) for last in found for which in ("mean", "half_width")]
            swept = [shown(value) for value in run.point.values()]
            writer.writerow([*swept, run.label, *values, run.status, run.seconds])


def _ends(run: Run, name: str) -> tuple[float, float, float] | None:
    """Return the mean of a curve's last value and the ends of its band; ``None`` if it has none."""
    last = run.final.get(name, {})
    mean, half = last.get("mean"), last.get("half_width") or 0.0
    return None if mean is None else (mean, mean - half, mean + half)
