"""``fltheory sweep``: a grid of experiments from one configuration file, gone on with where it was left."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fltheory.cli.options import Address, Algorithms, AsJson, Backend, Jobs, Quiet, cores
from fltheory.cli.output import labelled, shown, traced
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress, trace
from fltheory.errors import InvalidParameter
from fltheory.simulation.run_result import LEVEL

if TYPE_CHECKING:
    from fltheory.jobs.sweeping import SweepResult

ROWS = 40
"""Most rows of the table on the terminal."""


def sweep(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Configuration file in TOML with a table [sweep] of lists; with --merge, the folders of the shares.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the database, the tables and the figure.", show_default="results/<name of the file>"
        ),
    ] = None,
    jobs: Jobs = None,
    backend: Backend = "processes",
    address: Address = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Run one of N shares, such as 3/16, into a directory of its own."),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge the results of shares instead of running anything.")
    ] = False,
    slurm: Annotated[
        int | None, typer.Option(metavar="N", help="Print a job script of Slurm with N shares, and run nothing.")
    ] = None,
    algorithms: Algorithms = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything again, also what the same code has run before.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what has failed by an error, a limit or a lost process.")
    ] = False,
    time_limit: Annotated[float | None, typer.Option(metavar="SECONDS", help="Limit on the time of one run.")] = None,
    memory_limit: Annotated[float | None, typer.Option(metavar="MB", help="Limit on the memory of one run.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run every algorithm of a file at every point of its grid; what was run before is not run again."""
    from fltheory._internal.processes import one_thread_each

    with one_thread_each():  # as in the processes of --jobs, so that no digit depends on their number
        from fltheory._internal import arguments
    from fltheory._internal.executors import chosen
    from fltheory.jobs.sweeping import merge_sweeps, run_sweep
    from fltheory.sweep.shards import Shard, configuration_of

    jobs = cores() if jobs is None else arguments.integer("sweep", "jobs", jobs, low=1)
    if merge:
        output = _folder(configuration_of(paths)) if output is None else output
        swept = merge_sweeps(paths, output=output, algorithms=algorithms or ())
    else:
        if len(paths) > 1:
            raise InvalidParameter(f"sweep takes one file, got {len(paths)}; several folders are merged with --merge")
        file = paths[0]
        if slurm is not None:
            _print_script(file, slurm, output, algorithms or (), time_limit, memory_limit)
            return
        if output is None:
            output = _folder(file) if shard is None else _folder(file) / Shard.read(shard).folder
        with (
            chosen(backend, address=address, jobs=jobs) as executor,
            progress(quiet=quiet or as_json) as report,
        ):
            swept = run_sweep(
                file,
                output=output,
                jobs=jobs,
                executor=executor,
                shard=shard,
                fresh=fresh,
                retry_failed=retry_failed,
                time_limit=time_limit,
                memory_limit=memory_limit,
                algorithms=algorithms or (),
                progress=report,
            )
    if as_json:
        typer.echo(json.dumps(swept.document, indent=2, allow_nan=False))
    elif not quiet:
        _print(swept, output)
    _end(swept)


def _folder(file: Path) -> Path:
    return Path("results") / file.stem


def _print_script(
    file: Path,
    shares: int,
    output: Path | None,
    algorithms: Sequence[Path],
    time_limit: float | None,
    memory_limit: float | None,
) -> None:
    """Print a job script, after a look at the file."""
    from fltheory.sweep import Grid
    from fltheory.sweep.shards import slurm_script

    Grid.load(file, folders=algorithms)
    options = [part for folder in algorithms for part in ("--algorithms", str(folder))]
    for name, limit in (("--time-limit", time_limit), ("--memory-limit", memory_limit)):
        options += [name, f"{limit:g}"] if limit is not None else []
    typer.echo(slurm_script(file, shares, output=output or _folder(file), options=options), nl=False)


def _end(swept: SweepResult) -> None:
    """Say what is not done, and end with the exit code for it."""
    from fltheory.sweep.grid import in_words

    left = len(swept.missing)
    if swept.interrupted:
        complain(f"interrupted; what was finished is kept, {left} of {len(swept)} runs are left for the next call")
        raise typer.Exit(130)
    if swept.failed:
        first = swept.failed[0]
        trace(traced(first.error))
        complain(
            f"{len(swept.failed)} of {len(swept)} runs failed, the first at {in_words(first.point)}: "
            + labelled(first.label, first.error)
        )
    if left:
        complain(
            f"{left} of {len(swept)} runs are in none of the shares; run the shares that are missing, or all that is "
            f"left with: fltheory sweep {swept.grid.source.path}"
        )
    if not swept.ok:
        raise typer.Exit(1)


def _print(swept: SweepResult, directory: Path) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fltheory.sweep.grid import shown as as_written
    from fltheory.sweep.report import best, quantity

    grid = swept.grid
    title = grid.tables.get("title") or Path(grid.source.path).stem
    name = quantity(swept.runs)
    heading = f"{title}: {swept.document['points']} points, {len(swept.runs)} runs"
    table = Table(title=Text(heading), title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for axis in grid.axes:
        table.add_column(Text(axis.name), justify="right" if axis.numeric else "left")
    for column in ("algorithm", f"last {name}", "", "seconds", "status"):
        table.add_column(column, justify="right" if column in (f"last {name}", "seconds") else "left")
    marks = best(swept.runs)
    for run, mark in list(zip(swept.runs, marks, strict=True))[:ROWS]:
        last = run.final.get(name)
        value = "-" if last is None else shown(last["mean"], last["half_width"])
        point = [Text(as_written(value)) for value in run.point.values()]
        table.add_row(*point, Text(run.label), value, "*" if mark else "", f"{run.seconds:.2f}", run.status)
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(table)
    notes = []
    if len(swept.runs) > ROWS:
        notes.append(f"{len(swept.runs) - ROWS} more rows are in {directory / 'sweep.csv'}.")
    if any(marks):
        notes.append(f"* is the smallest last {name} of its point, or cannot be distinguished from it by the bands.")
    if any(last["half_width"] for run in swept.runs for last in run.final.values()):
        notes.append(f"± is half the width of a {LEVEL:.0%} band for all rounds at once.")
    if swept.reused:
        notes.append(f"{swept.reused} of {len(swept.runs)} runs were there before; --fresh runs them again.")
    console.print(Text(" ".join([*notes, f"Results are in {directory}."])), soft_wrap=True)
