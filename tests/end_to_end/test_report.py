"""The report as a person sees it: in a real browser, from a file, without a network."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fltheory import claims
from fltheory.figures.study import produce, studies
from fltheory.report import build
from fltheory.report.build import smaller
from fltheory.report.markup import mathml
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import ledger
from fltheory.validation.proof_graph import layout
from fltheory.validation.runner import check_all
from fltheory.validation.summary import findings, printed, summary

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
IDS = [
    "ruan.lemma-a.2",
    "ruan.theorem-3.2-arrival",
    "ruan.eq-74",
    "ruan.eq-44",
    "ruan.eq-46",
    "ruan.eq-89",
    "ruan.corollary-4.0.2",
]
browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@pytest.fixture(scope="module")
def document():
    done, _ = check_all(claims.select(IDS), effort=Effort(instances=40, experiments=4))
    return ledger(done, seed=0, effort="quick")


@pytest.fixture(scope="module")
def report(document, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    figure = produce(studies()["cfl-figure-1"], folder, quick=True)
    return build(document, [figure], folder / "report.html")


def dump(path, script="", *flags):
    """Load a page, run a script in it, and return the document and what was logged."""
    page = path.with_name("page.html")
    page.write_text(path.read_text().replace("</body>", f"<script>{script}</script></body>"))
    command = [
        CHROMIUM,
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *("--enable-logging=stderr", "--virtual-time-budget=2000", f"--user-data-dir={path.parent / 'profile'}"),
        *("--host-resolver-rules=MAP * ~NOTFOUND", *flags, "--dump-dom", page.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_the_page_needs_nothing_from_elsewhere_and_is_small(report):
    text = report.read_text()
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)
    assert "@import" not in text
    assert report.stat().st_size < 5e6


def test_a_rule_is_shown_with_its_outcomes(report, document):
    rule = next(claim for claim in document["claims"] if claim["kind"] == "rule")
    text = report.read_text()
    section = text[text.index(f'id="{rule["id"]}"') :]
    counts = rule["forms"][0]["evidence"]["outcomes"]
    for row, title in (("predicted", "the rule applies"), ("not predicted", "it does not apply")):
        cells = "".join(f'<td class="num">{counts[row][name]}</td>' for name in ("happens", "fails"))
        assert f"<td>{title}</td>{cells}" in section


def test_every_link_resolves(report):
    text = report.read_text()
    anchors = set(re.findall(r'\bid="([^"]+)"', text))
    links = set(re.findall(r'href="#([^"]+)"', text))
    known = {link for link in links if not link.startswith("ruan.")} | {link for link in links if link in IDS}
    assert known <= anchors
    assert set(IDS) <= anchors


@browser
def test_a_browser_shows_it_without_an_error(report):
    dom, logged = dump(report)
    assert not logged
    assert f"{len(IDS)} of {len(IDS)}" in dom
    assert dom.count("<details") == len(IDS)


@browser
def test_filters_and_search_work(report, document):
    violated = [entry["id"] for entry in document["claims"] if printed(entry) == "VIOLATED"]
    script = "var v=document.getElementById('verdict');v.value='VIOLATED';v.dispatchEvent(new Event('input'));"
    dom, logged = dump(report, script)
    assert not logged
    assert 0 < len(violated) < len(IDS)
    assert f"{len(violated)} of {len(IDS)}" in dom
    gone = set(re.findall(r'<details class="claim gone" id="([^"]+)"', dom))
    assert gone == set(IDS) - set(violated)
    cells = set(re.findall(r'<a class="\w+ gone" href="#[^"]+" data-id="([^"]+)"', dom))
    assert cells == gone
    script = "var s=document.getElementById('search');s.value='OBJECTIVE shift';s.dispatchEvent(new Event('input'));"
    dom, _ = dump(report, script)
    assert set(re.findall(r'<details class="claim" id="([^"]+)"', dom)) == {"ruan.theorem-3.2-arrival"}


@browser
def test_a_link_opens_its_claim(report):
    dom, _ = dump(report, "location.hash='ruan.eq-74';")
    assert re.search(r'<details class="claim" id="ruan.eq-74"[^>]*\bopen=""', dom)


CONTRAST = """
var canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
function shade(colour) {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  var rgb = Array.from(canvas.getImageData(0, 0, 1, 1).data).slice(0, 3).map(function (c) {
    c /= 255; return c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4); });
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}
function under(e) { while (e) { var b = getComputedStyle(e).backgroundColor;
  if (b !== 'rgba(0, 0, 0, 0)') return b; e = e.parentElement; } return 'white'; }
var least = 99, where = '';
function compare(name, a, b) { var x = shade(a), y = shade(b);
  var ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); if (ratio < least) { least = ratio; where = name; } }
document.querySelectorAll('details').forEach(function (d) { d.open = true; });
var letters = 'p, td, th, pre, h1, h2, h3, .dim, .badge, .matrix a, select, figcaption';
document.querySelectorAll(letters).forEach(function (e) {
  compare(e.tagName + '.' + e.className, getComputedStyle(e).color, under(e)); });
document.querySelectorAll('.graph a').forEach(function (a) {
  compare('graph', getComputedStyle(a.querySelector('text')).fill, getComputedStyle(a.querySelector('rect')).fill); });
document.body.dataset.least = least.toFixed(2) + ' ' + where;
document.body.dataset.dark = matchMedia('(prefers-color-scheme: dark)').matches;
"""


@browser
@pytest.mark.parametrize("dark", [False, True])
def test_letters_stand_out_in_light_and_dark(report, dark):
    dom, logged = dump(report, CONTRAST, f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    assert not logged
    assert f'data-dark="{str(dark).lower()}"' in dom
    least, where = re.search(r'data-least="([\d.]+) ([^"]*)"', dom).groups()
    assert float(least) >= 4.5, where


@browser
def test_nothing_is_wider_than_a_phone(report):
    frame = report.with_name("phone.html")
    inside = report.with_name("inside.html")
    script = "document.querySelectorAll('details').forEach(function (d) { d.open = true; });"
    inside.write_text(report.read_text().replace("</body>", f"<script>{script}</script></body>"))
    frame.write_text(f'<body><iframe src="{inside.name}" style="width:390px;height:800px;border:0"></iframe></body>')
    probe = (
        "window.addEventListener('load', function () { var d = document.querySelector('iframe').contentDocument;"
        "document.body.dataset.width = d.documentElement.scrollWidth; });"
    )
    dom, logged = dump(frame, probe, "--allow-file-access-from-files")
    assert not logged
    assert 0 < int(re.search(r'data-width="(\d+)"', dom)[1]) <= 390


def test_a_claim_shows_definitions_assumptions_and_the_command_that_replays_it(report, document):
    text = report.read_text()
    for claim in document["claims"]:
        section = text[text.index(f'<details class="claim" id="{claim["id"]}"') :]
        section = section[: section.index("</details>")]
        for form in claim["forms"]:
            for condition in form["assumptions"]:
                assert condition["name"] in section
                assert form["verdict"] == "NOT_APPLICABLE" or condition["measured"] in section
            if form["counterexample"]:
                kept = report.parent / "ledger" / "counterexamples" / f"{form['id']}@{form['variant']}.json"
                assert f"$ fltheory replay {kept.as_posix()}" in section
                assert f"fails at {form['counterexample']['parameters']}" not in section
    measured = [c["measured"] for claim in document["claims"] for form in claim["forms"] for c in form["assumptions"]]
    assert any(measured)
    assert r"\quad" not in text


def test_small_pictures_keep_the_colours_of_lines(report):
    from PIL import Image

    from fltheory.figures.style import COLOURS

    original = report.with_name("cfl-figure-1.png")
    with Image.open(io.BytesIO(smaller(original, 2100))) as small, Image.open(original) as large:
        reduced, drawn = (np.asarray(image.convert("RGB"), dtype=int) for image in (small, large))
    assert reduced.shape == drawn.shape
    for colour in COLOURS[:3]:
        place = np.all(drawn == [int(colour[i : i + 2], 16) for i in (1, 3, 5)], axis=2)
        assert place.any()
        assert np.abs(reduced[place] - drawn[place]).max() <= 24


def test_the_page_does_not_depend_on_the_number_of_processes(document, tmp_path):
    one, two = (build(document, [], tmp_path / f"{jobs}" / "r.html", jobs=jobs).read_text() for jobs in (1, 2))
    assert one.replace(str(tmp_path / "1"), "") == two.replace(str(tmp_path / "2"), "")


def test_the_summary_counts_every_statement_once(document):
    rows = summary(document)
    assert sum(row["statements"] for row in rows) == len(IDS)
    for row in rows:
        assert row["hold"] + row["violated"] + row["mixed"] + row["open"] == row["statements"]
        assert row["corrected"] <= row["violated"] + row["mixed"]
    assert {finding["id"] for finding in findings(document)} <= {
        entry["id"] for entry in document["claims"] if printed(entry) == "VIOLATED"
    }


def test_a_plain_published_form_decides_over_other_readings():
    forms = [{"variant": "published", "verdict": "VIOLATED"}, {"variant": "published@x", "verdict": "HOLDS"}]
    assert printed({"forms": forms}) == "VIOLATED"
    assert printed({"forms": forms[1:]}) == "HOLDS"
    assert printed({"forms": [{"variant": "published@y", "verdict": "VIOLATED"}, *forms[1:]]}) == "MIXED"
    assert printed({"forms": []}) == "NOT_APPLICABLE"


def test_mathematics_that_cannot_be_converted_is_shown_as_its_source():
    assert mathml(r"\frac{1}{2} \le \sum_{k=1}^{N} x_k, \dots").startswith("<math")
    assert mathml(r"\unknowncommand{<}") == r"<code class='latex'>\unknowncommand{&lt;}</code>"


def test_a_proof_stands_above_what_it_uses():
    plan = layout({"a": ["b", "c"], "b": ["c"], "c": [], "alone": [], "d": ["a", "elsewhere"]})
    assert dict(plan.layer) == {"c": 0, "b": 1, "a": 2, "d": 3}
    assert ("d", "elsewhere") not in plan.edges
    wide = layout({"top": [f"x{n}" for n in range(20)], **{f"x{n}": [] for n in range(20)}}, widest=7)
    assert wide.widest == 7
    assert wide.layer["top"] == wide.layers - 1
    assert layout({"a": ["b"], "b": ["a"]}).layers == 2


def test_numbers_behind_a_figure_say_where_they_come_from(report):
    record = json.loads(Path(report.parent / "cfl-figure-1.json").read_text())
    assert record["command"] == "fltheory figure cfl-figure-1 --seed 0 --quick"
    assert {"versions", "commit", "time", "data", "caption"} <= record.keys()
    for suffix in ("svg", "pdf", "png"):
        assert (report.parent / f"cfl-figure-1.{suffix}").stat().st_size > 1000
