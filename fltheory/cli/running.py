"""``fltheory run``: the experiments of one configuration file, their curves, figure and summary."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory._internal.files import remove, sole_writer, usable, write_json
from fltheory.cli.options import Algorithms
from fltheory.cli.output import labelled, shown, traced
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress, trace
from fltheory.simulation.run_result import LEVEL, NOT_RUN, Final, RunResult, final, run_experiment

if TYPE_CHECKING:
    from fltheory.configuration.experiments import Configuration

COLUMNS = {
    "distance²": "distance_sq",
    "gap": "gap",
    "gradient²": "gradient_norm_sq",
    "loss": "loss",
    "accuracy": "accuracy",
    "personal accuracy": "personal_accuracy",
}
"""Columns of the table that show the last value of a curve, if any run has recorded it."""


def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Configuration file in TOML; examples/ has some.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Directory for curves, figure and summary.", show_default="results/<name of the file>"),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Engine instead of the file's: monte_carlo, reference or exact.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed instead of the file's.")] = None,
    replicates: Annotated[int | None, typer.Option(help="Replicates instead of the file's.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads of the compiled engine.", show_default="all cores")
    ] = None,
    every_step: Annotated[
        bool, typer.Option("--every-step", help="Run every local step, even where whole rounds can be drawn at once.")
    ] = False,
    algorithms: Algorithms = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the summary to standard output as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing but errors.")] = False,
) -> None:
    """Run every algorithm of a configuration file and compare them."""
    from fltheory._internal import arguments
    from fltheory._internal.linear_algebra import one_thread
    from fltheory.configuration import experiments as files

    given: dict[str, Any] = {"engine": engine, "seed": seed, "replicates": replicates}
    with one_thread():
        configuration = dataclasses.replace(
            files.load(file, folders=algorithms or ()),
            **{name: value for name, value in given.items() if value is not None},
        )
    if threads is not None:
        arguments.integer("run", "threads", threads, low=1)
    directory = Path("results") / file.stem if output is None else output
    usable(directory, names=_files(configuration))
    with one_thread(), sole_writer(directory):
        results, interrupted = _results(configuration, directory, threads, not every_step, quiet)
        document = _summary(configuration, directory, results)
        if any(result.status != NOT_RUN for result in results) or not (directory / "summary.json").exists():
            _write(document, directory, configuration.title, results)
        if not interrupted:
            _remove_outdated(document, directory, configuration)
    for result in results:
        if result.error:
            trace(traced(result.error))
            complain(labelled(result.label, result.error))
    if as_json:
        typer.echo(json.dumps(document, indent=2, allow_nan=False))
    elif not quiet:
        _print(configuration, directory, results)
    if interrupted:
        complain("interrupted; what was finished is kept")
        raise typer.Exit(130)
    if any(result.error for result in results):
        raise typer.Exit(1)


def _files(configuration: Configuration) -> list[str]:
    """Return the names of all files that a run may write."""
    from fltheory.configuration.experiments import RESERVED, slug

    stems = (*RESERVED, *(slug(label) for label, _ in configuration.experiments))
    return [stem + suffix for stem in stems for suffix in (".npz", ".json", ".svg", ".png")]


def _curves_of(label: str) -> list[str]:
    """Return the names of the files with the curves of one experiment."""
    from fltheory.configuration.experiments import slug

    return [f"{slug(label)}{suffix}" for suffix in (".npz", ".json")]


def _results(
    configuration: Configuration, directory: Path, threads: int | None, collapse: bool, quiet: bool
) -> tuple[list[RunResult], bool]:
    """Run the experiments and save their curves as they come; return also whether the user lost patience."""
    from fltheory.jobs.unfinished import Unfinished, keys
    from fltheory.simulation.under_way import telling

    unfinished = Unfinished(directory, keys(configuration, collapse=collapse))
    results: list[RunResult] = []
    with progress(len(configuration.experiments), quiet=quiet) as report:
        for which, (label, experiment) in enumerate(configuration.experiments):
            report.begin(label)
            try:
                result = unfinished.recall(which, label)
                if result is None:
                    with telling(report.share):
                        result = run_experiment(
                            label,
                            experiment,
                            engine=configuration.engine,
                            seed=configuration.seed,
                            replicates=configuration.replicates,
                            threads=threads,
                            record=configuration.record,
                            collapse=collapse,
                            checkpoint=unfinished.checkpoint(which, label),
                        )
                    unfinished.keep(which, result)
            except KeyboardInterrupt:
                left = configuration.experiments[len(results) :]
                return [*results, *(RunResult(other, 0.0, status=NOT_RUN) for other, _ in left)], True
            results.append(result)
            report.end(f"{result.status}, {result.seconds:.1f} s")
    unfinished.end()
    return results, False


def _summary(configuration: Configuration, directory: Path, results: list[RunResult]) -> dict[str, Any]:
    from fltheory._internal.provenance import commit, versions

    entries: list[dict[str, Any]] = []
    for result in results:
        entry: dict[str, Any] = {"label": result.label, "status": result.status, "seconds": round(result.seconds, 3)}
        entry["error"] = result.error or None
        if result.trajectories is not None:
            entry["algorithm"] = result.trajectories.algorithm
            entry["exact"] = result.trajectories.exact
            entry["method"] = result.trajectories.method
            entry["final"] = final(result.trajectories)
            entry["files"] = _curves_of(result.label)
        entries.append(entry)
    return {
        "configuration": configuration.path,
        "title": configuration.title,
        "engine": configuration.engine,
        "seed": configuration.seed,
        "replicates": configuration.replicates,
        "rounds": configuration.experiments[0][1].rounds,
        "level": LEVEL,
        "output": str(directory),
        "results": entries,
        "figures": ["figure.svg", "figure.png"] if any(result.trajectories for result in results) else [],
        "versions": dict(versions(*configuration.experiments[0][1].problem.packages)),
        "commit": commit(),
    }


def _write(document: dict[str, Any], directory: Path, title: str | None, results: list[RunResult]) -> None:
    curves = [(result.label, result.trajectories) for result in results if result.trajectories is not None]
    if curves:
        from fltheory import figures

        figures.save(figures.comparison(curves, title=title, level=LEVEL), directory / "figure")
    write_json(directory / "summary.json", document)


def _remove_outdated(document: dict[str, Any], directory: Path, configuration: Configuration) -> None:
    """Remove what an earlier run has left of experiments that failed in this one, which is complete."""
    listed = (entry.get("files", []) for entry in document["results"])
    current = {"summary.json", *document["figures"], *(name for names in listed for name in names)}
    remove(directory / name for name in _files(configuration) if name not in current)


def _print(configuration: Configuration, directory: Path, results: list[RunResult]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rounds = configuration.experiments[0][1].rounds
    heading = f"{configuration.title or Path(configuration.path).stem}: after {rounds} rounds, {configuration.engine}"
    table = Table(title=Text(heading), title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    recorded = {name for result in results if result.trajectories is not None for name in result.trajectories.curves()}
    columns = {title: name for title, name in COLUMNS.items() if name in recorded}
    for column in ("algorithm", *columns, "bits", "seconds", "status"):
        table.add_column(column, justify="left" if column in ("algorithm", "status") else "right")
    for result in results:
        cells = ["-"] * (len(columns) + 1)
        if result.trajectories is not None:
            last = final(result.trajectories)
            cells = [_cell(last, name) for name in columns.values()]
            cells.append(shown(sum(last[name]["mean"] or 0.0 for name in ("uplink_bits", "downlink_bits")), None))
        table.add_row(Text(result.label), *cells, f"{result.seconds:.2f}", result.status)
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(table)
    band = f"± is half the width of a {LEVEL:.0%} band for all rounds at once. " if _banded(results) else ""
    console.print(Text(f"{band}Results are in {directory}."), soft_wrap=True)


def _cell(last: Final, name: str) -> str:
    return shown(last[name]["mean"], last[name]["half_width"]) if name in last else "-"


def _banded(results: list[RunResult]) -> bool:
    """Return whether a band is shown: expectations are exact, and one replicate has none."""
    runs = [result.trajectories for result in results if result.trajectories is not None]
    return any(not run.exact and run.replicates > 1 for run in runs)
