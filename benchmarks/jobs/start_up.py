"""Job S: how long until something happens, in whole processes; the minimum of several."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.options import Options
from benchmarks.report import Table, seconds_text
from benchmarks.workers import ROOT

FIRST_USE = [sys.executable, "-m", "benchmarks.ours.first_use"]
KINDS = {"quadratic": "quadratic, every step", "softmax": "softmax"}
COLD, WARM = 5.0, 0.7
"""Seconds allowed to the first use of a compiled loop, with an empty and with a filled cache."""


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    table = Table(title="S  start-up, whole processes", columns=["what", "seconds", "processor", "ours", "allowed"])
    runs = 3 if options.quick else 7
    bare = _fastest([sys.executable, "-c", "pass"], runs)
    _add(table, "python -c pass", bare, None)
    _add(table, "python -c 'import numpy'", _fastest([sys.executable, "-c", "import numpy"], runs), None)
    imported = _fastest([sys.executable, "-c", "import fltheory"], runs)
    _add(table, "import fltheory", imported._replace(ours=imported.seconds - bare.seconds), 0.15)
    script = shutil.which("fltheory", path=str(Path(sys.executable).parent))
    for words in (["--help"], ["list"]):
        if script:
            _add(table, f"fltheory {' '.join(words)}", _fastest([script, *words], runs), 0.35)
    caches = options.folder / "caches"
    trivial = [sys.executable, "-m", "benchmarks.peers.s_numba"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(caches / "trivial")}
    _add(table, "numba alone, one trivial loop, warm", _fastest(trivial, runs + 1, environment), None)
    _add(table, "quadratic, default", _first_use(["collapsed"], caches / "collapsed", runs=runs), WARM)
    names = _names(options)
    for kind, label in KINDS.items():
        cold, warm = {}, {}
        for name in names:
            # Every algorithm begins with an empty cache of its own.
            cold[name] = min(_first_use([kind, name], caches / kind / f"{name}-{turn}", runs=1) for turn in range(2))
            warm[name] = _first_use([kind, name], caches / kind / f"{name}-0", runs=3)
        for state, allowed, found in (("empty", COLD, cold), ("filled", WARM, warm)):
            for which, choose in (("fastest", min), ("slowest", max)):
                name = choose(found, key=lambda name: found[name].seconds)
                _add(table, f"{label}, {state} cache, {which} of {len(names)} ({name})", found[name], allowed)
            table.records += [_record(f"{kind}, {name}, {state} cache", used, allowed) for name, used in found.items()]
    table.notes.append("seconds: the whole process; processor: its user and system time, which others disturb less")
    table.notes.append("ours: from before the import of fltheory to the first result, without the interpreter")
    table.notes.append("allowed: checked against whole processes, except the import, which is net of the interpreter")
    return [table]


def _names(options: Options) -> list[str]:
    from fltheory.configuration import registry

    names = list(registry.algorithms())
    return names[::6] if options.quick else names


class Used(NamedTuple):
    """What one process took."""

    seconds: float
    processor: float
    ours: float | None = None


def _add(table: Table, label: str, used: Used, allowed: float | None) -> None:
    measured = used.ours if label == "import fltheory" and used.ours is not None else used.seconds
    verdict = "" if allowed is None else f"{'ok' if measured <= allowed else 'MISSED'}: {allowed:g} s"
    numbers = ["" if value is None else seconds_text(value) for value in used]
    table.rows.append([label, *numbers, verdict])
    table.records.append(_record(label, used, allowed))


def _record(label: str, used: Used, allowed: float | None) -> dict[str, Any]:
    return {"what": label, **used._asdict(), "allowed": allowed}


def _first_use(words: Sequence[str], cache: Path, *, runs: int) -> Used:
    """Return what the process takes, with compiled loops kept in ``cache``."""
    cache.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "FLTHEORY_CACHE_DIR": str(cache)}
    return _fastest([*FIRST_USE, *words], runs, environment, prints_ours=True)


def _fastest(
    command: Sequence[str], runs: int, environment: dict[str, str] | None = None, *, prints_ours: bool = False
) -> Used:
    found = []
    for _ in range(runs):
        before, began = os.times(), time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        seconds, after = time.perf_counter() - began, os.times()
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        found.append(Used(seconds, spent, float(done.stdout) if prints_ours else None))
    return min(found)
