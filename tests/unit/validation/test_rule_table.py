"""Rules on a sample: predictions and outcomes are counted apart, and nothing is lost."""

import dataclasses

from sympy import Le, Rational

from fltheory.bounds.claim import Assumption, Form, Instances, Kind, Rejected
from fltheory.bounds.space import Real, Space
from fltheory.validation import decide
from fltheory.validation.decide import FULL, check
from fltheory.validation.rule_table import in_words, outcome_table
from fltheory.validation.search import search
from fltheory.validation.trials import Trials
from fltheory.validation.verdict import Decision
from tests.planted import a, b, claim

HALF = Rational(1, 2)
SQUARE = Instances(
    space=Space({"a": Real(0, 1), "b": Real(0, 1)}),
    realise=lambda point: {"planted_a": point["a"], "planted_b": point["b"]},
)


def rule():
    """If a is at most 1/2, so is b: wrong on half of the instances to which it applies."""
    return claim("half", Kind.RULE, Le(b, HALF), SQUARE, premises=(Le(a, HALF),))


def points():
    return [{"a": x, "b": y} for x in (0.1, 0.2, 0.3, 0.7) for y in (0.1, 0.3, 0.7)]


def test_predictions_and_outcomes_are_counted_apart():
    half = rule()
    table = outcome_table(Trials(half, half.forms[0], SQUARE, 0), points())
    assert table == {"predicted": {"happens": 6, "fails": 3}, "not predicted": {"happens": 2, "fails": 1}}
    assert "12 sampled instances the rule applies to 9 and is right on 6" in in_words(table)
    assert "true on 2 of 3" in in_words(table)


def test_what_is_no_instance_is_not_in_the_table():
    """Points with a = 0.7 fail one assumption, points with b = 0.7 the other, those with a = 0.1 are refused."""

    def realise(point):
        if point["a"] == 0.1:
            raise Rejected("refused")
        return {"planted_a": point["a"], "planted_b": point["b"]}

    small = Assumption("a is small", Le(a, Rational(6, 10))), Assumption("b is small", Le(b, Rational(6, 10)))
    half = dataclasses.replace(rule(), check=dataclasses.replace(SQUARE, realise=realise), assumptions=small)
    table = outcome_table(Trials(half, half.forms[0], half.check, 0), points())
    assert table == {"predicted": {"happens": 4, "fails": 0}, "not predicted": {"happens": 0, "fails": 0}}


def test_every_premise_has_to_be_fulfilled():
    two = claim("two", Kind.RULE, Le(b, HALF), SQUARE, premises=(Le(a, HALF), Le(b, Rational(1, 5))))
    table = outcome_table(Trials(two, two.forms[0], SQUARE, 0), points())
    assert table == {"predicted": {"happens": 3, "fails": 0}, "not predicted": {"happens": 5, "fails": 4}}


def test_the_verdict_on_a_rule_has_its_table_although_the_search_ends_at_the_first_failure():
    verdict = check(rule())[0]
    assert verdict.decision is Decision.VIOLATED
    table = verdict.evidence["outcomes"]
    counted = sum(sum(row.values()) for row in table.values())
    assert counted == -(-FULL.instances // 3)
    assert counted > verdict.instances
    assert in_words(table) in verdict.reason
    # Ends of the range are drawn more often than the inside, and both cells of either row are there.
    assert all(count > counted / 20 for row in table.values() for count in row.values())


def test_forms_that_share_a_check_share_instances():
    made = []

    def realise(point):
        made.append(point)
        return {"planted_a": point["a"], "planted_b": point["b"]}

    counted = dataclasses.replace(SQUARE, realise=realise)
    single = claim("twice", Kind.LEMMA, Le(a * b, 1), counted)
    check(single)
    alone = len(made)
    made.clear()
    again = Form(variant="corrected", statement=Le(a * b, 1))
    check(dataclasses.replace(single, forms=(single.forms[0], again)))
    assert len(made) == alone


def two_forms(published, corrected):
    return dataclasses.replace(claim("two", Kind.LEMMA, Le(a, 1), SQUARE), forms=(published, corrected))


def test_ours_is_searched_as_hard_as_anything():
    hard = dataclasses.replace(SQUARE, effort=5)
    published = Form(statement=Le(a, 2), check=hard)
    both = two_forms(published, Form(variant="corrected", statement=Le(b, 2)))
    assert [verdict.budget for verdict in check(both)] == [5 * FULL.instances] * 2
    assert check(both, variant="corrected")[0].budget == 5 * FULL.instances


def test_ours_is_tried_first_where_the_published_form_fails(monkeypatch):
    begun = []

    def watched(trials, *, starts, **more):
        begun.append([dict(point) for point in starts])
        search(trials, starts=starts, **more)

    monkeypatch.setattr(decide, "search", watched)
    wrong = Form(statement=Le(a * b, Rational(9, 10)))
    verdicts = check(two_forms(wrong, Form(variant="corrected", statement=Le(a * b, 1))))
    assert [verdict.decision for verdict in verdicts] == [Decision.VIOLATED, Decision.HOLDS]
    assert begun[0] == []
    assert len(begun[1]) == 1
    assert begun[1][0]["a"] * begun[1][0]["b"] > 0.9
    assert verdicts[1].evidence["points tried"] <= verdicts[1].budget


def test_points_of_another_space_are_tried_where_they_fit(monkeypatch):
    """A check of its own with the same parameters takes over failing points inside its ranges, and no others."""
    begun = []

    def watched(trials, *, starts, **more):
        begun.append(len(starts))
        search(trials, starts=starts, **more)

    monkeypatch.setattr(decide, "search", watched)
    wrong = Form(statement=Le(a * b, Rational(9, 10)))
    wide, narrow, other = (
        dataclasses.replace(SQUARE, space=Space(parameters))
        for parameters in (
            {"a": Real(-1, 2), "b": Real(0, 1)},
            {"a": Real(0, HALF), "b": Real(0, 1)},
            {"a": Real(0, 1), "b": Real(0, 1), "c": Real(0, 1)},
        )
    )
    for own in (wide, narrow, other):
        check(two_forms(wrong, Form(variant="corrected", statement=Le(a * b, 2), check=own)))
    assert begun == [0, 1, 0, 0, 0, 0]


def test_a_start_that_fails_ends_the_search():
    form = Form(statement=Le(a, HALF))
    trials = Trials(two_forms(form, Form(variant="corrected", statement=Le(a, 1))), form, SQUARE, 0)
    search(trials, budget=100, seed=0, starts=[{"a": 0.75, "b": 0.0}])
    assert (trials.calls, trials.violated) == (1, True)
