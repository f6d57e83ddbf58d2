"""Every line that decides something has a planted case that turns when the line is broken."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sympy import Eq, Ge, Gt, Le, Lt, Rational, sqrt

from fltheory.bounds import catalogue
from fltheory.bounds.catalogue import Entry
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Instances, Kind, Method, Rejected
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Real, Space
from fltheory.errors import InvalidParameter
from fltheory.simulation.trajectories import Band
from fltheory.validation import cache, decide, known, known_terms, runner
from fltheory.validation import trials as trials_module
from fltheory.validation.decide import QUICK, Effort, _excess, check
from fltheory.validation.evaluate import Evaluation, read
from fltheory.validation.replay import replay
from fltheory.validation.runner import check_all, check_entry
from fltheory.validation.trials import LOOSE, Trials, beyond_rounding
from fltheory.validation.verdict import Checked, Decision
from tests.planted import contraction, power_law, sum_of_squares

a, b, c = (scalar(f"deciding_{name}", name, "a number") for name in "abc")
EFFORT = Effort(40, 5)
SPACE = Space({"a": Real(-2, 2), "b": Real(0, 2)})


def stated(statement, *, assumptions=(), premises=(), realise=None, rational=True, method=Method.ENUMERATION, more=()):
    def plain(point):
        return {a: point["a"], b: point["b"]}

    return Claim(
        id="planted.deciding",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "1"),
        forms=(Form(statement=statement, premises=premises), *more),
        assumptions=assumptions,
        check=Instances(space=SPACE, realise=realise or plain, rational=rational, method=method),
    )


def decision(claim):
    return check(claim, effort=EFFORT)[0].decision


NEGATIVE = Assumption("a is negative", Le(a, 0))


def test_instances_that_fail_an_assumption_do_not_count():
    assert decision(stated(Le(a, b), assumptions=(NEGATIVE,))) is Decision.HOLDS
    assert decision(stated(Le(a, b))) is Decision.VIOLATED


def test_instances_that_fail_a_premise_do_not_count():
    assert decision(stated(Le(a, b), premises=(Le(a, 0),))) is Decision.HOLDS


@pytest.mark.parametrize("rational", [True, False])
def test_instances_in_either_arithmetic_have_to_fulfil_premises_and_assumptions(rational):
    for more in ({"assumptions": (NEGATIVE,)}, {"premises": (Le(a, 0),)}):
        (verdict,) = check(stated(Le(a, b), rational=rational, **more), effort=EFFORT)
        assert verdict.decision is Decision.HOLDS
        assert 0 < verdict.instances < verdict.evidence["points tried"]
        told = verdict.evidence
        if "premises" in more:
            assert told["premises fulfilled"] == verdict.instances
            assert told["premises fulfilled"] + told["premises not fulfilled"] == told["points tried"]
        else:
            (condition,) = verdict.assumptions
            assert (condition.met, condition.failed) == (verdict.instances, told["points tried"] - verdict.instances)
            low, high = condition.example.split(" against ")
            assert float(low) > float(high) == 0
            low, high = condition.measured.split(" against ")
            assert float(low) <= float(high) == 0
    assert decision(stated(Le(a, b), rational=rational)) is Decision.VIOLATED


def test_assumptions_and_premises_are_evaluated_without_rounding_too():
    for claim in (stated(Le(a, b), assumptions=(NEGATIVE,)), stated(Le(a, b), premises=(Le(a, 0),))):
        trials = Trials(claim, claim.forms[0], claim.check, 0)
        assert trials.exactly({"a": 1.0, "b": 0.5}) is None
        assert not trials.exactly({"a": -1.0, "b": 0.5}).violated


def test_what_only_rounding_refutes_is_not_refuted():
    """In float64 the left-hand side has lost its last digits; without rounding both sides are equal."""

    def cancelled(point):
        return {a: (point["a"] + 10**12) - 10**12, b: point["a"]}

    for statement in (Eq(a, b), Le(a, b)):
        (verdict,) = check(stated(statement, realise=cancelled), effort=Effort(8, 1))
        assert (verdict.decision, verdict.margin) == (Decision.HOLDS, 1.0)
        assert decision(stated(statement, realise=cancelled, rational=False)) is Decision.VIOLATED


def test_replay_evaluates_assumptions():
    claim = stated(Le(a, b), assumptions=(NEGATIVE,))

    class Known:
        @staticmethod
        def load():
            return claim

    stored = {"id": claim.id, "variant": "published", "seed": 0, "parameters": {"a": "1", "b": "1/2"}}
    found = replay(stored, {claim.id: Known})
    assert (found.violated, found.lhs) == (False, "an assumption fails")


def test_replay_evaluates_the_statement():
    class Known:
        @staticmethod
        def load():
            return stated(Le(a, b))

    stored = {"id": "planted.deciding", "variant": "published", "seed": 0}
    found = [replay({**stored, "parameters": {"a": at, "b": "1/2"}}, {stored["id"]: Known}) for at in ("1", "1/2")]
    assert [one.violated for one in found] == [True, False]
    assert [(one.lhs, one.rhs) for one in found] == [("1", "1/2"), ("1/2", "1/2")]


def test_nothing_evaluated_is_not_holding():
    never = stated(Le(a, b), assumptions=(Assumption("never", Le(b, -1)),))
    assert decision(never) is Decision.NOT_APPLICABLE

    def rejected(point):
        raise Rejected("no instance")

    assert decision(stated(Le(a, b), realise=rejected)) is Decision.NOT_APPLICABLE


def test_a_band_on_either_side_of_its_bound_is_open():
    def sampled(low, high):
        def realise(point):
            curve = [np.array([side]) for side in ((low + high) / 2, low, high)]
            return {a: Band(*curve, 0.99), b: 1.0}

        return stated(Le(a, b), realise=realise, rational=False, method=Method.MONTE_CARLO)

    assert decision(sampled(0.5, 1.5)) is Decision.INCONCLUSIVE
    assert decision(sampled(0.2, 0.8)) is Decision.HOLDS
    assert decision(sampled(1.2, 1.8)) is Decision.VIOLATED


@pytest.mark.parametrize("broken", [math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_curve_with_a_number_that_is_none_is_no_instance(broken, place):
    curve = np.array([0.1, 0.2, 0.3])
    curve[place] = broken
    with pytest.raises(Rejected, match="not finite"):
        read(Form(statement=Le(a, b)), {"deciding_a": curve, "deciding_b": 1.0})
    with pytest.raises(Rejected, match="not finite"):
        read(Form(statement=Le(a, b)), {"deciding_a": broken, "deciding_b": 1.0})


def test_a_bound_that_is_no_number_is_no_instance():
    with pytest.raises(Rejected, match="not finite"):
        read(Form(statement=Le(a, b)), {"deciding_a": np.ones(2), "deciding_b": np.array([2.0, math.nan])})
    with pytest.raises(Rejected, match="not finite"):
        read(Form(statement=Le(a, b)), {"deciding_a": 1.0, "deciding_b": math.nan})
    assert not read(Form(statement=Le(a, b)), {"deciding_a": 1.0, "deciding_b": math.inf}).violated


@pytest.mark.parametrize("place", [0, 1, 2])
def test_every_relation_of_a_form_is_read(place):
    relations = [Ge(b, -1), Le(b, 3), Ge(a, -3)]
    assert decision(stated(tuple(relations))) is Decision.HOLDS
    relations[place] = Le(b, 0)
    assert decision(stated(tuple(relations))) is Decision.VIOLATED


def test_runs_have_to_exceed_by_more_than_rounding_and_no_more():
    def reading(excess):
        return read(Form(statement=Le(a, b)), {"deciding_a": 1.0 + excess, "deciding_b": 1.0})

    assert pytest.approx(1e-6) == LOOSE
    assert not beyond_rounding(reading(0.5e-6)).violated
    assert beyond_rounding(reading(2e-6)).violated
    assert beyond_rounding(reading(1e-4)).violated
    with pytest.raises(Rejected):
        beyond_rounding(read(Form(statement=Le(a, b)), {"deciding_a": 2e-13, "deciding_b": 1e-13}))


def test_sides_of_runs_count_as_zero_below_a_floor_and_not_above_it():
    def reading(lhs, rhs):
        return beyond_rounding(read(Form(statement=Le(a, b)), {"deciding_a": lhs, "deciding_b": rhs}))

    assert reading(2e-11, 1e-11).violated
    assert not reading(1e-11, 2e-11).violated
    with pytest.raises(Rejected, match="vanish"):
        reading(9e-13, 1e-13)
    unequal = read(Form(statement=Eq(a, b)), {"deciding_a": 1.0, "deciding_b": 2.0})
    assert beyond_rounding(unequal).violated


@pytest.mark.parametrize(("excess", "seen"), [(1e-10, False), (3e-9, True), (1e-7, True)])
def test_two_floats_are_equal_up_to_rounding_and_no_further(excess, seen):
    env = {"deciding_a": 1.0 + excess, "deciding_b": 1.0}
    assert read(Form(statement=Le(a, b)), env).violated is seen
    assert read(Form(statement=Eq(a, b)), env).violated is seen
    assert read(Form(statement=Eq(b, a)), env).violated is seen
    assert read(Form(statement=Lt(a, b)), {"deciding_a": 1.0 - excess, "deciding_b": 1.0}).violated is not seen


@pytest.mark.parametrize(
    ("lhs", "rhs", "confirmed"),
    [(0.9e-7, 1e-7, True), (0.4e-7, 1e-7, False), (0.9e-5, 1e-5, False), (1e-14, 1e-13, True), (0.0, 0.0, False)],
)
def test_small_sides_are_evaluated_without_rounding(lhs, rhs, confirmed):
    """Where rounding may hide a failure: below 1e-6 if the sides are close, below 1e-12 always."""
    asked = []

    def realise(point):
        asked.append(point)
        return {a: lhs, b: rhs}

    claim = stated(Le(a, b), realise=realise)
    Trials(claim, claim.forms[0], claim.check, 0).attempt({"a": 1.0, "b": 1.0})
    assert len(asked) == 1 + confirmed


def test_a_form_that_must_hold_and_does_not_fails_the_command():
    ours = Form(variant="corrected", statement=Le(a, b))
    claim = stated(Le(a, b), more=(ours,))
    verdicts = check(claim, effort=EFFORT)
    entry = Entry(claim.id, "planted", "1", "lemma", "planted", None)
    broken = [Checked(entry, (), (), (), (verdict,)).broken for verdict in verdicts]
    assert broken == [False, True]
    assert Checked(entry, (), (), (), (), "an error").broken


def test_a_claim_that_cannot_be_evaluated_is_broken():
    class Bad:
        id = "planted.bad"

        @staticmethod
        def load():
            raise ZeroDivisionError

    assert check_entry(Bad, None, EFFORT, 0).broken
    task, lost = runner._lost((Bad, None, EFFORT, 3))
    assert task == (Bad, None, EFFORT, 3)
    assert lost.broken
    assert (lost.entry, lost.verdicts) == (Bad, ())


def test_an_assumed_equality_is_not_refused_for_rounding_errors():
    def rounded(point):
        exact = not isinstance(point["a"], float)
        return {a: point["a"], b: point["b"], c: 0 if exact else 5e-32}

    zero = Assumption("c vanishes", Eq(c, 0))
    assert decision(stated(Le(a, b + c), assumptions=(zero,), realise=rounded)) is Decision.VIOLATED
    far = stated(Le(a, b + c), assumptions=(zero,), realise=lambda p: {a: p["a"], b: p["b"], c: 1e-6 + 0 * p["a"]})
    assert decision(far) is Decision.NOT_APPLICABLE
    tiny = stated(Le(a, b + c), assumptions=(zero,), realise=lambda p: {a: p["a"], b: p["b"], c: p["b"] / 10**14})
    trials = Trials(tiny, tiny.forms[0], tiny.check, 0)
    assert trials.exactly({"a": 1.0, "b": 0.5}) is None  # without rounding there is nothing to forgive
    assert trials.attempt({"a": 1.0, "b": 0.5}) is None
    assert (trials.calls, trials.instances, trials.violated) == (1, 0, False)


def test_a_given_point_that_fails_by_less_than_rounding_fails():
    beyond = {"a": Rational(1, 3) + Rational(1, 10**30), "b": Rational(1, 3)}
    for rational, fails in ((True, True), (False, False)):
        claim = stated(Le(a, b), rational=rational)
        trials = Trials(claim, claim.forms[0], claim.check, 0)
        assert trials.attempt_given(beyond).violated is fails
        assert (trials.calls, trials.instances, trials.violated) == (1, 1, fails)
        assert (trials.best[1] is beyond) is fails
    plain = stated(Le(a, b))
    trials = Trials(plain, plain.forms[0], plain.check, 0)
    far = {"a": Rational(2, 3), "b": Rational(1, 3)}
    assert trials.attempt_given(far).violated
    assert trials.best[1] is far
    assert not trials.attempt_given({"a": Rational(1, 3), "b": Rational(1, 3)}).violated
    assert trials.best[1] is far
    assert (trials.calls, trials.instances) == (2, 2)


def test_a_given_point_that_is_an_instance_only_without_rounding_counts_once():
    """The assumption c = 0 fails in float64 and holds without rounding."""

    def rounded(point):
        return {a: point["a"], b: point["b"], c: 0 if not isinstance(point["a"], float) else 1e-3}

    claim = stated(Le(a, b), assumptions=(Assumption("c vanishes", Eq(c, 0)),), realise=rounded)
    trials = Trials(claim, claim.forms[0], claim.check, 0)
    assert trials.attempt_given({"a": Rational(1), "b": Rational(1, 3)}).violated
    assert (trials.calls, trials.instances) == (1, 1)


def test_what_is_no_instance_is_neither_suspicious_nor_confirmed():
    def rejected(point):
        raise Rejected("no instance")

    claim = stated(Le(a, b), realise=rejected)
    trials = Trials(claim, claim.forms[0], claim.check, 0)
    point = {"a": 1.0, "b": 0.5}
    assert trials.attempt(point) is None
    assert not trials.suspicious(point)
    assert trials.exactly(point) is None
    assert trials.as_evidence() == {"points tried": 1, "no instance": 1}
    assert trials.obstacle() == "1 of 1 points made no instance: no instance"
    zero = stated(Le(a / b, 1))
    trials = Trials(zero, zero.forms[0], zero.check, 0)
    assert trials.suspicious({"a": 1.0, "b": 0.5})
    assert not trials.suspicious({"a": 0.25, "b": 0.5})
    unmet = stated(Le(a, b), premises=(Le(a, -5),))
    trials = Trials(unmet, unmet.forms[0], unmet.check, 0)
    assert trials.obstacle() == "the space has no point"
    assert trials.attempt(point) is None
    assert trials.obstacle() == "no point fulfils the premises"
    assert not trials.suspicious(point)


def test_a_margin_is_never_above_what_the_counterexample_shows():
    for statement in (Le(a, b), Le(a**2, b), Eq(a**2, b)):
        (found,) = check(stated(statement), effort=EFFORT)
        assert found.decision is Decision.VIOLATED
        assert found.counterexample.arithmetic == "rational"
        assert found.margin is not None
        ratio = found.counterexample.ratio
        assert ratio is None or found.margin <= 1 / ratio + 1e-12


def test_a_refutation_in_floating_point_says_by_how_much():
    (found,) = check(stated(Le(a, b), rational=False), effort=EFFORT)
    assert found.strength.value == "refuted (float64)"
    assert found.evidence["relative excess"] > LOOSE


@pytest.mark.parametrize("name", ["code.py", "stored.json"])
def test_kept_verdicts_depend_on_all_files_of_the_package(tmp_path, monkeypatch, name):
    monkeypatch.setattr(cache, "HOME", tmp_path)
    (tmp_path / "inner").mkdir()

    def state(content):
        (tmp_path / "inner" / name).write_text(content)
        cache._code.cache_clear()
        return cache._code()

    try:
        first = state(json.dumps(1))
        assert state(json.dumps(2)) != first
        assert state(json.dumps(1)) == first
    finally:
        cache._code.cache_clear()


def test_experiments_are_never_called_rational():
    assert Experiments.rational.fget(None) is False


@pytest.mark.parametrize(
    ("lhs", "rhs", "excess"), [(4, 3, 0.25), (-3, -4, 0.25), (-4, -5, 0.2), (1, -1, 2.0), (-1, -4, 0.75), (2, 0, 1.0)]
)
def test_an_excess_is_relative_to_the_larger_side_whatever_its_sign(lhs, rhs, excess):
    assert _excess(lhs, rhs) == pytest.approx(excess)
    assert _excess(rhs, lhs) == pytest.approx(excess)


def test_the_seed_is_zero_unless_another_one_is_given():
    made = catalogue.index()["ruan.eq-71"].load()
    assert [verdict.seed for verdict in check(made, effort=Effort(1, 1))] == [0] * len(made.forms)
    assert {verdict.seed for verdict in check(made, effort=Effort(1, 1), seed=3)} == {3}
    entries = [catalogue.index()["ruan.eq-71"]]
    for given, seed in ({}, 0), ({"seed": 3}, 3):
        (done,), _ = check_all(entries, effort=Effort(1, 1), fresh=True, **given)
        assert {verdict.seed for verdict in done.verdicts} == {seed}
        assert not any("searches" in verdict.evidence for verdict in done.verdicts)  # one, unless more are asked for


def test_small_sides_are_blurred_whatever_their_sign():
    """Both below what vanishes, or small with a left side above half of the right one, in size."""
    small, tiny = trials_module.VANISHING / 2, trials_module.TINY / 2
    for lhs, rhs, blurred in (
        (-small, small, True), (small, -small, True), (-tiny, tiny, True), (-tiny, -tiny, True),
        (tiny / 3, tiny, False), (-tiny / 3, tiny, False), (-1.0, 1.0, False), (0.0, 0.0, False),
    ):  # fmt: skip
        assert trials_module._blurred(Evaluation(lhs, rhs, 0.0, False, 0, {})) is blurred


@pytest.mark.parametrize("wrong", [(0, 1), (1, 0), (-1, 1), (1, -1), (1.5, 1), (1, 1.5)])
def test_an_effort_of_nothing_is_refused(wrong):
    with pytest.raises(InvalidParameter, match=r"Effort\.(instances|experiments) must be"):
        Effort(*wrong)
    assert Effort(1, 1).instances == Effort(1, 1).experiments == 1


def test_instances_and_runs_have_budgets_of_their_own():
    made, source = stated(Le(a, b)).check, contraction().check
    assert Effort(7, 3).of(made) == 7
    assert Effort(7, 3).of(source) == 3
    assert Effort(7, 3).of(replace(made, effort=4)) == 28
    assert Effort(7, 3).of(replace(source, effort=4)) == 12


def identity(statement, **more):
    return replace(stated(statement, **more), kind=Kind.IDENTITY)


@pytest.mark.parametrize(
    ("made", "strength"),
    [
        (identity(Eq((a + b) * (a - b), a**2 - b**2, evaluate=False)), "proved"),
        (identity(Eq((a**2 - b**2) / (a - b), a + b, evaluate=False)), "proved"),
        (identity((Eq(a, a, evaluate=False), Eq(a + b, b + a, evaluate=False))), "proved"),
        (identity((Eq(a, a, evaluate=False), Eq(a, b, evaluate=False))), "refuted"),
        (identity(Lt((a + b) ** 2, a**2 + 2 * a * b + b**2, evaluate=False)), "refuted"),  # though nothing is left
        (identity(Le((a + b) ** 2, a**2 + 2 * a * b + b**2, evaluate=False)), "searched"),
        (identity(Eq((sqrt(b) + 1) * (sqrt(b) - 1), b - 1, evaluate=False)), "searched"),  # roots are not rational
        (sum_of_squares(), "searched"),  # with as many summands as the instance says
        (stated(Eq((a + b) * (a - b), a**2 - b**2, evaluate=False)), "searched"),  # no identity by kind
    ],
)
def test_only_equalities_of_rational_functions_are_proved(made, strength):
    assert check(made, effort=EFFORT)[0].strength.value == strength


def test_what_is_defined_is_proved_by_its_definition_and_conditions_are_looked_at_first():
    square = Eq(c, a**2 + 2 * a * b + b**2, evaluate=False)
    defined = replace(identity(square), forms=(Form(statement=square, where=((c, (a + b) ** 2),)),))
    (verdict,) = check(defined, effort=EFFORT)
    assert (verdict.strength.value, verdict.margin, verdict.instances, verdict.budget) == ("proved", 1.0, 0, 0)
    wrong = replace(identity(square), forms=(Form(statement=square, where=((c, (a - b) ** 2),)),))
    assert check(wrong, effort=EFFORT)[0].decision is Decision.VIOLATED
    true = Eq(a + b, b + a, evaluate=False)
    for more in ({"assumptions": (Assumption("never", Le(b, -1)),)}, {"premises": (Le(b, -1),)}):
        assert check(identity(true, **more), effort=EFFORT)[0].decision is Decision.NOT_APPLICABLE


def test_a_strict_relation_between_zeros_fails_in_floats_too():
    """Both sides vanish wherever a does; as an assumption it is not fulfilled there."""
    zero = {"a": 0.0, "b": 1.0}
    made = stated(Lt(a * b, a * b + 0 * b, evaluate=False), realise=lambda p: {a: 0 * p["a"], b: p["b"]})
    assert decision(made) is Decision.VIOLATED
    strict = stated(Le(b, b), assumptions=(Assumption("a is positive", Gt(a, 0)),))
    trials = Trials(strict, strict.forms[0], strict.check, 0)
    assert trials.attempt(zero) is None
    assert trials.failed == {"a is positive": 1}


def test_a_known_counterexample_stays_as_it_is_and_one_to_another_form_is_shrunk(monkeypatch):
    far = {"a": Rational(17, 10), "b": Rational(3, 10)}
    claim = stated(Le(a, b), more=(Form(variant="published@other", statement=Le(a, 2 * b)),))
    for variant, stays in (("published", True), ("published@other", False)):
        monkeypatch.setattr(known, "points", lambda claim, form, variant=variant: [(variant, far)])
        (verdict,) = check(claim, variant="published", effort=EFFORT)
        assert verdict.decision is Decision.VIOLATED
        assert (dict(verdict.counterexample.parameters) == {"a": "17/10", "b": "3/10"}) is stays
        assert verdict.evidence.get("known counterexample", False) is stays
        assert verdict.evidence["points tried"] == 1
        (unaided,) = check(claim, variant="published", effort=replace(EFFORT, unaided=True))
        assert "known counterexample" not in unaided.evidence


def test_terms_are_asked_for_with_the_usual_budget_and_proofs_only_beside_a_certificate(monkeypatch):
    asked = []
    monkeypatch.setattr(decide, "examine", lambda claim, form, **more: asked.append(more) or [])
    monkeypatch.setattr(decide, "recall", lambda claim, form: None)
    shipped = [{"a": -1.0, "b": 1.0}]
    monkeypatch.setattr(known_terms, "points", lambda claim, form: shipped)
    hard = stated(Le(a, 3 * b + 5))
    hard = replace(hard, check=replace(hard.check, effort=6))
    (verdict,) = check(hard, effort=Effort(10, 5, sensitivity=True), seed=4)
    assert verdict.budget == 60
    (more,) = asked
    assert (more["budget"], more["seed"], more["prove"], more["given"]) == (10, 4, False, shipped)
    assert len(more["seen"]) == verdict.instances
    check(hard, effort=Effort(10, 5, sensitivity=True, unaided=True))
    assert asked[-1]["given"] == []
    check(stated(Le(a, b - 9)), effort=Effort(10, 5, sensitivity=True))
    check(hard, effort=Effort(10, 5))
    assert len(asked) == 2  # neither where a form fails, nor unasked


def test_sampled_curves_and_searches_are_told_apart():
    def strength(method):
        return check(stated(Le(a, b + 3), rational=False, method=method), effort=EFFORT)[0].strength.value

    assert (strength(Method.ENUMERATION), strength(Method.MONTE_CARLO)) == ("searched", "sampled")


def test_failing_sweeps_are_measured_again_where_help_is_wanted(monkeypatch):
    """With a constant at all of their points, of a law at the last ones."""
    asked = []
    monkeypatch.setattr(known, "sweeps", lambda claim, form, firm: asked.append(firm) or iter(()))
    law = power_law()
    firm = replace(law, forms=(Form(statement=Le(law.forms[0].relations[0].lhs, 100)),))
    for made in (law, firm):
        check(made, effort=QUICK)
    assert asked == [False, True]
    check(law, effort=replace(QUICK, unaided=True))
    check(law, effort=EFFORT)
    assert len(asked) == 2


def test_the_sides_of_a_failing_relation_stand_in_the_order_in_which_it_is_printed():
    """Each relation of a form by itself: the first is printed with a larger left-hand side, the second is not."""
    for statement, told in (((Ge(b, -1), Le(a, 1)), "2 > 1"), ((Le(b, 3), Ge(-a, -1)), "-2 < -1")):
        (verdict,) = check(stated(statement, realise=lambda p: {a: 2 + 0 * p["a"], b: 1}), effort=EFFORT)
        assert verdict.reason.endswith(f": {told}")


def test_a_claim_is_checked_form_by_form():
    both = stated(Le(a, b), more=(Form(variant="corrected", statement=Le(a, b + 3), intended=("published",)),))
    found = check(both, effort=EFFORT)
    assert [(one.variant, one.decision, one.meant) for one in found] == [
        ("published", Decision.VIOLATED, ("corrected",)),
        ("corrected", Decision.HOLDS, ()),
    ]
    assert [one.variant for one in check(both, variant="corrected", effort=EFFORT)] == ["corrected"]
