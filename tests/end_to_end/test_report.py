"""The report as a person sees it: in a real browser, from a file, without a network."""

import html
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from fltheory import claims
from fltheory.bounds._claim import Method
from fltheory.figures.study import produce, studies
from fltheory.figures.style import SYMBOLS, WORDS
from fltheory.report import build
from fltheory.report.build import METHODS, smaller
from fltheory.report.graph import svg
from fltheory.report.markup import mathml, page
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import ledger
from fltheory.validation.proof_graph import layout
from fltheory.validation.runner import check_all
from fltheory.validation.summary import findings, printed, summary
from tests.browsing import browser, check_print, dump, pages

IDS = [
    "ruan.lemma-a.2",
    "ruan.theorem-3.2-arrival",
    "ruan.eq-74",
    "ruan.eq-44",
    "ruan.eq-46",
    "ruan.eq-89",
    "ruan.corollary-4.0.2",
    "efl.section-4.1",
]


@pytest.fixture(scope="module")
def document():
    done, _ = check_all(claims.select(IDS), effort=Effort(instances=40, experiments=4))
    return ledger(done, seed=0, effort="quick")


@pytest.fixture(scope="module")
def report(document, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    figure = produce(studies()["cfl-figure-1"], folder, quick=True)
    return build(document, [figure], folder / "report.html")


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


def test_every_link_resolves_also_on_a_part_of_the_statements(report, document):
    text = report.read_text()
    anchors = set(re.findall(r'\sid="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= anchors
    assert set(IDS) <= anchors
    assert any(used not in IDS for claim in document["claims"] for used in claim["uses"])


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


@browser
def test_the_summary_fits_a_phone_and_graphs_are_scrolled_rather_than_shrunk(report):
    frame = report.with_name("phone.html")
    frame.write_text(f'<body><iframe src="{report.name}" style="width:390px;height:800px;border:0"></iframe></body>')
    probe = (
        "window.addEventListener('load', function () { var d = document.querySelector('iframe').contentDocument;"
        "var t = d.querySelector('.summary'), g = d.querySelector('.graph text');"
        "document.body.dataset.over = t.scrollWidth - t.clientWidth;"
        "document.body.dataset.letters = g.getBoundingClientRect().height; });"
    )
    dom, _ = dump(frame, probe, "--allow-file-access-from-files")
    assert re.search(r'data-over="0"', dom)
    assert float(re.search(r'data-letters="([\d.]+)"', dom)[1]) >= 9


@browser
def test_print_shows_every_form_without_the_long_parts_and_inside_the_paper(report):
    check_print(report)


@browser
def test_print_is_short(report, document):
    # A page each for overview, graph and figure, and a page holds some ten forms.
    assert 4 <= pages(report) <= 4 + sum(len(claim["forms"]) for claim in document["claims"]) / 8


def test_print_tells_what_is_stated_where_it_fails_and_how_to_replay_it(report, document):
    text = html.unescape(report.read_text())
    assert f"fltheory replay {(report.parent / 'ledger' / 'counterexamples').as_posix()}/ID@FORM.json" in text
    refuted = [form for claim in document["claims"] for form in claim["forms"] if form["counterexample"]]
    assert refuted
    for form in refuted:
        if form["reason"].startswith("fails at"):
            assert f'<div class="paper-only">{form["reason"]}</div>' in text


def test_every_verdict_says_in_words_how_it_was_decided(report, document):
    assert METHODS.keys() == {method.value for method in Method}
    assert WORDS.keys() == SYMBOLS.keys()
    text = report.read_text()
    for claim in document["claims"]:
        section = text[text.index(f'<details class="claim" id="{claim["id"]}"') :].split("</details>")[0]
        assert f"{SYMBOLS[printed(claim)]} {WORDS[printed(claim)]}</span><h3>" in section
        for form in claim["forms"]:
            assert f"Decided by {METHODS[form['method']]}; {form['instances']} instance" in section
            assert f'</strong> <span class="badge {form["verdict"]}">' in section
            ratio = "claimed/measured" if form["evidence"].get("sweeps") else "rhs/lhs"
            assert form["margin"] is None or f">smallest {ratio} {form['margin']:.4g}<" in section


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


def test_long_formulas_are_pieces_between_which_a_line_may_end():
    pieces = mathml(r"a = b + \|c - d\|^2 - (e + f) \le - g").split("<wbr>")
    first = [re.search(r"<m[ion][^>]*>([^<]*)<", piece)[1] for piece in pieces]
    assert first == ["a", "=", "+", "−", "≤"]  # neither inside brackets or norms nor at the sign of a number
    assert all(piece.startswith('<math displaystyle="true"><mo form="infix">') for piece in pieces[1:])
    long = " + ".join(f"x_{{{n}}}" for n in range(20))
    assert mathml(rf"y \left({long}\right)").count("<wbr>") == 19
    assert "<wbr>" not in mathml(r"y (a + b)")
    assert (
        mathml("a < b", block=False) == '<math><mi>a</mi></math><wbr><math><mo form="infix">&lt;</mo><mi>b</mi></math>'
    )


def test_fractions_that_no_line_can_hold_are_marked():
    long = " + ".join(f"x_{{{n}}}" for n in range(30))
    assert mathml(rf"y = \frac{{{long}}}{{2}}").count('<math class="wide"') == 1
    assert "wide" not in mathml(rf"y = {long}")


def test_an_index_stands_beside_a_letter_with_an_accent():
    for accent in ("bar", "hat", "tilde"):
        assert re.fullmatch(
            r'<math><msub><mover accent="true"><mi>F</mi><mo[^>]*>.</mo></mover><mi>k</mi></msub></math>',
            mathml(rf"\{accent}{{F}}_k", block=False),
        )
    assert "munderover" in mathml(r"\sum_{k=1}^{N} x_k")
    text = page("A bar: :math:`\\bar w_t`, and\n\n.. math:: a = b\\,c\n")
    assert "<msub><mover" in text
    assert "<wbr>" in text
    assert "xmlns" not in text


def test_a_graph_shows_words_links_and_arrows():
    text = svg({"x.theorem-1": ["x.eq-2"], "x.eq-2": []}, {"x.theorem-1": "MIXED", "x.eq-2": "HOLDS"}, paper="x")
    assert re.findall(r'<a href="#([^"]+)"><title>([^<]*)<', text) == [
        ("x.eq-2", "x.eq-2: holds"),
        ("x.theorem-1", "x.theorem-1: violated in part"),
    ]
    heights = {name: float(y) for name, y in re.findall(r'href="#([^"]+)".*?<rect class="\w+" x="\d+" y="(\d+)"', text)}
    assert heights["x.theorem-1"] < heights["x.eq-2"]
    assert text.count('marker-end="url(#arrow-x)"') == 1
    assert "textLength" not in text
    assert "textLength" in svg({"x.a": ["x.quite-a-long-name-indeed"], "x.quite-a-long-name-indeed": []}, {}, paper="x")
    circular = svg({"x.a": ["x.b"], "x.b": ["x.a"]}, {}, paper="x")
    high = float(re.search(r'viewBox="0 0 \d+ (\d+)"', circular)[1])
    assert all(0 <= float(y) < high for y in re.findall(r'<rect class="\w+" x="\d+" y="(-?\d+)"', circular))
    assert svg({"x.a": []}, {}, paper="x") == ""


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
