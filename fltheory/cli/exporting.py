"""``fltheory export``: one claim as a document for co-authors."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer

from fltheory.cli.options import LEDGER, Claims, Id


def export(
    id_: Id,
    as_tex: Annotated[bool, typer.Option("--tex", help="Write a LaTeX file that compiles on its own.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write.", show_default="standard output")
    ] = None,
    ledger: Annotated[Path, typer.Option(help="Ledger to take verdicts from.")] = LEDGER / "ledger.json",
    folders: Claims = None,
) -> None:
    """Write one claim as LaTeX: statement, symbols, verdict, counterexample, correction with derivation, BibTeX."""
    from fltheory._internal.files import write_text
    from fltheory._internal.provenance import commit, versions
    from fltheory.bounds import catalogue
    from fltheory.errors import InvalidParameter
    from fltheory.report.tex import document
    from fltheory.validation import ledger as ledgers
    from fltheory.validation.counterexamples import file_of, replay_command

    if not as_tex:
        raise InvalidParameter("export needs a format; add --tex")
    entry = catalogue.select_one(id_, folders or ())
    claim = entry.load()
    entries = ledgers.load(ledger)["claims"] if ledger.is_file() else []
    checked = next((one for one in entries if one["id"] == claim.id), None)
    kept = ledger.parent / ledgers.COUNTEREXAMPLES
    replay = {
        form["variant"]: replay_command(kept / file_of(claim.id, form["variant"]), folders or ())
        for form in (checked["forms"] if checked else ())
        if form["counterexample"]
    }
    page = inspect.getdoc(entry.module()) or ""
    text = document(claim, page, checked, replay=replay, version=versions()["fltheory"], commit=commit())
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
