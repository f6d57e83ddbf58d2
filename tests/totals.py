"""Totals of ``docs/ledger.md`` in the README and in the documentation.

After the ledger has been renewed, ``python -m tests.totals`` writes its totals into all pages that show them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from fltheory.bounds.papers import PAPERS

ROOT = Path(__file__).parents[1]


GRADES = "Of the # that fail, wholly or in part, # are misprints, # are gaps in a proof whose results hold, and # need"
COUNTS = "have # statements; # hold as printed, # are violated, and # are violated in part"


class Totals(NamedTuple):
    """A row of the first table of the ledger."""

    statements: int
    hold: int
    violated: int
    mixed: int
    open: int
    corrected: int
    misprints: int
    gaps: int
    false: int

    @property
    def shown(self) -> str:
        """The columns that all pages show."""
        return " | ".join(map(str, (self.statements, self.hold, self.violated, self.mixed, self.corrected)))

    @property
    def graded(self) -> str:
        """The columns that the page of a paper shows."""
        return f"{self.shown} | {self.misprints} | {self.gaps} | {self.false}"


def of_ledger(text: str) -> dict[str, Totals]:
    """Return the totals of every paper, by its tag."""
    head = text.split("\n## ")[0]
    tags = {paper.short: tag for tag, paper in PAPERS.items()}
    rows = re.findall(r"(?m)^\| ([^|]+) \| (\d+(?: \| \d+){8}) \|$", head)
    return {tags[name]: Totals(*map(int, numbers.split(" | "))) for name, numbers in rows}


def renewed(page: str, text: str, found: dict[str, Totals]) -> str:
    """Return the text of a page, by its path, with these totals."""
    total = Totals(*map(sum, zip(*found.values(), strict=True)))
    five, eight = r"\d+(?: \| \d+){4}", r"\d+(?: \| \d+){7}"
    for tag, own in found.items():
        text = re.sub(rf"(?m)^(\| .*\((?:docs/papers/)?{tag}\.md\).* \| ){five} \|$", rf"\g<1>{own.shown} |", text)
    text = re.sub(rf"(?m)^\| all \| {five} \|$", f"| all | {total.shown} |", text)
    tag = Path(page).stem
    if tag in found:
        text = re.sub(rf"(?m)^\| {eight} \|$", f"| {found[tag].graded} |", text)
        text = re.sub(r"\bAll \d+\b", f"All {found[tag].corrected}", text)
    text = _counted(text, GRADES, (total.corrected, total.misprints, total.gaps, total.false))
    return _counted(text, COUNTS, (total.statements, total.hold, total.violated, total.mixed))


def _counted(text: str, sentence: str, numbers: tuple[int, ...]) -> str:
    """Return a text with these numbers in a sentence; lines may break between any two of its words."""
    parts = sentence.split("#")
    pattern = r"\d+".join(rf"({re.escape(part)})".replace(r"\ ", r"\s+") for part in parts)

    def replaced(match: re.Match[str]) -> str:
        first, *others = match.groups()
        return first + "".join(f"{number}{part}" for number, part in zip(numbers, others, strict=True))

    return re.sub(pattern, replaced, text)


def pages() -> list[Path]:
    """Return all pages with totals."""
    return [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "papers").glob("*.md"))]


if __name__ == "__main__":
    totals = of_ledger((ROOT / "docs" / "ledger.md").read_text(encoding="utf-8"))
    for path in pages():
        path.write_text(renewed(path.name, path.read_text(encoding="utf-8"), totals), encoding="utf-8")
