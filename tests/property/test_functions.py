"""Families of functions have the constants they are asked for, and strategies draw what they promise."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from fltheory import strategies as fls
from fltheory.bounds.functions import Kinked, Turned, one_based
from fltheory.bounds.space import exact
from fltheory.errors import InvalidParameter

MU, L = 0.5, 8.0
models = npst.arrays(float, (2,), elements=st.floats(-6, 6))


@given(fls.smooth_functions(dim=2, mu=MU, L=L), models, models)
def test_functions_are_smooth_and_strongly_convex(functions, w, other):
    difference = functions.gradient(0, w) - functions.gradient(0, other)
    away = w - other
    inner, size = float(difference @ away), float(away @ away)
    assert MU * size - 1e-9 <= inner
    assert float(difference @ difference) <= L * inner + 1e-7
    step = functions.value(0, other) + functions.gradient(0, other) @ away
    assert step + MU / 2 * size - 1e-7 <= functions.value(0, w) <= step + L / 2 * size + 1e-7
    assert functions.value(0, w) >= -1e-9


@given(fls.smooth_functions(dim=2, mu=MU, L=L), models)
def test_gradients_are_derivatives(functions, w):
    step = 1e-6
    for axis in range(2):
        shift = step * np.eye(2)[axis]
        slope = (functions.value(0, w + shift) - functions.value(0, w - shift)) / (2 * step)
        assert slope == pytest.approx(functions.gradient(0, w)[axis], abs=1e-4)


@given(fls.client_families(num_clients=3, dim=2, mu=MU, L=L))
def test_the_minimiser_of_a_federation_is_one(family):
    total = sum(p * family.functions.gradient(k, family.w_star) for k, p in enumerate(family.weights))
    assert np.abs(total).max() < 1e-8
    assert family.weights.sum() == pytest.approx(1)
    assert family.gamma.min() > -1e-9


def test_minimisers_are_exact_on_rationals():
    point = exact(
        {
            "centre": np.array([[0.0], [3.0], [-1.0]]),
            "knot": np.array([[1.0], [0.5], [2.0]]),
            "left": np.array([[1.0], [2.0], [1.0]]),
            "right": np.array([[4.0], [1.0], [8.0]]),
        }
    )
    functions = Kinked(**point)
    weights = np.array([sp.Rational(1, 2), sp.Rational(1, 3), sp.Rational(1, 6)], dtype=object)
    best = functions.minimiser(weights)
    total = sum(weights[k] * functions.gradient(k, best)[0] for k in range(3))
    assert total == 0
    assert isinstance(best[0], sp.Rational)
    assert one_based(functions)["F"](1, functions.centre[0]) == 0


def test_turned_quadratics_do_not_commute():
    functions = Turned(centre=np.zeros((2, 2)), eigenvalues=np.array([[1.0, 4.0]] * 2), turn=np.array([0.0, 0.5]))
    first, second = functions.hessian(0), functions.hessian(1)
    assert np.abs(first @ second - second @ first).max() > 0.1
    np.testing.assert_allclose(np.linalg.eigvalsh(second), [1, 4])


@given(fls.noises(dim=2, variance=2.5, outcomes=4))
def test_noises_have_mean_zero_and_their_variance(noise):
    np.testing.assert_allclose(noise.expectation(noise.values), 0, atol=1e-12)
    assert noise.variance == pytest.approx(2.5)


@given(fls.participation_laws(num_clients=3, local_steps=2))
def test_participation_laws_do_some_work(law):
    pmf = law.step_pmf(0)
    assert pmf.shape == (3, 3)
    assert pmf[:, 1:].sum() > 0


@given(fls.compressors(), npst.arrays(float, (6,), elements=st.floats(-5, 5)))
def test_compressors_keep_at_least_what_they_say(compressor, vector):
    kept = np.count_nonzero(compressor(vector))
    assert kept <= 6
    assert kept >= min(compressor.kept(6), np.count_nonzero(np.abs(vector) > 1e-9)) or compressor.ties == "exact"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fls.smooth_functions(mu=3, L=2), "mu must be in"),
        (lambda: fls.smooth_functions(dim=0), "dim must be an integer >= 1"),
        (lambda: fls.compressors(fractions=(0.0, 1.0)), "fractions must be a number"),
    ],
)
def test_bad_arguments_are_refused_at_once(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()
