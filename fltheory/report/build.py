"""Putting the page together."""

from __future__ import annotations

import base64
import inspect
import io
from collections.abc import Iterable, Mapping, Sequence
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
    from jinja2 import Environment, PackageLoader, StrictUndefined

    known = catalogue.index(folders)
    claims = [_claim(entry, known[entry["id"]]) for entry in ledger["claims"]]
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
    environment = Environment(
        loader=PackageLoader("fltheory.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    text = environment.get_template("report.html.j2").render(
        papers=papers,
        claims=claims,
        figures=[_figure(saved) for saved in figures],
        counts=summary(ledger),
        findings=findings(ledger),
        symbols=SYMBOLS,
        ledger=ledger,
        total=sum(len(claim["forms"]) for claim in claims),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _claim(entry: Mapping[str, Any], found: catalogue.Entry) -> dict[str, Any]:
    return {
        **entry,
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
    pictures = [path for path in saved.files if path.suffix == ".png"]
    return {
        "name": saved.study.name,
        "title": saved.study.title,
        "caption": saved.caption,
        "picture": base64.b64encode(_smaller(pictures[0])).decode("ascii") if pictures else "",
        "table": saved.study.table(saved.data) if saved.study.table is not None else None,
        "seconds": saved.seconds,
    }


def _smaller(path: Path) -> bytes:
    """Return a picture at the resolution of a screen, to keep the page small."""
    from PIL import Image

    with Image.open(path) as image:
        reduced = image.convert("RGB").resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS)
        out = io.BytesIO()
        reduced.quantize(64).save(out, format="PNG", optimize=True)
        return out.getvalue()


def _title(tag: str) -> str:
    from fltheory.bounds._claim import PAPERS

    return PAPERS.get(tag, tag)
