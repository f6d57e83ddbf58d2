"""Extreme points of a search: hundreds of local steps, condition numbers of a million, probabilities near zero."""

import numpy as np
from sympy import Le

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Integers, Real, Space
from fltheory.validation.decide import Effort, check
from fltheory.validation.search import RARITY, extreme_points, search
from fltheory.validation.trials import Trials
from fltheory.validation.verdict import Decision

a, b = scalar("extreme_a", "a", "a number"), scalar("extreme_b", "b", "another number")
SPACE = Space(
    {
        "N": Integer(1, 2, far=5),
        "E": Integer(1, 3, far=300),
        "s": Integers(0, "E", shape=("N",)),
        "condition": Real(1, 100, log=True, far=1e6),
        "q": Real(0, 1, shape=("N",), far=1e-3),
        "x": Real(-1, 1),
    }
)


def claim(realise, space=SPACE):
    return Claim(
        id="planted.extreme",
        kind=Kind.LEMMA,
        title="extreme",
        citation=Citation("planted", "extreme"),
        forms=(Form(statement=Le(a, b)),),
        check=Instances(space=space, realise=realise),
    )


def test_they_are_of_the_space_and_reach_its_corners():
    points = list(extreme_points(SPACE, np.random.default_rng(0), 300))
    assert all(SPACE.contains(point) for point in points)
    assert {point["N"] for point in points} == {1, 2, 3, 4, 5}
    assert sum(point["E"] > 200 for point in points) > 15
    assert sum(3 < point["E"] < 100 for point in points) > 15
    assert sum(point["condition"] > 1e5 for point in points) > 15
    assert sum(point["q"].min() < 0.01 for point in points) > 30
    assert sum(point["E"] <= 3 and point["condition"] <= 100 for point in points) > 15  # one at a time, too
    assert all((point["s"] <= point["E"]).all() for point in points)
    assert max(point["s"].max() for point in points) > 100


def test_every_one_is_far_in_some_parameter():
    """The only parameter that may be far is chosen in every point; usually it is 3 at most."""
    space = Space({"E": Integer(1, 3, far=300), "x": Real(-1, 1)})
    points = list(extreme_points(space, np.random.default_rng(0), 200))
    assert len(points) == 200
    assert sum(point["E"] > 3 for point in points) > 150  # others spread to small numbers


def test_a_space_without_far_parameters_has_none():
    near = Space({"E": Integer(1, 3, furthest=300), "x": Real(-1, 1)})
    assert list(extreme_points(near, np.random.default_rng(0), 10)) == []


def test_a_form_that_fails_at_extremes_only_is_refuted():
    for fails in (lambda p: p["E"] > 100, lambda p: p["condition"] > 1e5, lambda p: 0 < min(p["q"]) < 0.01):
        made = claim(lambda point, fails=fails: {a: 2 if fails(point) else 1, b: point["x"] * 0 + 1})
        (verdict,) = check(made, effort=Effort(1500, 150))
        assert verdict.decision is Decision.VIOLATED, verdict.reason


def test_few_evaluations_go_there_and_none_of_a_short_search():
    far = []

    def realise(point):
        far.append(not SPACE.draws(point))
        return {a: point["x"] * 0 + 1, b: point["x"] + 3}

    made = claim(realise)
    trials = Trials(made, made.forms[0], made.check, 0)
    search(trials, budget=600, seed=0)
    assert trials.calls <= 600
    assert 600 / RARITY / 2 <= sum(far) <= 600 / RARITY
    far.clear()
    check(made, effort=Effort(36, 5, whole_sweeps=False))
    assert not any(far)


def test_whole_numbers_from_zero_on_may_be_far():
    space = Space({"E": Integer(0, 3, far=300)})
    found = {point["E"] for point in extreme_points(space, np.random.default_rng(0), 200)}
    assert max(found) == 300 or max(found) > 250
    assert min(found) >= 0
    assert len(found) > 50


def test_a_failure_at_an_extreme_point_ends_the_search():
    calls = []

    def realise(point):
        calls.append(point)
        return {a: point["x"] * 0 + (1 if SPACE.draws(point) else 2), b: point["x"] * 0 + 1}

    made = claim(realise)
    trials = Trials(made, made.forms[0], made.check, 0)
    search(trials, budget=600, seed=0)
    assert (trials.violated, trials.calls) == (True, 1)
    assert not SPACE.draws(trials.best[1])
