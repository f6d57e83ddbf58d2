"""The gallery as a person sees it: in a real browser, from the folder of the figures, without a network."""

import csv
import dataclasses
import html
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from fltheory.bounds import catalogue
from fltheory.cli import app
from fltheory.figures.study import produce, studies
from fltheory.report import build
from fltheory.report.build import LONG, is_long, smaller
from fltheory.report.gallery import SHOWN, entries, gallery
from fltheory.report.gallery import document as reference
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import ledger, write
from fltheory.validation.runner import check_all
from tests.browsing import AXE, axe, browser, dump

NAMES = ["bound-against-trajectory", "efl-table-1", "proof-graph-cfl", "ruan-figure-1"]
IDS = ["cfl.eq-62-fedavg", "cfl.eq-59", "cfl.eq-61"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return the ledger and the figures drawn from it, with their gallery."""
    folder = tmp_path_factory.mktemp("results")
    done, _ = check_all(catalogue.select(IDS), effort=Effort(instances=40, experiments=6))
    checked = ledger(done, seed=0, effort="quick")
    path, _ = write(checked, folder / "ledger")
    known = studies()
    saved = [produce(known[name], folder / "figures", quick=True, ledger=path) for name in NAMES]
    gallery(folder / "figures", report="../report.html")
    build(checked, saved, folder / "report.html")
    return folder, saved


def test_every_figure_is_there_with_caption_command_and_files(drawn):
    folder, saved = drawn
    text = (folder / "figures" / "gallery.html").read_text()
    assert [entry["name"] for entry in entries(folder / "figures")] == sorted(NAMES)
    for one in saved:
        section = text[text.index(f'id="{one.study.name}"') :].split("</figure>")[0]
        assert one.command in section
        assert one.caption in html.unescape(section)
        assert one.study.title in html.unescape(section)
        formats = ["json", *(["svg", "pdf", "png"] if one.study.draw else []), *(["md"] if one.study.table else [])]
        for suffix in formats:
            assert f'href="{one.study.name}.{suffix}"' in section
        for cell in one.study.table(one.data).rows[-1] if one.study.table else ():
            assert f">{cell}<" in html.unescape(section)
    assert re.findall(r'<figure id="([^"]+)"', text) == sorted(NAMES)
    for link in re.findall(r'(?:href|src)="([^"#]+)"', text):
        assert link == "data:," or (folder / "figures" / link).exists(), link
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)


@browser
@pytest.mark.parametrize("width", [1100, 390])
def test_a_browser_shows_every_picture_inside_the_page(drawn, width):
    folder, _ = drawn
    script = (
        "document.querySelectorAll('img').forEach(function (i) { i.loading = 'eager'; });"
        "window.addEventListener('load', function () { setTimeout(function () {"
        "var bad = Array.from(document.images).filter(function (i) { return !(i.complete && i.naturalWidth > 0); });"
        "document.body.dataset.bad = bad.length; document.body.dataset.seen = document.images.length;"
        "document.body.dataset.wide = document.documentElement.scrollWidth > window.innerWidth;"
        "}, 500); });"
    )
    dom, logged = dump(folder / "figures" / "gallery.html", script, f"--window-size={width},900")
    assert not logged
    pictures = [name for name in NAMES if studies()[name].draw is not None]
    assert re.search(r'<body[^>]*data-bad="0"', dom)
    assert re.search(rf'<body[^>]*data-seen="{len(pictures)}"', dom)
    assert re.search(r'<body[^>]*data-wide="false"', dom)


def section_of(text, id_):
    start = text.index(f'<details class="claim" id="{id_}"')
    end = re.search(r'<details class="claim"|<h2 id="graphs">', text[start + 10 :])
    return text[start : start + 10 + end.start()]


def test_the_report_leads_to_the_gallery_and_shows_bounds_with_their_claims(drawn):
    folder, saved = drawn
    text = (folder / "report.html").read_text()
    assert 'href="figures/gallery.html"' in text
    section = section_of(text, "cfl.eq-62-fedavg")
    assert "data:image/png;base64," in section
    assert 'href="#bound-against-trajectory"' in section
    assert "data:image/png" not in section_of(text, "cfl.eq-59")
    graph = text[text.index('id="proof-graph-cfl"') :].split("</figure>")[0]  # drawn once, clickable
    assert '<svg class="graph"' in graph
    assert saved[2].caption in html.unescape(graph)
    assert "data:image/png" not in graph
    assert text.count(saved[2].command) == 1
    pictures = [path for path in saved[0].files if path.name == "bound-against-trajectory.cfl.eq-62-fedavg.png"]
    assert len(pictures) == 1


def test_small_pictures_keep_shades_of_grey(drawn):
    path = drawn[0] / "figures" / "bound-against-trajectory.png"
    with Image.open(path) as large:
        before = np.asarray(large.convert("RGB"), dtype=int)
    with Image.open(io.BytesIO(smaller(path, before.shape[1]))) as small:
        after = np.asarray(small.convert("RGB"), dtype=int)
    grey = (np.ptp(before, axis=2) == 0) & (before[..., 0] > 190) & (before[..., 0] < 225)  # the band
    assert np.mean(grey) > 0.005
    assert np.mean(np.ptp(after, axis=2)[grey] <= 6) > 0.95


def test_small_pictures_keep_a_white_background(drawn):
    for figure in (drawn[0] / "figures").glob("*.png"):
        with Image.open(io.BytesIO(smaller(figure, 1000))) as small:
            assert small.convert("RGB").getpixel((2, 2)) == (255, 255, 255), figure.name


@browser
@pytest.mark.skipif(not axe(), reason="needs axe-core in a folder that NODE_PATH names")
def test_axe_finds_nothing_serious_in_the_gallery(drawn):
    source = axe().replace("</script>", "<\\/script>") + AXE
    dom, _ = dump(drawn[0] / "figures" / "gallery.html", source, "--window-size=390,900", budget=120_000)
    found = re.search(r'data-axe="([^"]*)"', dom)
    assert found, "axe-core did not finish"
    assert not re.findall(r"(?:serious|critical) .*", found[1])


@browser
def test_what_scrolls_sideways_can_be_reached_with_the_keyboard(drawn):
    script = (
        "setTimeout(function () { var wide = Array.from(document.querySelectorAll('table')).filter(function (e) {"
        "return e.scrollWidth > e.clientWidth; });"
        "document.body.dataset.wide = wide.length;"
        "document.body.dataset.reached = wide.filter(function (e) { return e.tabIndex === 0; }).length; }, 300);"
    )
    dom, _ = dump(drawn[0] / "figures" / "gallery.html", script, "--window-size=390,900")
    found = re.search(r'data-wide="(\d+)" data-reached="(\d+)"', dom)
    assert int(found[1]) > 0
    assert found[1] == found[2]


def test_the_page_of_the_documentation_has_small_pictures(drawn, tmp_path):
    folder, saved = drawn
    text = reference(folder / "figures", tmp_path).read_text()
    shown = re.findall(r"!\[[^\]]+\]\((figures/[^)]+)\)", text)
    assert len(shown) == len([name for name in NAMES if studies()[name].draw is not None])
    assert all(0 < (tmp_path / path).stat().st_size < 250_000 for path in shown)
    assert "| algorithm |" in text
    for one in saved:
        assert one.caption in text
        assert f"`{one.command}`" in text
    missing = text.partition("## Not drawn for this page")[2]
    named = "- Ruan et al., Table 3a: test accuracy of schemes A, B and C on MNIST"
    assert f"{named}: `fltheory figure ruan-table-3a --seed 0`, with" in missing
    for name in studies(networks=True):
        assert (name in NAMES) != (f"`fltheory figure {name} --seed 0`" in missing)


def test_the_numbers_behind_curves_are_folded_and_in_a_file_of_their_own(tmp_path):
    folder, docs = tmp_path / "figures", tmp_path / "docs"
    docs.mkdir()
    saved = produce(studies()["woodworth-theorem-3"], folder, quick=True)
    rows = saved.study.table(saved.data).rows
    assert len(rows) > LONG
    text = reference(folder, docs).read_text()
    assert f"The first {SHOWN} of [{len(rows)} rows](figures/woodworth-theorem-3.csv)." in text
    assert text.count("\n| ") == 1 + SHOWN
    with (docs / "figures" / "woodworth-theorem-3.csv").open(newline="") as file:
        assert [tuple(row) for row in csv.reader(file)][1:] == list(rows)
    page = gallery(folder).read_text()
    assert f"<details><summary>The {len(rows)} numbers drawn</summary>" in page
    few = dataclasses.replace(saved.study.table(saved.data), rows=rows[:LONG])
    assert not is_long(True, few)
    assert not is_long(False, saved.study.table(saved.data))  # a table is all that there is to see


def test_the_committed_page_shows_what_is_there():
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "gallery.md").read_text()
    for name, study in studies().items():
        assert f"`fltheory figure {name} " in text, f"docs/gallery.md lacks {name}; see fltheory/report/gallery.py"
        assert (study.draw is None) or (docs / "figures" / f"{name}.png").exists()
    assert all((docs / link).exists() for link in re.findall(r"\]\((figures/[^)]+)\)", text))
    for section in text.split("\n## ")[1:]:
        assert "![" not in section or section.count("\n| ") <= 1 + LONG, section.splitlines()[0]
    assert sum(path.stat().st_size for path in (docs / "figures").glob("*.png")) < 2e6


def test_the_command_line_writes_the_gallery(tmp_path):
    done = CliRunner().invoke(app, ["figure", "ruan-figure-1", "--quick", "--output", str(tmp_path), "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert f"gallery: {tmp_path / 'gallery.html'}" in done.output.replace("\n", "")
    assert 'id="ruan-figure-1"' in (tmp_path / "gallery.html").read_text()
    record = json.loads((tmp_path / "ruan-figure-1.json").read_text())
    assert record["command"] == "fltheory figure ruan-figure-1 --seed 0 --quick"
