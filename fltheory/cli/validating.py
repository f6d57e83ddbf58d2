"""``fltheory validate``: the main job. Every claim checked, figures drawn, one page written."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory.cli.options import Address, Backend, Claims, Fresh, Jobs, Quiet, Seed, cores
from fltheory.cli.terminal import PIPE_WIDTH, complain, complain_of, progress, tell_reused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fltheory.validation.ledger import LedgerFolder

WITHOUT_PEP = "without the extra pep, the figure objective-shift has no worst cases"
WITHOUT_PROOF = "without the extra proof, certificates that need an SMT solver do not count: such forms are searched"
"""Said where they are not installed; no other extra changes what is shown."""


def validate(
    quick: Annotated[bool, typer.Option("--quick", help="Check fewer instances, draw fewer points.")] = False,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures and tables.")] = True,
    seed: Seed = 0,
    jobs: Jobs = None,
    backend: Backend = "processes",
    address: Address = None,
    fresh: Fresh = False,
    output: Annotated[Path, typer.Option(help="Directory for the report, the ledger and the figures.")] = Path(
        "results"
    ),
    folders: Claims = None,
    quiet: Quiet = False,
) -> None:
    """Check every claim, draw the figures, write report.html; exit code 1 if a form that must hold does not."""
    from fltheory._internal import arguments
    from fltheory._internal.executors import chosen
    from fltheory.jobs.validating import validate as run

    begin = time.perf_counter()
    jobs = cores() if jobs is None else arguments.integer("validate", "jobs", jobs, low=1)
    with chosen(backend, address=address, jobs=jobs) as executor, progress(quiet=quiet) as report:
        found = run(
            output=output,
            quick=quick,
            figures=figures,
            seed=seed,
            jobs=jobs,
            executor=executor,
            fresh=fresh,
            claims=folders or (),
            progress=report,
        )
    for name, error in found.failed:
        complain(f"{name}: {error}")
    if not quiet:
        tell_reused(found.claims)
        reused = sum(saved.reused for saved in found.figures)
        if reused:
            typer.echo(f"{reused} of {len(found.figures)} figures and tables are unchanged; --fresh draws them again")
        if figures and find_spec("PEPit") is None:
            typer.echo(WITHOUT_PEP)
        if find_spec("z3") is None:
            typer.echo(WITHOUT_PROOF)
        seconds = time.perf_counter() - begin
        _print(found.summary, found.findings, found.folder, folders or (), found.report, seconds)
        if found.others:
            typer.echo(f"{found.others} claims of the ledger are not known here and stay in it as they were")
    if found.interrupted:
        where = "the ledger, and the report is the earlier one" if found.report_is_older else "the report"
        complain(f"interrupted; what was finished is in {where}")
        raise typer.Exit(130)
    complain_of(found.claims)
    if not found.ok:
        raise typer.Exit(1)


def _print(
    rows: list[dict[str, Any]],
    found: list[dict[str, str]],
    kept: LedgerFolder,
    folders: Iterable[Path],
    path: Path,
    seconds: float,
) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from fltheory.bounds.papers import PAPERS
    from fltheory.validation.counterexamples import replay_command

    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    columns = ("paper", "statements", "hold", "violated", "mixed", "open", "corrected", "misprint", "gap", "false")
    # As wide as a terminal of 80 columns: of those that fail, "corrected" counts the ones with a form that holds.
    titles = ("paper", "total", "hold", "violated", "in part", "open", "corrected", "misprints", "gaps", "false")
    for title in titles:
        table.add_column(title, justify="left" if title == "paper" else "right", no_wrap=True)
    for row in rows:
        name = PAPERS[row["paper"]].label if row["paper"] in PAPERS else row["paper"]
        table.add_row(name, *(str(row[column]) for column in columns[1:]))
    console.print(table)
    if found:
        console.print(Text("\nMost striking", style="bold"))
    for entry in found:
        console.print(Text.assemble("  ", (entry["id"], "bold red"), f"  {entry['title']} ({entry['reference']})"))
        console.print(Padding(Text(entry["why"]), (0, 0, 0, 6), expand=False))
        if entry["instead"]:
            console.print(Padding(Text(f"holds corrected: {entry['instead']}"), (0, 0, 0, 6), expand=False))
        command = replay_command(kept.counterexample(entry["id"], entry["variant"]), folders)
        console.print(Text(f"      {command}", style="dim"), soft_wrap=True)  # whole, to be copied
    console.print(f"\nreport: {path}  ({seconds:.0f} s)")
