"""The section of one claim: what is stated, in which symbols, what comes out, and on which evidence."""

from __future__ import annotations

import functools
import html
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fltheory.bounds import catalogue
from fltheory.bounds.papers import paper_of
from fltheory.bounds.plain_text import plain
from fltheory.bounds.printing import as_used
from fltheory.bounds.quantities import Role, declared_in
from fltheory.errors import WorkerLost
from fltheory.report import notes
from fltheory.report.formulas import mathml
from fltheory.report.markup import page
from fltheory.report.wording import certified, equations, form_name, instance, number, prose, ratio, why
from fltheory.validation import known_terms
from fltheory.validation.counterexamples import file_of, replay_command
from fltheory.validation.sensitivity import explained, summarised
from fltheory.validation.summary import printed

BETWEEN = r",\quad "
"""Between a statement, its ranges and its definitions, each of which gets a line of its own."""


def parts(latex: str) -> list[str]:
    """Return the statement, ranges and definitions of a form, one formula each."""
    return [mathml(part) for part in latex.split(BETWEEN)]


def section(
    entry: Mapping[str, Any], found: catalogue.Entry | None, kept: Path, folders: tuple[Path, ...]
) -> dict[str, Any]:
    """Return what the page shows of a claim; ``kept`` is the folder of saved counterexamples.

    ``found`` is ``None`` for a claim whose page ended the process that made it.
    """
    forms = [_form(form, kept, folders) for form in entry["forms"]]
    first: dict[str, str] = {}
    for form in forms:
        # Readings that differ in what is run, not in what is stated, show their formulas once.
        form["same"] = first.get(form["latex"], "")
        first.setdefault(form["latex"], form["name"])
    for form in forms[1:]:
        statement, *lines = form["mathml"]
        own = [line for line in lines if line not in forms[0]["mathml"]]
        # A definition that stands above is not repeated, where that saves more than it costs to say so.
        if len(lines) - len(own) > 2:
            form["mathml"], form["elsewhere"] = [statement, *own], forms[0]["name"]
    return {
        **entry,
        "title": prose(entry["title"]),
        "verdict": printed(entry),
        "paper_name": paper_of(entry["paper"]),
        "page": _page(found),
        "notes": _notes(found),
        "symbols": _symbols(found),
        "assumptions": _assumptions(entry),
        "forms": forms,
        "published": [form for form in forms if form["variant"].startswith("published")],
        "ours": [form for form in forms if not form["variant"].startswith("published")],
        "rests": next((form["rests"] for form in forms if form.get("rests")), ""),
        "tip": plain(entry["forms"][0]["latex"].split(BETWEEN)[0]) if entry["forms"] else "",
    }


def _form(form: Mapping[str, Any], kept: Path, folders: tuple[Path, ...]) -> dict[str, Any]:
    counterexample = form["counterexample"]
    return {
        **form,
        "name": form_name(form["variant"]),
        "note": prose(form["note"]),
        "mathml": parts(form["latex"]),
        "elsewhere": "",
        "ratio": ratio(form),
        "settings": certified(form),
        "why": why(form),
        "instance": instance_table(counterexample) if counterexample else None,
        "hypotheses": hypotheses(counterexample) if counterexample else [],
        "line": instance(counterexample.get("quantities", ())) if counterexample else "",
        "terms": _terms(form),
        "replay": replay_command(kept / file_of(form["id"], form["variant"]), folders),
    }


def _terms(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return which terms of a form are known to be necessary: by its own check, or as it comes with the package."""
    found = form["evidence"].get("terms") or known_terms.of(form["id"], form["variant"])
    if form["verdict"] != "HOLDS" or not found:
        return {}
    rows = [{**one, "place": plain(one["place"]), "term": plain(one["term"]), "why": explained(one)} for one in found]
    return {"summary": summarised(found), "rows": rows}


def _assumptions(entry: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the assumptions of all forms, each of them once."""
    found = {(a["name"], a["statement"]): a for form in entry["forms"] for a in form["assumptions"]}
    return [
        {"name": prose(name), "mathml": mathml(statement, block=False), "origin": a["origin"]}
        for (name, statement), a in found.items()
    ]


def instance_table(counterexample: Mapping[str, Any]) -> dict[str, Any]:
    """Return an instance: what has one value, and a table of what has one per outcome."""
    rows = counterexample.get("quantities", ())
    random = [row for row in rows if len(row["values"]) > 1]
    return {
        "fixed": equations([row for row in rows if not row.get("assumed")]),
        "assumed": equations([row for row in rows if row.get("assumed")]),
        "outcomes": range(1, max((len(row["values"]) for row in random), default=0) + 1),
        "random": [
            {"symbol": mathml(row["symbol"], block=False), "values": [number(value) for value in row["values"]]}
            for row in random
        ],
    }


def hypotheses(counterexample: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the assumptions with the values of their sides on a counterexample."""
    return [
        {
            "statement": mathml(one["statement"], block=False),
            "outcome": f"{number(one['lhs'])} {html.escape(one['sign'])} {number(one['rhs'])}",
        }
        for one in counterexample.get("hypotheses", ())
    ]


def _symbols(found: catalogue.Entry | None) -> list[dict[str, str]]:
    """Return every symbol of a claim with its meaning; none if it cannot be loaded."""
    if found is None:
        return []
    try:
        claim = found.load()
    except (Exception, SystemExit):  # the file of a claim may be a user's; its page says what is wrong
        return []
    expressions = claim.expressions()
    known = declared_in(claim.id, expressions)
    rows = {}
    for quantity in sorted(known.values(), key=lambda quantity: quantity.name):
        if quantity.role is not Role.INDEX:
            symbol = mathml(as_used(quantity, expressions), block=False)
            rows[symbol, quantity.meaning] = {"symbol": symbol, "meaning": prose(quantity.meaning)}
    return list(rows.values())


def _notes(found: catalogue.Entry | None) -> list[dict[str, str]]:
    """Return the notes that a claim refers to."""
    if found is None or not found.name:
        return []
    return [_note(name) for name in notes.targets(inspect.getdoc(found.module()) or "")]


@functools.cache
def _note(name: str) -> dict[str, str]:
    """Return a note as the page shows it."""
    return {
        "id": notes.anchor(name),
        "title": f"{notes.owner(name)}, {notes.title(name)}",
        "page": page(notes.text(name)),
    }


def _page(found: catalogue.Entry | None) -> str:
    """Return the page of a claim; one that cannot be loaded or read must not cost the pages of all others."""
    try:
        if found is None:
            raise WorkerLost
        return page(inspect.getdoc(found.module()) or "")
    except (Exception, SystemExit) as error:  # the file of a claim may be a user's
        return f"<p>This page cannot be shown: {html.escape(f'{type(error).__name__}: {error}')}</p>"
