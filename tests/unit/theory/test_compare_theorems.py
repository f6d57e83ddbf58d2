"""All theorems beside one experiment: what is ranked, what is only shown, what is named as not applicable."""

import dataclasses
import json

import numpy as np
import pytest

import fltheory as fl
from fltheory.bounds.papers import PAPERS
from fltheory.theory.guarantee import GIVEN, PRESCRIBED
from fltheory.theory.standing import KnownVerdicts, Standing

CLAIM = '''
"""A bound of the test."""

from sympy import {relation}

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.observation import Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Real, Space

gap = scalar("gap", "g", "gap of the test", shape=("rounds",))
first = scalar("first", "g_0", "gap at the start")


def quantities(facts):
    {body}
    return {{"gap": facts.curve("gap", first=1), "first": facts.at_start("gap")}}


claim = Claim(
    id="own.{name}",
    kind=Kind.BOUND,
    title="a bound of the test",
    citation=Citation("own", "nowhere"),
    forms=(Form(statement={relation}(gap, first * {factor})),),
    check=Instances(space=Space({{"x": Real(0, 1)}}), realise=lambda point: {{}}),
    observation=Observation(quantities=quantities, about=lambda facts: "any"),
)
'''


def own(folder, name, *, relation="Le", factor="1", body="pass"):
    folder.mkdir(exist_ok=True)
    text = CLAIM.format(name=name, relation=relation, factor=factor, body=body)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def experiment(*, rate=0.02, dissimilarity=0.0, rounds=20, **more):
    problem = fl.client_quadratics(
        dim=2, num_clients=3, mu=1.0, L=5.0, dissimilarity=dissimilarity, spread=0.5, noise_sq=0.5
    )
    participation = fl.Participation(num_clients=3, local_steps=2)
    options = {"algorithm": fl.FedAvg(), "participation": participation, "rounds": rounds, "rate": rate, **more}
    return fl.Experiment(problem=problem, **options)


@pytest.fixture(scope="module")
def found():
    return fl.compare_theorems(experiment())


def test_bounds_are_sorted_by_how_tight_they_are(found):
    ratios = [one.tightness for one in found.ranked]
    assert len(ratios) > 8
    assert ratios == sorted(ratios)
    assert found.tightest is found.ranked[0]
    assert min(ratios) >= 1 - 1e-9
    assert {one.id.split(".")[0] for one in found.ranked} >= {"ruan", "li", "fieldguide", "efl", "proxskip"}
    assert not found.errors


@pytest.mark.parametrize("name", ["li.theorem-1 (sharp)", "ruan.theorem-3.1 (published)", "fieldguide.eq-17 (sharp)"])
def test_a_row_is_what_the_theorem_says_at_its_own_rate(found, name):
    id_, variant = name[:-1].split(" (")
    theorem, given = fl.theorem(id_), experiment()
    rate = theorem.rate_for(
        given.problem, given.participation, algorithm=fl.FedAvg(), rounds=given.rounds, variant=variant
    )
    compared = theorem.compare(dataclasses.replace(given, rate=rate), variant=variant)
    row = found[name]
    assert (row.setting, row.standing) == (PRESCRIBED, Standing.BOUND)
    assert row.tightness == pytest.approx(compared.slack[-1])
    assert row.bound == pytest.approx(compared.right[-1])
    assert row.exact == pytest.approx(compared.left[-1])


def test_a_theorem_without_a_rate_is_evaluated_at_the_given_one(found):
    row = found["fieldguide.theorem-1 (sharp)"]
    assert (row.setting, row.rates) == (GIVEN, (0.02, 0.02))
    compared = fl.theorem("fieldguide.theorem-1").compare(experiment(), variant="sharp")
    assert row.tightness == pytest.approx(compared.slack[-1])


def test_a_theorem_whose_rate_is_the_given_one_has_one_row():
    given = experiment()
    rate = fl.theorem("li.theorem-1").rate_for(given.problem, given.participation, variant="published")
    rows = fl.compare_theorems(dataclasses.replace(given, rate=rate), pattern="li.theorem-1").guarantees
    assert {(one.variants[0], one.setting) for one in rows} == {
        ("published", GIVEN),
        ("sharp", GIVEN),
        ("published@first-rate", PRESCRIBED),
        ("sharp@first-rate", PRESCRIBED),
    }


def test_refuted_forms_are_shown_but_never_ranked(found):
    refuted = found.of(Standing.REFUTED)
    assert "efl.theorem-1" in {one.id for one in refuted}
    assert all(variant.startswith("published") for one in refuted for variant in one.variants)
    verdicts = KnownVerdicts()
    assert not any(verdicts.of(one.id, variant).refuted for one in found.ranked for variant in one.variants)
    assert all(one.gap_bound is None and one.rounds_to_accuracy is None for one in refuted)
    text = str(found)
    assert text.index("valid bounds") < text.index("not guarantees") < text.index("a counterexample comes with")


def test_rates_stand_apart_with_the_constant_one(found):
    assert found.rates
    assert all(fl.theorem(one.id).kind == "rate" for one in found.rates)
    assert not any(one.compared.is_rate for one in found.ranked)
    assert "no guarantees" in str(found)


def test_what_does_not_apply_is_named_with_the_failing_assumption_and_its_value(found):
    reasons = dict(found.refusals())
    assert "li.theorem-2" in reasons["participants: with-replacement (everyone)"]
    exact = next(why for why, names in reasons.items() if "proxskip.theorem-3.6" in names)
    assert exact == "with Scaffnew: exact gradients (sigma_sq = 0.5)"
    uneven = fl.compare_theorems(experiment(dissimilarity=2.0), pattern="fieldguide.*")
    assert not uneven.guarantees
    [(why, names)] = uneven.refusals()
    assert names == ["fieldguide.eq-17", "fieldguide.theorem-1"]
    assert "Hessians of clients differ from their mean by up to " in why


def test_a_declared_constant_lets_a_theorem_apply():
    found = fl.compare_theorems(experiment(dissimilarity=2.0), pattern="fieldguide.*", zeta=30.0)
    assert {one.id for one in found.ranked} == {"fieldguide.eq-17", "fieldguide.theorem-1"}
    with pytest.raises(fl.InvalidParameter, match="no statement that was looked at has a constant zetta"):
        fl.compare_theorems(experiment(), pattern="fieldguide.*", zetta=30.0)


def test_bounds_on_a_gap_are_above_the_gap_that_they_are_about(found):
    smooth = found["ruan.theorem-3.1 (corrected)"]
    assert smooth.gap_bound == pytest.approx(5.0 / 2 * smooth.bound)
    for one in found.ranked:
        if one.gap_curve is None or len(one.gap_curve) != found.rounds:
            continue
        gap = one.compared.run.gap.mean(axis=0)[1:]
        assert np.all(one.gap_curve >= gap * (1 - 1e-9)) or one.id.startswith("fieldguide")
    smallest = found.smallest
    assert smallest.gap_bound == min(one.gap_bound for one in found.ranked if one.gap_bound is not None)


def test_rounds_to_an_accuracy_are_those_of_bound_and_run():
    found = fl.compare_theorems(experiment(), pattern="fieldguide.theorem-1", accuracy=1.0)
    row = found["fieldguide.theorem-1 (sharp)"]
    right = row.compared.right
    assert row.rounds_to_accuracy == 1 + int(np.argmax(right <= 1.0))
    gap = row.compared.run.gap[0]
    assert row.exact_rounds_to_accuracy == int(np.argmax(gap <= 1.0))
    assert 0 < row.exact_rounds_to_accuracy < row.rounds_to_accuracy


def test_theorems_about_another_algorithm_have_that_one(found):
    assert found["proxskip.theorem-5.5"].algorithm == "Scaffnew"
    alone = fl.compare_theorems(experiment(), pattern="proxskip.*", own_algorithms=False)
    assert not alone.guarantees


def test_a_rate_with_its_constants_is_ranked_and_one_without_is_not():
    given = dataclasses.replace(experiment(rate=0.0005, rounds=2000), algorithm=fl.Scaffold())
    found = fl.compare_theorems(given, pattern="scaffold.theorem-vii-sc")
    standings = {variant: one.standing for one in found.guarantees for variant in one.variants}
    assert standings == {"published": Standing.RATE, "published@constants": Standing.BOUND}
    row = found["scaffold.theorem-vii-sc (published@constants)"]
    assert row.gap_bound == row.bound > row.exact > 0


def test_own_claims_are_taken_in_and_a_false_one_is_not_ranked(tmp_path):
    folder = own(tmp_path / "claims", "true", factor="2")
    own(folder, "false", factor="1 / 10**9")
    own(folder, "below", relation="Ge", factor="1 / 10**9")
    found = fl.compare_theorems(experiment(), pattern="own.*", claims=folder)
    assert {one.id: one.standing for one in found.guarantees} == {
        "own.true": Standing.BOUND,
        "own.false": Standing.EXCEEDED,
        "own.below": Standing.LOWER,
    }
    assert [one.id for one in found.ranked] == ["own.true"]
    assert found["own.below"].tightness < 1
    assert found["own.below"].exact == found["own.true"].exact
    assert found["own.true"].gap_bound == found["own.true"].bound


def test_an_error_in_one_theorem_does_not_cost_the_table(tmp_path):
    folder = own(tmp_path / "claims", "good")
    own(folder, "bad", body='raise RuntimeError("no such thing")')
    text = (folder / "good.py").read_text(encoding="utf-8").replace("own.good", "own.worse")
    (folder / "worse.py").write_text(f"observation=None\nimport nothing_of_this_name\n{text}", encoding="utf-8")
    found = fl.compare_theorems(experiment(), pattern=["own.*", "li.theorem-1"], claims=folder)
    assert {one.id for one in found.ranked} == {"own.good", "li.theorem-1"}
    assert found.errors.keys() == {"own.bad (published)", "own.worse"}
    assert "RuntimeError: no such thing" in found.errors["own.bad (published)"]
    assert "bad.py:" in found.errors["own.bad (published)"]
    assert "not evaluated: own.worse" in str(found)


def test_verdicts_of_a_ledger_decide(tmp_path):
    def form(variant, verdict):
        return {"variant": variant, "verdict": verdict, "severity": "false", "strength": "refuted"}

    ledger = {
        "claims": [
            {"id": "li.theorem-1", "forms": [form("sharp", "VIOLATED"), form("published", "INCONCLUSIVE")]},
            {"id": "efl.theorem-1", "forms": [form("published@000", "HOLDS")]},
        ]
    }
    found = fl.compare_theorems(experiment(), pattern=["li.theorem-1", "efl.theorem-1"], ledger=ledger)
    assert found["li.theorem-1 (sharp)"].standing is Standing.REFUTED
    assert found["li.theorem-1 (sharp)"].evidence == "VIOLATED (false, refuted) in the ledger"
    assert found["li.theorem-1 (published)"].standing is Standing.BOUND
    assert found["efl.theorem-1 (published@000)"].standing is Standing.BOUND
    assert found["efl.theorem-1 (published@003)"].standing is Standing.REFUTED


def test_a_given_rate_that_diverges_leaves_the_rates_of_the_theorems():
    found = fl.compare_theorems(experiment(rate=50.0, rounds=400), pattern=["li.theorem-1", "fieldguide.theorem-1"])
    assert found.run is None
    assert {one.id for one in found.ranked} == {"li.theorem-1"}
    assert "diverges at the given rate" in str(found)
    assert found.plot().axes[1].lines


def test_no_bound_at_all_is_said():
    problem = fl.client_quadratics(num_clients=3, dim=2, round_drift_sq=1.0)
    drifting = dataclasses.replace(experiment(), problem=problem)
    found = fl.compare_theorems(drifting, pattern="li.*")
    assert found.tightest is None
    assert found.smallest is None
    assert "no bound of the catalogue applies" in str(found)
    assert "round_drift_sq = 1" in str(found)
    assert "no bound applies" in repr(found)


def test_other_outputs_have_the_same_numbers(found):
    document = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert document["tightest"] == found.tightest.name
    assert len(document["guarantees"]) == len(found.guarantees) == len(found.columns()["bound"])
    assert document["guarantees"][0]["assumptions"][0]["name"] == "setting"
    frame = found.to_dataframe()
    assert list(frame["bound"]) == [one.bound for one in found.guarantees]
    assert found.tightest.name in found._repr_html_()
    axes = found.plot().axes
    labels = [label.get_text() for label in axes[0].get_yticklabels()]
    assert labels[0].startswith(tuple(f"{paper.label}, " for paper in PAPERS.values()))
    assert labels[0].endswith(f": {found.tightest.variants[0]} +1")
    assert max(map(len, labels)) < 50  # the axes need the rest of the width
    assert found.tightest.compared.reference == fl.theorem(found.tightest.id).reference
    assert axes[0].lines[1].get_xdata()[0] == found.tightest.tightness
    with pytest.raises(KeyError, match=r"li\.theorem-1"):
        found["nothing"]


def test_a_refuted_reading_without_an_assumption_has_no_row_beside_the_form_that_has_it(found):
    assert "any-dependence" not in str(found)
    assert "ruan.eq-66 (published; published@index-tau)" in {one.name for one in found.failed}
    form = {"variant": "published", "verdict": "VIOLATED", "severity": "false", "strength": "refuted"}
    ledger = {"claims": [{"id": "li.theorem-1", "forms": [form, {**form, "variant": "published@first-rate"}]}]}
    alone = fl.compare_theorems(experiment(), pattern="li.theorem-1", ledger=ledger)
    assert alone["li.theorem-1 (published@any-dependence)"].standing is Standing.REFUTED


def test_without_strong_convexity_the_others_remain():
    given = experiment()
    flat = fl.client_quadratics(
        dim=2, num_clients=3, mu=0.0, L=5.0, dissimilarity=0.0, spread=0.5, noise_sq=0.5, seed=1
    )
    found = fl.compare_theorems(dataclasses.replace(given, problem=flat))
    assert not found.errors
    assert not found.of(Standing.EXCEEDED)
    assert {one.id for one in found.ranked} == {"fieldguide.theorem-1", "fieldguide.eq-17", "koloskova.theorem-2-gc"}
    reasons = dict(found.refusals())
    assert (
        "scaffold.theorem-vii-sc (published)" in reasons["with SCAFFOLD: the statement divides by what is 0 here: mu"]
    )
    for id_ in ("koloskova.theorem-2-sc", "proxskip.theorem-5.5"):
        told = [reason for reason, ids in reasons.items() if any(one.startswith(id_) for one in ids)]
        assert told
        assert all("divided by mu = 0" in reason for reason in told)
    compared = fl.theorem("koloskova.theorem-2-sc").compare(
        dataclasses.replace(given, problem=flat), variant="corrected@constants"
    )
    assert compared.decision is fl.Decision.NOT_APPLICABLE
    assert any("divided by mu = 0" in one.value for one in compared.unmet)


def test_theorems_on_equal_machines_with_their_constants_are_ranked():
    problem = fl.bent_valley(H=1.0, mu=0.05, distance=1.0, sigma=0.3, num_clients=3)
    given = dataclasses.replace(experiment(rounds=5), problem=problem, start=None)
    found = fl.compare_theorems(given, pattern="woodworth.*", replicates=20)
    row = found["woodworth.theorem-2 (sharp)"]
    assert row.standing is Standing.BOUND
    assert row.gap_bound == row.bound
