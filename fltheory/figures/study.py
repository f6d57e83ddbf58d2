"""A figure or table of a paper: numbers computed once, drawn by a pure function, saved with their origin.

One file per figure in ``bounds/<paper>/figures/``, in ``bounds/<paper>/network_figures/`` if it trains networks on real
data, or in ``figures/theory/`` if it is about the whole catalogue, ends in
``study = Study(name=..., title=..., paper=..., ...)``, or in ``studies = (...)`` where several share a form; it is
found by looking into these folders. ``compute`` returns plain numbers (what is stored as JSON), ``draw`` turns them
into a figure and ``table`` into rows, so that anyone can draw the stored numbers again without computing anything.
"""

from __future__ import annotations

import csv
import datetime
import importlib
import importlib.util
import io
import pkgutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.files import replacing, write_json, write_text
from fltheory._internal.provenance import commit, versions
from fltheory.figures import kept
from fltheory.figures.style import DPI, SMALL, settle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = Mapping[str, Any]
"""Numbers behind a figure: plain JSON values."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows of text under a heading."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        lines = ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()


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
    needs_ledger
        Whether ``compute`` takes the verdicts of a ledger as well: ``compute(quick=..., seed=..., ledger=...)``.
    own_claims
        Whether ``compute`` also takes folders with claims of the user's own: ``compute(..., claims=...)``.
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
    table: Callable[[Data], TextTable] | None = None
    by_claim: Callable[[Data], dict[str, Figure]] | None = None
    together: str = ""
    weight: int = 1
    needs_ledger: bool = False
    own_claims: bool = False
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.draw is None and self.table is None:
            raise arguments.fail("Study", "draw", "given, or table", None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A study that has been computed and written."""

    study: Study
    data: Data
    caption: str
    command: str
    files: tuple[Path, ...]
    seconds: float
    reused: bool = False


def studies(*, networks: bool = False) -> dict[str, Study]:
    """Return the figures and tables by name; with ``networks`` also those that train networks on real data."""
    found: list[Study] = []
    for folder in _folders(networks):
        names = [entry.name for entry in pkgutil.iter_modules(folder.__path__) if not entry.name.startswith("_")]
        modules = [importlib.import_module(f"{folder.__name__}.{name}") for name in names]
        found += [study for module in modules for study in getattr(module, "studies", None) or (module.study,)]
    return {study.name: study for study in sorted(found, key=lambda s: s.name)}


def _folders(networks: bool) -> Iterator[ModuleType]:
    """Yield the packages with figures: those of the papers, then those about the catalogue."""
    from fltheory import bounds
    from fltheory.figures import theory

    for paper in pkgutil.iter_modules(bounds.__path__):
        for name in ("figures", "network_figures") if networks else ("figures",):
            home = f"{bounds.__name__}.{paper.name}.{name}"
            if paper.ispkg and importlib.util.find_spec(home):
                yield importlib.import_module(home)
    yield theory


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """How figures are to be drawn: what :func:`produce` takes besides a study and a folder."""

    quick: bool = False
    seed: int = 0
    ledger: Path | None = None
    claims: tuple[Path, ...] = ()

    def command(self, study: Study) -> str:
        """Return what to type to get a figure again."""
        return command(study, quick=self.quick, seed=self.seed, ledger=self.ledger, claims=self.claims)

    def key(self, study: Study, verdicts: Data | None) -> str:
        """Return a name for everything that decides what a figure shows; ``verdicts`` is the ledger, read."""
        return kept.key(
            study,
            quick=self.quick,
            seed=self.seed,
            command=self.command(study),
            verdicts=verdicts if study.needs_ledger else None,
            claims=self.claims if study.own_claims else (),
        )


def recalled(study: Study, directory: Path, asked: Asked, verdicts: Data | None) -> Saved | None:
    """Return a figure of a folder, if it is what would be drawn now; ``verdicts`` is the ledger, read."""
    begin = time.perf_counter()
    found = kept.recall(directory, study.name, asked.key(study, verdicts))
    if found is None:
        return None
    return Saved(
        study=study,
        data=found["data"],
        caption=found["caption"],
        command=asked.command(study),
        files=tuple(directory / name for name in (*found["files"], f"{study.name}.json")),
        seconds=time.perf_counter() - begin,
        reused=True,
    )


def produce(
    study: Study,
    directory: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    ledger: Path | None = None,
    claims: Sequence[Path] = (),
    fresh: bool = True,
) -> Saved:
    """Compute a study and write it: SVG, PDF and PNG of a figure, Markdown of a table, and the numbers as JSON.

    A study of verdicts takes them from ``ledger``, a file that ``fltheory validate`` or ``check --all`` has written; if
    there is none it checks what it needs. ``claims`` are folders with claims of the user's own. Unless ``fresh`` is
    set, a figure in the folder that the same code has drawn from the same verdicts is taken over as it is.
    """
    from fltheory.validation.ledger import load, origins_in_words

    begin = time.perf_counter()
    verdicts = load(ledger) if study.needs_ledger and ledger is not None else None
    asked = Asked(quick=quick, seed=seed, ledger=ledger, claims=tuple(claims))
    found = None if fresh else recalled(study, directory, asked, verdicts)
    if found is not None:
        return found
    again = asked.command(study)
    more: dict[str, Any] = {"ledger": verdicts} if study.needs_ledger else {}
    if study.own_claims:
        more["claims"] = tuple(claims)
    data = study.compute(quick=quick, seed=seed, **more)
    directory.mkdir(parents=True, exist_ok=True)
    mixed = "" if verdicts is None else origins_in_words(verdicts)
    caption = f"{study.caption(data)} {mixed}".rstrip()
    written: list[Path] = []
    if study.draw is not None:
        written += save(study.draw(data), directory / study.name, formats=("svg", "pdf", "png"))
    if study.by_claim is not None:
        for id_, figure in study.by_claim(data).items():
            written += save(figure, directory / f"{study.name}.{id_}", formats=("png",), dpi=SMALL)
    if study.table is not None:
        written.append(directory / f"{study.name}.md")
        write_text(written[-1], f"{study.title}. {caption}\n\n{study.table(data).markdown()}")
    record: dict[str, Any] = {
        "name": study.name,
        "title": study.title,
        "paper": study.paper,
        "caption": caption,
        "command": again,
        "seed": seed,
        "quick": quick,
        "versions": dict(versions(*study.packages)),
        "commit": commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "key": asked.key(study, verdicts),
        "files": {path.name: kept.fingerprint(path) for path in written},
        "numbers": kept.numbers(data),
        "data": data,
    }
    written.append(directory / f"{study.name}.json")
    write_json(written[-1], record, indent=1)
    seconds = time.perf_counter() - begin
    return Saved(study=study, data=data, caption=caption, command=again, files=tuple(written), seconds=seconds)


def command(study: Study, *, quick: bool, seed: int, ledger: Path | None = None, claims: Sequence[Path] = ()) -> str:
    """Return what to type to get the figure again."""
    text = f"fltheory figure {study.name} --seed {seed}" + (" --quick" if quick else "")
    text += f" --ledger {ledger}" if study.needs_ledger and ledger is not None else ""
    return text + "".join(f" --claims {folder}" for folder in (claims if study.own_claims else ()))


class Tabular(Protocol):
    """What has columns of numbers: a run, or a theorem beside a run."""

    def columns(self) -> Mapping[str, Any]:
        """Return arrays of one length, by name."""
        ...


def save(
    figure: Figure,
    stem: Path,
    *,
    formats: Sequence[str] = ("svg", "png"),
    dpi: int = DPI,
    data: Tabular | Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write a figure in several formats, a PNG with ``dpi`` pixels per inch; the same figure gives the same bytes.

    ``data`` is written beside the picture as CSV: a run, a comparison, or columns by name. ``Figure.savefig`` would
    draw everything twice for each format, the first time only to lay it out.
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
        with replacing(paths[-1]) as part, matplotlib.rc_context({"svg.hashsalt": "fltheory"}):
            if suffix == "svg":
                canvas = FigureCanvasSVG(figure)
                canvas.print_svg(part, metadata={"Date": None})
            elif suffix == "pdf":
                canvas = FigureCanvasPdf(figure)
                canvas.print_pdf(part, metadata={"CreationDate": None})
            else:
                canvas = FigureCanvasAgg(figure)
                canvas.print_png(part)
    if data is not None:
        columns = data if isinstance(data, Mapping) else data.columns()
        rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        lines = [",".join(columns), *(",".join(repr(value) for value in row) for row in rows)]
        paths.append(stem.with_name(f"{stem.name}.csv"))
        write_text(paths[-1], "\n".join(lines) + "\n")
    return paths
