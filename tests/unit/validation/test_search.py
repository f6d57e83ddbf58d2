"""Looking for failures: the budget is kept, ends and ties are visited, and the best points are improved."""

import itertools

import numpy as np
import pytest
from sympy import Eq, Le, Rational

from fltheory._internal.seeding import Purpose, generator
from fltheory.bounds.claim import Instances, Kind, Rejected
from fltheory.bounds.space import Choice, Integer, Integers, Real, Space
from fltheory.validation import search as module
from fltheory.validation.search import STARTS, improve, random_discrete, random_points, sample, search
from fltheory.validation.trials import Trials
from tests.planted import a, b, claim

PLANE = Space({"x": Real(-1, 1), "y": Real(-1, 1)})


def trials(realise, space=PLANE, statement=Le(a, b)):  # noqa: B008
    made = claim("searched", Kind.LEMMA, statement, Instances(space=space, realise=realise, rational=False))
    return Trials(made, made.forms[0], made.check, 0)


def peak(*centre, tip=1e-6):
    """A statement that fails within a distance of about the root of the tip of one point only."""

    def realise(point):
        at = np.concatenate([np.ravel(value) for value in point.values() if not isinstance(value, str | int)])
        return {"planted_a": 1 - float(((at - centre) ** 2).sum()), "planted_b": 1 - tip}

    return realise


@pytest.mark.parametrize("seed", range(3))
def test_a_failure_next_to_one_point_is_found_by_improving_the_best(seed):
    found = trials(peak(0.637, -0.211, tip=1e-5))
    search(found, budget=400, seed=seed)
    assert found.violated
    assert found.calls <= 400
    assert np.allclose([found.best[1]["x"], found.best[1]["y"]], [0.637, -0.211], atol=4e-3)


def test_many_numbers_are_improved_one_direction_after_the_other():
    """More numbers than a simplex is moved for."""
    space = Space({"x": Real(-1, 1, shape=(module.SIMPLEX + 1,))})
    centre = np.linspace(-0.7, 0.8, module.SIMPLEX + 1)
    found = trials(peak(*centre, tip=1e-3), space)
    module.polish(lambda p: found.attempt(p).score, found, space, {"x": np.zeros(module.SIMPLEX + 1)}, 900)
    assert found.violated
    assert found.calls < 900


def test_improving_one_point_takes_no_more_than_its_share():
    for numbers in (2, module.SIMPLEX, module.SIMPLEX + 1):
        space = Space({"x": Real(-1, 1, shape=(numbers,))})
        found = trials(peak(*np.full(numbers, 0.3), tip=1e-30), space)
        module.polish(lambda p, found=found: found.attempt(p).score, found, space, {"x": np.zeros(numbers)}, 20)
        assert found.calls == 20


@pytest.mark.parametrize("budget", [1, 2, 7, 49, 50, 120])
def test_the_budget_is_kept_and_used(budget):
    flat = trials(lambda point: {"planted_a": 0.5 + 0.1 * point["x"], "planted_b": 1.0})
    search(flat, budget=budget, seed=1)
    assert flat.calls <= budget
    assert flat.calls >= min(budget, 40)
    discrete = trials(lambda point: {"planted_a": point["n"], "planted_b": 10}, Space({"n": Integer(1, 3)}))
    search(discrete, budget=budget, seed=1)
    assert discrete.calls == budget


def test_hypothesis_is_asked_where_the_budget_is_large(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "_by_hypothesis", lambda score, trials, space, count, seed: asked.append((count, seed)))
    for budget in (49, 50, 160, 10_000):
        search(trials(lambda point: {"planted_a": 2.0, "planted_b": 1.0}), budget=budget, seed=7)
    assert asked == [(3, 7), (10, 7), (30, 7)]


def test_hypothesis_tries_as_many_points_as_it_is_given():
    flat = trials(lambda point: {"planted_a": 0.5 + 0.1 * point["x"], "planted_b": 1.0})
    tried = []
    module._by_hypothesis(lambda point: tried.append(point) or flat.attempt(point).score, flat, PLANE, 9, 0)
    assert 1 < len(tried) <= 9
    assert all(PLANE.draws(point) for point in tried)


def test_hypothesis_is_told_how_close_every_instance_is(monkeypatch):
    told, scores = [], []
    monkeypatch.setattr("hypothesis.target", told.append)
    flat = trials(lambda point: {"planted_a": 0.5 + 0.1 * point["x"], "planted_b": 1.0})

    def score(point):
        scores.append(-1e9 if point["x"] < 0 else flat.attempt(point).score)  # no instance on the left
        return scores[-1]

    module._by_hypothesis(score, flat, PLANE, 30, 0)
    assert told == [one for one in scores if one > -1e9]
    assert told


def test_a_search_ends_at_the_first_failure():
    everywhere = trials(lambda point: {"planted_a": 2.0, "planted_b": 1.0})
    search(everywhere, budget=30, seed=0)
    assert everywhere.calls == 1
    start = {"x": 0.5, "y": 0.5}
    search(found := trials(peak(0.5, 0.5)), budget=30, seed=0, starts=[{"x": 0.1, "y": 0.1}, start, start])
    assert (found.calls, found.violated) == (2, True)
    search(found := trials(peak(0.5, 0.5)), budget=30, seed=0, needed=[{"x": 0.1, "y": 0.1}, start, start])
    assert (found.calls, found.violated) == (2, True)


def test_starts_are_improved_as_well():
    """No random point comes near; the start is next to the peak."""
    sharp = trials(peak(0.637, -0.211, tip=1e-9))
    search(sharp, budget=240, seed=0, starts=[{"x": 0.63, "y": -0.21}])
    near = np.hypot(sharp.best[1]["x"] - 0.637, sharp.best[1]["y"] + 0.211)
    assert near < 5e-3  # the start is 7e-3 away


def test_points_beyond_what_is_drawn_are_tried_and_not_improved(monkeypatch):
    begun = []
    monkeypatch.setattr(
        module, "polish", lambda score, trials, space, start, budget: begun.append((start["n"], start["x"]))
    )
    space = Space({"n": Integer(1, 2, furthest=1000), "x": Real(0, 1)})
    growing = trials(lambda p: {"planted_a": p["n"] / 2000, "planted_b": 1.0}, space)
    search(growing, budget=30, seed=0, needed=[{"n": 1000, "x": 0.125}, {"n": 2, "x": 0.375}])
    assert growing.best[1] == {"n": 1000, "x": 0.125}
    assert (2, 0.375) in begun
    assert all(n <= 2 for n, _ in begun)


def test_points_that_are_no_instance_are_not_improved(monkeypatch):
    begun = []

    def realise(point):
        if point["x"] > 0:
            raise Rejected("to the right")
        return {"planted_a": 0.5, "planted_b": 1.0}

    monkeypatch.setattr(module, "polish", lambda score, trials, space, start, budget: begun.append(start["x"]))
    search(trials(realise), budget=60, seed=0)
    assert begun
    assert max(begun) <= 0


def test_improving_begins_at_tight_points_and_at_others(monkeypatch):
    begun = []
    monkeypatch.setattr(
        module, "polish", lambda score, trials, space, start, budget: begun.append((start["x"], budget))
    )
    flat = trials(lambda point: {"planted_a": 0.5, "planted_b": 1.0})
    tight = [(0.0, {"x": 0.01 * n, "y": 0.0}) for n in range(10)]
    slack = [(-0.1 - 0.1 * n, {"x": -0.01 * (n + 1), "y": 0.0}) for n in range(10)]
    nothing = [(module._NOTHING, {"x": 1.0, "y": 1.0})]
    module._improve(None, flat, PLANE, [*nothing, *slack, *tight], 120)
    assert [x for x, _ in begun] == [0.0, 0.01, 0.02, -0.01, -0.02, -0.03]
    assert [budget for _, budget in begun] == [20, 24, 30, 40, 60, 120]
    begun.clear()
    module._improve(None, flat, PLANE, slack, 120)
    assert len(begun) == STARTS
    begun.clear()
    flat.calls = 120
    module._improve(None, flat, PLANE, slack, 120)
    assert begun == []


def test_new_sizes_come_first_among_the_best():
    space = Space({"n": Integer(1, 3), "x": Real(0, 1)})
    ranked = [(0.0, {"n": n, "x": x}) for n, x in ((1, 0.1), (1, 0.2), (1, 0.3), (2, 0.4), (1, 0.5), (3, 0.6))]
    found = [point["x"] for point in module._distinct(ranked, space)]
    assert found == [0.1, 0.2, 0.4, 0.3, 0.6, 0.5]
    assert [p["x"] for p in module._distinct(ranked[:3], space)] == [0.1, 0.2, 0.3]
    assert [p["x"] for p in module._distinct(ranked[3::2], space)] == [0.4, 0.6]


def test_improving_uses_what_has_been_seen_and_its_own_budget():
    sharp = trials(peak(0.637, -0.211, tip=1e-12))
    for x in (-0.5, 0.6, 0.1):
        sharp.attempt({"x": x, "y": -0.2})
    before = sharp.best[0].score
    improve(sharp, 60)
    assert 40 < sharp.calls <= 63
    assert sharp.best[0].score > before


def test_improving_stays_in_the_ranges():
    seen = []

    def realise(point):
        seen.append(point)
        return {"planted_a": 0.5 + 0.1 * (point["x"] + point["y"]), "planted_b": 1.0}

    rising = trials(realise)
    rising.attempt({"x": 0.9, "y": 0.9})
    improve(rising, 40)
    assert all(PLANE.draws(point) for point in seen)
    assert rising.best[1]["x"] == pytest.approx(1.0, abs=1e-3)


def test_a_single_number_is_improved_too():
    line = trials(peak(0.637, tip=1e-30), Space({"x": Real(-1, 1)}))
    line.attempt({"x": 0.5})
    improve(line, 30)
    assert line.calls > 20
    assert line.best[1]["x"] == pytest.approx(0.637, abs=1e-3)


def test_a_space_without_numbers_has_nothing_to_improve():
    discrete = trials(lambda point: {"planted_a": point["n"], "planted_b": 10}, Space({"n": Integer(1, 3)}))
    discrete.attempt({"n": 1})
    improve(discrete, 10)
    assert discrete.calls == 1


def test_a_third_of_the_budget_is_random_points():
    assert len(list(sample(PLANE, 10, 0))) == 4
    assert len(list(sample(PLANE, 9, 0))) == 3
    assert len(list(sample(Space({"n": Integer(1, 3)}), 10, 0))) == 10
    first, second = (next(sample(PLANE, 9, seed)) for seed in (0, 1))
    assert first != second
    assert first == next(random_points(PLANE, generator(0, Purpose.SEARCH), 1))


def test_random_points_mix_the_inside_with_the_ends_and_have_ties():
    space = Space({"x": Real(-1, 3, shape=(4,)), "y": Real(2, 5, shape=(3,))})
    points = list(random_points(space, np.random.default_rng(0), 400))
    x = np.array([point["x"] for point in points])
    ends = np.isin(x, [-1.0, 1.0, 3.0])
    assert 0.25 < ends.mean() < 0.42  # a third on average over 0, 0.3 and 0.7
    for end in (-1.0, 1.0, 3.0):
        assert (x == end).mean() > 0.06
    tied = [len(set(point["x"])) == 1 and len(set(point["y"])) == 1 for point in points]
    assert 0.14 < np.mean(tied) < 0.27
    apart = [point for point, together in zip(points, tied, strict=True) if together]
    assert any(abs((point["x"][0] + 1) / 4 - (point["y"][0] - 2) / 3) > 0.1 for point in apart)
    assert np.ptp(x) == 4


def test_random_sizes_words_and_counts():
    space = Space(
        {
            "n": Integer(2, 4),
            "word": Choice(("one", "other")),
            "s": Integers(0, "n", shape=("n",)),
            "k": Integers(1, 3, shape=(2,)),
        }
    )
    points = [random_discrete(space, rng) for rng in itertools.repeat(np.random.default_rng(0), 600)]
    counts = {n: sum(point["n"] == n for point in points) for n in (2, 3, 4)}
    assert sum(counts.values()) == 600
    for n, share in ((2, 6 / 11), (3, 3 / 11), (4, 2 / 11)):
        assert counts[n] / 600 == pytest.approx(share, abs=0.07)
    assert {point["word"] for point in points} == {"one", "other"}
    assert all(len(point["s"]) == point["n"] for point in points)
    for n in (2, 3, 4):
        assert {int(s) for point in points if point["n"] == n for s in point["s"]} == set(range(n + 1))
    assert {int(k) for point in points for k in point["k"]} == {1, 2, 3}


def test_an_equality_that_fails_next_to_nowhere_is_found():
    off = trials(lambda p: {"planted_a": 1.0, "planted_b": 1.0 + max(0.0, p["x"] - 0.999) * 1e-2}, statement=Eq(a, b))
    search(off, budget=200, seed=0)
    assert off.violated


def test_a_statement_that_fails_at_an_end_only_is_found_at_once():
    corner = trials(lambda p: {"planted_a": p["x"] * p["y"], "planted_b": float(Rational(999, 1000))})
    search(corner, budget=200, seed=0)
    assert corner.violated


def test_improving_begins_at_points_that_are_drawn_and_adds_its_budget_to_what_was_spent(monkeypatch):
    begun = []
    monkeypatch.setattr(
        module, "polish", lambda score, trials, space, start, budget: begun.append((start["n"], budget))
    )
    space = Space({"n": Integer(1, 2, furthest=1000), "x": Real(0, 1)})
    growing = trials(lambda p: {"planted_a": p["n"] / 2000, "planted_b": 1.0}, space)
    for n in (1000, 2):
        growing.attempt({"n": n, "x": 0.5})
    improve(growing, 60)
    assert begun == [(2, 60)]
