"""A figure or table of a paper: numbers computed once, drawn by a pure function, saved with their origin.

One file per figure in ``figures/papers/``, or in ``figures/networks/`` if it trains networks on real data, ends in
``study = Study(name=..., title=..., paper=..., ...)``, or in ``studies = (...)`` where several share a form; it is
found by looking into the folder. ``compute`` returns plain numbers (what is stored as JSON), ``draw`` turns them into a
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
from fltheory.figures.style import DPI, SMALL, settle
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
    by_claim
        Small figures for the pages of claims, by their ids; written as PNG.
    together
        Studies with the same word are produced by one process, so that what they share is computed once.
    weight
        How long it takes in full, about, next to the others; the heaviest are begun first.
    judged
        Whether ``compute`` takes the verdicts of a ledger as well: ``compute(quick=..., seed=..., ledger=...)``.
    needs
        What it needs besides this package: an extra, or the name of a data set.
    packages
        Packages whose versions are recorded besides those on which all numbers depend.
    """

    name: str
    title: str
    paper: str
    compute: Callable[..., dict[str, Any]]
    caption: Callable[[Data], str]
    draw: Callable[[Data], Figure] | None = None
    table: Callable[[Data], Table] | None = None
    by_claim: Callable[[Data], dict[str, Figure]] | None = None
    together: str = ""
    weight: int = 1
    judged: bool = False
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.draw is None and self.table is None:
            raise checks.fail("Study", "draw", "given, or table", None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A study that has been computed and written."""

    study: Study
    data: Data
    caption: str
    command: str
    files: tuple[Path, ...]
    seconds: float


def studies(*, networks: bool = False) -> dict[str, Study]:
    """Return the figures and tables by name; with ``networks`` also those that train networks on real data."""
    from fltheory.figures import networks as trained
    from fltheory.figures import papers

    found: list[Study] = []
    for folder in (papers, trained) if networks else (papers,):
        names = [entry.name for entry in pkgutil.iter_modules(folder.__path__) if not entry.name.startswith("_")]
        modules = [importlib.import_module(f"{folder.__name__}.{name}") for name in names]
        found += [study for module in modules for study in getattr(module, "studies", None) or (module.study,)]
    return {study.name: study for study in sorted(found, key=lambda s: s.name)}


def produce(study: Study, directory: Path, *, quick: bool = False, seed: int = 0, ledger: Path | None = None) -> Saved:
    """Compute a study and write it: SVG, PDF and PNG of a figure, Markdown of a table, and the numbers as JSON.

    A study of verdicts takes them from ``ledger``, a file that ``fltheory validate`` or ``check --all`` has written; if
    there is none it checks what it needs.
    """
    from fltheory.validation.ledger import load

    begin = time.perf_counter()
    more: dict[str, Any] = {"ledger": None if ledger is None else load(ledger)} if study.judged else {}
    data = study.compute(quick=quick, seed=seed, **more)
    directory.mkdir(parents=True, exist_ok=True)
    caption = study.caption(data)
    files: list[Path] = []
    if study.draw is not None:
        files += save(study.draw(data), directory / study.name, formats=("svg", "pdf", "png"))
    if study.by_claim is not None:
        for id_, figure in study.by_claim(data).items():
            files += save(figure, directory / f"{study.name}.{id_}", formats=("png",), dpi=SMALL)
    if study.table is not None:
        files.append(directory / f"{study.name}.md")
        files[-1].write_text(f"{study.title}. {caption}\n\n{study.table(data).markdown()}", encoding="utf-8")
    files.append(directory / f"{study.name}.json")
    record: dict[str, Any] = {
        "name": study.name,
        "title": study.title,
        "paper": study.paper,
        "caption": caption,
        "command": command(study, quick=quick, seed=seed, ledger=ledger),
        "seed": seed,
        "quick": quick,
        "versions": dict(versions(*study.packages)),
        "commit": commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "data": data,
    }
    files[-1].write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    seconds = time.perf_counter() - begin
    return Saved(
        study=study, data=data, caption=caption, command=record["command"], files=tuple(files), seconds=seconds
    )


def command(study: Study, *, quick: bool, seed: int, ledger: Path | None = None) -> str:
    """Return what to type to get the figure again."""
    text = f"fltheory figure {study.name} --seed {seed}" + (" --quick" if quick else "")
    return text + (f" --ledger {ledger}" if study.judged and ledger is not None else "")


def save(figure: Figure, stem: Path, *, formats: Sequence[str] = ("svg", "png"), dpi: int = DPI) -> list[Path]:
    """Write a figure in several formats, a PNG with ``dpi`` pixels per inch; the same figure gives the same bytes.

    ``Figure.savefig`` would draw everything twice for each format, the first time only to lay it out.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    settle(figure)
    paths = []
    for suffix in formats:
        paths.append(stem.with_name(f"{stem.name}.{suffix}"))
        figure.set_dpi(dpi)  # vector formats leave their own behind
        canvas: Any
        with matplotlib.rc_context({"svg.hashsalt": "fltheory"}):
            if suffix == "svg":
                canvas = FigureCanvasSVG(figure)
                canvas.print_svg(paths[-1], metadata={"Date": None})
            elif suffix == "pdf":
                canvas = FigureCanvasPdf(figure)
                canvas.print_pdf(paths[-1], metadata={"CreationDate": None})
            else:
                canvas = FigureCanvasAgg(figure)
                canvas.print_png(paths[-1])
    return paths
