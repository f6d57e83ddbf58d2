"""Putting the page together."""

from __future__ import annotations

import base64
import inspect
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fltheory import claims as catalogue
from fltheory.figures.study import Saved
from fltheory.figures.style import SYMBOLS, WORDS
from fltheory.processes import in_processes
from fltheory.report.graph import svg
from fltheory.report.markup import mathml, page
from fltheory.validation.summary import findings, printed, summary

METHODS = {
    "exact": "exact expectations along trajectories",
    "symbolic": "a proof by computer algebra",
    "enumeration": "search over instances, expectations as finite sums",
    "monte-carlo": "sampled trajectories with a band for all rounds at once",
    "sdp": "a semidefinite program over the whole class",
}
"""How the numbers behind a verdict were obtained."""

BETWEEN = r",\quad "
"""Between a statement, its ranges and its definitions, each of which gets a line of its own."""


def build(
    ledger: Mapping[str, Any],
    figures: Sequence[Saved],
    path: Path,
    *,
    folders: Iterable[Path] = (),
    jobs: int = 1,
) -> Path:
    """Write the report.

    Parameters
    ----------
    ledger
        What :func:`fltheory.validation.ledger.ledger` returns.
    figures
        What :func:`fltheory.figures.study.produce` has written.
    path
        Where to write the page.
    folders
        Folders with further claims.
    jobs
        Processes; the page does not depend on it.
    """
    known = catalogue.index(folders)
    kept = (path.parent / "ledger" / "counterexamples").as_posix()
    graphs = {saved.study.paper: saved for saved in figures if saved.study.name == f"proof-graph-{saved.study.paper}"}
    figures = [saved for saved in figures if saved not in graphs.values()]
    pictures = {picture: width for saved in figures for picture, width in _pictures(saved)}
    tasks: list[tuple[Any, ...]] = [(picture, _encoded, picture, width) for picture, width in pictures.items()]
    tasks += [(entry["id"], _claim, entry, known[entry["id"]], kept) for entry in ledger["claims"]]
    parts = dict(in_processes(tasks, _labelled, jobs))
    small = {_whose(saved, picture): parts[picture] for saved in figures for picture, _ in _pictures(saved)}
    claims = [{**parts[entry["id"]], "picture": small.get(entry["id"], "")} for entry in ledger["claims"]]
    papers = []
    for tag in dict.fromkeys(claim["paper"] for claim in claims):
        own = [claim for claim in claims if claim["paper"] == tag]
        papers.append(
            {
                "tag": tag,
                "title": _title(tag),
                "claims": own,
                "graph": svg({c["id"]: c["uses"] for c in own}, {c["id"]: c["verdict"] for c in own}, paper=tag),
                "drawn": _figure(graphs[tag], "") if tag in graphs else None,
            }
        )
    text = template("report.html.j2").render(
        papers=papers,
        claims=claims,
        here={claim["id"] for claim in claims},
        figures=[_figure(saved, small.get(saved.study.name, "")) for saved in figures],
        counts=summary(ledger),
        findings=findings(ledger),
        symbols=SYMBOLS,
        words=WORDS,
        methods=METHODS,
        kept=kept,
        ledger=ledger,
        gallery=_gallery([*figures, *graphs.values()], path),
        total=sum(len(claim["forms"]) for claim in claims),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def template(name: str) -> Any:
    """Return a template of a page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fltheory.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(name)


def _gallery(figures: Sequence[Saved], path: Path) -> str:
    """Return where the gallery of these figures stands, seen from the report; empty if there is none."""
    found = [saved.files[0].parent / "gallery.html" for saved in figures[:1]]
    if not (found and found[0].exists()):
        return ""
    return Path(os.path.relpath(found[0], path.parent)).as_posix()


def _labelled(label: Any, work: Callable[..., Any], *more: Any) -> tuple[Any, Any]:
    """Return a result with its label, since results come in any order."""
    return label, work(*more)


def _claim(entry: Mapping[str, Any], found: catalogue.Entry, kept: str) -> dict[str, Any]:
    return {
        **entry,
        "verdict": printed(entry),
        "page": page(inspect.getdoc(found.module()) or ""),
        "forms": [
            {
                **form,
                "mathml": [mathml(part) for part in form["latex"].split(BETWEEN)],
                "assumptions": [{**a, "mathml": mathml(a["statement"], block=False)} for a in form["assumptions"]],
                "replay": f"fltheory replay {kept}/{form['id']}@{form['variant']}.json",
            }
            for form in entry["forms"]
        ],
    }


def _figure(saved: Saved, picture: str) -> dict[str, Any]:
    """Return a figure with its picture inside, and its table."""
    return {
        "name": saved.study.name,
        "title": saved.study.title,
        "caption": saved.caption,
        "command": saved.command,
        "picture": picture,
        "table": saved.study.table(saved.data) if saved.study.table is not None else None,
        "seconds": saved.seconds,
    }


def _pictures(saved: Saved) -> Iterator[tuple[Path, int]]:
    """Yield the pictures of a study, with the pixels across that the page has for them."""
    for path in saved.files:
        if path.suffix == ".png":
            yield path, 1050 if path.stem == saved.study.name else 600


def _whose(saved: Saved, path: Path) -> str:
    """Return the claim to which a picture belongs, or the study itself."""
    return path.stem.removeprefix(f"{saved.study.name}.")


def _encoded(path: Path, width: int) -> str:
    return base64.b64encode(smaller(path, width)).decode("ascii")


def smaller(path: Path, width: int) -> bytes:
    """Return a picture as PNG with that many pixels across and few colours, to keep a page small."""
    from PIL import Image

    with Image.open(path) as image:
        size = (width, round(image.height * width / image.width))
        reduced = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        # Of the ways to choose a palette the only one that keeps the colours of thin lines; the means make shades true.
        half = reduced.resize((size[0] // 2, size[1] // 2), Image.Resampling.NEAREST)
        palette = half.quantize(128, method=Image.Quantize.MAXCOVERAGE, kmeans=1)
        out = io.BytesIO()
        # To compress one level harder takes a third more time, for two percent of the size.
        reduced.quantize(palette=palette, dither=Image.Dither.NONE).save(out, format="PNG", compress_level=8)
        return out.getvalue()


def _title(tag: str) -> str:
    from fltheory.bounds._claim import PAPERS

    return PAPERS.get(tag, tag)
