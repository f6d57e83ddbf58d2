"""Sides, scores and zeros."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy import Ge, Le, Lt

from fltheory.bounds.claim import Form
from fltheory.validation import evaluate
from fltheory.validation.evaluate import read, sides
from tests.planted import a, b

number = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, -1.0, 1e-300]))


@given(number, number, st.booleans())
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


def test_a_difference_in_the_thirtieth_digit_is_seen_without_rounding():
    env = {"planted_a": sp.sqrt(2) + sp.Rational(1, 10**30), "planted_b": sp.sqrt(2)}
    assert read(Form(statement=Le(a, b)), env, exact=True).violated
    assert not read(Form(statement=Le(b, a)), env, exact=True).violated
