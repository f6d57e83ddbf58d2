"""The gallery: every figure and table with its caption, its files and the command that made it.

``gallery.html`` stands beside the figures and is written whenever some are drawn. The page in the documentation, with
small pictures, is made from the same folder::

    fltheory validate
    python -m fltheory.report.gallery results/figures docs
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json, write_bytes, write_text
from fltheory.bounds.papers import paper_of
from fltheory.errors import FltheoryError
from fltheory.figures.kept import numbers
from fltheory.figures.study import Study, TextTable, studies
from fltheory.report.build import is_long, smaller, template

FORMATS = ("svg", "pdf", "png", "md", "json")
WIDTH = 1000
"""Pixels across of the pictures in the documentation."""

SHOWN = 6
"""Rows of a long table that the documentation shows."""

_SHAPE = {**dict.fromkeys(("name", "title", "paper", "caption", "command", "numbers"), str), "data": dict}


def entries(directory: Path) -> list[dict[str, Any]]:
    """Return what a folder holds of the known figures and tables, in their order.

    A record that is damaged, or that was edited, is left out.
    """
    found = []
    for name, study in studies(networks=True).items():
        place = directory / f"{name}.json"
        if not place.exists():
            continue
        with contextlib.suppress(FltheoryError, LookupError, TypeError, ValueError, AttributeError):
            record = read_json(place)
            shapes.check(record, _SHAPE, str(place))
            if record["numbers"] == numbers(record["data"]):
                found.append(_entry(directory, study, record))
    return found


def _entry(directory: Path, study: Study, record: dict[str, Any]) -> dict[str, Any]:
    table = None if study.table is None else study.table(record["data"])
    return {
        **{key: record[key] for key in ("name", "title", "caption", "command")},
        "paper": "" if study.paper == "fltheory" else paper_of(study.paper),
        "picture": study.draw is not None,
        "table": table,
        "folded": is_long(study.draw is not None, table),
        "files": [suffix for suffix in FORMATS if (directory / f"{study.name}.{suffix}").exists()],
    }


def gallery(directory: Path, *, report: str = "") -> Path:
    """Write ``gallery.html`` into a folder of figures; ``report`` is where the report is, seen from there."""
    path = directory / "gallery.html"
    write_text(path, template("gallery.html.j2").render(entries=entries(directory), report=report))
    return path


def document(directory: Path, docs: Path) -> Path:
    """Write ``gallery.md`` and small pictures into the documentation."""
    pictures = docs / "figures"
    pictures.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Gallery",
        "",
        "Every figure and table, with the command that makes it; captions are computed from the numbers. Made by",
        "`fltheory validate` and `python -m fltheory.report.gallery results/figures docs`; vector graphics and the",
        "numbers are then in `results/figures`. Those with networks on real data are drawn by name beforehand.",
        "",
    ]
    for entry in entries(directory):
        lines += [f"## {entry['title']}", ""]
        if entry["picture"]:
            write_bytes(pictures / f"{entry['name']}.png", smaller(directory / f"{entry['name']}.png", WIDTH))
            lines += [f"![{entry['title']}](figures/{entry['name']}.png)", ""]
        if entry["table"] is not None:
            lines += _table(entry, pictures)
        lines += [entry["caption"], "", f"`{entry['command']}`", ""]
    lines += _not_drawn(directory)
    path = docs / "gallery.md"
    write_text(path, "\n".join(lines).rstrip() + "\n")
    return path


def _not_drawn(directory: Path) -> list[str]:
    """Return lines about the figures and tables that the folder does not hold; none if it holds all."""
    there = {entry["name"] for entry in entries(directory)}
    missing = [study for name, study in studies(networks=True).items() if name not in there]
    lines = ["## Not drawn for this page", ""] if missing else []
    for study in missing:
        needs = f", with {' and '.join(study.needs)}" if study.needs else ""
        lines.append(f"- {study.title}: `fltheory figure {study.name} --seed 0`{needs}")
    return lines


def _table(entry: dict[str, Any], pictures: Path) -> list[str]:
    """Return the lines of a table; of the numbers behind curves a few rows and a link to a file with all."""
    table: TextTable = entry["table"]
    if not entry["folded"]:
        return [table.markdown()]
    file = pictures / f"{entry['name']}.csv"
    write_text(file, table.csv())
    few = replace(table, rows=table.rows[:SHOWN]).markdown()
    return [few, f"The first {SHOWN} of [{len(table.rows)} rows]({pictures.name}/{file.name}).", ""]


if __name__ == "__main__":
    document(Path(sys.argv[1]), Path(sys.argv[2]))
