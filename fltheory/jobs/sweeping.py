"""A grid of experiments: run, merged from shares, written down."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fltheory._internal import arguments
from fltheory._internal.executors import running_on
from fltheory._internal.files import remove, sole_writer, usable, write_text
from fltheory.configuration.toml_text import TomlText
from fltheory.jobs.progress import Progress, Silent
from fltheory.simulation.run_result import DONE, NOT_RUN
from fltheory.sweep import Grid, Limits, Run, Shard, Store, Swept, plan, sweep
from fltheory.sweep.grid import in_words
from fltheory.sweep.report import document, quantity, write_csv
from fltheory.sweep.shards import DATABASE, configuration_of, merge

FIGURES = ("figure.svg", "figure.png")


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SweepResult(Sequence[Run]):
    """What a grid of experiments has given; a sequence of its runs, point by point.

    Parameters
    ----------
    grid
        What was asked for.
    runs
        Every algorithm at every point, or at the points of one share.
    reused
        How many of them were there before.
    interrupted
        Whether the user stopped it.
    document
        Everything as plain JSON types.
    directory
        Where it was written, if it was.
    """

    grid: Grid
    runs: tuple[Run, ...]
    reused: int
    interrupted: bool
    document: dict[str, Any]
    directory: Path | None = None

    @property
    def failed(self) -> tuple[Run, ...]:
        """Runs that were begun and have no curves; each says why."""
        return tuple(run for run in self.runs if run.status not in (DONE, NOT_RUN))

    @property
    def missing(self) -> tuple[Run, ...]:
        """Runs that nobody has begun."""
        return tuple(run for run in self.runs if run.status == NOT_RUN)

    @property
    def ok(self) -> bool:
        """Whether every run has curves."""
        return all(run.done for run in self.runs)

    def __getitem__(self, place: Any) -> Any:
        return self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __repr__(self) -> str:
        return f"SweepResult({len(self)} runs, {len(self.failed)} failed, {len(self.missing)} not run)"


def run_sweep(
    source: str | Path,
    *,
    output: str | Path | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    shard: str | None = None,
    fresh: bool = False,
    retry_failed: bool = False,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    algorithms: Sequence[Path] = (),
    progress: Progress | None = None,
) -> SweepResult:
    """Run every algorithm of a configuration at every point of its grid.

    Parameters
    ----------
    source
        A file, or its text: a string with more than one line.
    output
        Folder for the database, the tables and the figure; what the same code has run before is taken from the
        database. ``None`` writes nothing.
    jobs
        Processes; results do not depend on it.
    executor
        Where to run instead: any :class:`concurrent.futures.Executor`, such as ``client.get_executor()`` of Dask.
    shard
        One share only, such as ``"3/16"``.
    fresh
        Run again what the same code has run before.
    retry_failed
        Run again what has failed by an error, a limit or a process that was ended.
    time_limit, memory_limit
        Seconds and megabytes that one run may take; one that takes more has failed, and the others go on.
    algorithms
        Folders with algorithms of your own.
    progress
        Is called with the progress.

    Returns
    -------
    SweepResult
        The runs, in the order of the grid.

    Examples
    --------
    >>> found = run_sweep('''
    ... rounds = 3
    ... engine = "exact"
    ... [problem]
    ... name = "noisy-quadratic"
    ... [participation]
    ... local_steps = 2
    ... [[algorithm]]
    ... name = "fedavg"
    ... rate = 0.1
    ... [sweep]
    ... problem.L = [2.0, 5.0]
    ... ''')
    >>> [(run.point, run.status) for run in found]
    [({'problem.L': 2.0}, 'done'), ({'problem.L': 5.0}, 'done')]
    """
    jobs = arguments.integer("sweep", "jobs", jobs, low=1)
    limits = Limits(_limit("time_limit", time_limit), _limit("memory_limit", memory_limit))
    share = None if shard is None else Shard.read(shard)
    grid = _grid(source, algorithms)
    directory = _opened(output)
    runs = plan(grid, share)
    told = progress or Silent()
    told.expect(len(runs))
    told.begin("running")

    def tell(run: Run) -> None:
        told.begin(f"{in_words(run.point)}: {run.label}")
        told.end(f"{run.status}, {run.seconds:.1f} s")

    with _alone_in(directory):
        with _store(directory) as store, running_on(executor):
            swept = sweep(
                grid,
                runs,
                store,
                jobs=jobs,
                fresh=fresh,
                retry=retry_failed,
                shard=share,
                limits=limits,
                report=tell,
            )
        return _written(grid, swept, directory)


def merge_sweeps(
    folders: Sequence[str | Path],
    *,
    source: str | Path | None = None,
    output: str | Path | None = None,
    algorithms: Sequence[Path] = (),
) -> SweepResult:
    """Put the shares of a sweep together, as if one call had run them all.

    Parameters
    ----------
    folders
        Folders with the shares.
    source
        The configuration; by default the one that the folders name.
    output
        Folder for the whole, which gets the results of all databases. ``None`` writes nothing.
    algorithms
        Folders with algorithms of your own.

    Returns
    -------
    SweepResult
        The runs of all shares, in the order of the grid.
    """
    if isinstance(folders, str | Path):
        raise arguments.fail("merge_sweeps", "folders", "a list of folders", folders, f"write [{str(folders)!r}]")
    places = [arguments.path("merge_sweeps", "folders", folder, "folder") for folder in folders]
    named = configuration_of(places)
    grid = _grid(named if source is None else source, algorithms)
    directory = _opened(output)
    runs = plan(grid)
    with _alone_in(directory):
        with _store(directory) as store:
            merge(places, store)
            known = store.recall(run.key for run in runs)
        found = [known.get(run.key, run) for run in runs]
        return _written(grid, Swept(found, len(known), False), directory)


def _grid(source: str | Path, algorithms: Sequence[Path]) -> Grid:
    if isinstance(source, str) and "\n" in source:
        folders = tuple(str(folder) for folder in algorithms)
        return Grid.read(TomlText(path="configuration", text=source, folders=folders))
    return Grid.load(arguments.path("sweep", "source", source, "file"), folders=algorithms)


def _limit(field: str, value: float | None) -> float | None:
    return None if value is None else arguments.real("sweep", field, value, low=0, open_low=True)


def _opened(output: str | Path | None) -> Path | None:
    """Return the folder for the results, tried out before anything is run."""
    if output is None:
        return None
    folder = arguments.path("sweep", "output", output, "folder")
    usable(folder, names=("summary.json", "sweep.csv", *FIGURES))
    return folder


def _alone_in(directory: Path | None) -> contextlib.AbstractContextManager[None]:
    """Keep others from sweeping into the same folder meanwhile: each would run everything."""
    return contextlib.nullcontext() if directory is None else sole_writer(directory)


def _store(directory: Path | None) -> Store:
    return Store(Path(":memory:") if directory is None else directory / DATABASE)


def _written(grid: Grid, swept: Swept, directory: Path | None) -> SweepResult:
    """Write tables and figure, and return the result."""
    title = grid.tables.get("title")
    drawn = [] if directory is None else _draw(grid, title, swept.runs, directory)
    summary = document(grid, title, swept, directory, drawn)
    if directory is not None:
        write_csv(grid, swept.runs, directory / "sweep.csv")
        write_text(directory / "summary.json", json.dumps(summary, indent=2, allow_nan=False) + "\n")
        remove(directory / name for name in FIGURES if directory / name not in drawn)
    return SweepResult(
        grid=grid,
        runs=tuple(swept.runs),
        reused=swept.reused,
        interrupted=swept.interrupted,
        document=summary,
        directory=directory,
    )


def _draw(grid: Grid, title: str | None, runs: Sequence[Run], directory: Path) -> list[Path]:
    """Draw final values against the first numeric parameter; a seed is one only if there is no other."""
    numeric = [axis for axis in grid.axes if axis.numeric and len(axis.values) > 1]
    done = [run for run in runs if run.done]
    if not numeric or not done:
        return []
    from fltheory import figures  # loads matplotlib
    from fltheory.figures.grid import Spot
    from fltheory.figures.grid import grid as draw

    against = min(numeric, key=lambda axis: axis.path[-1] == "seed")
    name = quantity(done)
    spots = [
        Spot(run.point, run.label, run.final[name]["mean"] or 0.0, run.final[name]["half_width"] or 0.0)
        for run in done
        if name in run.final
    ]
    figure = draw(spots, against=against.name, quantity=name, title=title, more="sweep.csv")
    return figures.save(figure, directory / "figure")
