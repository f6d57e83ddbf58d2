"""Putting the page together."""

from __future__ import annotations

import base64
import inspect
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fltheory import claims as catalogue
from fltheory.figures.study import Saved
from fltheory.figures.style import SYMBOLS
from fltheory.report.graph import svg
from fltheory.report.markup import mathml, page
from fltheory.validation.summary import findings, printed, summary


def build(
    ledger: Mapping[str, Any],
    figures: Sequence[Saved],
    path: Path,
    *,
    folders: Iterable[Path] = (),
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
    """
    known = catalogue.index(folders)
    small = {id_: picture for saved in figures for id_, picture in _by_claim(saved)}
    claims = [_claim(entry, known[entry["id"]], small.get(entry["id"], "")) for entry in ledger["claims"]]
    papers = []
    for tag in dict.fromkeys(claim["paper"] for claim in claims):
        own = [claim for claim in claims if claim["paper"] == tag]
        papers.append(
            {
                "tag": tag,
                "title": _title(tag),
                "claims": own,
                "graph": svg({c["id"]: c["uses"] for c in own}, {c["id"]: c["verdict"] for c in own}, paper=tag),
            }
        )
    text = template("report.html.j2").render(
        papers=papers,
        claims=claims,
        figures=[_figure(saved) for saved in figures],
        counts=summary(ledger),
        findings=findings(ledger),
        symbols=SYMBOLS,
        ledger=ledger,
        gallery=_gallery(figures, path),
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


def _claim(entry: Mapping[str, Any], found: catalogue.Entry, picture: str) -> dict[str, Any]:
    return {
        **entry,
        "picture": picture,
        "verdict": printed(entry),
        "page": page(inspect.getdoc(found.module()) or ""),
        "forms": [
            {
                **form,
                "mathml": mathml(form["latex"]),
                "assumptions": [{**a, "mathml": mathml(a["statement"], block=False)} for a in form["assumptions"]],
                "replay": f"fltheory replay results/ledger/counterexamples/{form['id']}@{form['variant']}.json",
            }
            for form in entry["forms"]
        ],
    }


def _figure(saved: Saved) -> dict[str, Any]:
    """Return a figure with its picture inside, and its table."""
    pictures = [path for path in saved.files if path.name == f"{saved.study.name}.png"]
    return {
        "name": saved.study.name,
        "title": saved.study.title,
        "caption": saved.caption,
        "command": saved.command,
        "picture": _encoded(smaller(pictures[0], 1050)) if pictures else "",
        "table": saved.study.table(saved.data) if saved.study.table is not None else None,
        "seconds": saved.seconds,
    }


def _by_claim(saved: Saved) -> Iterator[tuple[str, str]]:
    """Yield the pictures of a study that belong to claims."""
    for path in saved.files:
        if path.suffix == ".png" and path.stem != saved.study.name:
            yield path.stem.removeprefix(f"{saved.study.name}."), _encoded(smaller(path, 600))


def _encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode("ascii")


def smaller(path: Path, width: int) -> bytes:
    """Return a picture as PNG with that many pixels across and few colours, to keep a page small."""
    from PIL import Image

    with Image.open(path) as image:
        size = (width, round(image.height * width / image.width))
        reduced = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        out = io.BytesIO()
        reduced.quantize(64).save(out, format="PNG", optimize=True)
        return out.getvalue()


def _title(tag: str) -> str:
    from fltheory.bounds._claim import PAPERS

    return PAPERS.get(tag, tag)
