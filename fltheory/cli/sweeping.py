"""``fltheory sweep``: a grid of experiments from one configuration file, gone on with where it was left."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fltheory.cli.options import AsJson, Jobs, Quiet, cores
from fltheory.cli.output import prepare, shown
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress
from fltheory.results import DONE, LEVEL, NOT_RUN

if TYPE_CHECKING:
    from fltheory.sweep import Grid, Run, Swept

ROWS = 40
"""Most rows of the table on the terminal."""

FIGURES = ("figure.svg", "figure.png")


def sweep(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Configuration file in TOML with a table [sweep] of lists.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the database, the tables and the figure.", show_default="results/<name of the file>"
        ),
    ] = None,
    jobs: Jobs = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything again, also what the same code has run before.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run every algorithm of a file at every point of its grid; what was run before is not run again."""
    from fltheory.processes import one_thread_each

    with one_thread_each():  # as in the processes of --jobs, so that no digit depends on their number
        from fltheory import checks
    from fltheory.sweep import Grid, Store, plan
    from fltheory.sweep import sweep as run_all
    from fltheory.sweep.grid import in_words
    from fltheory.sweep.report import document, write_csv

    jobs = cores() if jobs is None else checks.integer("sweep", "jobs", jobs, low=1)
    grid = Grid.load(file)
    runs = plan(grid)
    directory = Path("results") / file.stem if output is None else output
    prepare(directory, ("summary.json", "sweep.csv", *FIGURES))
    with Store(directory / "sweep.sqlite") as store, progress(len(runs), quiet=quiet or as_json) as report:
        report.begin("running")

        def tell(run: Run) -> None:
            report.begin(f"{in_words(run.point)}: {run.label}")
            report.end(f"{run.status}, {run.seconds:.1f} s")

        swept = run_all(grid, runs, store, jobs=jobs, fresh=fresh, report=tell)
    title = grid.tables.get("title")
    drawn = _draw(grid, title, swept.runs, directory)
    summary = document(grid, title, swept, directory, drawn)
    write_csv(grid, swept.runs, directory / "sweep.csv")
    text = json.dumps(summary, indent=2, allow_nan=False)
    (directory / "summary.json").write_text(text + "\n", encoding="utf-8")
    if as_json:
        typer.echo(text)
    elif not quiet:
        _print(title or file.stem, grid, swept, directory)
    if swept.interrupted:
        left = sum(run.status == NOT_RUN for run in swept.runs)
        complain(f"interrupted; what was finished is kept, {left} of {len(runs)} runs are left for the next call")
        raise typer.Exit(130)
    failed = [run for run in swept.runs if run.status != DONE]
    if failed:
        first = failed[0]
        complain(
            f"{len(failed)} of {len(runs)} runs failed, the first at {in_words(first.point)}: "
            + (first.error if first.error.startswith(first.label) else f"{first.label}: {first.error}")
        )
        raise typer.Exit(1)


def _draw(grid: Grid, title: str | None, runs: Sequence[Run], directory: Path) -> list[Path]:
    """Draw final values against the first numeric parameter; a seed is one only if there is no other."""
    from fltheory.sweep.report import quantity

    numeric = [axis for axis in grid.axes if axis.numeric and len(axis.values) > 1]
    done = [run for run in runs if run.status == DONE]
    if not numeric or not done:
        return []
    from fltheory import figures
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


def _print(title: str, grid: Grid, swept: Swept, directory: Path) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fltheory.sweep.grid import shown as as_written
    from fltheory.sweep.report import best, quantity

    name = quantity(swept.runs)
    heading = f"{title}: {len(grid)} points, {len(swept.runs)} runs"
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
        notes.append(f"* is the smallest last {name} of its point, or not told from it by the bands.")
    if any(last["half_width"] for run in swept.runs for last in run.final.values()):
        notes.append(f"± is half the width of a {LEVEL:.0%} band for all rounds at once.")
    if swept.reused:
        notes.append(f"{swept.reused} of {len(swept.runs)} runs were there before; --fresh runs them again.")
    console.print(Text(" ".join([*notes, f"Results are in {directory}."])), soft_wrap=True)
