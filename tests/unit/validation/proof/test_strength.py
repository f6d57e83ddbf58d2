"""What verdicts rest on: instances, certificates, searches, samples, trends."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Real, Space
from fltheory.jobs.checking import ReplayedCertificate
from fltheory.jobs.checking import check as run
from fltheory.jobs.checking import replay as replay_file
from fltheory.validation import rates
from fltheory.validation.decide import QUICK, ContradictoryProof, check, strengthened
from fltheory.validation.ledger_text import differences, table
from fltheory.validation.proof import certificate as certificates
from fltheory.validation.proof import provers, store
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.coverage import coverage, loose, loose_in_words
from fltheory.validation.verdict import Decision, Strength, Verdict

CLAIM = """
from sympy import Eq, Le
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Real, Space
from fltheory.bounds.space import Real, Space

x = scalar("x", "x", "a number", domain="nonnegative")
y = scalar("y", "y", "another", domain="nonnegative")

claim = Claim(
    id="mine.means",
    kind=Kind.IDENTITY,
    title="means",
    citation=Citation("mine", "(1)"),
    forms=(
        Form(statement=Le(4 * x * y, (x + y) ** 2)),
        Form(variant="published@too-much", statement=Le(4 * x * y, (x + y) ** 2 - x)),
    ),
    check=Instances(
        space=Space({"x": Real(0, 1), "y": Real(0, 1)}), realise=lambda point: {"x": point["x"], "y": point["y"]}
    ),
)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "claims"
    place.mkdir()
    (place / "means.py").write_text(CLAIM)
    return place


def test_a_proof_is_searched_saved_replayed_and_written_into_the_ledger(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "ledger"
    searched = run("mine.*", claims=folder, quick=True, output=output)
    assert [verdict.strength for verdict in searched] == [Strength.SEARCHED, Strength.REFUTED]
    proved = run("mine.*", claims=folder, quick=True, prove=5.0, output=output)
    assert [verdict.strength for verdict in proved] == [Strength.PROVED, Strength.REFUTED]
    assert [verdict.as_json()["strength"] for verdict in proved] == ["proved", "refuted"]
    assert proved[0].reason.startswith("proved by products of hypotheses: all values within the declared ranges; ")
    assert proved[0].margin == searched[0].margin
    saved = output / store.FOLDER / "mine.means@published.json"
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
    ledger = json.loads((output / "ledger.json").read_text())
    assert [form["strength"] for form in ledger["claims"][0]["forms"]] == ["proved", "refuted"]
    assert "| mine | identity | 1 | 1 | 0 |" in (output / "ledger.md").read_text()
    assert "**HOLDS** proved" in (output / "ledger.md").read_text()
    again = replay_file(saved, claims=folder)
    assert isinstance(again, ReplayedCertificate)
    assert again.refused == ""


def test_a_certificate_of_an_earlier_statement_is_ignored(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "ledger"
    run("mine.*", claims=folder, quick=True, prove=5.0, output=output)
    saved = output / store.FOLDER / "mine.means@published.json"
    later = tmp_path / "later"
    later.mkdir()
    (later / "means.py").write_text(CLAIM.replace("Form(statement=Le(4 * x * y,", "Form(statement=Le(5 * x * y,"))
    again = replay_file(saved, claims=later)
    assert isinstance(again, ReplayedCertificate)
    assert again.refused == "the certificate is about another statement"
    assert run("mine.*", claims=later, quick=True, prove=2.0, output=output)[0].strength is Strength.REFUTED


def _verdict(**changes: Any) -> Verdict:
    usual: dict[str, Any] = {
        "id": "mine.means",
        "variant": "published",
        "decision": Decision.HOLDS,
        "strength": Strength.SEARCHED,
        "margin": 1.0,
        "method": "enumeration",
        "instances": 5,
        "budget": 5,
        "seconds": 0.0,
        "reason": "smallest rhs/lhs 1",
    }
    return Verdict(**{**usual, **changes})


def _certificate() -> certificates.Certificate:
    x = scalar("x", "x", "a number", domain="nonnegative")
    form = Form(statement=sp.Ge(x, 0, evaluate=False), assumptions=())
    entry = catalogue.select(["ruan.eq-88"], ())[0].load()
    found = provers.attempt("mine.means", form, Hypotheses(assumptions=(), check=entry.check), seconds=5.0)
    assert found is not None
    return found


def test_verdicts_in_words() -> None:
    held = _verdict()
    assert repr(held) == "Verdict('mine.means', 'published', HOLDS)"
    assert str(held) == "mine.means (published): HOLDS, smallest margin 1; smallest rhs/lhs 1"
    grave = _verdict(decision=Decision.VIOLATED, margin=None, severity="gap", reason="fails")
    assert str(grave) == "mine.means (published): VIOLATED (gap); fails"
    page = _verdict(reason="a < b")._repr_html_()
    assert page.startswith("<div><b>mine.means</b> (published): HOLDS<br>a &lt; b<br>smallest margin 1<br>5 instances")
    assert "margin" not in grave._repr_html_()


def test_what_a_certificate_changes() -> None:
    found = strengthened(_verdict(), _certificate())
    assert (found.decision, found.strength, found.margin) == (Decision.HOLDS, Strength.PROVED, 1.0)
    assert strengthened(_verdict(), None) == _verdict()
    opened = strengthened(_verdict(decision=Decision.NOT_APPLICABLE), _certificate())
    assert opened.decision is Decision.HOLDS


def test_a_certificate_beside_a_counterexample_is_an_error() -> None:
    with pytest.raises(ContradictoryProof, match="has a certificate and a counterexample"):
        strengthened(_verdict(decision=Decision.VIOLATED), _certificate())


def test_shipped_certificates_are_current_and_of_known_claims() -> None:
    known = {entry.id: entry for entry in catalogue.select(["*"], ())}
    stale = []
    for path in sorted(store.SHIPPED.glob("*.json")):
        stored = certificates.load(path)
        claim = known[stored.id].load()
        form = claim.form(stored.variant)
        if stored.statement != certificates.statement_digest(form, Hypotheses.of(claim, form)):
            stale.append(path.name)
    assert stale == []


@pytest.mark.parametrize(
    "id_", ["ruan.eq-88", "ruan.eq-64-65", "fen.eq-41", "cfl.lemma-a.3", "ruan.theorem-3.2-arrival", "cfl.lemma-a.5"]
)
def test_shipped_certificates_prove(id_: str) -> None:
    claim = catalogue.select([id_], ())[0].load()
    found = list(store.SHIPPED.glob(f"{id_}@*.json"))
    assert found
    for path in found:
        stored = certificates.load(path)
        form = claim.form(stored.variant)
        assert provers.replay(stored, form, Hypotheses.of(claim, form)) == ""
        assert store.recall(claim, form) is not None


DERIVED = (
    "cfl.eq-38@corrected",
    "cfl.eq-61@published@converse",
    "cfl.eq-71@sharp",
    "cfl.lemma-a.3@published",
    "cfl.lemma-a.4@published@independent",
    "efl.algorithm-1@published@text",
    "efl.eq-43@published",
    "efl.lemma-1@corrected@uncompressed",
    "efl.theorem-2-departure@corrected@000",
    "fen.algorithm-1-weights@corrected@unbiased",
    "fen.eq-16@published",
    "fen.eq-41@sharp@necessary",
    "proxskip.lemma-3.3@published",
)
"""Shipped certificates that need all parts of the translation, and little time."""


@pytest.mark.parametrize("name", DERIVED)
def test_the_problems_of_shipped_certificates_are_derived_as_they_were(name: str, monkeypatch: Any) -> None:
    """A translation that makes other problems makes certificates worthless; solvers are taken at their word."""
    monkeypatch.setattr(provers.smt, "solve", lambda *_, **__: "unsat")
    monkeypatch.setattr(provers.smt, "available", lambda _: True)
    monkeypatch.setattr(provers, "vacuous", lambda _: False)  # or everything would contradict itself
    stored = certificates.load(store.SHIPPED / f"{name}.json")
    claim = catalogue.select([stored.id], ())[0].load()
    form = claim.form(stored.variant)
    assert provers.replay(stored, form, Hypotheses.of(claim, form)) == ""
    edited = [[{**part, "digest": "0" * 16} for part in parts] for parts in stored.parts]
    refused = provers.replay(dataclasses.replace(stored, parts=edited), form, Hypotheses.of(claim, form))
    assert refused == "a part is about another problem"


@pytest.mark.parametrize(("prover", "scopes", "count"), [
    (provers.Sizes(), [{"N": 1}, {"N": 2}, {"N": 3}], 2),
    (provers.Sizes(), [{"N": 1, "E": 1}, {"N": 1, "E": 3}, {"N": 2, "E": 2}, {"N": 3, "E": 1}], 3),
    (provers.Sizes(), [{"N": 3}], 1),
    (provers.Scalar(), [{}], 1),
    (provers.OnInstances(), [{"n": n} for n in range(5)], 3),
    (provers.OnInstances(), [{"n": 1}], 1),
    (provers.WorstCase(), [{"n": n} for n in range(4)], 3),
    (provers.WorstCase(), [{"n": 1}, {"n": 2}], 2),
])  # fmt: skip
def test_how_many_cases_have_to_be_proved(prover: Any, scopes: list[Any], count: int) -> None:
    assert prover.required(scopes) == count


def test_checks_use_shipped_certificates() -> None:
    claim = catalogue.select(["cfl.lemma-a.3"], ())[0].load()
    (verdict,) = check(claim, effort=QUICK)
    assert verdict.strength is Strength.CERTIFIED
    assert verdict.evidence["certificate"]["covers"] == "count = 1, 2, 3, one dimension"


# Trends


def test_a_bound_is_refuted_by_a_point_only() -> None:
    growing, points = [0.1, 0.2, 0.4, 0.8], [1, 2, 4, 8]
    below = rates.trend("T", points, growing, [1.0] * 4, firm=True)
    above = rates.trend("T", points, [2 * value for value in growing], [1.0] * 4, firm=True)
    flat = rates.trend("T", points, [0.5] * 4, [1.0] * 4, firm=True)
    assert [t.decision for t in (below, above, flat)] == [Decision.INCONCLUSIVE, Decision.VIOLATED, Decision.HOLDS]
    assert rates.in_words([below]) == [
        "no instance exceeds the bound (at most 0.8 of it), but measured over claimed grows like T^1"
    ]
    assert rates.trend("T", points, growing, [1.0] * 4).decision is Decision.VIOLATED


@pytest.mark.parametrize(
    ("scale", "firm", "strength"),
    [
        (1.0, True, Strength.EXTRAPOLATED),
        (2.0, True, Strength.REFUTED_FLOAT),
        (1.0, False, Strength.EXTRAPOLATED),
    ],
)
def test_what_verdicts_on_sweeps_rest_on(scale: float, firm: bool, strength: Strength) -> None:
    grown = rates.trend("T", [1, 2, 4, 8], [0.1 * scale * 2**n for n in range(4)], [1.0] * 4, firm=firm)
    assert rates._strength([grown], grown.decision) is strength
    flat = rates.trend("T", [1, 2, 4, 8], [0.5] * 4, [1.0] * 4, firm=firm)
    expected = Strength.SEARCHED if firm else Strength.EXTRAPOLATED
    assert rates._strength([flat], flat.decision) is expected


# Ledgers


def _ledger(*forms: dict[str, Any]) -> dict[str, Any]:
    entry = {
        "id": "mine.means",
        "paper": "mine",
        "kind": "lemma",
        "title": "",
        "reference": "",
        "error": "",
        "uses": [],
    }
    return {
        "fltheory": {},
        "commit": "",
        "seed": 0,
        "effort": "quick",
        "time": "",
        "claims": [{**entry, "forms": list(forms)}],
    }


def _form(verdict: str, strength: str | None) -> dict[str, Any]:
    words = {"commit": "", "effort": "quick", "time": "", "note": "", "reason": "", "evidence": {}}
    made = {"id": "mine.means", "variant": "published", "verdict": verdict, "margin": None, **words}
    return made if strength is None else {**made, "strength": strength}


def test_coverage_counts_what_holds() -> None:
    ledger = _ledger(
        _form("HOLDS", "proved"), _form("HOLDS", "searched"), _form("HOLDS", "certified"), _form("VIOLATED", "refuted")
    )
    assert coverage(ledger) == [{"paper": "mine", "kind": "lemma", "hold": 3, "proved": 1, "certified": 1}]


def _loose(kind: str, *forms: tuple[str, str, float | None]) -> list[tuple[str, str, float]]:
    rows = [{"variant": variant, "verdict": verdict, "margin": margin} for variant, verdict, margin in forms]
    return loose({"claims": [{"id": "p.a", "kind": kind, "forms": rows}]})


def test_corrected_forms_that_no_instance_comes_near_are_named() -> None:
    far = ("corrected", "HOLDS", 2.5)
    assert _loose("lemma", ("published", "VIOLATED", 0.5), far) == [("p.a", "corrected", 2.5)]
    assert _loose("lemma", ("published", "HOLDS", 9.0)) == []
    assert _loose("lemma", far, ("sharp", "HOLDS", 1.0)) == []
    assert _loose("lemma", ("corrected", "HOLDS", 2.0)) == []
    assert _loose("lemma", ("corrected", "HOLDS", None)) == []
    assert _loose("lemma", ("corrected", "INCONCLUSIVE", 2.5)) == []
    assert _loose("rate", far) == []


def test_the_ledger_says_which_constants_may_be_smaller() -> None:
    rows = [{"variant": "corrected", "verdict": "HOLDS", "margin": 4.0}]
    words = loose_in_words({"claims": [{"id": "p.a", "kind": "bound", "forms": rows}]})
    assert "`p.a` corrected (4)" in words
    assert loose_in_words({"claims": []}) == ""


def test_ledgers_of_earlier_versions_have_no_strength() -> None:
    assert "**HOLDS**" in table(_ledger(_form("HOLDS", None)))
    change = differences(_ledger(_form("HOLDS", None)), _ledger(_form("HOLDS", "proved")))
    assert change.lines == ["~ mine.means published: of unknown strength -> proved"]
    assert not change.changed


def test_strength_survives_the_cache() -> None:
    verdict = _verdict(strength=Strength.REFUTED_FLOAT)
    assert Verdict.from_json(verdict.as_json()) == dataclasses.replace(verdict, assumptions=())


def test_stored_certificates_that_prove_nothing_are_ignored(tmp_path: Path) -> None:
    claim = catalogue.select(["cfl.lemma-a.3"], ())[0].load()
    form = claim.forms[0]
    path = store.SHIPPED / certificates.file_of(claim.id, form.variant)
    stored = certificates.load(path)
    empty = tmp_path / "empty"
    empty.mkdir()
    for edited in (
        dataclasses.replace(stored, statement="another"),
        dataclasses.replace(stored, parts=[[{**part, "digest": "x"} for part in parts] for parts in stored.parts]),
        dataclasses.replace(stored, parts=[[{"digest": part["digest"]} for part in parts] for parts in stored.parts]),
    ):
        certificates.save(edited, tmp_path / path.name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "SHIPPED", empty)
            assert store.recall(claim, form, tmp_path) is None
    (tmp_path / path.name).write_text("{}")
    found = store.recall(claim, form, tmp_path)
    assert found is not None
    assert found.as_json() == stored.as_json()


@pytest.mark.parametrize(("rational", "strength"), [(True, Strength.REFUTED), (False, Strength.REFUTED_FLOAT)])
def test_counterexamples_say_in_which_arithmetic(rational: bool, strength: Strength) -> None:
    x = scalar("x", "x", "a number")
    claim = Claim(
        id="mine.false",
        kind=Kind.LEMMA,
        title="false",
        citation=Citation("mine", "(2)"),
        forms=(Form(statement=sp.Le(x, 1), assumptions=()),),
        check=Instances(space=Space({"x": Real(0, 2)}), realise=lambda point: {"x": point["x"]}, rational=rational),
    )
    (verdict,) = check(claim, effort=QUICK)
    assert verdict.strength is strength
    assert ("relative excess" in verdict.evidence) is not rational
    if not rational:
        assert verdict.evidence["relative excess"] > 1e-6
