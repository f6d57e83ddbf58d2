"""The report as a person sees it: in a real browser, from a file, without a network."""

import html
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Method
from fltheory.figures.study import produce, studies
from fltheory.figures.style import SYMBOLS, WORDS
from fltheory.report import build
from fltheory.report.build import METHODS, smaller
from fltheory.report.findings import findings as report_findings
from fltheory.report.formulas import mathml
from fltheory.report.graph import svg
from fltheory.report.markup import page
from fltheory.report.wording import certified, instance, prose, ratio
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import ledger
from fltheory.validation.proof_graph import layout
from fltheory.validation.runner import check_all
from fltheory.validation.summary import findings, printed, summary
from tests.browsing import AXE, axe, browser, check_print, dump, pages

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
    done, _ = check_all(catalogue.select(IDS), effort=Effort(instances=40, experiments=4))
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
    assert dom.count('<details class="claim"') == len(IDS)


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
    text = report.read_text()
    plain = {id_: re.sub(r"<[^>]*>", "", section_of(text, id_)).lower() for id_ in IDS}
    for words in ("OBJECTIVE shift", "derivation strong", "gamma", "no-such-word"):
        script = f"var s=document.getElementById('search');s.value='{words}';s.dispatchEvent(new Event('input'));"
        dom, _ = dump(report, script)
        expected = {
            id_
            for id_, content in plain.items()
            if all(word in content or (word == "gamma" and "γ" in content) for word in words.lower().split())
        }
        assert set(re.findall(r'<details class="claim" id="([^"]+)"', dom)) == expected, words
        assert len(expected) < len(IDS)


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
@pytest.mark.skipif(not axe(), reason="needs axe-core in a folder that NODE_PATH names")
def test_axe_finds_nothing_serious(report):
    dom, logged = dump(report, axe().replace("</script>", "<\\/script>") + AXE, budget=120_000)
    assert not logged
    found = re.search(r'data-axe="([^"]*)"', dom)
    assert found, "axe-core did not finish"
    assert not re.findall(r"(?:serious|critical) .*", found[1])


def test_the_page_has_landmarks_and_no_empty_header(report):
    text = report.read_text()
    assert text.count("<main>") == text.count("</main>") == 1
    assert not re.search(r"<th[^>]*>\s*</th>", text)
    assert 'role="img"' not in text  # links inside a picture cannot be reached


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
    # A page each for overview, graph and figure, and a page holds some eight forms with all their definitions.
    assert 4 <= pages(report) <= 4 + sum(len(claim["forms"]) for claim in document["claims"]) / 6


def test_print_tells_what_is_stated_where_it_fails_and_how_to_replay_it(report, document):
    text = html.unescape(report.read_text())
    assert f"fltheory replay {(report.parent / 'ledger' / 'counterexamples').as_posix()}/ID@FORM.json" in text
    refuted = [form for claim in document["claims"] for form in claim["forms"] if form["counterexample"]]
    assert refuted
    for form in refuted:
        if form["reason"].startswith("fails at"):
            assert (
                f'<div class="paper-only">{html.unescape(instance(form["counterexample"]["quantities"]))}</div>' in text
            )
            assert form["reason"] not in text  # formulas, not plain text


def section_of(text, id_):
    start = text.index(f'<details class="claim" id="{id_}"')
    end = re.search(r'<details class="claim"|<h2 id="graphs">', text[start + 10 :])
    return text[start : start + 10 + end.start()]


def test_every_verdict_says_in_words_how_it_was_decided(report, document):
    assert METHODS.keys() == {method.value for method in Method}
    assert WORDS.keys() == SYMBOLS.keys()
    text = report.read_text()
    for claim in document["claims"]:
        section = section_of(text, claim["id"])
        assert f"{SYMBOLS[printed(claim)]} {WORDS[printed(claim)]}</span><h3>" in section
        for form in claim["forms"]:
            assert f"Decided by {METHODS[form['method']]}; {form['instances']} instance" in section
            assert f'<span class="badge {form["verdict"]}">' in section
            assert form["margin"] is None or f">smallest {ratio(form)} {form['margin']:.4g}<" in section


def test_a_section_stands_in_the_order_in_which_a_mathematician_reads(report, document):
    text = report.read_text()
    for claim in document["claims"]:
        section = section_of(text, claim["id"])
        heads = re.findall(r'<h4 class="screen-only">([^<]*)</h4>', section)
        ours = (
            ["Corrected and sharp forms"]
            if any(not f["variant"].startswith("published") for f in claim["forms"])
            else []
        )
        assert heads == ["Statement", "Symbols", "Verdict", *ours, "Discussion and derivation"]
        assert section.index("Discussion and derivation") < section.index("Assumptions and evidence")
        assert "published@" not in re.sub(r"<pre>.*?</pre>|<div class=\"page.*", "", section, flags=re.DOTALL)


def test_a_claim_shows_definitions_assumptions_and_the_command_that_replays_it(report, document):
    text = html.unescape(report.read_text())
    for claim in document["claims"]:
        section = section_of(text, claim["id"])
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


def test_counterexamples_stand_in_the_symbols_of_the_paper(report, document):
    text = report.read_text()
    (claim,) = [claim for claim in document["claims"] if claim["id"] == "ruan.eq-74"]
    (form,) = [form for form in claim["forms"] if form["variant"] == "published"]
    section = section_of(text, claim["id"])
    for row in form["counterexample"]["quantities"]:
        assert mathml(row["symbol"], block=False) in section
    shown = re.search(r'<p class="instance screen-only">(.*?)</p>', section, flags=re.DOTALL)
    assert f"{mathml('N', block=False)} = 1," in shown[1]
    generator = re.search(r"<pre>(.*?)</pre>", section, flags=re.DOTALL)[1]
    before = section[: section.index("<pre>")]
    for name in form["counterexample"]["parameters"]:
        assert f">{name} = " in generator
        assert f">{name} = " not in before  # never without the note that they belong to the generator
    assert "belong to the generator" in before


def test_what_a_certificate_covers_is_listed_apart_from_the_verdict(report, document):
    text = html.unescape(report.read_text())
    forms = [form for claim in document["claims"] for form in claim["forms"] if certified(form)]
    assert forms
    for form in forms:
        for setting in certified(form):
            section = section_of(text, form["id"])
            assert setting not in form["reason"]
            assert section.index("Assumptions and evidence") < section.index(setting)


def test_notes_that_statements_share_stand_on_the_page_once(report):
    text = report.read_text()
    used = set(re.findall(r'href="#(notes-[^"]+)"', text))
    assert used
    for anchor in used:
        assert text.count(f'<details class="shared screen-only" id="{anchor}">') == 1


MATH_FONTS = ("STIXTwoMath", "latinmodern-math", "cambria", "XITSMath", "LibertinusMath", "DejaVuMathTeXGyre")

STRETCH = """
document.querySelectorAll('details.claim').forEach(function (d) { d.open = true; });
var short = 0, seen = 0;
document.querySelectorAll('.form .math mrow > mfrac').forEach(function (f) {
  var bracket = f.parentNode.firstElementChild;
  if (bracket.localName !== 'mo' || bracket.textContent !== '(') return;
  seen += 1;
  if (bracket.getBoundingClientRect().height < 0.9 * f.getBoundingClientRect().height) short += 1;
});
document.body.dataset.stretch = short + ' of ' + seen;
"""


@browser
@pytest.mark.skipif(
    not any(name.lower() in path.name.lower() for path in Path("/usr/share").rglob("*.[ot]tf") for name in MATH_FONTS),
    reason="needs a font for mathematics",
)
def test_brackets_are_as_high_as_the_fractions_in_them(report):
    dom, _ = dump(report, STRETCH)
    short, seen = re.search(r'data-stretch="(\d+) of (\d+)"', dom).groups()
    assert int(seen) > 3
    assert short == "0"


def test_the_first_page_has_totals_papers_and_findings_to_check_by_hand(report, document):
    text = report.read_text()
    total = {name: sum(row[name] for row in summary(document)) for name in ("hold", "violated", "mixed")}
    assert f"{len(IDS)} statements from 2 papers" in text
    assert f"<strong>{total['hold']}</strong> hold as printed, <strong>{total['violated']}</strong>" in text
    assert "Towards flexible device participation" in text
    shown = report_findings(document)
    assert {finding["id"] for finding in shown} <= {
        claim["id"] for claim in document["claims"] if printed(claim) in ("VIOLATED", "MIXED")
    }
    assert shown
    assert len({finding["paper"] for finding in shown}) == len(shown)
    for finding in shown:
        assert finding["statement"] in text
        assert finding["outcome"] in text


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


def test_a_page_is_kept_only_if_nothing_that_decides_it_has_changed(document, tmp_path, monkeypatch):
    few = {**document, "claims": document["claims"][:2]}
    path = tmp_path / "report.html"

    def written(ledger=few):
        before = path.stat().st_ino if path.exists() else 0
        build(ledger, [], path, fresh=False)
        return path.stat().st_ino != before

    assert [written(), written(), written({**few, "time": "later"})] == [True, False, False]
    assert written({**few, "seed": 1})
    assert written()
    path.write_text(path.read_text().replace("Statements", "Sentences"))
    assert written()
    assert "Sentences" not in path.read_text()
    monkeypatch.setattr(sys.modules["fltheory.report.build"], "digest", lambda folder, **_: b"other code")
    assert written()


def test_the_page_does_not_depend_on_the_number_of_processes(document, tmp_path):
    one, two = (build(document, [], tmp_path / "r.html", jobs=jobs).read_text() for jobs in (1, 2))
    assert one == two


def test_the_summary_counts_every_statement_once(document):
    rows = summary(document)
    assert sum(row["statements"] for row in rows) == len(IDS)
    for row in rows:
        assert row["hold"] + row["violated"] + row["mixed"] + row["open"] == row["statements"]
        assert row["corrected"] <= row["violated"] + row["mixed"]
    assert {finding["id"] for finding in findings(document)} <= {
        entry["id"] for entry in document["claims"] if printed(entry) in ("VIOLATED", "MIXED")
    }


def test_mathematics_that_cannot_be_converted_is_shown_as_its_source():
    assert mathml(r"\frac{1}{2} \le \sum_{k=1}^{N} x_k, \dots").startswith("<math")
    assert mathml(r"\unknowncommand{<}") == r"<code class='latex'>\unknowncommand{&lt;}</code>"


def test_long_formulas_are_pieces_between_which_a_line_may_end():
    pieces = mathml(r"a x_1 x_2 x_3 x_4 x_5 x_6 = b + \|c - d\|^2 - (e + f) \le - g").split("<wbr>")
    first = [re.search(r"<m[ion][^>]*>([^<]*)<", piece)[1] for piece in pieces]
    assert first == ["a", "=", "+", "−", "≤"]  # neither inside brackets or norms nor at the sign of a number
    assert all(piece.startswith('<math displaystyle="true"><mo form="infix">') for piece in pieces[1:])
    long = " + ".join(f"x_{{{n}}}" for n in range(20))
    assert mathml(rf"y \left({long}\right)").count("<wbr>") == 19
    assert "<wbr>" not in mathml(r"y (a + b)")
    assert mathml("a < b", block=False) == "<math><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>"


def test_short_formulas_stay_on_one_line_and_lines_end_behind_wide_spaces():
    first, second = mathml(r"a = b + c,\qquad d = e - f").split("<wbr>")
    assert ">c<" in first
    assert ">d<" in second


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


def test_no_line_ends_in_short_brackets_of_a_long_formula():
    long = " + ".join(f"x_{{{n}}}" for n in range(20))
    pieces = mathml(rf"y (2(1 + \theta) L + \|a - b\| + {long})").split("<wbr>")
    assert len(pieces) == 22
    assert [piece.count("<mo") for piece in pieces[:2]] == [
        4,
        4,
    ]  # the signs of 2(1 + theta) with what opens before it, and of the norm


def test_a_graph_marks_what_rests_on_a_step_that_fails():
    uses = {"x.theorem-1": ["x.lemma-1"], "x.lemma-1": ["x.eq-2"], "x.eq-2": [], "x.lemma-2": ["x.eq-3"], "x.eq-3": []}
    verdicts = dict.fromkeys(uses, "HOLDS") | {"x.eq-2": "VIOLATED"}
    text = svg(uses, verdicts, paper="x", tips={"x.eq-2": "a < b"})
    marked = set(re.findall(r'<a href="#([^"]+)"><title>[^<]*</title><rect class="HOLDS shaky"', text))
    assert marked == {"x.theorem-1", "x.lemma-1"}
    assert "x.lemma-1: holds, but its proof uses x.eq-2, which fails" in text
    assert "x.eq-2: violated\na &lt; b" in text


@pytest.mark.parametrize("paper", ["ruan", "efl", "cfl", "fen"])
def test_no_edge_of_a_graph_runs_behind_a_box(paper):
    uses = {id_: entry.load().uses for id_, entry in catalogue.index().items() if entry.paper == paper}
    text = svg(uses, {}, paper=paper)
    boxes = [
        tuple(map(float, box))
        for box in re.findall(r'<rect [^>]*x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', text)
    ]
    assert len(boxes) > 5
    paths = re.findall(r'<path marker-end="[^"]*" d="([^"]*)"', text)
    assert paths
    for path in paths:
        for x, y in points_of(path):
            assert not any(a + 1 < x < a + wide - 1 and b + 1 < y < b + high - 1 for a, b, wide, high in boxes), path


def points_of(path):
    """Return points along a path of lines and cubic curves."""
    start = np.array([0.0, 0.0])
    for command, numbers in re.findall(r"([MCL])([-\d., ]+)", path):
        ends = np.array([float(n) for n in re.split(r"[ ,]+", numbers.strip())]).reshape(-1, 2)
        if command == "M":
            start = ends[0]
            continue
        nodes = [start, *(ends if command == "C" else [start, ends[0], ends[0]])]
        for t in np.linspace(0, 1, 40):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield tuple(sum(w * node for w, node in zip(weights, nodes, strict=True)))
        start = nodes[-1]


def test_findings_are_those_with_the_smallest_numbers():
    def form(latex, **found):
        values = [{"symbol": "N", "meaning": "", "values": [found.pop("value", "1")]}]
        base = {"lhs": "2", "rhs": "1", "sign": ">", "arithmetic": "rational", "quantities": values}
        return {
            "variant": "published",
            "verdict": "VIOLATED",
            "severity": found.pop("severity", "false"),
            "latex": latex,
            "note": "",
            "evidence": {},
            "counterexample": {**base, **found},
        }

    def entry(id_, *forms):
        return {
            "id": id_,
            "paper": id_.split(".")[0],
            "title": "t",
            "reference": "r",
            "error": "",
            "forms": list(forms),
        }

    claims = [
        entry("a.lemma-1", form("x", value="123/457")),
        entry("a.lemma-2", form("x")),
        entry("a.eq-3", form("x")),
        entry("b.lemma-1", form("x", lhs="0.5")),  # not exact
        entry("b.lemma-2", {**form("x"), "variant": "published@reading"}),
        entry("c.lemma-1", form("x" * 400)),
    ]
    shown = report_findings({"claims": claims})
    assert [finding["id"] for finding in shown] == ["a.lemma-2", "c.lemma-1"]
    assert shown[0]["outcome"] == "2 &gt; 1"

    def first(*forms):
        return [finding["id"] for finding in report_findings({"claims": [entry(*one) for one in forms]}, count=1)]

    easy, long = form("x"), form("x" * 200)
    assert first(("a.lemma-1", form("x", severity="misprint")), ("b.lemma-1", long)) == ["b.lemma-1"]
    assert first(("a.lemma-1", form("x", severity="gap")), ("b.lemma-1", long)) == ["b.lemma-1"]
    assert first(("a.lemma-1", form("x", value="0")), ("b.lemma-1", easy)) == ["b.lemma-1"]  # degenerate
    assert first(("a.lemma-1", form("x", lhs="101", rhs="100", ratio=1.01)), ("b.lemma-1", easy)) == ["b.lemma-1"]
    # Two numbers that are given leave nothing to compute, unless assumptions say where they come from.
    assert first(("a.lemma-1", form("x", given=2))) == []
    assert first(("a.lemma-1", form("x", given=1)), ("b.lemma-1", form("x" * 100))) == ["b.lemma-1"]
    explained = [{"statement": "x", "lhs": "2", "rhs": "1", "sign": "≥"}]
    assert first(("a.lemma-1", form("x", given=2, hypotheses=explained))) == ["a.lemma-1"]


def test_a_finding_says_all_that_is_needed_to_check_it_by_hand(report, document):
    """Every quantity has its meaning and its value, definitions and assumptions are there."""
    text = report.read_text()
    by_id = {claim["id"]: claim for claim in document["claims"]}
    shown = report_findings(document)
    for finding in shown:
        form = next(form for form in by_id[finding["id"]]["forms"] if form["severity"])
        found = form["counterexample"]
        block = text[text.index(f'<div class="finding"><p><a href="#{finding["id"]}">') :]
        block = block[: block.index('<div class="finding">', 5)] if '<div class="finding">' in block[5:] else block
        for row in found["quantities"]:
            assert mathml(row["symbol"], block=False) in block
        assert f'<div class="paper-only">{instance(found["quantities"])}</div>' in block
        for one in found["hypotheses"]:
            assert mathml(one["statement"], block=False) in block
        for part in form["latex"].split(r",\quad "):
            assert mathml(part) in block
        assert {one["meaning"] for one in finding["symbols"]} >= {
            prose(row["meaning"]) for row in found["quantities"] if row["symbol"] != r"\mathbb{P}"
        }
