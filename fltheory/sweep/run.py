"""Running what has not been run yet, on all cores, keeping each result as it comes."""

from __future__ import annotations

import dataclasses
import functools
import os
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

from fltheory._internal import executors, provenance
from fltheory._internal.limits import within
from fltheory._internal.processes import in_processes
from fltheory.configuration.experiments import Configuration
from fltheory.configuration.toml_text import TomlText
from fltheory.errors import TimeLimit, WorkerLost
from fltheory.simulation.run_result import ACCIDENTAL, FAILED, TOO_LARGE, TOO_SLOW, final, run_experiment, unexpected
from fltheory.sweep.grid import Grid
from fltheory.sweep.keys import key_of
from fltheory.sweep.shards import Shard
from fltheory.sweep.store import Run, Store

OTHER_CODE = "this worker has another version of fltheory or of NumPy, SciPy or numba; install the same everywhere"
NO_MEMORY = "more memory than there is, or than the memory limit allows; raise the limit, or lower replicates or rounds"


class Limits(NamedTuple):
    """What one run may take: seconds by the clock, and megabytes; ``None`` is no limit."""

    seconds: float | None = None
    megabytes: float | None = None


NO_LIMITS = Limits()


class Job(NamedTuple):
    """What all runs of a sweep have in common.

    Parameters
    ----------
    source
        The file.
    code
        State of the code that plans the sweep; workers with another one refuse.
    threads
        Threads of the compiled engine; ``None`` is all cores.
    limits
        For every run.
    token
        Differs from sweep to sweep: a worker that lives on reads data files anew for the next one.
    """

    source: TomlText
    code: str
    threads: int | None
    limits: Limits
    token: str


class Swept(NamedTuple):
    """All runs of a grid in its order, how many of them were there before, and whether the user interrupted."""

    runs: list[Run]
    reused: int
    interrupted: bool


def plan(grid: Grid, shard: Shard | None = None) -> list[Run]:
    """Return everything that the grid asks for, or one share of it, not run yet.

    Runs of one point stand together, in the order of the algorithms in the file. Every mistake at any of the points is
    raised here.
    """
    runs = []
    for index in _indices(grid, shard):
        tables, configuration = grid.at(index)
        point = grid.point(index)
        for which, (label, experiment) in enumerate(configuration.experiments):
            runs.append(
                Run(
                    key=key_of(tables, configuration, which),
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
    retry: bool = False,
    shard: Shard | None = None,
    limits: Limits = NO_LIMITS,
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
    retry
        Try again what has failed without the algorithm being to blame: errors, limits, processes that were ended.
    shard
        The share for which ``runs`` were planned.
    limits
        For every run.
    report
        Called with every run as it is finished.
    """
    known = {} if fresh else store.recall(run.key for run in runs)
    done: dict[int, Run] = {}
    renamed = []
    for place, run in enumerate(runs):
        before = known.get(run.key)
        # Lack of memory says something about the computer at that time, so it is worth another try.
        if before is None or before.status == TOO_LARGE or (retry and before.status in ACCIDENTAL):
            continue
        done[place] = dataclasses.replace(before, point=run.point, label=run.label)
        if done[place] != before:
            renamed.append(done[place])
    store.keep(renamed)
    reused = len(done)
    left = [place for place in range(len(runs)) if place not in done]
    jobs = max(min(jobs, len(left)), 1)
    indices = _indices(grid, shard)
    algorithms = len(runs) // max(len(indices), 1)
    remote = executors.current() is not None
    job = Job(
        source=_absolute(grid.source) if remote else grid.source,
        code=provenance.code(),
        threads=None if jobs == 1 and not remote else 1,
        limits=limits,
        token=secrets.token_hex(8),
    )
    tasks = [(job, place, indices[place // algorithms], place % algorithms) for place in left]
    interrupted = False
    try:
        for place, result in in_processes(tasks, _work, jobs, lost=_lost, apart=limits.megabytes is not None):
            done[place] = dataclasses.replace(runs[place], **result)
            store.keep([done[place]])
            report(done[place])
    except KeyboardInterrupt:
        interrupted = True
    return Swept([done.get(place, run) for place, run in enumerate(runs)], reused, interrupted)


def _indices(grid: Grid, shard: Shard | None) -> list[int]:
    return [index for index in range(len(grid)) if shard is None or shard.has(index)]


def _absolute(source: TomlText) -> TomlText:
    """Return a file whose folders are found from anywhere: workers elsewhere have another current folder."""
    folders = tuple(os.path.abspath(folder) for folder in source.folders)
    return dataclasses.replace(source, path=os.path.abspath(source.path), folders=folders)


@functools.lru_cache(maxsize=1)
def _configuration(job: Job, index: int) -> Configuration:
    """Return the configuration of a point; the algorithms of one are mostly run one after the other."""
    return _grid(job).at(index)[1]


@functools.lru_cache(maxsize=1)
def _grid(job: Job) -> Grid:
    """Return the grid of a sweep, which reads data once in every process."""
    return Grid.read(job.source)


def _work(job: Job, place: int, index: int, which: int) -> tuple[int, dict[str, Any]]:
    """Run one algorithm at one point; return its place and what is now known about it."""
    if provenance.code() != job.code:
        return place, {"status": FAILED, "error": OTHER_CODE, **_origin()}
    try:
        with within(*job.limits):
            return place, _outcome(job, index, which)
    except TimeLimit as error:
        return place, {"status": TOO_SLOW, "error": str(error), **_origin()}
    except MemoryError:
        return place, {"status": TOO_LARGE, "error": NO_MEMORY, **_origin()}
    except (Exception, SystemExit) as error:  # one run that goes wrong in an unexpected way must not cost the others
        return place, {"status": FAILED, "error": unexpected(error), **_origin()}


def _lost(_: Job, place: int, *__: Any) -> tuple[int, dict[str, Any]]:
    """Return what is known about a run that has ended its process; the next call tries it again."""
    return place, {"status": TOO_LARGE, "error": str(WorkerLost()), **_origin()}


def _origin(*packages: str) -> dict[str, Any]:
    return {
        "versions": dict(provenance.versions(*packages)),
        "commit": provenance.commit(),
        "time": provenance.now(),
    }


def _outcome(job: Job, index: int, which: int) -> dict[str, Any]:
    configuration = _configuration(job, index)
    label, experiment = configuration.experiments[which]
    result = run_experiment(
        label,
        experiment,
        engine=configuration.engine,
        seed=configuration.seed,
        replicates=configuration.replicates,
        record=configuration.record,
        threads=job.threads,
    )
    return {
        "status": result.status,
        "error": result.error,
        "final": {} if result.trajectories is None else final(result.trajectories),
        "seconds": round(result.seconds, 3),
        **_origin(*experiment.problem.packages),
    }
