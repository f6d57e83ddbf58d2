"""Validation returns canonical values and complains in one shape."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fltheory._internal import arguments
from fltheory.errors import FltheoryError, InvalidParameter


@given(value=st.floats(-1, 2) | st.integers(-1, 2) | st.fractions(-1, 2))
def test_real_returns_the_float(value):
    out = arguments.real("Owner", "field", value, low=-1, high=2)
    assert type(out) is float
    assert out == float(value)


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(1), Fraction(1, 2)])
def test_real_accepts_every_real_type(value):
    assert arguments.real("Owner", "field", value) == float(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", None, 1j, [1.0], 10**400])
def test_real_refuses_what_is_no_finite_number(value):
    with pytest.raises(InvalidParameter, match=r"^Owner\.field must be a finite number, got field="):
        arguments.real("Owner", "field", value)


@pytest.mark.parametrize(
    ("limits", "value", "allowed"),
    [
        ({"low": 0}, -1e-9, r"\[0, inf\)"),
        ({"low": 0, "open_low": True}, 0, r"\(0, inf\)"),
        ({"high": 1}, 1.1, r"\(-inf, 1\]"),
        ({"low": 0, "high": 1, "open_high": True}, 1, r"\[0, 1\)"),
    ],
)
def test_real_names_the_interval(limits, value, allowed):
    with pytest.raises(InvalidParameter, match=f"a number in {allowed}, got field=.*; lower it"):
        arguments.real("Owner", "field", value, remedy="lower it", **limits)


def test_closed_ends_belong_to_the_interval():
    assert arguments.real("Owner", "field", 0, low=0, high=1) == 0.0
    assert arguments.real("Owner", "field", 1, low=0, high=1) == 1.0


@pytest.mark.parametrize(
    ("value", "limits", "allowed"),
    [
        (1.0, {}, "an integer"),
        (True, {}, "an integer"),
        ("3", {}, "an integer"),
        (0, {"low": 1}, "an integer >= 1"),
        (9, {"high": 8}, "an integer <= 8"),
        (9, {"low": 1, "high": 8}, r"an integer in \[1, 8\]"),
    ],
)
def test_integer_refusals(value, limits, allowed):
    with pytest.raises(InvalidParameter, match=rf"Owner\.field must be {allowed}, got field="):
        arguments.integer("Owner", "field", value, **limits)


def test_integer_accepts_numpy():
    out = arguments.integer("Owner", "field", np.int32(4), low=4, high=4)
    assert type(out) is int
    assert out == 4


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_boolean_refuses_look_alikes(value):
    with pytest.raises(InvalidParameter, match="true or false"):
        arguments.boolean("Owner", "field", value)


def test_boolean_accepts_both_kinds():
    assert arguments.boolean("Owner", "field", np.True_) is True
    assert arguments.boolean("Owner", "field", False) is False


def test_choice_lists_names_and_suggests():
    assert arguments.choice("Owner", "field", "b", ["b", "a"]) == "b"
    with pytest.raises(InvalidParameter, match="one of 'linear', 'log', got field='liner'; did you mean 'linear'"):
        arguments.choice("Owner", "field", "liner", ["log", "linear"])
    with pytest.raises(InvalidParameter, match=r"got field=3$"):
        arguments.choice("Owner", "field", 3, ["log", "linear"])


def test_array_copies_and_freezes():
    given_array = np.arange(3)
    out = arguments.array("Owner", "field", given_array, shape=(3,))
    given_array[0] = 7
    assert out.tolist() == [0.0, 1.0, 2.0]
    assert out.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        out[0] = 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, math.nan], r"must be finite, got nan at index \(1,\)"),
        ([math.inf, 1.0], r"must be finite, got inf at index \(0,\)"),
        ([1.0], r"must have shape \(2\), got shape \(1,\)"),
        ([[1.0, 2.0]], r"must have shape \(2\), got shape \(1, 2\)"),
        ([1.0, -2.0], r"must be >= 0, got -2 at index \(1,\)"),
        ([1.0, [2.0]], "must be an array of numbers"),
        (["1", "2"], "must be an array of numbers"),
        ([True, False], "must be an array of numbers"),
        (np.array([1j, 2]), "must be an array of numbers"),
        ([1, 10**400], "must be an array of numbers"),
        (None, "must be an array of numbers"),
        ({"a": 1}, "must be an array of numbers"),
    ],
)
def test_array_refusals(value, message):
    with pytest.raises(InvalidParameter, match=rf"^Owner\.field {message}"):
        arguments.array("Owner", "field", value, shape=(2,), low=0.0)


@given(weights=st.lists(st.floats(0, 5), min_size=1, max_size=6).filter(lambda w: sum(w) > 0.1))
def test_probabilities_accept_normalised_weights_only(weights):
    p = arguments.probabilities("Owner", "field", np.array(weights) / sum(weights), shape=(None,))
    assert math.isclose(p.sum(), 1.0, rel_tol=1e-15)
    assert not p.flags.writeable
    with pytest.raises(InvalidParameter, match="must sum to 1, got a sum of"):
        arguments.probabilities("Owner", "field", 1.001 * p, shape=(None,))


@pytest.mark.parametrize("value", [[], [0.5, 0.6], [-0.5, 1.5]])
def test_probabilities_refusals(value):
    with pytest.raises(InvalidParameter):
        arguments.probabilities("Owner", "field", value, shape=(None,))


def test_probabilities_name_the_worst_row():
    with pytest.raises(InvalidParameter, match=r"got a sum of 0\.5;"):
        arguments.probabilities("Owner", "field", [[0.5, 0.4], [0.25, 0.25]], shape=(None, 2))


def test_long_values_are_cut_in_messages():
    text = str(arguments.fail("Owner", "field", "short", "x" * 500))
    assert len(text) < 120
    assert text.endswith("...")


def test_errors_can_be_caught_by_one_type():
    assert issubclass(InvalidParameter, FltheoryError)
    assert issubclass(InvalidParameter, ValueError)
