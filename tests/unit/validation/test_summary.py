"""The findings that a run ends with: main results first, and from every paper."""

import itertools

import pytest

from fltheory.validation.summary import findings, printed, summary


def entry(id_, kind="lemma", ratio=2.0, verdict="VIOLATED"):
    form = {
        "variant": "published@a", "verdict": verdict, "counterexample": {"ratio": ratio}, "reason": f"why {id_}"
    }  # fmt: skip
    return {
        "id": id_,
        "paper": id_.partition(".")[0],
        "title": "t",
        "reference": "r",
        "kind": kind,
        "error": "",
        "forms": [form],
    }


def ids(*claims, count=3):
    return [found["id"] for found in findings({"claims": claims}, count)]


def test_main_results_and_bounds_come_first():
    assert ids(
        entry("p.eq-1", "bound", 1e6), entry("q.theorem-2", "lemma"), entry("r.theorem-1", "bound"), entry("s.eq-1"),
        count=4,
    ) == ["r.theorem-1", "q.theorem-2", "p.eq-1", "s.eq-1"]  # fmt: skip


def test_the_larger_factor_comes_first():
    assert ids(entry("p.theorem-1", ratio=2), entry("q.theorem-1", ratio=-30)) == ["q.theorem-1", "p.theorem-1"]


def test_no_paper_has_a_second_finding_before_all_have_one():
    claims = [entry(f"p.theorem-{n}", "bound") for n in range(4)] + [entry("q.eq-1", "identity")]
    assert ids(*claims) == ["p.theorem-0", "q.eq-1", "p.theorem-1"]


def test_what_holds_is_no_finding():
    assert ids(entry("p.theorem-1", verdict="HOLDS")) == []
    assert findings({"claims": [entry("p.eq-1")]})[0] == {
        "id": "p.eq-1", "title": "t", "reference": "r", "variant": "published@a", "why": "why p.eq-1", "instead": ""
    }  # fmt: skip


def test_what_fails_in_part_comes_after_what_fails():
    part = entry("p.theorem-1", "bound")
    part["forms"].insert(0, {"variant": "published", "verdict": "HOLDS"})
    part["forms"].insert(0, {"variant": "corrected", "verdict": "VIOLATED", "counterexample": None, "reason": "no"})
    found = findings({"claims": [part, entry("q.theorem-1", "lemma")]})
    assert [(one["id"], one["variant"]) for one in found] == [
        ("q.theorem-1", "published@a"),
        ("p.theorem-1", "published@a"),
    ]


def test_what_holds_instead_is_told():
    claim = entry("p.eq-1")
    claim["forms"] += [
        {"variant": "corrected", "verdict": "VIOLATED", "note": "worse"},
        {"variant": "sharp", "verdict": "HOLDS", "note": "sharper"},
        {"variant": "corrected@other", "verdict": "HOLDS", "note": "better"},
    ]
    assert findings({"claims": [claim]})[0]["instead"] == "better"


def statement(*verdicts, names=("published", "published@003", "published@b"), error=""):
    forms = [{"variant": name, "verdict": verdict} for name, verdict in zip(names, verdicts, strict=False)]
    ours = {"variant": "corrected", "verdict": "HOLDS"}
    return {"id": "p.x", "paper": "p", "error": error, "forms": [*forms, ours]}


@pytest.mark.parametrize(
    ("verdicts", "count"),
    [
        (("HOLDS",), "HOLDS"),
        (("HOLDS", "HOLDS"), "HOLDS"),
        (("HOLDS", "VIOLATED"), "MIXED"),
        (("VIOLATED", "VIOLATED", "VIOLATED"), "VIOLATED"),
        (("VIOLATED", "INCONCLUSIVE"), "MIXED"),
        (("HOLDS", "INCONCLUSIVE"), "INCONCLUSIVE"),
        (("HOLDS", "NOT_APPLICABLE"), "HOLDS"),
        (("VIOLATED", "NOT_APPLICABLE"), "VIOLATED"),
        (("NOT_APPLICABLE", "NOT_APPLICABLE"), "NOT_APPLICABLE"),
    ],
)
def test_every_published_form_counts_in_whatever_order(verdicts, count):
    for order in itertools.permutations(verdicts):
        assert printed(statement(*order)) == count


def test_what_could_not_be_evaluated_is_open():
    assert printed(statement("HOLDS", error="ValueError: x")) == "INCONCLUSIVE"


def test_every_statement_is_counted_once():
    several = [statement(a, b) for a in ("HOLDS", "VIOLATED") for b in ("HOLDS", "VIOLATED", "INCONCLUSIVE")]
    (row,) = summary({"claims": several})
    assert row == {
        "paper": "p", "statements": 6, "hold": 1, "violated": 1, "mixed": 3, "open": 1, "corrected": 4,
            "misprint": 0, "gap": 0,
            "false": 0,
    }  # fmt: skip
