"""Counterexamples are as small and round as they can be, and are told in one line."""

import dataclasses

import numpy as np
import pytest
from sympy import Ge, Le, Rational

from fltheory.bounds.claim import Instances, Kind
from fltheory.bounds.space import Choice, Integer, Integers, Real, Space, plain
from fltheory.validation.decide import check
from fltheory.validation.shrink import _resized, _rounder_numbers, shrink
from fltheory.validation.trials import Trials
from fltheory.validation.verdict import Counterexample
from tests.planted import a, b, claim


def failing(statement, realise, **parameters):
    """The counterexample to a statement over a space."""
    made = claim("shrunk", Kind.LEMMA, statement, Instances(space=Space(parameters), realise=realise))
    found = check(made)[0].counterexample
    assert found is not None
    return found


def test_entries_that_have_to_agree_are_rounded_together():
    """Fails only where all entries agree: no entry can change alone."""
    space = Space({"n": Integer(1, 4), "x": Real(-3, 3, shape=("n",))})
    made = claim("tied", Kind.LEMMA, Le(a, 1), Instances(space=space, realise=lambda p: {"planted_a": p["n"]}))
    trials = Trials(made, made.forms[0], made.check, 0)

    def tied(point):
        return point["n"] == 3 and len(set(point["x"])) == 1 and point["x"][0] > 0

    smallest = shrink(trials, {"n": 3, "x": np.full(3, 1.7356)}, tied)
    assert plain(smallest) == {"n": 3, "x": ["1", "1", "1"]}


def test_words_counts_and_sizes_are_the_simplest_that_fail():
    space = Space(
        {
            "n": Integer(2, 5),
            "word": Choice(("one", "other", "third")),
            "s": Integers(1, "n", shape=("n",)),
            "x": Real(0, 3, shape=("n",)),
        }
    )
    made = claim("simple", Kind.LEMMA, Le(a, 10), Instances(space=space, realise=lambda p: {"planted_a": 1}))
    trials = Trials(made, made.forms[0], made.check, 0)
    point = {"n": 4, "word": "third", "s": np.array([4, 3, 2, 4]), "x": np.full(4, 0.3)}

    def small(needed):
        return plain(shrink(trials, point, needed, effort=1))

    assert small(lambda p: True) == {"n": 2, "word": "one", "s": [1, 1], "x": ["1", "1"]}
    assert small(lambda p: p["word"] != "one" and p["n"] >= 3) == {
        "n": 3, "word": "other", "s": [1, 1, 1], "x": ["1", "1", "1"]
    }  # fmt: skip
    assert small(lambda p: p["s"].sum() >= 5)["s"] == [1, 2, 2]
    assert small(lambda p: p["s"][0] >= 2 and p["x"][1] < 1) == {"n": 2, "word": "one", "s": [2, 1], "x": ["1", "0"]}


def test_only_counts_up_to_a_size_shrink_with_it():
    space = Space({"n": Integer(1, 3), "s": Integers(0, "n", shape=("n",)), "t": Integers(0, 5, shape=("n",))})
    point = {"n": 3, "s": np.array([3, 1, 0]), "t": np.array([5, 4, 0])}
    smaller = _resized(space, point, "n", 2)
    assert (smaller["n"], smaller["s"].tolist(), smaller["t"].tolist()) == (2, [2, 1], [5, 4])


def test_a_size_beyond_what_is_drawn_is_halved():
    """5000 halved again and again: 1, 2, 4, 9, ..., 625, 1250; sizes within the range are tried one by one."""
    space = Space({"n": Integer(1, 3, furthest=5000)})
    made = claim("far", Kind.LEMMA, Le(a, 1), Instances(space=space, realise=lambda p: {"planted_a": p["n"]}))
    trials = Trials(made, made.forms[0], made.check, 0)
    tried = []

    def fails(least):
        return lambda point: tried.append(point["n"]) or point["n"] >= least

    assert shrink(trials, {"n": 5000}, fails(700), effort=1) == {"n": 1250}
    assert tried == [1, 2, 4, 9, 19, 39, 78, 156, 312, 625, 1250]
    assert shrink(trials, {"n": 5000}, fails(4000), effort=1) == {"n": 5000}
    assert shrink(trials, {"n": 3}, fails(3), effort=1) == {"n": 3}
    assert shrink(trials, {"n": 3}, fails(2), effort=1) == {"n": 2}


def test_the_end_of_a_range_is_a_round_number():
    """The float64 nearest to 49/50 is smaller than it, so that 49/50 seems to be outside a range that ends there."""
    assert Rational(0.98) < Rational(49, 50)
    found = failing(Le(a, Rational(97, 100)), lambda point: {"planted_a": point["q"]}, q=Real(0.5, 0.98))
    assert found.parameters == {"q": "49/50"}


@pytest.mark.parametrize(("limit", "simplest"), [("1/3", "1"), ("5/4", "2"), ("5/2", "3"), ("9/2", "10")])
def test_the_simplest_number_that_fails_is_taken(limit, simplest):
    found = failing(Le(a, Rational(limit)), lambda point: {"planted_a": point["x"]}, x=Real(-100, 100))
    assert found.parameters == {"x": simplest}


SPACE = {"n": Integer(1, 3), "x": Real(0, 3), "y": Real(0, 3), "z": Real(0, 3)}


def of_sums(point):
    return {"planted_a": point["x"] + point["y"], "planted_b": point["z"]}


def test_a_counterexample_in_one_line_stands_in_the_symbols_of_the_paper():
    found = failing(Le(a, b), of_sums, **SPACE)
    assert found.parameters.keys() == SPACE.keys()
    assert found.in_one_line() == "a = 2, b = 1: 2 > 1"
    assert str(found).endswith("fails at a = 2, b = 1: 2 > 1")


def test_sides_stand_in_the_order_of_the_statement():
    made = claim("turned", Kind.LEMMA, Ge(b, a), Instances(space=Space(SPACE), realise=of_sums))
    assert check(made)[0].reason == "fails at a = 2, b = 1: 1 < 2"


def test_the_margin_is_named_in_the_order_of_the_statement():
    for statement, ratio in ((Ge(2 * a, b), "lhs/rhs"), (Le(b, 2 * a), "rhs/lhs")):
        realise = lambda p: {"planted_a": p["x"], "planted_b": p["x"]}  # noqa: E731
        made = claim("margin", Kind.LEMMA, statement, Instances(space=Space({"x": Real(1, 3)}), realise=realise))
        assert check(made)[0].reason.startswith(f"smallest {ratio} 2 on ")


def test_parameters_of_a_generator_are_called_that_where_nothing_else_is_known():
    found = dataclasses.replace(failing(Le(a, b), of_sums, **SPACE), quantities=())
    made = "the instance that its generator makes from"
    for parameters, told in (
        (found.parameters, "n = 1, all other numbers 1"),
        ({"n": 1, "x": ["1", "1/2"]}, "n = 1, x = [1, 1/2]"),
        ({"x": [["1"], ["1"]]}, "all numbers 1"),
    ):
        assert dataclasses.replace(found, parameters=parameters).in_one_line() == f"{made} {told}: 2 > 1"
        assert made.partition(" ")[2] in dataclasses.replace(found, parameters=parameters)._repr_html_()


@pytest.mark.parametrize(
    ("value", "low", "high", "tried"),
    [
        (0.5, 0, 3, "1 0 2 1/2"),
        (1.0, 0, 3, "1"),
        (Rational(1, 3), 0, "2/5", "0 1/3"),
        (0.375, -1, 0.4, "0 -1 1/3 1/10 1/100 2/5 3/8"),
        (2.75, 2, 3, "2 3 8/3 11/4"),
    ],
)
def test_rounder_numbers_are_in_the_range_and_end_with_the_value_itself(value, low, high, tried):
    numbers = list(_rounder_numbers(value, Real(float(Rational(low)), float(Rational(high)))))
    assert " ".join(map(str, numbers)) == tried
    assert all(isinstance(number, Rational) for number in numbers)


@pytest.mark.parametrize(
    ("value", "shown"), [("x" * 40, "x" * 40), ("x" * 41, "x" * 37 + "..."), (["1", "2"], "[1, 2]")]
)
def test_long_values_are_cut(value, shown):
    found = Counterexample(
        id="p.x", variant="published", parameters={"n": value}, lhs="T^1", rhs="1/3", ratio=None, sign=">", relation=0,
        where={}, arithmetic="float64", seed=0,
    )  # fmt: skip
    assert found.in_one_line().endswith(f"n = {shown}: T^1 > 1/3")
    assert str(found).endswith(f"n = {shown}: T^1 > 1/3")


@pytest.mark.parametrize(
    ("lhs", "rhs", "shown"),
    [
        ("5.714367936770431e+26", "2.885081425997522e+26", "5.71437e+26 > 2.88508e+26"),
        ("1.00000001234", "1.0", "1.00000001 > 1"),
        ("T^0.4321", "T^0", "T^0.4321 > T^0"),
        ("1/3", "0", "1/3 > 0"),
        ("sqrt(769)/260", "2*sqrt(5)/13", "√(769)/260 > 2·√(5)/13"),
    ],
)
def test_floats_are_shown_with_as_many_digits_as_tell_them_apart(lhs, rhs, shown):
    found = Counterexample(
        id="planted.x", variant="published", parameters={"n": 2}, lhs=lhs, rhs=rhs, ratio=None, sign=">", relation=0,
        where={}, arithmetic="float64", seed=0,
    )  # fmt: skip
    assert found.in_one_line().endswith(f"n = 2: {shown}")


def test_fractions_of_counts_become_whole_numbers_in_the_same_proportions():
    space = Space({"n": Real(0.1, 10, shape=(2,), whole=True), "x": Real(0.1, 10, shape=(2,))})
    made = claim("counted", Kind.LEMMA, Le(a, 1), Instances(space=space, realise=lambda p: {"planted_a": 1}))
    trials = Trials(made, made.forms[0], made.check, 0)
    point = {"n": np.array([0.5, 1.0]), "x": np.array([0.5, 1.0])}

    def halved(one):
        return all(2 * one[name][0] == one[name][1] for name in ("n", "x"))

    assert plain(shrink(trials, point, halved)) == {"n": ["1", "2"], "x": ["1/2", "1"]}
    # Neither beyond the range, nor where proportions are not all that matters.
    wide = {**point, "n": np.array([0.5, 9.0])}
    assert plain(shrink(trials, wide, lambda one: one["n"][0] * 18 == one["n"][1]))["n"] == ["1/2", "9"]
    assert plain(shrink(trials, point, lambda one: one["n"][0] == 0.5))["n"] == ["1/2", "1"]


def test_numbers_are_made_rounder_once_more_after_the_others():
    """Only once y is 1 the instance still fails with x = 1, so that a second pass is needed."""
    space = Space({"x": Real(1, 3), "y": Real(1, 3)})
    made = claim("passes", Kind.LEMMA, Le(a, 1), Instances(space=space, realise=lambda p: {"planted_a": p["x"]}))
    trials = Trials(made, made.forms[0], made.check, 0)

    def fails(point):
        return float(point["x"]) == 2.7 or float(point["x"]) == float(point["y"]) == 1

    assert plain(shrink(trials, {"x": 2.7, "y": 2.9}, fails)) == {"x": "1", "y": "1"}


def test_a_smaller_size_that_fails_elsewhere_is_found_by_random_points():
    """One number fails above 0.85 only, two fail where the first is small; nothing in between shows the way."""
    space = Space({"n": Integer(1, 2), "x": Real(0, 1)})

    def realise(point):
        fails = point["x"] > 0.85 if point["n"] == 1 else point["x"] < 0.5
        return {"planted_a": 2 if fails else 1, "planted_b": 1}

    made = claim("elsewhere", Kind.LEMMA, Le(a, b), Instances(space=space, realise=realise))
    trials = Trials(made, made.forms[0], made.check, 0)

    def fails(point):
        return (point["x"] > 0.85) if point["n"] == 1 else (point["x"] < 0.5)

    assert plain(shrink(trials, {"n": 2, "x": 0.25}, fails)) == {"n": 1, "x": "1"}
    assert plain(shrink(trials, {"n": 2, "x": 0.25}, fails, effort=0)) == {"n": 2, "x": "0"}


def test_a_smaller_size_that_fails_next_to_its_best_point_is_found_by_improving_it():
    """Of one number only a range of a hundredth fails, too little for a few random points; its score leads there."""
    space = Space({"n": Integer(1, 2), "x": Real(0, 1)})

    def fails(point):
        return abs(point["x"] - Rational(3, 8)) < Rational(1, 200) if point["n"] == 1 else True

    def realise(point):
        off = (point["x"] - Rational(3, 8)) ** 2
        return {"planted_a": 2 if point["n"] == 2 else 1 - off + Rational(1, 40000), "planted_b": 1}

    made = claim("near", Kind.LEMMA, Le(a, b), Instances(space=space, realise=realise))
    trials = Trials(made, made.forms[0], made.check, 0)
    assert plain(shrink(trials, {"n": 2, "x": 0.9}, fails, effort=20))["n"] == 1


def test_a_counterexample_that_fails_as_an_equality_keeps_its_sign_whatever_way_the_first_relation_is_printed():
    found = Counterexample(
        id="p.x", variant="published", parameters={"n": 2}, lhs="1", rhs="2", ratio=None, sign="≠", relation=1,
        where={}, arithmetic="rational", seed=0,
    )  # fmt: skip
    assert found.in_one_line(turned=True).endswith(": 1 ≠ 2")
    larger = dataclasses.replace(found, lhs="2", rhs="1", sign=">")
    assert larger.in_one_line(turned=True).endswith(": 1 < 2")
    assert larger.in_one_line().endswith(": 2 > 1")
