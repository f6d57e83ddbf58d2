"""Sides, scores and zeros."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy import Ge, Gt, Le, Lt

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Form, Rejected
from fltheory.bounds.quantities import family, index, scalar
from fltheory.simulation.trajectories import Band
from fltheory.validation import evaluate
from fltheory.validation.evaluate import closest, defined, failing, measured, read, sides, sides_at
from tests.planted import a, b

number = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, -1.0, 1e-300]))


@given(number, number | st.sampled_from([math.inf, -math.inf]), st.booleans())
def test_a_number_scores_as_a_curve_with_one_entry(lhs, rhs, equality):
    one = evaluate._score(lhs, rhs, equality=equality)
    many = evaluate._scores(np.array([lhs]), np.array([rhs]), equality=equality)
    assert one == pytest.approx(float(many[0]), rel=1e-12, abs=1e-12)


def test_an_infinite_bound_is_kept_without_a_nan():
    for lhs in (1.0, 0.0, -1.0):
        assert evaluate._score(lhs, math.inf, equality=False) <= -1e3


@pytest.mark.parametrize(
    ("lhs", "rhs", "equality", "margin"),
    [
        (2.0, 3.0, False, 1.5),
        (2.0, 3.0, True, 2 / 3),
        (3.0, 2.0, True, 2 / 3),
        (2.0, -1.0, False, -0.5),
        (2.0, -1.0, True, -0.5),
        (2.0, 0.0, True, 0.0),
        (1.0, math.inf, False, None),
        (1e-300, 1e300, False, None),
        (0.0, 1.0, False, None),
        (-1.0, 1.0, False, None),
    ],
)
def test_margins(lhs, rhs, equality, margin):
    found = evaluate.Evaluation(lhs, rhs, 0.0, False, 0, {}, equality).margin
    assert found == (margin if margin is None else pytest.approx(margin))


def test_sides_of_a_relation_that_is_written_backwards():
    left, right = sides(Form(statement=Ge(b, 2 * a)), {"planted_a": np.array([1.0, 2.0]), "planted_b": 3.0})
    assert (left.tolist(), right.tolist()) == ([2.0, 4.0], [3.0, 3.0])


def test_equal_roots_are_equal_without_rounding():
    env = {"planted_a": sp.sqrt(2) * sp.sqrt(3) + sp.sqrt(5), "planted_b": sp.sqrt(6) + sp.sqrt(5)}
    assert not read(Form(statement=Le(a, b)), env, exact=True).violated
    assert read(Form(statement=Lt(a, b)), env, exact=True).violated


def test_nested_roots_are_equal_only_if_that_is_proved():
    nested = sp.sqrt(3 + 2 * sp.sqrt(2), evaluate=False)
    env = {"planted_a": nested, "planted_b": 1 + sp.sqrt(2)}
    assert not (env["planted_a"] - env["planted_b"]).is_Rational
    assert not read(Form(statement=Le(a, b)), env, exact=True).violated
    assert not read(Form(statement=sp.Eq(a, b)), env, exact=True).violated
    assert read(Form(statement=Lt(a, b)), env, exact=True).violated


def test_a_statement_without_indices_in_range_is_no_instance():
    k = index("k")
    form = Form(statement=Le(k * a, b), over=((k, 1, a),))
    with pytest.raises(Rejected, match="no index is in range"):
        read(form, {"planted_a": 0, "planted_b": 1})
    assert not read(form, {"planted_a": 1, "planted_b": 1}).violated


def test_the_worst_index_relation_and_entry_are_told():
    k = index("k")
    found = read(Form(statement=(Le(0, b), Le(a, b))), {"planted_a": 2.0, "planted_b": 1.5})
    assert (found.relation, found.where, found.violated, found.lhs, found.rhs) == (1, {}, True, 2.0, 1.5)
    over = read(Form(statement=Le(a, k * b), over=((k, 1, 3),)), {"planted_a": 2.0, "planted_b": 1.5})
    assert (over.where, over.violated) == ({"k": 1}, True)
    without = read(Form(statement=Le(a, b), over=((k, 1, 3),)), {"planted_a": 2.0, "planted_b": 1.5})
    assert (without.where, without.violated) == ({}, True)
    curves = {"planted_a": np.array([1.0, 3.0, 2.0]), "planted_b": np.array([2.0, 2.0, 1.0])}
    curve = read(Form(statement=Le(a, b)), curves)
    assert (curve.where, curve.lhs, curve.rhs) == ({"entry": 2}, 2.0, 1.0)


@pytest.mark.parametrize(
    ("lhs", "rhs", "entry"),
    [
        ([2.0, 2.0], [math.inf, 1.0], 1),  # an infinite bound is the farthest from failing
        ([0.0, 2.0], [math.inf, 1.0], 1),
        ([-1.0, 2.0], [math.inf, 1.0], 1),
        ([2.0, 1.0], [1.0, -math.inf], 1),  # a bound below everything is the nearest
        ([-1.0, 2.0], [5.0, 1.0], 1),  # and so is a side that is not positive,
        ([1.5, 1.0], [1.0, -1.0], 1),  # unless it fails
        ([1.0, 1.0], [-1.0, 0.9], 0),
        ([3.0, 1.1, 2.0], [1.0, 1.0, 1.0], 0),
        ([-2.0, -1.0], [-1.5, -1.2], 1),
        ([0.0, 0.5], [0.0, 0.4], 1),
    ],
)
def test_the_entry_of_a_curve_that_fails_most_is_read(lhs, rhs, entry):
    found = read(Form(statement=Le(a, b)), {"planted_a": np.array(lhs), "planted_b": np.array(rhs)})
    assert (found.where, found.violated) == ({"entry": entry}, True)
    singles = [read(Form(statement=Le(a, b)), {"planted_a": x, "planted_b": y}) for x, y in zip(lhs, rhs, strict=True)]
    assert singles[entry].score == pytest.approx(found.score) == max(one.score for one in singles)


def test_the_entry_of_an_equality_that_is_off_most_is_read():
    curves = {"planted_a": np.array([1.0, -1.0, 3.0]), "planted_b": np.array([1.0, 1.0, 2.0])}
    found = read(Form(statement=sp.Eq(a, b)), curves)
    assert (found.where, found.violated, found.equality) == ({"entry": 1}, True, True)


def test_a_difference_in_the_thirtieth_digit_is_seen_without_rounding():
    env = {"planted_a": sp.sqrt(2) + sp.Rational(1, 10**30), "planted_b": sp.sqrt(2)}
    assert read(Form(statement=Le(a, b)), env, exact=True).violated
    assert not read(Form(statement=Le(b, a)), env, exact=True).violated


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("equality", [False, True])
def test_one_entry_that_is_no_number_makes_a_curve_none(wrong, equality):
    """An infinite bound is one, and so is nothing else that is not finite."""
    statement = sp.Eq(a, b) if equality else Le(a, b)
    for left, right in (([1.0, wrong], [1.0, 1.0]), ([1.0, 1.0], [1.0, math.nan])):
        with pytest.raises(Rejected, match="not finite"):
            read(Form(statement=statement), {"planted_a": np.array(left), "planted_b": np.array(right)})


def test_a_definition_whose_quantities_are_not_given_is_left_out():
    """So are those with an index of the form, and those that the instance gives itself."""
    k = index("k")
    c, d = scalar("evaluate_c", "c", "a number"), scalar("evaluate_d", "d", "a number")
    form = Form(statement=Le(a, b), over=((k, 1, 2),), where=((c, 2 * b), (d, a + 1)))
    assert defined(form, {"planted_a": 3}) == {"planted_a": 3, "evaluate_d": 4}
    assert defined(form, {"planted_a": 3, "evaluate_d": 7}) == {"planted_a": 3, "evaluate_d": 7}
    indexed = Form(statement=Le(a, b), over=((k, 1, 2),), where=((c, 2 * k), (d, c + a)))
    assert defined(indexed, {"planted_a": 3}) == {"planted_a": 3}
    assert defined(indexed, {"planted_a": 3, "k": 5}) == {"planted_a": 3, "k": 5}  # k stands for something else


def test_where_a_curve_fails_an_assumption_its_worst_entry_is_told():
    """3 exceeds 1 by more than 2 does; without rounding the first entry that fails is told."""
    curve = np.array([0.5, 2.0, 3.0, 2.5])
    assert failing(Le(a, b), (), {"planted_a": curve, "planted_b": 1.0}) == "3 against 1 at entry=2"
    exact = np.array([sp.Rational(1, 2), sp.Integer(2), sp.Integer(3)], dtype=object)
    assert failing(Le(a, b), (), {"planted_a": exact, "planted_b": 1}, exact=True) == "2 against 1 at entry=1"
    assert failing(Le(a, b), (), {"planted_a": curve[:1], "planted_b": 1.0}) == ""


def test_no_entry_of_a_curve_is_rounded_where_numbers_are_exact():
    """1/3 + 10**-30 and 1/3 are the same float64."""
    third = sp.Rational(1, 3)
    curve = np.array([third, third + sp.Rational(1, 10**30), third], dtype=object)
    found = read(Form(statement=Le(a, b)), {"planted_a": curve, "planted_b": third}, exact=True)
    assert (found.violated, found.where) == (True, {"entry": 1})


@pytest.mark.parametrize("share", [29, 57])
def test_ends_of_indices_are_exact_where_numbers_are(share):
    """100 * 0.29 is below 29 in float64, and 100 * 0.57 below 57: the last index would be lost."""
    assert int(100 * (share / 100)) == share - 1
    k = index("k")
    over, values = ((k, 1, sp.Rational(share, 100) * a),), {"planted_a": sp.Integer(100), "planted_b": share - 1}
    assert len(list(sides_at(Le(k, b), over, values))) == share
    assert read(Form(statement=Le(k, b), over=over), values, exact=True).violated


def test_sides_are_told_in_the_order_of_a_smaller_first_with_whether_that_turns_them():
    values = {"planted_a": np.array([sp.Integer(1), sp.Integer(2)], dtype=object), "planted_b": 5}
    assert list(sides_at(Le(a, b), (), values)) == [(1, 5, False), (2, 5, False)]
    assert list(sides_at(Ge(a, b), (), values)) == [(5, 1, True), (5, 2, True)]
    assert list(sides_at(Gt(a, b), (), values)) == [(5, 1, True), (5, 2, True)]
    assert list(sides_at(sp.Eq(a, b), (), values)) == [(1, 5, False), (2, 5, False)]


def test_every_outcome_is_read_and_the_one_that_fails_is_told():
    y = family("evaluate_y", "y_{<0>}", "random numbers", random=True)
    env = {"evaluate_y": [[1.0], [3.0], [2.0]], "chance": [0.25, 0.25, 0.5], "planted_b": 2.5}
    found = read(Form(statement=Le(y[1], b)), env)
    assert (found.violated, found.where, found.lhs) == (True, {"outcome": 1}, 3.0)
    assert len(list(sides_at(Le(y[1], b), (), env))) == 3
    mean = read(Form(statement=Le(EE(y[1]), b)), env)
    assert (mean.violated, mean.where, mean.lhs) == (False, {}, pytest.approx(2.0))


@pytest.mark.parametrize(
    ("statement", "lhs", "rhs", "violated"),
    [
        (Le(a, b), 0, 0, False),
        (Lt(a, b), 0, 0, True),
        (Gt(b, a), 0, 0, True),
        (Lt(a, b), -1, 0, False),
        (Lt(a, b), 1, 1, True),
        (sp.Eq(a, b), 0, 0, False),
        (sp.Eq(a, b), 1, 0, True),
        (sp.Eq(a, b), 0, 1, True),
        (Ge(a, b), 0, 1, True),
        (Ge(a, b), 1, 0, False),
        (Le(a, b), 1, 0, True),
        (Le(a, b), -1, -2, True),
        (Le(a, b), -2, -1, False),
    ],
)
def test_what_fails_fails_in_either_arithmetic(statement, lhs, rhs, violated):
    form = Form(statement=statement)
    assert read(form, {"planted_a": float(lhs), "planted_b": float(rhs)}).violated is violated
    assert read(form, {"planted_a": sp.Integer(lhs), "planted_b": sp.Integer(rhs)}, exact=True).violated is violated


def test_an_infinite_bound_is_exceeded_by_nothing():
    """Nor is it equal to anything; a side of a strict relation may be any finite number."""
    for statement, violated in ((Le(a, b), False), (Lt(a, b), False), (sp.Eq(a, b), True)):
        found = read(Form(statement=statement), {"planted_a": 1e300, "planted_b": math.inf})
        assert found.violated is violated
    with pytest.raises(Rejected, match="not finite"):
        read(Form(statement=Le(a, b)), {"planted_a": -math.inf, "planted_b": 1.0})
    with pytest.raises(Rejected, match="not finite"):
        read(Form(statement=Le(a, b)), {"planted_a": np.array([1.0, -math.inf]), "planted_b": 2.0})


def test_without_rounding_a_bound_may_be_infinite_and_nothing_else():
    form = Form(statement=Le(a, b))
    assert not read(form, {"planted_a": sp.Integer(1), "planted_b": sp.oo}, exact=True).violated
    assert read(form, {"planted_a": sp.Integer(1), "planted_b": -sp.oo}, exact=True).violated
    for lhs, rhs in ((sp.oo, 1), (-sp.oo, 1), (sp.zoo, 1), (1, sp.zoo), (sp.nan, 1), (1, sp.nan), (sp.I, 1), (1, sp.I)):
        with pytest.raises(Rejected, match="not finite"):
            read(form, {"planted_a": sp.sympify(lhs), "planted_b": sp.sympify(rhs)}, exact=True)


def test_an_equality_of_rounding_errors_is_assumed_to_hold_and_one_just_above_is_not():
    """Both sides below 1e-12 in size; inequalities are not forgiven."""
    for size, fails in ((0.9e-12, False), (1.1e-12, True), (-0.9e-12, False), (-1.1e-12, True)):
        assert bool(failing(sp.Eq(a, b), (), {"planted_a": size, "planted_b": 0.0})) is fails
        assert bool(failing(sp.Eq(b, a), (), {"planted_a": size, "planted_b": 0.0})) is fails
    assert failing(sp.Eq(a, b), (), {"planted_a": 1e-13, "planted_b": 1.0})
    assert failing(Le(a, b), (), {"planted_a": 1e-13, "planted_b": 0.0})


def test_where_an_assumption_is_closest_to_failing_is_told():
    k = index("k")
    over = ((k, 1, 3),)
    assert measured(Le(a, 5 - k), over, {"planted_a": 1.0}) == "1 against 2 at k=3"
    assert measured(Le(a, b), ((k, 2, 1),), {"planted_a": 1.0, "planted_b": 2.0}) == ""
    found = closest(Le(a, 5 - k), over, {"planted_a": 1.0})
    assert (found.lhs, found.rhs, found.violated) == (1.0, 2, False)
    assert failing(Le(a, 5 - k), over, {"planted_a": 3.5}) == "3.5 against 3 at k=2"


def test_a_sampled_curve_is_its_lower_limit_upper_limit_or_mean():
    band = Band(np.array([2.0, 3.0]), np.array([1.0, 2.0]), np.array([4.0, 5.0]), 0.9)
    form, env = Form(statement=Le(a, b)), {"planted_a": band, "planted_b": 2.5}
    assert [read(form, env, side=side).lhs for side in ("low", "high", "")] == [2.0, 5.0, 3.0]
    assert [read(form, env, side=side).violated for side in ("low", "high", "")] == [False, True, True]
    assert sides(form, env)[0].tolist() == [2.0, 3.0]


def test_sides_have_an_axis_for_the_indices_before_that_of_a_curve():
    """Also where one side has the one and the other side the other, and where both are of one length."""
    k = index("k")
    curve = {"planted_a": np.array([1.0, 2.0]), "planted_b": 3.0}
    for last in (2, 3):
        left, right = sides(Form(statement=Le(a, k * b), over=((k, 1, last),)), curve)
        assert left.tolist() == [[1.0, 2.0]] * last
        assert right.tolist() == [[3.0 * k] * 2 for k in range(1, last + 1)]
