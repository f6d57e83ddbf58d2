"""Tables on the terminal, the same as JSON, and the machine they were made on."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from benchmarks.workers import Measured

WRONG = "WRONG"
_COLOURS = {WRONG: "bold red", "MISSED": "yellow", "ok": "green", "failed": "red"}


@dataclass(kw_only=True)
class Table:
    """What a job prints.

    Parameters
    ----------
    title
        Headline.
    columns
        Names of the columns; the first is a label.
    rows
        Texts, as many per row as there are columns.
    notes
        Lines under the table.
    records
        The same as plain values, for JSON.
    """

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)

    def show(self, console: Console) -> None:
        """Print the table and its notes."""
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for position, column in enumerate(self.columns):
            table.add_column(column, justify="left" if position == 0 else "right")
        for row in self.rows:
            table.add_row(*(Text(cell, style=_COLOURS.get(cell.split(":")[0], "")) for cell in row))
        console.print()
        console.print(table)
        for note in self.notes:
            console.print(Text(f"  {note}"))

    @property
    def wrong(self) -> bool:
        """Whether a tool did not do the job it was timed for."""
        return any(record.get("verdict") == WRONG for record in self.records)


def seconds_text(value: float) -> str:
    """Return seconds with three digits.

    >>> seconds_text(0.012345), seconds_text(12.345), seconds_text(math.nan)
    ('0.0123', '12.3', '-')
    """
    return "-" if math.isnan(value) else f"{value:.3g}"


def ratio_text(value: float) -> str:
    """Return how many times faster, with two or three digits.

    >>> ratio_text(1234.5), ratio_text(0.52), ratio_text(math.nan)
    ('1,230x', '0.52x', '-')
    """
    if math.isnan(value) or math.isinf(value):
        return "-"
    if value < 10:
        return f"{value:.2g}x"
    digits = 3 - len(str(int(value)))
    return f"{round(value, digits):,.0f}x"


def requirement(ratio: float, least: float | None, *, quick: bool) -> str:
    """Return whether a ratio reaches what is required of it at full size; empty if nothing is."""
    if least is None:
        return ""
    if quick or math.isnan(ratio):
        return f"{least:,.0f}x"
    return f"{'ok' if ratio >= least else 'MISSED'}: {least:,.0f}x"


def record_of(entry: Measured, **more: Any) -> dict[str, Any]:
    """Return a measurement as plain values."""
    finite = {name: None if math.isnan(value) else value for name, value in _numbers(entry).items()}
    return {
        "tool": entry.tool.label,
        **finite,
        "all_seconds": entry.seconds,
        "statistics": {name: list(value) for name, value in entry.pooled().items()},
        "versions": entry.versions,
        "note": entry.note,
        "failure": entry.failure,
        **more,
    }


def _numbers(entry: Measured) -> dict[str, float]:
    return {
        "seconds": entry.best,
        "import_seconds": entry.import_seconds,
        "prepare_seconds": entry.prepare_seconds,
    }


def versions_of(measured: Sequence[Measured]) -> str:
    """Return the versions of everything that took part, each once."""
    found: dict[str, set[str]] = {}
    for entry in measured:
        for name, version in entry.versions.items():
            found.setdefault(name, set()).add(version)
    return "versions: " + ", ".join(f"{name} {' and '.join(sorted(seen))}" for name, seen in sorted(found.items()))


def machine() -> dict[str, Any]:
    """Return processor, cores, load and system."""
    model = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line.split(":", 1)[1].strip() for line in information.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
    return {
        "processor": model or platform.machine(),
        "cores": os.cpu_count(),
        "load": load,
        "system": platform.system(),
    }
