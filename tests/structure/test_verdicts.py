"""The snapshot of verdicts: whole, consistent with what is claimed, and met by a sample of checks."""

import re

import pytest

import fltheory as fl
from fltheory.bounds import catalogue
from fltheory.validation import known
from tests import verdicts

LINES = verdicts.FILE.read_text(encoding="utf-8").splitlines()
KEPT = {tuple(line.split("  ")[:2]): line for line in LINES}
SAMPLE = ("ruan.eq-71", "ruan.eq-57", "cfl.eq-44", "efl.eq-3", "fen.lemma-b.2", "efl.theorem-2-arrival")


def test_every_form_has_one_verdict():
    forms = [(id_, form.variant) for id_, entry in catalogue.index().items() for form in entry.load().forms]
    assert [tuple(line.split("  ")[:2]) for line in LINES] == forms


def test_the_ledger_of_the_documentation_says_the_same():
    """Verdict, severity and strength of every form; margins and reasons are not in the snapshot."""
    forms = list(verdicts.documented())
    assert sorted(verdicts.line(form) for form in forms) == sorted(LINES)
    for form in forms:
        by_certificate = re.match(r"(proved|certified) by ", form["reason"])
        assert by_certificate is None or by_certificate[1] == form["strength"], form


def test_a_violation_is_of_a_published_form_and_has_a_severity():
    for (_, variant), line in KEPT.items():
        violated = "  VIOLATED  " in line
        assert violated == bool(re.search(r"  (misprint|gap|false)$", line)), line
        assert variant.startswith("published") or not violated, line


def test_what_is_violated_has_a_known_counterexample_and_nothing_else_has():
    failing = {(path.stem, one["variant"]) for path in known.SHIPPED.glob("*.json") for one in known.stored(path.stem)}
    assert {key for key, line in KEPT.items() if "  VIOLATED  " in line} == failing


@pytest.mark.parametrize("id_", SAMPLE)
def test_a_quick_check_finds_what_is_in_the_snapshot(id_):
    found = [verdict.as_json() for verdict in fl.check(id_, quick=True, fresh=True)]
    assert [verdicts.line(form) for form in found] == [line for key, line in KEPT.items() if key[0] == id_]


def test_a_change_shows():
    changed = [{"id": "x.y", "variant": "published", "verdict": "HOLDS", "strength": "searched", "severity": ""}]
    assert "+x.y  published  HOLDS  searched" in verdicts.changes({"claims": [{"forms": changed}]})
