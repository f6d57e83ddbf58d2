"""``fltheory check``, ``falsify``, ``replay`` and ``diff``: verdicts, counterexamples, and how they change."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory.cli.options import LEDGER, AsJson, Claims, Fresh, Jobs, Quiet, Seed, cores
from fltheory.cli.terminal import PIPE_WIDTH, complain, progress, tell_reused
from fltheory.errors import InvalidParameter

if TYPE_CHECKING:
    from fltheory.validation.verdict import Checked, Verdict

STYLES = {"HOLDS": "green", "VIOLATED": "bold red", "INCONCLUSIVE": "yellow", "NOT_APPLICABLE": "dim"}


def check(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Ids or globs such as 'ruan.*'.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every claim.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Look less hard.")] = False,
    variant: Annotated[str | None, typer.Option(help="One form only: published, corrected, sharp.")] = None,
    seed: Seed = 0,
    searches: Annotated[
        int, typer.Option(help="Searches per form, with seeds from --seed on; a violation counts, whoever found it.")
    ] = 1,
    jobs: Jobs = None,
    fresh: Fresh = False,
    output: Annotated[Path, typer.Option(help="Directory for ledger.json, ledger.md and counterexamples.")] = LEDGER,
    folders: Claims = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check claims and write the ledger; exit code 1 if a form that must hold does not."""
    from fltheory import checks, claims

    if everything == bool(ids):
        raise InvalidParameter("check needs ids or --all, and not both; see the ids with: fltheory list")
    entries = claims.select(["*"] if everything else list(ids or ()), folders or ())
    seed = checks.integer("check", "seed", seed, low=0)
    searches = checks.integer("check", "searches", searches, low=1)
    jobs = cores() if jobs is None else checks.integer("check", "jobs", jobs, low=1)

    from fltheory.validation import ledger, repeats
    from fltheory.validation.decide import FULL, QUICK
    from fltheory.validation.replay import save_all
    from fltheory.validation.runner import check_all

    with progress(len(entries) * searches, quiet=quiet or as_json) as report:
        report.begin("checking")

        def tell(checked: Checked) -> None:
            report.begin(checked.entry.id)
            report.end(checked.error or ", ".join(f"{v.variant} {v.outcome.value}" for v in checked.verdicts))

        done, interrupted = check_all(
            entries,
            variant=variant,
            effort=QUICK if quick else FULL,
            seed=seed,
            searches=searches,
            jobs=jobs,
            fresh=fresh,
            report=tell,
        )
    if variant is not None and not interrupted and not any(checked.verdicts or checked.error for checked in done):
        raise InvalidParameter(f"none of the claims has a form {variant!r}; see the forms with: fltheory show ID")
    document = ledger.ledger(done, seed=seed, effort="quick" if quick else "full")
    paths = ledger.write(document, output)
    save_all(done, output / "counterexamples")
    if as_json:
        objects = [verdict.as_json() for checked in done for verdict in checked.verdicts]
        typer.echo(json.dumps(objects, indent=2, allow_nan=False))
    elif not quiet:
        _print([v for checked in done for v in checked.verdicts])
        tell_reused(done)
        typer.echo("".join(f"{line}\n" for line in repeats.in_words(document)), nl=False)
        typer.echo(f"ledger: {paths[0]}, {paths[1]}")
    if interrupted:
        complain(f"interrupted; {len(done)} of {len(entries)} claims were finished and are in the ledger")
        raise typer.Exit(130)
    for checked in done:
        if checked.error:
            complain(f"{checked.entry.id} could not be evaluated: {checked.error}")
    broken = [checked.entry.id for checked in done if checked.broken and not checked.error]
    if broken:
        complain(f"a form that must hold does not: {', '.join(broken)}")
    if any(checked.broken for checked in done):
        raise typer.Exit(1)


def falsify(
    id_: Annotated[str, typer.Argument(metavar="ID", help="Id of a claim.", show_default=False)],
    budget: Annotated[float, typer.Option(help="Seconds to search for.")] = 30.0,
    variant: Annotated[str | None, typer.Option(help="Form to attack.", show_default="the first published one")] = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option(help="File for the counterexample.", show_default="results/<id>@<variant>.json")
    ] = None,
    folders: Claims = None,
    as_json: AsJson = False,
) -> None:
    """Search for a counterexample until one is found or the time is up; shrink it and save it."""
    from fltheory import checks, claims

    entry = _one(claims.select([id_], folders or ()), id_)
    budget = checks.real("falsify", "budget", budget, low=0, open_low=True)
    seed = checks.integer("falsify", "seed", seed, low=0)
    claim = entry.load()
    form = claim.forms[0] if variant is None else claim.form(variant)

    from fltheory.validation.decide import FULL, check
    from fltheory.validation.replay import save

    begin, instances, rounds = time.perf_counter(), 0, 0
    while True:
        verdict = check(claim, variant=form.variant, effort=FULL, seed=seed + rounds)[0]
        instances, rounds = instances + verdict.instances, rounds + 1
        if verdict.counterexample is not None or time.perf_counter() - begin >= budget:
            break
    path = output or Path("results") / f"{claim.id}@{form.variant}.json"
    if verdict.counterexample is not None:
        save(verdict.counterexample, path)
    if as_json:
        typer.echo(json.dumps({**verdict.as_json(), "instances": instances, "searches": rounds}, indent=2))
        return
    _print([verdict])
    if verdict.counterexample is None:
        typer.echo(f"no counterexample in {instances} instances, {rounds} searches")
    else:
        typer.echo(f"saved: {path}; evaluate it again with: fltheory replay {path}")


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A saved counterexample.", show_default=False)],
    folders: Claims = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a saved counterexample again, from its file alone; exit code 1 if the claim holds on it."""
    from fltheory import claims
    from fltheory.validation.replay import load
    from fltheory.validation.replay import replay as evaluate

    found = evaluate(load(file), claims.index(folders or ()))
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2))
    else:
        relation = "violated" if found.violated else "not violated"
        typer.echo(f"{found.id} ({found.variant}) is {relation} here, in {found.arithmetic} arithmetic:")
        typer.echo(f"  left-hand side   {found.lhs}\n  right-hand side  {found.rhs}")
    if not found.violated:
        raise typer.Exit(1)


def diff(
    old: Annotated[Path, typer.Argument(help="A ledger.json.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="A later one.", show_default=False)],
) -> None:
    """Compare two ledgers: verdicts and margins that changed, claims that came or went."""
    from fltheory.validation import ledger

    lines = ledger.differences(ledger.load(old), ledger.load(new))
    typer.echo("\n".join(lines) if lines else "no difference")


def _one(entries: list[Any], id_: str) -> Any:
    if len(entries) != 1:
        raise InvalidParameter(f"{id_!r} matches {len(entries)} claims; name one of them")
    return entries[0]


def _print(verdicts: list[Verdict]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("claim", "form", "verdict", "margin", "method", "instances", "s"):
        table.add_column(column, no_wrap=True, justify="right" if column in ("margin", "instances", "s") else "left")
    table.add_column("why", overflow="fold")
    for v in verdicts:
        table.add_row(
            v.id,
            v.variant,
            Text(v.outcome.value, style=STYLES[v.outcome.value]),
            "" if v.margin is None else f"{v.margin:.4g}",
            v.method,
            str(v.instances),
            f"{v.seconds:.1f}",
            Text(v.reason),
        )
    Console(width=None if sys.stdout.isatty() else max(PIPE_WIDTH, 160)).print(table)
