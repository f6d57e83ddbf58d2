"""Job S: how long until something happens, in whole processes; the minimum of several."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.options import Options
from benchmarks.report import Table, seconds_text
from benchmarks.workers import ROOT

FIRST_USE = [sys.executable, "-m", "benchmarks.ours.first_use"]
LOOPS = {
    "quadratic, every step": ["quadratic"],
    "quadratic, every step and noise vectors (cfl-r)": ["quadratic", "cfl-r"],
    "quadratic, dense (efl)": ["quadratic", "efl"],
    "quadratic, default": ["collapsed"],
    "softmax": ["softmax"],
}
"""What compiles something different; every algorithm needs the loops of one of these, or fewer."""


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    table = Table(title="S  start-up, whole processes", columns=["what", "seconds", "of which ours", "allowed"])
    runs = 3 if options.quick else 7
    bare = _fastest([sys.executable, "-c", "pass"], runs)
    _add(table, "python -c pass", bare, None, None)
    _add(table, "python -c 'import numpy'", _fastest([sys.executable, "-c", "import numpy"], runs), None, None)
    imported = _fastest([sys.executable, "-c", "import fltheory"], runs)
    _add(table, "import fltheory", imported, imported - bare, 0.15)
    script = shutil.which("fltheory", path=str(Path(sys.executable).parent))
    for words in (["--help"], ["list"]):
        if script:
            _add(table, f"fltheory {' '.join(words)}", _fastest([script, *words], runs), None, 0.35)
    cache = options.folder / "numba-cache"
    trivial = [sys.executable, "-m", "benchmarks.peers.s_numba"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache / "trivial")}
    _add(table, "numba alone, one trivial loop, warm", _fastest(trivial, runs + 1, environment), None, None)
    for label, words in LOOPS.items():
        folder = cache / "-".join(words)
        _add(table, f"first use, {label}, cold", *_first_use(words, folder, runs=1), 5.0)
        _add(table, f"first use, {label}, warm", *_first_use(words, folder, runs=runs), 0.7)
    _first_use(["everything"], cache / "all", runs=1)
    for kind in ("quadratic", "softmax"):
        slowest, name = max((_first_use([kind, name], cache / "all", runs=2), name) for name in _names(options))
        _add(table, f"first use, {kind}, slowest algorithm ({name}), warm", *slowest, 0.7)
    table.notes.append("of which ours: from before the import of fltheory to the first result, without the interpreter")
    table.notes.append("allowed: checked against whole processes, except the import, which is net of the interpreter")
    return [table]


def _names(options: Options) -> list[str]:
    from fltheory import catalogue

    names = list(catalogue.algorithms())
    return names[::6] if options.quick else names


def _add(table: Table, label: str, seconds: float, ours: float | None, allowed: float | None) -> None:
    judged = ours if label == "import fltheory" and ours is not None else seconds
    verdict = "" if allowed is None else f"{'ok' if judged <= allowed else 'MISSED'}: {allowed:g} s"
    table.rows.append([label, seconds_text(seconds), "" if ours is None else seconds_text(ours), verdict])
    table.records.append({"what": label, "seconds": seconds, "ours": ours, "allowed": allowed})


def _first_use(words: Sequence[str], cache: Path, *, runs: int) -> tuple[float, float]:
    """Return seconds of the process and from the import to the first result, with compiled loops kept in ``cache``."""
    cache.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "FLTHEORY_CACHE_DIR": str(cache)}
    best = (float("inf"), float("inf"))
    for _ in range(runs):
        began = time.perf_counter()
        done = subprocess.run(
            [*FIRST_USE, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        best = min(best, (time.perf_counter() - began, float(done.stdout)))
    return best


def _fastest(command: Sequence[str], runs: int, environment: dict[str, str] | None = None) -> float:
    best = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        best = min(best, time.perf_counter() - began)
    return best
