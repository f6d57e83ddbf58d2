"""The report as a person sees it: in a real browser, from a file, without a network."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fltheory import claims
from fltheory.figures.study import produce, studies
from fltheory.report import build
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


def dump(path, script=""):
    """Load a page, run a script in it, and return the document and what was logged."""
    page = path.with_name("page.html")
    page.write_text(path.read_text().replace("</body>", f"<script>{script}</script></body>"))
    command = [
        CHROMIUM,
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *("--enable-logging=stderr", "--virtual-time-budget=2000", f"--user-data-dir={path.parent / 'profile'}"),
        *("--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", page.as_uri()),
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
    script = "var s=document.getElementById('search');s.value='OBJECTIVE shift';s.dispatchEvent(new Event('input'));"
    dom, _ = dump(report, script)
    assert set(re.findall(r'<details class="claim" id="([^"]+)"', dom)) == {"ruan.theorem-3.2-arrival"}


@browser
def test_a_link_opens_its_claim(report):
    dom, _ = dump(report, "location.hash='ruan.eq-74';")
    assert re.search(r'<details class="claim" id="ruan.eq-74"[^>]*\bopen=""', dom)


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
