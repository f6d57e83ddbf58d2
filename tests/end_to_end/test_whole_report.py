"""The report on everything: all statements, all figures; searches are short, which changes verdicts, not the page."""

from __future__ import annotations

import re

import pytest

from fltheory.bounds import catalogue
from fltheory.figures.study import produce, studies
from fltheory.report import build
from fltheory.report.gallery import gallery
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import ledger, write
from fltheory.validation.runner import check_all
from tests.browsing import CHROMIUM, check_print, dump, pages

PROMISED = {
    *("cfl-figure-1", "cfl-table-2", "ruan-figure-1", "ruan-table-1", "ruan-table-3c", "ruan-figure-4", "ruan-table-4"),
    *("ruan-table-5", "efl-figure-2", "efl-table-4", "efl-figure-3", "efl-table-1", "fen-table-2", "fen-table-3"),
    *("fen-figure-2", "fen-figures-3-5", "bound-against-trajectory", "tightness-map", "theory-map"),
}


def test_the_whole_page_is_small_complete_and_printable(tmp_path):
    done, _ = check_all(catalogue.select(["*"]), effort=Effort(instances=1, experiments=1, whole_sweeps=False))
    document = ledger(done, seed=0, effort="quick")
    path, _ = write(document, tmp_path / "ledger")
    figures = [produce(study, tmp_path / "figures", quick=True, ledger=path) for study in studies().values()]
    gallery(tmp_path / "figures", report="../report.html")
    report = build(document, figures, tmp_path / "report.html")
    text = report.read_text()

    assert report.stat().st_size < 35e3 * len(document["claims"])  # longer searches find a little more to tell
    assert {figure.study.name for figure in figures} >= PROMISED
    assert "class='latex'" not in text, "a formula could not be converted"
    anchors = re.findall(r'\sid="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(anchors)
    assert {claim["id"] for claim in document["claims"]} | {figure.study.name for figure in figures} <= set(anchors)
    for link in re.findall(r'(?:href|src)="([^"#:]+)"', text):
        assert (tmp_path / link).exists(), link
    bounds = {claim["id"] for claim in document["claims"] if claim["kind"] == "bound"}
    (drawn,) = [figure for figure in figures if figure.study.name == "bound-against-trajectory"]
    assert bounds == {claim["id"] for claim in drawn.data["claims"] if claim["curves"]}
    for id_ in bounds:
        section = text[text.index(f'<details class="claim" id="{id_}"') :].split('<details class="claim"')[1]
        assert "data:image/png;base64," in section, id_

    if CHROMIUM is None:
        pytest.skip("the rest needs Chromium")
    dom, logged = dump(report)
    assert not logged
    assert f"{len(document['claims'])} of {len(document['claims'])}" in dom
    check_print(report)
    assert pages(report) < 0.62 * len(document["claims"])
