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


def test_where_no_factor_is_known_it_counts_as_one():
    """An identity has no ratio, a law without a constant has no counterexample with one."""
    claims = [entry("p.theorem-1", ratio=None), entry("q.theorem-1", ratio=1.5), entry("r.theorem-1", ratio=0.5)]
    claims += [entry("s.theorem-1", ratio=2.0), entry("t.theorem-1")]
    claims[-1]["forms"][0]["counterexample"] = None
    found = ids(*claims, count=5)
    assert found == ["s.theorem-1", "q.theorem-1", "p.theorem-1", "t.theorem-1", "r.theorem-1"]


def test_corrections_count_for_what_fails_only_and_only_if_they_hold():
    fails, holds = statement("VIOLATED"), statement("HOLDS")
    open_ = statement("VIOLATED")
    open_["forms"][-1]["verdict"] = "INCONCLUSIVE"
    (row,) = summary({"claims": [fails, holds, open_]})
    assert (row["statements"], row["violated"], row["hold"], row["corrected"]) == (3, 2, 1, 1)
    part = statement("VIOLATED", "HOLDS")
    part["forms"] = part["forms"][:2]  # the reading that holds is no correction
    (row,) = summary({"claims": [part]})
    assert (row["mixed"], row["corrected"]) == (1, 0)


def test_every_paper_has_a_row_of_its_own():
    other = {**statement("NOT_APPLICABLE"), "id": "q.x", "paper": "q"}
    rows = summary({"claims": [statement("VIOLATED"), other, statement("HOLDS")]})
    assert [(row["paper"], row["statements"], row["violated"], row["open"]) for row in rows] == [
        ("p", 2, 1, 0),
        ("q", 1, 0, 1),
    ]


def test_forms_of_our_own_are_no_readings():
    only = statement()
    assert printed(only) == "NOT_APPLICABLE"
    assert ids(entry("p.theorem-1", verdict="INCONCLUSIVE")) == []
