"""``fltheory bounds``: which theorem says most about the experiments of a configuration file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory._internal.files import sole_writer, usable, write_json
from fltheory.cli.options import LEDGER, Algorithms, Claims, Quiet
from fltheory.cli.output import labelled
from fltheory.cli.terminal import complain, progress
from fltheory.errors import FltheoryError

if TYPE_CHECKING:
    from fltheory.configuration.experiments import Configuration
    from fltheory.theory.guarantees import Guarantees

SUMMARY = "bounds.json"
"""File with everything that was found."""


def bounds(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Configuration file in TOML, as for run.", show_default=False)
    ],
    theorems: Annotated[
        list[str] | None,
        typer.Option("--theorems", help="Ids or globs of statements; may be given several times.", show_default="all"),
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="Gap for which rounds are counted.", show_default="a hundredth of the gap at the start"),
    ] = None,
    own: Annotated[
        bool,
        typer.Option(
            "--own-algorithms/--same-algorithm",
            help="Also evaluate theorems about other algorithms, each with its own algorithm.",
        ),
    ] = True,
    engine: Annotated[
        str | None, typer.Option(help="exact, monte_carlo or reference.", show_default="exact where that is possible")
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(help="Take constants that hold within this distance of the minimiser.", show_default=False),
    ] = None,
    declare: Annotated[
        list[str] | None,
        typer.Option(
            "--declare",
            metavar="NAME=VALUE",
            help="Value of a constant, by the name of its symbol; may be given several times.",
        ),
    ] = None,
    ledger: Annotated[
        Path, typer.Option(help="Ledger to take verdicts from; without it, the counterexamples of the package count.")
    ] = LEDGER / "ledger.json",
    output: Annotated[
        Path | None,
        typer.Option(help=f"Directory for {SUMMARY} and a figure and a CSV file per algorithm.", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed instead of the file's.")] = None,
    replicates: Annotated[int | None, typer.Option(help="Replicates instead of the file's.")] = None,
    algorithms: Algorithms = None,
    claims: Claims = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write everything to standard output as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Rank the theorems that apply to an experiment, the tightest bound first; say why others do not apply."""
    from fltheory._internal.linear_algebra import one_thread
    from fltheory.configuration import experiments as files
    from fltheory.validation.ledger import load

    with one_thread():
        configuration = files.load(file, folders=algorithms or ())
    options: dict[str, Any] = {
        "pattern": theorems or "*",
        "accuracy": accuracy,
        "own_algorithms": own,
        "engine": engine,
        "radius": radius,
        "seed": configuration.seed if seed is None else seed,
        "replicates": configuration.replicates if replicates is None else replicates,
        "claims": claims or (),
        "ledger": load(ledger) if ledger.exists() or ledger != LEDGER / "ledger.json" else None,
        **_declared(declare or []),
    }
    if output is not None:
        usable(output, names=_files(configuration))
    found, errors = _found(configuration, options, quiet=quiet)
    document = {
        "configuration": configuration.path,
        "title": configuration.title,
        "results": [one.as_json() for one in found],
        "errors": errors,
    }
    if output is not None:
        _write(document, found, output)
    for label, error in errors.items():
        complain(labelled(label, error))
    for one in found:
        for name, reason in one.errors.items():
            complain(labelled(f"{one.label}: {name}", reason))
    if as_json:
        typer.echo(json.dumps(document, indent=2, allow_nan=False))
    elif not quiet:
        for one in found:
            _print(one)
    if errors or any(one.errors for one in found):
        raise typer.Exit(1)


def _declared(words: list[str]) -> dict[str, float]:
    """Return constants written as ``NAME=VALUE``."""
    from fltheory.errors import InvalidParameter

    found: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not name.isidentifier() or number != number:
            raise InvalidParameter(f"--declare must be NAME=VALUE with a number as value, got '{word}'")
        found[name] = number
    return found


def _found(
    configuration: Configuration, options: dict[str, Any], *, quiet: bool
) -> tuple[list[Guarantees], dict[str, str]]:
    """Return what was found for every algorithm, and why nothing was found for the others."""
    from fltheory._internal.linear_algebra import one_thread
    from fltheory.errors import InvalidParameter
    from fltheory.theory.which import compare_theorems

    found: list[Guarantees] = []
    errors: dict[str, str] = {}
    with progress(len(configuration.experiments), quiet=quiet) as told, one_thread():
        for label, experiment in configuration.experiments:
            told.begin(label)
            try:
                found.append(compare_theorems(experiment, label=label, **options))
                told.end(f"{len(found[-1].ranked)} bounds")
            except InvalidParameter:
                raise  # an option that is wrong for every algorithm
            except FltheoryError as error:
                errors[label] = str(error)
                told.end("refused")
    return found, errors


def _files(configuration: Configuration) -> list[str]:
    """Return the names of all files that may be written."""
    from fltheory.configuration.experiments import slug

    names = [slug(label) for label, _ in configuration.experiments]
    return [SUMMARY, *(f"{name}{suffix}" for name in names for suffix in (".svg", ".png", ".csv"))]


def _write(document: dict[str, Any], found: list[Guarantees], directory: Path) -> None:
    from fltheory import figures
    from fltheory.configuration.experiments import slug

    with sole_writer(directory):
        for one in found:
            figures.save(one.plot(), directory / slug(one.label), data=one)
        write_json(directory / SUMMARY, document)


def _print(found: Guarantees) -> None:
    """Print the table: cells that wrap on a terminal, a line per row for other programs."""
    if not sys.stdout.isatty():
        typer.echo(f"{found}\n")
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fltheory.theory.guarantees import COLUMNS

    console = Console()
    console.print(Text(found.heading, style="bold"), soft_wrap=True)
    for heading, rows in found.sections():
        table = Table(
            title=Text(heading), title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for place, column in enumerate(COLUMNS):
            table.add_column(column, justify="right" if place > 2 else "left", no_wrap=place > 2)
        for row in found.cells(rows):
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
    for line in found.remarks():
        console.print(Text(line), soft_wrap=True)
