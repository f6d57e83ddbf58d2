"""``fltheory figure``: figures and tables of the papers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from fltheory._internal.files import sole_writer
from fltheory.cli.options import Address, AsJson, Backend, Claims, Jobs, Quiet, Seed, cores
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress
from fltheory.errors import InvalidParameter


def figure(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Names of figures; without any, they are listed.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw every figure and table, except those with networks.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Draw with fewer rounds, replicates and points.")] = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    backend: Backend = "processes",
    address: Address = None,
    output: Annotated[Path, typer.Option(help="Directory for figures, tables and their numbers.")] = Path(
        "results/figures"
    ),
    ledger: Annotated[
        Path | None,
        typer.Option(help="Ledger with the verdicts to draw; without it, the claims that are needed are checked."),
    ] = None,
    folders: Claims = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw figures and tables of the papers, with the numbers behind them as JSON and a page that shows all."""
    from fltheory._internal import arguments
    from fltheory._internal.executors import chosen as place
    from fltheory._internal.executors import running_on
    from fltheory.figures.parallel import produce_all
    from fltheory.figures.study import studies
    from fltheory.report.gallery import gallery

    if everything and names:
        raise InvalidParameter("figure takes names or --all, not both")
    known = studies(networks=True)
    if not (names or everything):
        _list(as_json)
        return
    chosen = [known[arguments.choice("figure", "name", name, known)] for name in names or studies()]
    if folders and not any(study.own_claims for study in chosen):
        takes = ", ".join(study.name for study in known.values() if study.own_claims)
        raise InvalidParameter(f"figure.claims must be left out with {', '.join(names or ())}; it is for {takes}")
    seed = arguments.integer("figure", "seed", seed, low=0)
    jobs = cores() if jobs is None else arguments.integer("figure", "jobs", jobs, low=1)
    with sole_writer(output):
        with (
            place(backend, address=address, jobs=jobs) as executor,
            running_on(executor),
            progress(len(chosen), quiet=quiet or as_json) as report,
        ):

            def tell(name: str, result: str) -> None:
                report.begin(name)
                report.end(result)

            done, failed, interrupted = produce_all(
                chosen, output, quick=quick, seed=seed, jobs=jobs, ledger=ledger, claims=folders or (), report=tell
            )
        page = gallery(output) if done else None
    written = {s.study.name: {"caption": s.caption, "files": [str(path) for path in s.files]} for s in done}
    for name, error in failed:
        complain(f"{name}: {error}")
    if as_json:
        typer.echo(json.dumps(written, indent=2))
    elif not quiet:
        for name, entry in written.items():
            typer.echo(f"{name}: {entry['caption']}\n  " + "\n  ".join(entry["files"]))
        if page is not None:
            typer.echo(f"gallery: {page}")
    if interrupted:
        complain("interrupted; what was finished is kept")
        raise typer.Exit(130)
    if failed:
        raise typer.Exit(1)


def _list(as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fltheory.figures.study import studies

    found = studies(networks=True)
    if as_json:
        listed = [{"name": s.name, "paper": s.paper, "title": s.title, "needs": s.needs} for s in found.values()]
        typer.echo(json.dumps(listed, indent=2))
        return
    table = Table(title="Figures and tables", title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in ("name", "paper", "title"):
        table.add_column(column, no_wrap=column != "title")
    for study in found.values():
        needs = f" (needs {' and '.join(study.needs)})" if study.needs else ""
        table.add_row(study.name, study.paper, Text(study.title + needs))
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)
