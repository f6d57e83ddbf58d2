"""``fltheory tune``: which step sizes the algorithms of a configuration file should have."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory._internal.files import sole_writer, usable, write_json
from fltheory.cli.options import Algorithms, Claims, Quiet
from fltheory.cli.output import labelled, traced
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress, trace
from fltheory.errors import FltheoryError
from fltheory.simulation.run_result import unexpected

if TYPE_CHECKING:
    from fltheory.configuration.experiments import Configuration
    from fltheory.jobs.step_sizes import StepSizes

SUMMARY = "step-sizes.json"
"""File with everything that was found."""


def tune(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Configuration file in TOML, as for run; rates may be missing.", show_default=False
        ),
    ],
    accuracy: Annotated[
        float | None,
        typer.Option(help="Gap that is to be reached.", show_default="a hundredth of the gap at the start"),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(
            help="Rounds after which the accuracy counts as not reached.",
            show_default="ten times those of the file for exact runs, else those of the file",
        ),
    ] = None,
    server: Annotated[
        bool,
        typer.Option(
            "--server/--no-server", help="Look for the best server rate as well, for algorithms that have one."
        ),
    ] = True,
    output: Annotated[
        Path | None, typer.Option(help=f"Directory for {SUMMARY} and one figure per algorithm.", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed instead of the file's.")] = None,
    replicates: Annotated[int | None, typer.Option(help="Replicates instead of the file's.")] = None,
    algorithms: Algorithms = None,
    claims: Claims = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write everything to standard output as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Choose step sizes: largest stable rate, best rates, those of the theorems, and what each of them costs."""
    from fltheory._internal.linear_algebra import one_thread
    from fltheory.configuration import experiments as files
    from fltheory.simulation.schedules import Constant

    missing = Constant(value=1.0)
    with one_thread():
        configuration = files.load(file, folders=algorithms or (), default_rate=missing)
    options: dict[str, Any] = {
        "accuracy": accuracy,
        "longest": longest,
        "seed": configuration.seed if seed is None else seed,
        "replicates": configuration.replicates if replicates is None else replicates,
        "claims": claims or (),
    }
    if not server:
        options["server_rates"] = ()
    if output is not None:
        usable(output, names=_files(configuration))
    found, errors = _found(configuration, missing, options, quiet=quiet)
    document = {
        "configuration": configuration.path,
        "title": configuration.title,
        "results": [one.as_json() for one in found],
        "errors": errors,
    }
    if output is not None:
        _write(document, found, output)
    for label, error in errors.items():
        trace(traced(error))
        complain(labelled(label, error))
    if as_json:
        typer.echo(json.dumps(document, indent=2, allow_nan=False))
    elif not quiet:
        by_label = {one.label: one for one in found}
        for label, _ in configuration.experiments:
            if label in by_label:
                _print(by_label[label])
            else:
                typer.echo(f"{label}: nothing found: {errors[label].splitlines()[0]}")
    if errors:
        raise typer.Exit(1)


def _found(
    configuration: Configuration, missing: object, options: dict[str, Any], *, quiet: bool
) -> tuple[list[StepSizes], dict[str, str]]:
    """Return what was found for every algorithm, and why nothing was found for the others."""
    from fltheory._internal.linear_algebra import one_thread
    from fltheory.errors import InvalidParameter
    from fltheory.jobs.tuning import PARTS, step_sizes

    found: list[StepSizes] = []
    errors: dict[str, str] = {}
    measured: dict[int, Any] = {}  # one network is measured once, whatever runs on it
    with progress(PARTS * len(configuration.experiments), quiet=quiet) as told, one_thread():
        for label, experiment in configuration.experiments:
            parts = _Shared(told)
            try:
                found.append(
                    step_sizes(
                        experiment.problem,
                        experiment.algorithm,
                        experiment.participation,
                        rounds=experiment.rounds,
                        rate=None if experiment.rate is missing else experiment.rate,
                        label=label,
                        progress=parts,
                        stand_in=measured.get(id(experiment.problem)),
                        **options,
                    )
                )
                measured[id(experiment.problem)] = found[-1].local_model
            except FltheoryError as error:
                if isinstance(error, InvalidParameter) and not parts.begun:
                    raise  # an option that is wrong for every algorithm
                errors[label] = str(error)
                parts.skip_rest(PARTS)
            except (Exception, SystemExit) as error:  # a mistake in an algorithm of the user's must not cost the others
                errors[label] = unexpected(error)
                parts.skip_rest(PARTS)
    return found, errors


class _Shared:
    """Progress of one algorithm of several: how many parts there are is known before."""

    def __init__(self, told: Any) -> None:
        self._told = told
        self._open = False
        self._done = 0

    @property
    def begun(self) -> bool:
        """Whether all options were found to be usable."""
        return self._open or self._done > 0

    def skip_rest(self, parts: int) -> None:
        """End what is under way, and all parts that nobody will do."""
        while self._done < parts:
            if not self._open:
                self.begin("not tried")
            self.end("refused")

    def expect(self, parts: int) -> None:
        pass

    def begin(self, label: str) -> None:
        self._open = True
        self._told.begin(label)

    def end(self, result: str) -> None:
        self._open = False
        self._done += 1
        self._told.end(result)


def _files(configuration: Configuration) -> list[str]:
    """Return the names of all files that may be written."""
    from fltheory.configuration.experiments import slug

    names = [slug(label) for label, _ in configuration.experiments]
    return [SUMMARY, *(f"{name}{suffix}" for name in names for suffix in (".svg", ".png"))]


def _write(document: dict[str, Any], found: list[StepSizes], directory: Path) -> None:
    from fltheory import figures
    from fltheory.configuration.experiments import slug

    with sole_writer(directory):
        for one in found:
            figures.save(one.plot(), directory / slug(one.label))
        write_json(directory / SUMMARY, document)


def _print(found: StepSizes) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fltheory.jobs.step_sizes import COLUMNS

    table = Table(
        title=Text(found.heading), title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for place, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if 0 < place < len(COLUMNS) - 1 else "left")
    for row in found.cells():
        table.add_row(*(Text(cell) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(table)
    for line in found.remarks():
        console.print(Text(line), soft_wrap=True)
