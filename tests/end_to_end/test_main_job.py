"""The main job from its command: what it writes, what it says at the end, and what a second run costs."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from fltheory.bounds import catalogue
from fltheory.bounds.papers import PAPERS
from fltheory.cli import app
from fltheory.figures import study
from fltheory.validation.summary import findings, summary

IDS = ["ruan.eq-44", "ruan.eq-46", "efl.eq-59", "efl.lemma-2", "cfl.eq-59", "cfl.lemma-3.4", "fen.lemma-b.3"]


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Leave a few statements and one figure, and an empty cache."""
    chosen, figures = catalogue.select(IDS), {"ruan-figure-1": study.studies()["ruan-figure-1"]}
    monkeypatch.setattr(catalogue, "select", lambda *_: chosen)
    monkeypatch.setattr(study, "studies", lambda **_: figures)
    monkeypatch.delenv("FLTHEORY_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "results"


def validate(folder):
    return CliRunner().invoke(app, ["validate", "--quick", "--jobs", "1", "--output", str(folder)])


def test_it_ends_with_a_table_the_findings_and_the_path_of_the_report(few):
    done = validate(few)
    assert done.exit_code == 0, done.output
    document = json.loads((few / "ledger" / "ledger.json").read_text())
    assert [claim["id"] for claim in document["claims"]] == IDS
    for row in summary(document):
        counts = (row[name] for name in ("statements", "hold", "violated", "mixed", "open", "corrected"))
        name = re.escape(PAPERS[row["paper"]].label)
        assert re.search(rf"^{name} +" + " +".join(map(str, counts)), done.output, re.MULTILINE)
    told = findings(document)
    assert len(told) == 3
    ending = done.output[done.output.index("Most striking") :]
    for finding in told:
        assert f"  {finding['id']}  {finding['title']} ({finding['reference']})" in ending
        assert finding["instead"]
        assert f"holds corrected: {finding['instead'][:40]}" in ending
        kept = few / "ledger" / "counterexamples" / f"{finding['id']}@{finding['variant']}.json"
        assert f"fltheory replay {kept}" in ending
        assert kept.exists()
    assert re.search(rf"report: {re.escape(str(few / 'report.html'))}  \(\d+ s\)\s*$", ending)
    text = (few / "report.html").read_text()
    assert all(f'id="{id_}"' in text for id_ in [*IDS, "ruan-figure-1"])
    assert {path.suffix for path in (few / "figures").glob("ruan-figure-1.*")} == {".svg", ".pdf", ".png", ".json"}
    assert (few / "figures" / "gallery.html").exists()


def test_every_step_is_told_and_a_second_run_takes_over_what_was_checked(few):
    first = validate(few)
    steps = re.findall(r"^\[(\d+)/(\d+)\] (\S+):", first.stderr, re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == list(range(1, len(IDS) + 2))
    assert {total for _, total, _ in steps} == {str(len(IDS) + 1)}
    assert {name for _, _, name in steps} == {*IDS, "ruan-figure-1"}
    assert "were checked before" not in first.output
    page = (few / "report.html").read_bytes()
    again = validate(few).output
    assert f"{len(IDS)} of {len(IDS)} claims were checked before by the same code" in again
    assert "1 of 1 figures and tables are unchanged" in again
    assert (few / "report.html").read_bytes() == page


@pytest.mark.parametrize("there", [True, False])
def test_it_says_what_an_extra_would_add(few, monkeypatch, there):
    monkeypatch.setattr("fltheory.cli.validating.find_spec", lambda name: object() if there else None)
    output = validate(few).output
    for extra in ("pep", "proof"):
        assert (f"without the extra {extra}" in output) is not there
