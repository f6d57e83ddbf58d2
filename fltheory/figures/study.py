"""A figure or table of a paper: numbers computed once, drawn by a pure function, saved with their origin.

One file per figure in ``figures/papers/`` ends in ``study = Study(name=..., title=..., paper=..., ...)``; it is found
by looking into the folder. ``compute`` returns plain numbers (what is stored as JSON), ``draw`` turns them into a
figure and ``table`` into rows, so that anyone can draw the stored numbers again without computing anything.
"""

from __future__ import annotations

import datetime
import importlib
import json
import pkgutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fltheory import checks
from fltheory.provenance import commit, versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = Mapping[str, Any]
"""Numbers behind a figure: plain JSON values."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a heading."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        lines = ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """One figure or table.

    Parameters
    ----------
    name
        ``paper-figure-1`` and the like.
    title
        A few words.
    paper
        Tag of the paper, or ``fltheory`` for one of our own.
    compute
        ``compute(quick=..., seed=...)`` returns the numbers; ``quick`` asks for fewer rounds, replicates or points.
    caption
        One sentence, from the numbers, that says what to see.
    draw, table
        The figure, the table; at least one of them.
    """

    name: str
    title: str
    paper: str
    compute: Callable[..., dict[str, Any]]
    caption: Callable[[Data], str]
    draw: Callable[[Data], Figure] | None = None
    table: Callable[[Data], Table] | None = None

    def __post_init__(self) -> None:
        if self.draw is None and self.table is None:
            raise checks.fail("Study", "draw", "given, or table", None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A study that has been computed and written."""

    study: Study
    data: Data
    caption: str
    files: tuple[Path, ...]
    seconds: float


def studies() -> dict[str, Study]:
    """Return all figures and tables by name."""
    from fltheory.figures import papers

    names = [entry.name for entry in pkgutil.iter_modules(papers.__path__) if not entry.name.startswith("_")]
    found = [importlib.import_module(f"{papers.__name__}.{name}").study for name in names]
    return {study.name: study for study in sorted(found, key=lambda s: s.name)}


def produce(study: Study, directory: Path, *, quick: bool = False, seed: int = 0) -> Saved:
    """Compute a study and write it: SVG, PDF and PNG of a figure, Markdown of a table, and the numbers as JSON."""
    begin = time.perf_counter()
    data = study.compute(quick=quick, seed=seed)
    directory.mkdir(parents=True, exist_ok=True)
    caption = study.caption(data)
    files: list[Path] = []
    if study.draw is not None:
        files += save(study.draw(data), directory / study.name, formats=("svg", "pdf", "png"))
    if study.table is not None:
        files.append(directory / f"{study.name}.md")
        files[-1].write_text(f"{study.title}. {caption}\n\n{study.table(data).markdown()}", encoding="utf-8")
    files.append(directory / f"{study.name}.json")
    record = {
        "name": study.name,
        "title": study.title,
        "paper": study.paper,
        "caption": caption,
        "command": f"fltheory figure {study.name} --seed {seed}" + (" --quick" if quick else ""),
        "seed": seed,
        "quick": quick,
        "versions": dict(versions()),
        "commit": commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "data": data,
    }
    files[-1].write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return Saved(study=study, data=data, caption=caption, files=tuple(files), seconds=time.perf_counter() - begin)


def save(figure: Figure, stem: Path, *, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write a figure in several formats; the same figure gives the same bytes."""
    import matplotlib

    paths = []
    for suffix in formats:
        path = stem.with_name(f"{stem.name}.{suffix}")
        dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        with matplotlib.rc_context({"svg.hashsalt": "fltheory"}):
            figure.savefig(path, dpi=300, metadata=dates.get(suffix))
        paths.append(path)
    return paths
