"""Sweeps of points that cost next to nothing, so that what is left is the price of a point; used by Job O.

Run as a program in a session of its own: ``python -m benchmarks.ours.points BACKEND JOBS SIZE...`` prints, for every
size, the seconds and the processor seconds of all processes together; with ``memory`` as backend, the resident bytes of
the driver along one sweep.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import fltheory as fl
from fltheory._internal.executors import chosen

GRID = """
rounds = 1
replicates = 1
[problem]
name = "noisy-quadratic"
dim = 2
num_clients = 2
[participation]
local_steps = 1
[[algorithm]]
name = "fedavg"
rate = 0.05
[sweep]
seed = {seeds}
"""


class Watch:
    """Notes the processor time of all processes, or the driver's memory, as runs are finished."""

    def __init__(self, *, memory: bool) -> None:
        self.memory = memory
        self.runs = self.done = 0
        self.noted: dict[int, float] = {}
        self._before = processor_times()

    def expect(self, parts: int) -> None:
        self.runs = parts

    def begin(self, label: str) -> None:
        pass

    def end(self, outcome: str) -> None:
        self.done += 1
        if self.memory and self.done in (100, 1000, 2000, 5000, 10_000):
            self.noted[self.done] = resident()
        if not self.memory and self.done == self.runs:
            now = processor_times()  # while all processes live
            self.noted[self.done] = sum(now.values()) - sum(self._before.get(place, 0.0) for place in now)


def processor_times() -> dict[str, float]:
    """Return the processor seconds of every process of this session."""
    session, tick = os.getsid(0), os.sysconf("SC_CLK_TCK")
    found = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found[str(place)] = (int(fields[11]) + int(fields[12])) / tick
    return found


def resident() -> float:
    """Return the bytes of this process that are in memory."""
    return float(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))


def main(backend: str, jobs: int, sizes: list[int]) -> None:
    """Print one JSON object per size."""
    memory = backend == "memory"
    with chosen("processes" if memory else backend, jobs=jobs) as executor, tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate([20, *sizes]):  # the first one loads everything
            grid, watch, begin = GRID.format(seeds=list(range(size))), Watch(memory=memory), time.perf_counter()
            out = Path(folder, str(number))
            found = fl.run_sweep(grid, output=out, jobs=jobs, executor=executor, progress=watch)
            seconds = time.perf_counter() - begin
            assert found.ok
            if number:
                print(json.dumps({"points": size, "seconds": seconds, "noted": watch.noted}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(size) for size in sys.argv[3:]])
