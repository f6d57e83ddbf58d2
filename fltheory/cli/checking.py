"""``fltheory check``, ``falsify``, ``replay`` and ``diff``: verdicts, counterexamples, and how they change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fltheory.cli.options import (
    LEDGER,
    Address,
    AsJson,
    Backend,
    Claims,
    Fresh,
    Id,
    Jobs,
    Quiet,
    Seed,
    cores,
    matching_ids,
)
from fltheory.cli.terminal import complain, complain_of, folded, progress, tell_reused
from fltheory.errors import InvalidParameter

if TYPE_CHECKING:
    from fltheory.validation.ledger import Kept, LedgerFolder
    from fltheory.validation.verdict import Verdict

STYLES = {"HOLDS": "green", "VIOLATED": "bold red", "INCONCLUSIVE": "yellow", "NOT_APPLICABLE": "dim"}


def check(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID...", help="Ids or globs such as 'ruan.*'.", show_default=False, autocompletion=matching_ids
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every claim.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Check fewer instances and shorter sweeps.")] = False,
    variant: Annotated[
        str | None, typer.Option(help="Check one form only, such as published, corrected or sharp.")
    ] = None,
    seed: Seed = 0,
    searches: Annotated[
        int, typer.Option(help="Searches per form, with seeds from --seed on; one counterexample is enough.")
    ] = 1,
    jobs: Jobs = None,
    backend: Backend = "processes",
    address: Address = None,
    fresh: Fresh = False,
    unaided: Annotated[
        bool, typer.Option("--unaided", help="Search without the counterexamples that come with the package.")
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Find out and show which terms of forms that hold are necessary.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Search for proofs of forms that hold and have no certificate yet.")
    ] = False,
    proofs: Annotated[float, typer.Option(help="Seconds per form that --prove may take.")] = 10.0,
    output: Annotated[
        Path, typer.Option(help="Directory for ledger.json, ledger.md, counterexamples and new certificates.")
    ] = LEDGER,
    folders: Claims = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check claims and write the ledger; exit code 1 if a form that must hold does not."""
    from fltheory._internal import arguments
    from fltheory._internal.executors import chosen
    from fltheory.jobs.checking import check as run
    from fltheory.validation import repeats, severity

    if everything == bool(ids):
        raise InvalidParameter("check needs ids or --all, and not both; see the ids with: fltheory list")
    jobs = cores() if jobs is None else arguments.integer("check", "jobs", jobs, low=1)
    with chosen(backend, address=address, jobs=jobs) as executor, progress(quiet=quiet or as_json) as report:
        done = run(
            "*" if everything else list(ids or ()),
            claims=folders or (),
            variant=variant,
            quick=quick,
            seed=seed,
            searches=searches,
            jobs=jobs,
            executor=executor,
            fresh=fresh,
            unaided=unaided,
            sensitivity=sensitivity,
            prove=proofs if prove else 0.0,
            output=output,
            progress=report,
        )
    assert done.kept is not None  # a folder was given
    assert done.folder is not None
    if as_json:
        typer.echo(json.dumps([verdict.as_json() for verdict in done], indent=2, allow_nan=False))
    elif not quiet:
        _print(list(done))
        if sensitivity:
            _print_terms(list(done))
        tell_reused(done.claims)
        typer.echo("".join(f"{line}\n" for line in repeats.in_words(done.kept.checked)), nl=False)
        if grave := severity.in_words(done.kept.checked):
            typer.echo(grave)
        typer.echo("".join(f"{line}\n" for line in _next_steps(done.kept, done.folder, folders or ())), nl=False)
    if done.interrupted:
        complain(f"interrupted; {len(done.claims)} claims were finished and are in the ledger")
        raise typer.Exit(130)
    complain_of(done.claims)
    if not done.ok:
        raise typer.Exit(1)


def _next_steps(found: Kept, folder: LedgerFolder, folders: Iterable[Path]) -> Iterator[str]:
    """Yield where the results are, what else is there, and how to evaluate the first counterexample again."""
    from fltheory.validation.counterexamples import replay_command
    from fltheory.validation.ledger import origins_in_words

    yield f"ledger: {folder.json}, {folder.text}"
    others = len(found.ledger["claims"]) - len(found.checked["claims"])
    if others:
        yield f"{others} other claims of the ledger stay as they were. {origins_in_words(found.ledger)}".rstrip()
    failed = next((f for entry in found.checked["claims"] for f in entry["forms"] if f["counterexample"]), None)
    if failed is not None:
        saved = folder.counterexample(failed["id"], failed["variant"])
        yield f"evaluate a counterexample again with: {replay_command(saved, folders)}"


def falsify(
    id_: Id,
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
    from fltheory.jobs.checking import falsify as run
    from fltheory.validation.counterexamples import replay_command

    found = run(id_, budget=budget, variant=variant, seed=seed, claims=folders or (), output=output or Path("results"))
    if as_json:
        document = {**found.verdict.as_json(), "instances": found.instances, "searches": found.searches}
        typer.echo(json.dumps(document, indent=2))
        return
    _print([found.verdict])
    if found.path is None:
        typer.echo(f"no counterexample in {found.instances} instances, {found.searches} searches")
    else:
        typer.echo(f"saved: {found.path}; evaluate it again with: {replay_command(found.path, folders or ())}")


def replay(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A saved counterexample or certificate.", show_default=False)
    ],
    folders: Claims = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a saved counterexample again, or check a certificate, from its file alone and without any search.

    Exit code 1 if the claim holds on the counterexample, or if the certificate proves nothing.
    """
    from fltheory.jobs.checking import ReplayedCertificate
    from fltheory.jobs.checking import replay as run

    found = run(file, claims=folders or ())
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2))
    if isinstance(found, ReplayedCertificate):
        if not as_json and not found.refused:
            typer.echo(f"{found.id} ({found.variant}) is {found.strength} by {found.method}:\n  {found.covers}")
        elif not as_json:
            typer.echo(f"{found.id} ({found.variant}) is not proved by this certificate: {found.refused}")
        if found.refused:
            raise typer.Exit(1)
        return
    if not as_json:
        relation = "violated" if found.violated else "not violated"
        typer.echo(f"{found.id} ({found.variant}) is {relation} here, in {found.arithmetic} arithmetic:")
        typer.echo(f"  left-hand side   {found.lhs}\n  right-hand side  {found.rhs}")
    if not found.violated:
        raise typer.Exit(1)


def diff(
    old: Annotated[Path, typer.Argument(help="An earlier ledger.json.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="A later ledger.json.", show_default=False)],
) -> None:
    """Compare two ledgers: verdicts and margins that changed, claims that came or went.

    Exit code 1 if a verdict has changed or a form has gone.
    """
    from fltheory.validation.ledger import load, origins_in_words
    from fltheory.validation.ledger_text import differences

    before, after = load(old), load(new)
    for path, document in ((old, before), (new, after)):
        mixed = origins_in_words(document)
        if mixed:
            typer.echo(f"{path}: {mixed}", err=True)
    found = differences(before, after)
    typer.echo("\n".join(found.lines) if found.lines else "no difference")
    if found.changed:
        raise typer.Exit(1)


def _print(verdicts: list[Verdict]) -> None:
    """Print two lines or more per form: the verdict, and below it what it rests on and why."""
    if verdicts:
        typer.secho(f"{'verdict':<14}  {'margin':>9}  {'s':>7}  claim and form", bold=True)
    for v in verdicts:
        margin = "" if v.margin is None else f"{v.margin:.4g}"
        style = STYLES[v.decision.value].split()
        marks = {"bold": "bold" in style, "dim": "dim" in style}
        colour = next((word for word in style if word not in marks), None)
        decided = typer.style(f"{v.decision.value:<14}", fg=colour, **marks)
        typer.echo(f"{decided}  {margin:>9}  {v.seconds:>7.1f}  {v.id} {v.variant}")
        count = f"{v.instances} instance{'' if v.instances == 1 else 's'}"
        typer.echo(folded(f"{', '.join(filter(None, (v.severity, v.strength.value, v.method, count)))}: {v.reason}"))


def _print_terms(verdicts: list[Verdict]) -> None:
    """Print how many terms of every form that holds are necessary, and which ones are not known to be."""
    from fltheory.bounds.plain_text import plain
    from fltheory.validation.sensitivity import NECESSARY, explained, summarised

    typer.secho("\nterms that matter", bold=True)
    for v in verdicts:
        found = v.evidence.get("terms", ())
        if found:
            typer.echo(f"{v.id} {v.variant}: {summarised(found)}")
        for one in found:
            if one["status"] != NECESSARY:
                where = f"{plain(one['place'])}: {plain(one['term'])}"
                typer.echo(folded(f"{one['status']}, in {where}; {explained(one)}"))
