"""Putting the page together."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fltheory._internal.files import write_text
from fltheory._internal.processes import in_processes
from fltheory._internal.provenance import HOME, digest, versions
from fltheory.bounds import catalogue
from fltheory.bounds.papers import PAPERS, paper_of
from fltheory.figures.kept import fingerprint
from fltheory.figures.study import Saved, TextTable
from fltheory.figures.style import SYMBOLS, WORDS
from fltheory.report.findings import findings
from fltheory.report.graph import svg
from fltheory.report.sections import section
from fltheory.report.wording import SEVERITIES, References, prose
from fltheory.validation.summary import summary
from fltheory.validation.swept import named

WHITE = 246
"""Level from which on all three channels of a colour count as white in small pictures."""

_SEAL = "fltheory-page-without-its-key"
_SEALED = re.compile(r"\b([0-9a-f]{64}) ([0-9a-f]{64})\b")

_INSIDE = re.compile(r'<a [^>]*href="#([^"]+)"[^>]*>(.*?)</a>')
"""A link to another place of the page."""

LONG = 12
"""Rows above which the table beside a picture is folded away."""

_MARKUP = re.compile(r"</?su[bp]>")

METHODS = {
    "exact": "exact expectations along trajectories",
    "symbolic": "a proof by computer algebra",
    "enumeration": "search over instances, expectations as finite sums",
    "monte-carlo": "sampled trajectories with a band for all rounds at once",
    "sdp": "a semidefinite program over the whole class",
}
"""How the numbers behind a verdict were obtained."""


def build(
    ledger: Mapping[str, Any],
    figures: Sequence[Saved],
    path: Path,
    *,
    folders: Iterable[Path] = (),
    jobs: int = 1,
    fresh: bool = True,
) -> Path:
    """Write the report; unless ``fresh`` is set, one that the same code made of the same verdicts and figures stays.

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
    fresh
        Whether to write the page also if it is there already.
    """
    folders = tuple(folders)
    key = _key(ledger, figures, path, folders)
    if not fresh and _unchanged(path, key):
        return path
    known = catalogue.index(folders)
    kept = path.parent / "ledger" / "counterexamples"
    graphs = {saved.study.paper: saved for saved in figures if saved.study.name == f"proof-graph-{saved.study.paper}"}
    figures = [saved for saved in figures if saved not in graphs.values()]
    pictures = {picture: width for saved in figures for picture, width in _pictures(saved)}
    tasks: list[tuple[Any, ...]] = [(picture, _encoded, picture, width) for picture, width in pictures.items()]
    tasks += [(entry["id"], section, entry, known[entry["id"]], kept, folders) for entry in ledger["claims"]]
    parts = dict(in_processes(tasks, _labelled, jobs, lost=_lost))
    small = {_whose(saved, picture): parts[picture] for saved in figures for picture, _ in _pictures(saved)}
    claims = [{**parts[entry["id"]], "picture": small.get(entry["id"], "")} for entry in ledger["claims"]]
    shared = {note["id"]: note for claim in claims for note in claim["notes"]}
    there = {claim["id"] for claim in claims} | shared.keys()
    for shown in (*claims, *shared.values()):
        shown["page"] = _without_loose_links(shown["page"], there)
    references = References({id_: (entry.paper, entry.reference) for id_, entry in known.items()}, there)
    papers = []
    for tag in dict.fromkeys(claim["paper"] for claim in claims):
        own = [claim for claim in claims if claim["paper"] == tag]
        papers.append(
            {
                "tag": tag,
                "title": _title(tag),
                "name": paper_of(tag),
                "claims": own,
                "graph": svg(
                    {c["id"]: c["uses"] for c in own},
                    {c["id"]: c["verdict"] for c in own},
                    paper=tag,
                    tips={c["id"]: _tip(c) for c in own},
                ),
                "drawn": _figure(graphs[tag], "") if tag in graphs else None,
            }
        )
    counts = summary(ledger)
    text = template("report.html.j2").render(
        papers=papers,
        claims=claims,
        here=there,
        notes=list(shared.values()),
        figures=[_figure(saved, small.get(saved.study.name, "")) for saved in figures],
        counts=[{**row, "title": _title(row["paper"])} for row in counts],
        findings=findings(ledger),
        linked=references.linked,
        symbols=SYMBOLS,
        words=WORDS,
        methods=METHODS,
        severities=SEVERITIES,
        named=named,
        prose=prose,
        kept=kept.as_posix(),
        ledger=ledger,
        seal=_SEAL,
        gallery=_gallery([*figures, *graphs.values()], path),
        total={name: sum(row[name] for row in counts) for name in counts[0] if name != "paper"} if counts else {},
        forms=sum(len(claim["forms"]) for claim in claims),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text.replace(_SEAL, f"{key} {_digest(text)}", 1))
    return path


def _tip(claim: Mapping[str, Any]) -> str:
    """Return what a box of a proof graph says: the statement, and what a result rests on."""
    heading = f"{claim['reference']}: {html.unescape(_MARKUP.sub('', claim['title']))}"
    return "\n".join(filter(None, (heading, claim["tip"], claim["rests"])))


def _key(ledger: Mapping[str, Any], figures: Sequence[Saved], path: Path, folders: tuple[Path, ...]) -> str:
    """Return a name for everything that decides what the page shows; the time of the last check does not count."""
    verdicts = {name: value for name, value in ledger.items() if name != "time"}
    drawn = [
        (saved.study.name, saved.caption, saved.command, str(file), fingerprint(file))
        for saved in figures
        for file in saved.files
    ]
    outside = [digest(folder, deep=False).hex() for folder in folders]
    packages = sorted(versions("sympy", "docutils", "jinja2", "PIL", "math_core").items())
    asked = json.dumps([verdicts, drawn, str(path.parent), outside, packages], sort_keys=True)
    return hashlib.sha256(digest(HOME, deep=True, without=("cli",)) + asked.encode()).hexdigest()


def _unchanged(path: Path, key: str) -> bool:
    """Return whether a page has that key and nobody has edited it since."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    found = _SEALED.search(text)
    if found is None or found[1] != key:
        return False
    return found[2] == _digest(f"{text[: found.start()]}{_SEAL}{text[found.end() :]}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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


def _without_loose_links(page: str, there: Collection[str]) -> str:
    """Return a page in which links to statements that are not shown are words."""
    return _INSIDE.sub(lambda match: match[0] if match[1] in there else match[2], page)


def _labelled(label: Any, work: Callable[..., Any], *more: Any) -> tuple[Any, Any]:
    """Return a result with its label, since results come in any order."""
    return label, work(*more)


def _lost(label: Any, work: Callable[..., Any], *more: Any) -> tuple[Any, Any]:
    """Return what stands for a part of the page that has ended its process: no picture, or a claim without its page."""
    if work is not section:
        return label, ""
    entry, _, kept, folders = more
    return label, section(entry, None, kept, folders)


def _figure(saved: Saved, picture: str) -> dict[str, Any]:
    """Return a figure with its picture inside, and its table."""
    table = None if saved.study.table is None else saved.study.table(saved.data)
    return {
        "name": saved.study.name,
        "title": saved.study.title,
        "caption": saved.caption,
        "command": saved.command,
        "picture": picture,
        "table": table,
        "folded": is_long(bool(picture), table),
        "seconds": saved.seconds,
    }


def is_long(drawn: bool, table: TextTable | None) -> bool:
    """Return whether a table has the numbers behind a picture, and more of them than a reader wants to see at once."""
    return drawn and table is not None and len(table.rows) > LONG


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
        colours = palette.getpalette() or []
        for place in range(0, len(colours), 3):  # the background is white, whichever neighbour the search returns
            if min(colours[place : place + 3]) >= WHITE:
                colours[place : place + 3] = (255, 255, 255)
        palette.putpalette(colours)
        out = io.BytesIO()
        # To compress one level harder takes a third more time, for two percent of the size.
        reduced.quantize(palette=palette, dither=Image.Dither.NONE).save(out, format="PNG", compress_level=8)
        return out.getvalue()


def _title(tag: str) -> str:
    full = PAPERS[tag].full if tag in PAPERS else tag
    return full.replace("(000, long)", "(long version)").replace("(003, short)", "(short version)")
