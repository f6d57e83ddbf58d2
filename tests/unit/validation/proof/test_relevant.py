"""Points of functions that nobody reads are forgotten, all others stay."""

from __future__ import annotations

import numpy as np
import sympy as sp

from fltheory.bounds.functions import Kinked
from fltheory.validation.proof import relevant
from fltheory.validation.proof.function_classes import any_functions


def _one(value: int) -> np.ndarray:
    return np.array([[sp.Integer(value)]], dtype=object)


F = Kinked(centre=_one(0), knot=_one(0), left=_one(0), right=_one(1))


def _at(symbol: object) -> np.ndarray:
    return np.array([symbol], dtype=object)


def test_points_that_are_read_stay_with_those_that_lead_there() -> None:
    start = sp.Symbol("start")
    with any_functions() as answers:
        first = F.gradient(0, _at(start))[0]
        second = F.gradient(0, _at(start - first))[0]
        F.gradient(0, _at(start - first - second))
    assert relevant.count(answers) == 4 * 3
    relevant.forget_others(answers, [sp.Le(second, 1, evaluate=False)])
    ((_, _, known),) = answers.seen.values()
    # The minimiser, the start and the point after one step; the last point leads nowhere.
    assert set(known) == {sp.Integer(0), start, sp.expand(start - first)}
    assert relevant.count(answers) == 3 * 2


def test_without_relations_only_given_gradients_are_left() -> None:
    with any_functions() as answers:
        F.gradient(0, _at(sp.Symbol("start")))
    relevant.forget_others(answers, [])
    ((_, _, known),) = answers.seen.values()
    assert list(known) == [0]


def test_values_that_are_read_keep_their_point() -> None:
    start = sp.Symbol("start")
    with any_functions() as answers:
        value = F.value(0, _at(start))
    relevant.forget_others(answers, [sp.Le(value, 1, evaluate=False)])
    ((_, _, known),) = answers.seen.values()
    assert start in known
