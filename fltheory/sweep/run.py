"""Running what has not been run yet, on all cores, keeping each result as it comes."""

from __future__ import annotations

import dataclasses
import datetime
import errno
import functools
import hashlib
import json
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from fltheory import provenance
from fltheory.configuration import Configuration
from fltheory.processes import in_processes
from fltheory.results import TOO_LARGE, attempt, final
from fltheory.source import Source
from fltheory.sweep.grid import Grid
from fltheory.sweep.store import Run, Store

_DECIDING = ("rounds", "problem", "participation", "record")


class Swept(NamedTuple):
    """All runs of a grid in its order, how many of them were there before, and whether the user interrupted."""

    runs: list[Run]
    reused: int
    interrupted: bool


def plan(grid: Grid) -> list[Run]:
    """Return everything that the grid asks for, not run yet; every mistake at any point is raised here.

    Runs of one point stand together, in the order of the algorithms in the file.
    """
    runs = []
    for index in range(len(grid)):
        tables, configuration = grid.at(index)
        point = grid.point(index)
        for which, (label, experiment) in enumerate(configuration.experiments):
            runs.append(
                Run(
                    key=_key(tables, configuration, which),
                    point=point,
                    label=label,
                    algorithm=experiment.algorithm.title,
                    engine=configuration.engine,
                    seed=configuration.seed,
                    replicates=configuration.replicates,
                )
            )
    return runs


def sweep(
    grid: Grid,
    runs: list[Run],
    store: Store,
    *,
    jobs: int = 1,
    fresh: bool = False,
    report: Callable[[Run], None] = lambda run: None,
) -> Swept:
    """Run what the store does not have yet, or everything if ``fresh`` is set.

    Parameters
    ----------
    grid, runs
        A grid and what :func:`plan` returns for it.
    store
        Where results are kept, each as soon as it is there.
    jobs
        Processes; results do not depend on it. With several of them each uses one thread.
    report
        Called with every run as it is finished.
    """
    known = {} if fresh else store.recall(run.key for run in runs)
    done: dict[int, Run] = {}
    renamed = []
    for place, run in enumerate(runs):
        before = known.get(run.key)
        # Lack of memory says something about the computer at that time, so it is worth another try.
        if before is None or before.status == TOO_LARGE:
            continue
        done[place] = dataclasses.replace(before, point=run.point, label=run.label)
        if done[place] != before:
            renamed.append(done[place])
    store.keep(renamed)
    reused = len(done)
    left = [place for place in range(len(runs)) if place not in done]
    jobs = max(min(jobs, len(left)), 1)
    algorithms = len(runs) // len(grid)
    tasks = [(grid.source, place, *divmod(place, algorithms), None if jobs == 1 else 1) for place in left]
    interrupted = False
    try:
        for place, outcome in in_processes(tasks, _work, jobs):
            done[place] = dataclasses.replace(runs[place], **outcome)
            store.keep([done[place]])
            report(done[place])
    except KeyboardInterrupt:
        interrupted = True
    except BrokenProcessPool as error:
        lost = "a process was ended from outside, perhaps for lack of memory; what was finished is kept, try fewer jobs"
        raise OSError(errno.ENOMEM, lost) from error
    return Swept([done.get(place, run) for place, run in enumerate(runs)], reused, interrupted)


def _key(tables: dict[str, Any], configuration: Configuration, which: int) -> str:
    """Return a digest of everything that decides the result of one algorithm; titles and labels do not."""
    algorithm = {name: value for name, value in tables["algorithm"][which].items() if name != "label"}
    deciding = {
        "tables": {name: tables[name] for name in _DECIDING if name in tables},
        "algorithm": algorithm,
        "engine": configuration.engine,
        "seed": configuration.seed,
        "replicates": configuration.replicates,
        "code": provenance.code(),
    }
    return hashlib.sha256(json.dumps(deciding, sort_keys=True, default=str).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def _configuration(source: Source, index: int) -> Configuration:
    """Return the configuration of a point; the algorithms of one are mostly run one after the other."""
    return _grid(source).at(index)[1]


@functools.lru_cache(maxsize=1)
def _grid(source: Source) -> Grid:
    return Grid.read(source)


def _work(source: Source, place: int, index: int, which: int, threads: int | None) -> tuple[int, dict[str, Any]]:
    """Run one algorithm at one point; return its place and what is now known about it."""
    configuration = _configuration(source, index)
    label, experiment = configuration.experiments[which]
    result = attempt(
        label,
        experiment,
        engine=configuration.engine,
        seed=configuration.seed,
        replicates=configuration.replicates,
        record=configuration.record,
        threads=threads,
    )
    return place, {
        "status": result.status,
        "error": result.error,
        "final": {} if result.trajectories is None else final(result.trajectories),
        "seconds": round(result.seconds, 3),
        "versions": dict(provenance.versions(*experiment.problem.packages)),
        "commit": provenance.commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
