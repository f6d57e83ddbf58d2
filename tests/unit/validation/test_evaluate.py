"""Sides, scores and zeros."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy import Ge, Le, Lt

from fltheory.bounds.claim import Form, Rejected
from fltheory.bounds.quantities import index
from fltheory.validation import evaluate
from fltheory.validation.evaluate import read, sides
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
