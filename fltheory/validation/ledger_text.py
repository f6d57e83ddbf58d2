"""Ledgers for readers: as a table in Markdown, and compared with each other."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fltheory.bounds.papers import paper_of
from fltheory.validation import composition
from fltheory.validation.ledger import named, origins_in_words
from fltheory.validation.proof import coverage
from fltheory.validation.repeats import in_words
from fltheory.validation.summary import summary

SAME = 0.02
"""Relative change of a margin that is not worth a line in a comparison."""

_SPECIAL = re.compile(r"([\\`*|]|(?<!\w)_|_(?!\w)|\](?=\())")


def table(document: Mapping[str, Any]) -> str:
    """Return the ledger as Markdown: one line per claim."""
    agreement = in_words(document)
    mixed = origins_in_words(document)
    lines = [
        "# Ledger",
        "",
        f"fltheory {document['fltheory'].get('fltheory', '')}, commit {named(document['commit'])}, "
        f"seed {document['seed']}, effort {document['effort']}. Margin: smallest right-hand side over left-hand side; "
        "of a violated form, that of its counterexample. What a verdict rests on: proved or certified (by a stored "
        "certificate), refuted (by an instance), searched, sampled, extrapolated. A violation is a misprint (the "
        "intended formula holds), a gap (a step fails, the results that rest on it hold) or false; statements that "
        "fail, wholly or in part, are counted by the gravest. Counterexamples stand in the symbols of the paper; bars "
        "part values that differ between outcomes.",
        "",
        *([mixed, ""] if mixed else []),
        *([*agreement, ""] if agreement else []),
        "| paper | statements | hold as printed | violated | violated in part | open | of the failing, corrected "
        "| misprints | gaps | false |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {_escaped(paper_of(row['paper']))} | {row['statements']} | {row['hold']} | {row['violated']} "
            f"| {row['mixed']} | {row['open']} "
            f"| {row['corrected']} | {row['misprint']} | {row['gap']} | {row['false']} |"
            for row in summary(document)
        ),
    ]
    proofs = coverage.table(document)
    lines += ["", *proofs] if proofs else []
    spare = coverage.loose_in_words(document)
    lines += ["", spare] if spare else []
    results = composition.table(document)
    lines += ["", *results] if results else []
    for paper in dict.fromkeys(entry["paper"] for entry in document["claims"]):
        more = " checked |" if mixed else ""
        lines += ["", f"## {_escaped(paper_of(paper))}", ""]
        lines += [f"| claim | statement | published | counterexample, or why | corrected and sharp forms |{more}"]
        lines += ["|---|---|---|---|---|" + ("---|" if mixed else "")]
        own = [entry for entry in document["claims"] if entry["paper"] == paper]
        lines += [_line(entry) + (f" {_checked(entry)} |" if mixed else "") for entry in own]
    return "\n".join(lines) + "\n"


def _line(entry: Mapping[str, Any]) -> str:
    published = [form for form in entry["forms"] if form["variant"].startswith("published")]
    ours = [form for form in entry["forms"] if not form["variant"].startswith("published")]
    why = _escaped(entry["error"]) or "<br>".join(map(_why, published))
    return (
        f"| `{_code(entry['id'])}` | {_escaped(entry['title'])}, {_escaped(entry['reference'])} | {_cell(published)} "
        f"| {why} | {_cell(ours) or ' '} |"
    )


def _checked(entry: Mapping[str, Any]) -> str:
    """Return by which code and when the forms of a claim were checked, each combination once."""
    found = [(form["commit"], form["effort"], form["time"]) for form in entry["forms"]]
    shown = dict.fromkeys(f"{named(commit)}, {effort}, {time[:10]}" for commit, effort, time in found)
    return "<br>".join(_escaped(text) for text in shown) or " "


class Changes(NamedTuple):
    """Lines that tell what has changed, and whether a verdict has changed or a form has gone."""

    lines: list[str]
    changed: bool


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Changes:
    """Return one line per form whose verdict, strength or margin has changed, or that has come or gone."""
    before, after = _by_form(old), _by_form(new)
    gone = [f"- {key}: {before[key]['verdict']}" for key in before if key not in after]
    come = [f"+ {key}: {after[key]['verdict']}" for key in after if key not in before]
    turned, moved = [], []
    for key in after:
        if key not in before:
            continue
        was, now = before[key], after[key]
        if was["verdict"] != now["verdict"]:
            turned.append(f"! {key}: {was['verdict']} -> {now['verdict']}")
        elif "severity" in was and "severity" in now and was["severity"] != now["severity"]:
            moved.append(f"~ {key}: {was['severity'] or 'no severity'} -> {now['severity'] or 'no severity'}")
        elif was.get("strength", "") != now.get("strength", ""):
            moved.append(
                f"~ {key}: {was.get('strength') or 'of unknown strength'} -> {now.get('strength') or 'unknown'}"
            )
        elif _moved(was["margin"], now["margin"]):
            moved.append(f"~ {key}: margin {_margin(was['margin'])} -> {_margin(now['margin'])}")
    return Changes([*gone, *come, *turned, *moved], bool(gone or turned))


def _by_form(document: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{entry['id']} {form['variant']}": form for entry in document["claims"] for form in entry["forms"]}


def _moved(was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return was is not now
    return abs(was - now) > SAME * max(abs(was), abs(now))


def _cell(forms: Sequence[Mapping[str, Any]]) -> str:
    """Return verdicts and margins of forms; of corrected ones, also what they say."""
    lines = []
    for form in forms:
        name = _escaped(form["variant"].removeprefix("published"))
        said = "" if form["variant"].startswith("published") or not form["note"] else f": {_escaped(form['note'])}"
        words = (
            name,
            f"**{form['verdict']}**",
            form.get("severity", ""),
            form.get("strength", ""),
            _margin(form["margin"]),
        )
        lines.append(" ".join(word for word in words if word) + said)
    return "<br>".join(lines)


def _why(form: Mapping[str, Any]) -> str:
    reading = _escaped(form["variant"].removeprefix("published"))
    return f"{reading} {_escaped(form['reason'].removeprefix('fails at '))}".strip()


def _escaped(text: str) -> str:
    """Return text that stands for itself in a cell: on one line, without markup, links or HTML."""
    return _SPECIAL.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _code(text: str) -> str:
    """Return text for a cell between backquotes, where escapes are not read."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|")


def _margin(margin: float | None) -> str:
    return "" if margin is None else f"({margin:.4g})"
