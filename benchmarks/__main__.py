"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.options import Options
from benchmarks.report import Table, machine

JOBS = {
    "Q": "quadratic",
    "L": "softmax",
    "D": "network_round",
    "A": "every_algorithm",
    "P": "tiny_round",
    "S": "start_up",
    "G": "growth",
    "W": "worst_case",
    "O": "points",
}


def main() -> int:
    """Run the jobs and return 1 if a tool did another job than it was timed for."""
    parser = _parser()
    given = parser.parse_args()
    jobs = [name.upper() for name in given.jobs] or list(JOBS)
    unknown = [name for name in jobs if name not in JOBS]
    if unknown:
        parser.error(f"unknown job {unknown[0]!r}; choose from {', '.join(JOBS)}")
    if given.repetitions is not None and given.repetitions < 1:
        parser.error(f"--repetitions must be at least 1, got {given.repetitions}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    progress = Console(stderr=True)
    where = machine()
    console.print(f"{where['processor']}, {where['cores']} cores, load {where['load']:.1f}, {where['system']}")
    tables: dict[str, list[Table]] = {}
    with tempfile.TemporaryDirectory(prefix="fltheory-benchmarks-") as folder:
        options = Options(
            quick=given.quick,
            repetitions=given.repetitions or (2 if given.quick else 5),
            peers_python=given.peers_python,
            folder=Path(folder),
        )
        for name in jobs:
            progress.print(f"job {name} ...")
            module = importlib.import_module(f"benchmarks.jobs.{JOBS[name]}")
            tables[name] = module.run(options)
            for table in tables[name]:
                table.show(console)
    if given.json:
        given.json.write_text(json.dumps(_document(where, given.quick, tables), indent=1) + "\n", encoding="utf-8")
    return int(any(table.wrong for listed in tables.values() for table in listed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description="Compare fltheory with other tools.")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"any of {', '.join(JOBS)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results as JSON")
    parser.add_argument("--repetitions", type=int, metavar="N", help="turns per tool (default 5, quick 2)")
    parser.add_argument(
        "--peers-python",
        default=sys.executable,
        metavar="PATH",
        help="interpreter in which benchmarks/requirements.txt is installed (default: this one)",
    )
    return parser


def _document(where: dict[str, Any], quick: bool, tables: dict[str, list[Table]]) -> dict[str, Any]:
    jobs = {
        name: [{"title": table.title, "notes": table.notes, "results": table.records} for table in listed]
        for name, listed in tables.items()
    }
    return {"machine": where, "quick": quick, "jobs": jobs}


if __name__ == "__main__":
    sys.exit(main())
