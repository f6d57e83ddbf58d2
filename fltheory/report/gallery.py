"""The gallery: every figure and table with its caption, its files and the command that made it.

``gallery.html`` stands beside the figures and is written whenever some are drawn. The page in the documentation, with
small pictures, is made from the same folder::

    fltheory validate
    python -m fltheory.report.gallery results/figures docs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fltheory._internal.files import write_bytes, write_text
from fltheory.figures.study import Study, studies
from fltheory.report.build import smaller, template

FORMATS = ("svg", "pdf", "png", "md", "json")
WIDTH = 1000
"""Pixels across of the pictures in the documentation."""


def entries(directory: Path) -> list[dict[str, Any]]:
    """Return what a folder holds of the known figures and tables, in their order."""
    return [
        _entry(directory, study)
        for name, study in studies(networks=True).items()
        if (directory / f"{name}.json").exists()
    ]


def _entry(directory: Path, study: Study) -> dict[str, Any]:
    record = json.loads((directory / f"{study.name}.json").read_text(encoding="utf-8"))
    return {
        **{key: record[key] for key in ("name", "title", "paper", "caption", "command")},
        "picture": study.draw is not None,
        "table": study.table(record["data"]) if study.table is not None else None,
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
            lines += [entry["table"].markdown()]
        lines += [entry["caption"], "", f"`{entry['command']}`", ""]
    path = docs / "gallery.md"
    write_text(path, "\n".join(lines).rstrip() + "\n")
    return path


if __name__ == "__main__":
    document(Path(sys.argv[1]), Path(sys.argv[2]))
