"""The ledger: what was checked, with which answer; as JSON and as a readable table, compared between versions."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fltheory.errors import InvalidParameter
from fltheory.provenance import commit, versions
from fltheory.validation.repeats import in_words
from fltheory.validation.summary import summary
from fltheory.validation.verdict import Checked

SAME = 0.02
"""Relative change of a margin that is not worth a line in a comparison."""


def ledger(checked: Sequence[Checked], *, seed: int, effort: str) -> dict[str, Any]:
    """Return the ledger as one JSON document."""
    return {
        "fltheory": dict(versions()),
        "commit": commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "effort": effort,
        "claims": [
            {
                **c.entry.as_json(),
                "uses": list(c.uses),
                "error": c.error,
                "forms": [
                    {**verdict.as_json(), "latex": latex, "note": note}
                    for verdict, latex, note in zip(c.verdicts, c.latex, c.notes, strict=True)
                ],
            }
            for c in checked
        ],
    }


def write(document: Mapping[str, Any], directory: Path) -> tuple[Path, Path]:
    """Write ``ledger.json`` and ``ledger.md`` and return their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = directory / "ledger.json", directory / "ledger.md"
    paths[0].write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    paths[1].write_text(table(document), encoding="utf-8")
    return paths


def load(path: Path) -> dict[str, Any]:
    """Read a ledger, or say what is wrong with it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        document["claims"]
    except OSError as error:
        raise InvalidParameter(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, KeyError, TypeError):
        raise InvalidParameter(f"{path}: is no ledger; write one with: fltheory check --all") from None
    return dict(document)


def table(document: Mapping[str, Any]) -> str:
    """Return the ledger as Markdown: one line per claim."""
    agreement = in_words(document)
    lines = [
        "# Ledger",
        "",
        f"fltheory {document['fltheory'].get('fltheory', '')}, commit {str(document['commit'])[:12] or 'unknown'}, "
        f"seed {document['seed']}, effort {document['effort']}. Margin: smallest right-hand side over left-hand side.",
        "",
        *([*agreement, ""] if agreement else []),
        "| paper | statements | hold as printed | violated | violated in part | open | of the failing, corrected |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {row['paper']} | {row['statements']} | {row['hold']} | {row['violated']} | {row['mixed']} "
            f"| {row['open']} "
            f"| {row['corrected']} |"
            for row in summary(document)
        ),
    ]
    for paper in dict.fromkeys(entry["paper"] for entry in document["claims"]):
        lines += ["", f"## {paper}", "", "| claim | statement | published | counterexample, or why | ours |"]
        lines += ["|---|---|---|---|---|", *(_line(e) for e in document["claims"] if e["paper"] == paper)]
    return "\n".join(lines) + "\n"


def _line(entry: Mapping[str, Any]) -> str:
    published = [form for form in entry["forms"] if form["variant"].startswith("published")]
    ours = [form for form in entry["forms"] if not form["variant"].startswith("published")]
    why = entry["error"] or "<br>".join(map(_why, published))
    return (
        f"| `{entry['id']}` | {entry['title']}, {entry['reference']} | {_cell(published)} | {why} | "
        f"{_cell(ours) or ' '} |"
    )


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return one line per form whose verdict or margin has changed, or that has come or gone."""
    before, after = _by_form(old), _by_form(new)
    lines = [f"- {key}: {before[key]['verdict']}" for key in before if key not in after]
    lines += [f"+ {key}: {after[key]['verdict']}" for key in after if key not in before]
    for key in after:
        if key not in before:
            continue
        was, now = before[key], after[key]
        if was["verdict"] != now["verdict"]:
            lines.append(f"! {key}: {was['verdict']} -> {now['verdict']}")
        elif _moved(was["margin"], now["margin"]):
            lines.append(f"~ {key}: margin {_margin(was['margin'])} -> {_margin(now['margin'])}")
    return lines


def _by_form(document: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{entry['id']} {form['variant']}": form for entry in document["claims"] for form in entry["forms"]}


def _moved(was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return was is not now
    return abs(was - now) > SAME * max(abs(was), abs(now))


def _cell(forms: Sequence[Mapping[str, Any]]) -> str:
    """Return verdicts and margins of forms; of ours, also what they say."""
    lines = []
    for form in forms:
        name = form["variant"].removeprefix("published")
        said = "" if name != form["variant"] or not form["note"] else f": {_escaped(form['note'])}"
        lines.append(f"{name} **{form['verdict']}** {_margin(form['margin'])}".strip() + said)
    return "<br>".join(lines)


def _why(form: Mapping[str, Any]) -> str:
    reading = form["variant"].removeprefix("published")
    return f"{reading} {_escaped(form['reason']).removeprefix('fails at ')}".strip()


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _margin(margin: float | None) -> str:
    return "" if margin is None else f"({margin:.4g})"
