"""``fltheory validate``: the main job. Every claim checked, figures drawn, one page written."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory.cli.options import Claims, Fresh, Jobs, Quiet, Seed, cores
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress, tell_reused

if TYPE_CHECKING:
    from fltheory.figures.study import Saved
    from fltheory.validation.verdict import Checked


def validate(
    quick: Annotated[bool, typer.Option("--quick", help="Look less hard, draw with fewer points.")] = False,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures and tables.")] = True,
    seed: Seed = 0,
    jobs: Jobs = None,
    fresh: Fresh = False,
    output: Annotated[Path, typer.Option(help="Directory for the report, the ledger and the figures.")] = Path(
        "results"
    ),
    folders: Claims = None,
    quiet: Quiet = False,
) -> None:
    """Check every claim, draw the figures, write report.html; exit code 1 if a form that must hold does not."""
    from fltheory import checks, claims
    from fltheory.figures.parallel import modules
    from fltheory.figures.study import studies
    from fltheory.processes import expect, same_processes
    from fltheory.report import build
    from fltheory.report.gallery import gallery
    from fltheory.validation import ledger
    from fltheory.validation.decide import FULL, QUICK
    from fltheory.validation.replay import save_all
    from fltheory.validation.runner import check_all
    from fltheory.validation.summary import findings, summary

    begin = time.perf_counter()
    seed = checks.integer("validate", "seed", seed, low=0)
    jobs = cores() if jobs is None else checks.integer("validate", "jobs", jobs, low=1)
    entries = claims.select(["*"], folders or ())
    chosen = list(studies().values()) if figures else []
    expect(("fltheory.report.build", "docutils.writers.html5_polyglot", *modules(chosen)))
    drawn: list[Saved] = []
    with same_processes():
        with progress(len(entries) + len(chosen), quiet=quiet) as report:
            report.begin("checking")

            def tell(checked: Checked) -> None:
                report.begin(checked.entry.id)
                report.end(checked.error or ", ".join(f"{v.variant} {v.outcome.value}" for v in checked.verdicts))

            done, interrupted = check_all(
                entries, effort=QUICK if quick else FULL, seed=seed, jobs=jobs, fresh=fresh, report=tell
            )
            document = ledger.ledger(done, seed=seed, effort="quick" if quick else "full")
            ledger.write(document, output / "ledger")
            save_all(done, output / "ledger" / "counterexamples")
            failed: list[tuple[str, str]] = []
            if not interrupted and chosen:
                from fltheory.figures.parallel import produce_all

                def show(name: str, outcome: str) -> None:
                    report.begin(name)
                    report.end(outcome)

                written = output / "ledger" / "ledger.json"
                drawn, failed, interrupted = produce_all(
                    chosen, output / "figures", quick=quick, seed=seed, jobs=jobs, ledger=written, report=show
                )
        if drawn:
            gallery(output / "figures", report="../report.html")
        path = build(document, drawn, output / "report.html", folders=folders or (), jobs=jobs)
    for name, error in failed:
        complain(f"{name}: {error}")
    if not quiet:
        tell_reused(done)
        _print(summary(document), findings(document), path, time.perf_counter() - begin)
    if interrupted:
        complain("interrupted; what was finished is in the report")
        raise typer.Exit(130)
    for checked in done:
        if checked.error:
            complain(f"{checked.entry.id} could not be evaluated: {checked.error}")
    broken = [checked.entry.id for checked in done if checked.broken and not checked.error]
    if broken:
        complain(f"a form that must hold does not: {', '.join(broken)}")
    if failed or any(checked.broken for checked in done):
        raise typer.Exit(1)


def _print(rows: list[dict[str, Any]], found: list[dict[str, str]], path: Path, seconds: float) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold")
    columns = ("paper", "statements", "hold", "violated", "mixed", "open", "corrected")
    titles = ("paper", "statements", "hold as printed", "violated", "in part", "open", "of the failing corrected")
    for title in titles:
        table.add_column(title, justify="left" if title == "paper" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(str(row[column]) for column in columns))
    console.print(table)
    if found:
        console.print(Text("\nMost striking", style="bold"))
    for entry in found:
        console.print(Text.assemble("  ", (entry["id"], "bold red"), f"  {entry['title']} ({entry['reference']})"))
        console.print(Padding(Text(entry["why"]), (0, 0, 0, 6), expand=False))
        if entry["instead"]:
            console.print(Padding(Text(f"holds corrected: {entry['instead']}"), (0, 0, 0, 6), expand=False))
        file = path.parent / "ledger" / "counterexamples" / f"{entry['id']}@{entry['variant']}.json"
        console.print(Text(f"      fltheory replay {file}", style="dim"), soft_wrap=True)  # whole, to be copied
    console.print(f"\nreport: {path}  ({seconds:.0f} s)")
