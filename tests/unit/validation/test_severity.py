"""Severity: from verdicts, declared readings and the proof graph alone."""

import pytest

from fltheory.bounds import catalogue
from fltheory.errors import InvalidParameter
from fltheory.validation import known, severity
from fltheory.validation.decide import Effort, check
from fltheory.validation.ledger_text import table
from fltheory.validation.summary import summary


def form(variant, verdict, intended=()):
    return {"variant": variant, "verdict": verdict, "intended": list(intended)}


def claim(id_, *forms, uses=(), error=""):
    forms = [{**f, "meant": [g["variant"] for g in forms if f["variant"] in g["intended"]]} for f in forms]
    return {"id": id_, "paper": id_.partition(".")[0], "uses": list(uses), "error": error, "forms": list(forms)}


def grave(*claims):
    document = severity.graded({"claims": list(claims)})
    return {(e["id"], f["variant"]): f["severity"] for e in document["claims"] for f in e["forms"]}


FAILS = form("published", "VIOLATED")
HOLDS = form("published", "HOLDS")


@pytest.mark.parametrize(
    ("verdict", "expected"), [("HOLDS", "misprint"), ("VIOLATED", "false"), ("INCONCLUSIVE", "false")]
)
def test_a_misprint_needs_an_intended_form_that_holds(verdict, expected):
    found = grave(claim("x.a", FAILS, form("corrected", verdict, ["published"])))
    assert found["x.a", "published"] == expected
    assert found["x.a", "corrected"] == ""


def test_a_correction_that_is_not_declared_changes_the_claim():
    assert grave(claim("x.a", FAILS, form("corrected", "HOLDS")))["x.a", "published"] == "false"


def test_an_intended_form_is_that_of_the_forms_it_names():
    other = form("published@b", "VIOLATED")
    found = grave(claim("x.a", FAILS, other, form("corrected", "HOLDS", ["published@b"])))
    assert (found["x.a", "published"], found["x.a", "published@b"]) == ("false", "misprint")


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (claim("x.end", HOLDS, uses=["x.middle"]), "gap"),
        (claim("x.end", FAILS, uses=["x.middle"]), "false"),
        (claim("x.end", HOLDS, form("published@b", "INCONCLUSIVE"), uses=["x.middle"]), "false"),
        (claim("x.end", FAILS, form("corrected", "HOLDS", ["published"]), uses=["x.middle"]), "gap"),
        (claim("x.end", uses=["x.middle"]), "false"),
        (claim("x.end", HOLDS, uses=["x.middle"], error="broken"), "false"),
    ],
)
def test_a_gap_is_a_step_whose_conclusions_survive(end, expected):
    step, middle = claim("x.step", FAILS), claim("x.middle", HOLDS, uses=["x.step"])
    assert grave(step, middle, end)["x.step", "published"] == expected


def test_one_conclusion_that_fails_is_enough():
    ends = claim("x.one", HOLDS, uses=["x.step"]), claim("x.two", FAILS, uses=["x.step"])
    assert grave(claim("x.step", FAILS), *ends)["x.step", "published"] == "false"


def test_circular_proofs_end():
    circle = claim("x.a", FAILS, uses=["x.b"]), claim("x.b", HOLDS, uses=["x.a"])
    assert grave(*circle)["x.a", "published"] == "false"


def test_results_that_were_not_checked_count_as_their_known_counterexamples_say(monkeypatch):
    monkeypatch.setattr(severity, "_package_uses", lambda: {"x.end": ("x.step",)})
    assert grave(claim("x.step", FAILS))["x.step", "published"] == "gap"
    monkeypatch.setattr(known, "stored", lambda id_: [{"variant": "published"}])
    assert grave(claim("x.step", FAILS))["x.step", "published"] == "false"


def test_totals_count_statements_by_their_gravest_form():
    document = severity.graded(
        {
            "claims": [
                claim("x.a", FAILS, form("published@b", "VIOLATED"), form("corrected", "HOLDS", ["published"])),
                claim("x.b", FAILS, form("corrected", "HOLDS", ["published"])),
                claim("x.c", HOLDS),
            ]
        }
    )
    assert dict(severity.totals(document)["x"]) == {"misprint": 1, "gap": 0, "false": 1}
    (row,) = summary(document)
    assert (row["misprint"], row["gap"], row["false"]) == (1, 0, 1)
    assert severity.in_words(document) == (
        "Of 2 statements with a violated published form, by the gravest one: 1 misprint, 0 gaps, 1 false."
    )
    assert severity.in_words({"claims": [claim("x.c", HOLDS)]}) == ""


def test_uses_are_read_from_the_text_as_they_are():
    for id_ in ("ruan.theorem-3.1", "cfl.eq-44", "ruan.eq-68"):
        entry = catalogue.index()[id_]
        assert catalogue.uses(entry) == entry.load().uses


def test_a_form_names_published_forms_of_its_claim_only():
    found = catalogue.index()["ruan.eq-71"].load()
    ours = found.form("corrected")
    for wrong in (("corrected",), ("published@x",), "published"):
        bad = type(ours)(variant="corrected", statement=ours.statement, where=ours.where, intended=wrong)
        with pytest.raises(InvalidParameter, match="intended"):
            type(found)(
                id=found.id, kind=found.kind, title="", citation=found.citation, forms=(found.forms[0], bad),
                check=found.check,
            )  # fmt: skip


def test_a_check_says_how_grave_a_violation_is(tmp_path):
    import fltheory as fl

    done = fl.check("ruan.eq-71", quick=True, fresh=True, output=tmp_path)
    found = {verdict.variant: verdict for verdict in done}
    assert found["published"].severity == "misprint"
    assert found["published"].as_json()["severity"] == "misprint"
    assert found["corrected"].as_json()["meant"] == []
    assert found["published"].as_json()["meant"] == ["corrected"]
    assert "**VIOLATED** misprint" in table(done.kept.ledger)
    assert [v.severity for v in fl.check("ruan.eq-71", quick=True, variant="published")] == [""]  # not known
    assert check(catalogue.index()["ruan.eq-71"].load(), effort=Effort(1, 1))[0].meant == ("corrected",)


def test_a_conclusion_survives_if_what_is_printed_holds_whatever_we_add_to_it():
    """That a form of ours fails or is open is about us; forms that apply nowhere fail nowhere."""
    step = claim("x.step", FAILS)
    for ours in (form("corrected", "INCONCLUSIVE"), form("sharp", "VIOLATED"), form("published@b", "NOT_APPLICABLE")):
        assert grave(step, claim("x.end", HOLDS, ours, uses=["x.step"]))["x.step", "published"] == "gap"
    assert grave(step, claim("x.end", form("sharp", "HOLDS"), uses=["x.step"]))["x.step", "published"] == "false"


def test_a_statement_that_only_uses_itself_is_no_step():
    assert grave(claim("x.a", FAILS, uses=["x.a"]))["x.a", "published"] == "false"
    ends = claim("x.end", HOLDS, uses=["x.step", "x.end"])
    assert grave(claim("x.step", FAILS), ends)["x.step", "published"] == "gap"


def test_a_result_in_a_damaged_file_does_not_survive(monkeypatch):
    def damaged(id_):
        raise InvalidParameter("x.end.json: is not valid JSON")

    monkeypatch.setattr(severity, "_package_uses", lambda: {"x.end": ("x.step",)})
    monkeypatch.setattr(known, "stored", damaged)
    assert grave(claim("x.step", FAILS))["x.step", "published"] == "false"


def test_while_what_is_meant_is_not_checked_nothing_is_said():
    unknown = claim("x.a", FAILS)
    unknown["forms"][0]["meant"] = ["corrected"]
    assert grave(unknown)["x.a", "published"] == ""
    assert severity.worst(severity.graded({"claims": [unknown]})["claims"][0]) == ""


def test_only_published_forms_that_fail_are_graded():
    others = (form("corrected", "VIOLATED"), form("sharp", "VIOLATED"), form("published@b", "INCONCLUSIVE"))
    found = grave(claim("x.a", HOLDS, *others))
    assert set(found.values()) == {""}
    document = severity.graded({"claims": [claim("x.a", HOLDS, *others)]})
    assert dict(severity.totals(document)["x"]) == {"misprint": 0, "gap": 0, "false": 0}


def test_one_statement_is_told_in_the_singular():
    def told(*claims):
        return severity.in_words(severity.graded({"claims": list(claims)}))

    meant = form("corrected", "HOLDS", ["published"])
    assert told(claim("x.a", FAILS)).startswith("Of 1 statement with ")
    assert told(claim("x.a", FAILS)).endswith(": 0 misprints, 0 gaps, 1 false.")
    assert told(claim("x.a", FAILS, meant), claim("y.a", FAILS, meant)).endswith(": 2 misprints, 0 gaps, 0 false.")
