"""The tools as persistent processes, driven in turns so that a slow minute of the machine hits all of them."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.agreement import Estimate

ROOT = Path(__file__).resolve().parents[1]

BRIEF = 0.1
"""A job shorter than this many seconds is run several times in its turn, since it follows on longer ones."""

LONG = 20.0
"""A tool that has used this many seconds in total is not run again once it has had two turns."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One row of a table: a module, its settings, and what to ask of it.

    Tools with equal module and settings share a process.

    Parameters
    ----------
    label
        Name in the table.
    module
        Module below ``benchmarks``, such as ``peers.q_jax``.
    settings
        Arguments of the module's ``prepare``.
    request
        Arguments of every run besides the seed.
    """

    label: str
    module: str
    settings: Mapping[str, Any]
    request: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_peer(self) -> bool:
        """Whether the tool runs in the interpreter of the peers."""
        return self.module.startswith("peers.")


@dataclass(kw_only=True)
class Measured:
    """What was measured of one tool."""

    tool: Tool
    seconds: list[float] = field(default_factory=list)
    statistics: list[dict[str, Estimate]] = field(default_factory=list)
    import_seconds: float = math.nan
    prepare_seconds: float = math.nan
    peak_bytes: int | None = None
    versions: dict[str, str] = field(default_factory=dict)
    note: str = ""
    failure: str = ""

    @property
    def best(self) -> float:
        """The smallest number of seconds, or NaN if the tool did not run."""
        return min(self.seconds, default=math.nan)

    def pooled(self) -> dict[str, Estimate]:
        """Return the statistics averaged over all runs; runs have different seeds."""
        names = self.statistics[0] if self.statistics else {}
        return {name: Estimate.pooled([run[name] for run in self.statistics]) for name in names}


class Worker:
    """A process that serves one module with one choice of settings."""

    def __init__(self, python: str, module: str, settings: Mapping[str, Any]) -> None:
        # A file, not a pipe: nobody reads it while the tool runs, and a full pipe would stop the tool.
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        command = [python, "-m", "benchmarks.serve", f"benchmarks.{module}", json.dumps(dict(settings))]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        self.greeting = self._read()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Run the job once and return the answer; ``error`` in it says why there is none."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"error": self._last_words()}
        return self._read()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return {"error": self._last_words()}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._log.seek(0)
        lines = [line.strip() for line in self._log if line.strip()]
        return lines[-1] if lines else f"the process ended with code {self._process.returncode}"


@contextlib.contextmanager
def started(tools: Sequence[Tool], peers_python: str) -> Iterator[dict[str, Worker]]:
    """Start one process per module and settings; the keys are the labels of the tools."""
    processes: dict[str, Worker] = {}
    by_label: dict[str, Worker] = {}
    try:
        for tool in tools:
            key = json.dumps([tool.module, dict(tool.settings)], sort_keys=True)
            if key not in processes:
                python = peers_python if tool.is_peer else sys.executable
                processes[key] = Worker(python, tool.module, tool.settings)
            by_label[tool.label] = processes[key]
        yield by_label
    finally:
        for worker in processes.values():
            worker.close()


def interleaved(tools: Sequence[Tool], *, repetitions: int, peers_python: str) -> list[Measured]:
    """Measure all tools in turns: first run of every tool, second run of every tool, and so on."""
    measured = [Measured(tool=tool) for tool in tools]
    with started(tools, peers_python) as workers:
        for entry in measured:
            _greet(entry, workers[entry.tool.label].greeting)
        for turn in range(repetitions):
            for entry in measured:
                if not entry.failure and (turn < 2 or sum(entry.seconds) < LONG):
                    _take_turn(entry, workers[entry.tool.label])
    return measured


def _greet(entry: Measured, greeting: dict[str, Any]) -> None:
    if "missing" in greeting:
        entry.failure = f"not installed ({greeting['missing']}): pip install -r benchmarks/requirements.txt"
    elif "error" in greeting:
        entry.failure = greeting["error"]
    else:
        entry.import_seconds, entry.prepare_seconds = greeting["import_seconds"], greeting["prepare_seconds"]
        entry.versions = greeting["versions"]


def _take_turn(entry: Measured, worker: Worker) -> None:
    for _ in range(5 if entry.best < BRIEF else 1):
        answer = worker.ask(seed=len(entry.seconds), **entry.tool.request)
        if "error" in answer:
            entry.failure = answer["error"]
            return
        entry.seconds.append(answer["seconds"])
        entry.statistics.append({name: Estimate(*pair) for name, pair in answer["statistics"].items()})
        entry.peak_bytes, entry.note = answer["peak_bytes"], answer["note"]
