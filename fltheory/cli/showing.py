"""``fltheory show``: one claim with its forms, symbols, assumptions, place in the proof, and last verdict."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fltheory.cli.options import LEDGER, AsJson, Claims, Id
from fltheory.cli.terminal import PIPE_WIDTH


def show(
    id_: Id,
    as_latex: Annotated[bool, typer.Option("--latex", help="Write the forms as LaTeX only.")] = False,
    ledger: Annotated[Path, typer.Option(help="Ledger to take verdicts from.")] = LEDGER / "ledger.json",
    folders: Claims = None,
    as_json: AsJson = False,
) -> None:
    """Show one claim: page, forms, symbols, assumptions, the statements its proof uses, verdicts of the last check."""
    from fltheory.bounds import catalogue

    known = catalogue.index(folders or ())
    entry = catalogue.select_one(id_, folders or ())
    claim = entry.load()
    if as_latex:
        for form in claim.forms:
            typer.echo(f"% {form.variant}\n{form.latex()}")
        return
    verdicts = _verdicts(ledger)
    document = _document(entry, claim, verdicts)
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    _print(entry, claim, document, known, verdicts)


def _verdicts(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the forms of a ledger by claim and variant; none if there is no ledger yet."""
    from fltheory.validation import ledger

    if not path.is_file():
        return {}
    document = ledger.load(path)
    return {(form["id"], form["variant"]): form for entry in document["claims"] for form in entry["forms"]}


def _document(entry: Any, claim: Any, verdicts: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    from fltheory.bounds.printing import as_used, latex
    from fltheory.bounds.quantities import Role, declared_in
    from fltheory.validation import known_terms
    from fltheory.validation.ledger import ORIGIN

    expressions = claim.expressions()
    checked = {key: form["evidence"].get("terms") for key, form in verdicts.items()}
    return {
        **entry.as_json(),
        "page": inspect.getdoc(entry.module()) or "",
        "forms": [
            {
                "variant": form.variant,
                "latex": form.latex(),
                "note": form.note,
                "verdict": verdicts.get((claim.id, form.variant), {}).get("verdict"),
                "severity": verdicts.get((claim.id, form.variant), {}).get("severity", ""),
                "strength": verdicts.get((claim.id, form.variant), {}).get("strength", ""),
                "rests": verdicts.get((claim.id, form.variant), {}).get("rests", ""),
                "margin": verdicts.get((claim.id, form.variant), {}).get("margin"),
                "reason": verdicts.get((claim.id, form.variant), {}).get("reason", ""),
                "terms": checked.get((claim.id, form.variant)) or known_terms.of(claim.id, form.variant),
                **{name: verdicts.get((claim.id, form.variant), {}).get(name) for name in ORIGIN},
            }
            for form in claim.forms
        ],
        "symbols": [
            {
                "name": q.name,
                "latex": as_used(q, expressions),
                "meaning": q.meaning,
                "shape": list(q.axes),
                "domain": q.domain.value,
            }
            for _, q in sorted(declared_in(claim.id, expressions).items())
            if q.role is not Role.INDEX
        ],
        "assumptions": [
            {"name": a.name, "latex": latex(a.relation), "origin": a.origin.value} for a in claim.assumptions
        ],
        "uses": list(claim.uses),
    }


def _print(
    entry: Any, claim: Any, document: dict[str, Any], known: dict[str, Any], verdicts: dict[tuple[str, str], Any]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fltheory.bounds.papers import paper_of
    from fltheory.bounds.plain_text import plain, plain_page
    from fltheory.cli.checking import STYLES
    from fltheory.report.notes import linked
    from fltheory.validation.ledger import named
    from fltheory.validation.sensitivity import NECESSARY, explained, summarised

    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(Text(f"{entry.id}  {entry.title}", style="bold"))
    console.print(Text(f"{entry.kind}; {paper_of(entry.paper)}, {entry.reference}\n", style="dim"))
    # Other statements and shared notes by their names in the paper; there are no links on a terminal.
    console.print(Text(plain_page(linked(document["page"], lambda words, target: words))))
    for form in document["forms"]:
        verdict = form["verdict"] or "not checked yet"
        grave = "".join(f", {form[name]}" for name in ("severity", "strength") if form[name])
        margin = "" if form["margin"] is None else f", margin {form['margin']:.4g}"
        line = Text("\n" + form["variant"], style="bold").append(
            f"  {verdict}{grave}{margin}", style=STYLES.get(verdict, "dim")
        )
        if form["time"] is not None:
            line.append(f"  {form['effort']} effort, commit {named(form['commit'])}, {form['time']}", style="dim")
        console.print(line)
        for number, part in enumerate(form["latex"].split(r",\quad ")):
            console.print(Text(("  " if number == 0 else "    with ") + plain(part)))
        for words in (form["note"], form["reason"], form["rests"]):
            if words:
                console.print(Text("  " + words, style="dim"))
        if form["terms"]:
            console.print(Text(f"  terms that matter: {summarised(form['terms'])}", style="dim"))
        for one in form["terms"]:
            if one["status"] != NECESSARY:
                where = f"{plain(one['place'])}: {plain(one['term'])}"
                console.print(Text(f"    {one['status']}, in {where}; {explained(one)}", style="dim"))
    for heading, rows in (("symbols", document["symbols"]), ("assumptions", document["assumptions"])):
        if not rows:
            continue
        table = Table(title=f"\n{heading}", title_justify="left", box=None, show_header=False, pad_edge=False)
        for row in rows:
            shown = {**row, "latex": plain(row["latex"])}
            table.add_row(*(Text(", ".join(v) if isinstance(v, list) else str(v)) for v in shown.values()))
        console.print(table)
    if claim.uses:
        console.print(Text("\nits proof uses", style="bold"))
        console.print(_tree(claim.id, known, verdicts))


def _tree(root: str, known: dict[str, Any], verdicts: dict[tuple[str, str], Any]) -> Any:
    from rich.tree import Tree

    tree = Tree(_leaf(root, verdicts))
    seen = {root}

    def grow(branch: Any, id_: str) -> None:
        for used in known[id_].load().uses if id_ in known else ():
            twig = branch.add(_leaf(used, verdicts))
            if used not in seen:
                seen.add(used)
                grow(twig, used)

    grow(tree, root)
    return tree


def _leaf(id_: str, verdicts: dict[tuple[str, str], Any]) -> Any:
    from rich.text import Text

    from fltheory.cli.checking import STYLES

    text = Text(id_)
    for (claim, variant), form in verdicts.items():
        if claim == id_ and variant.startswith("published"):
            text.append(f"  {form['verdict']}", style=STYLES[form["verdict"]])
    return text
