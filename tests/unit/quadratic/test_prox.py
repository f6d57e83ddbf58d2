"""The elastic-net sub-problem: optimality conditions, exact zeros, agreement of all branches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import NotApplicable
from fltheory.quadratic import client_quadratics, noisy_quadratic
from fltheory.quadratic.prox import elastic_net_minimiser, soft


def instance(seed, dim=5, shape=(2, 3)):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((1, shape[1], dim, dim))
    return root @ root.swapaxes(-1, -2) / dim, rng.standard_normal((*shape, dim))


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), pull=st.sampled_from([0.1, 2.0]), l1=st.sampled_from([0.0, 0.05, 0.7]))
def test_optimality_conditions(seed, pull, l1):
    matrix, slope = instance(seed)
    u = elastic_net_minimiser(matrix, slope, pull, l1)
    smooth = np.matmul(matrix, u[..., None])[..., 0] + pull * u + slope
    moving = u != 0.0
    np.testing.assert_allclose(smooth[moving], -l1 * np.sign(u[moving]), atol=1e-10)
    assert np.all(np.abs(smooth[~moving]) <= l1 + 1e-10)


def test_zeros_are_exact_and_appear():
    matrix, slope = instance(1)
    assert np.all(elastic_net_minimiser(matrix, slope, 0.5, np.abs(slope).max()) == 0.0)
    some = elastic_net_minimiser(matrix, slope, 0.5, 0.6)
    assert 0 < np.count_nonzero(some == 0.0) < some.size


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), pull=st.sampled_from([0.0, 1.0]), l1=st.sampled_from([0.0, 0.3]))
def test_diagonal_and_dense_agree(seed, pull, l1):
    rng = np.random.default_rng(seed)
    diagonal, slope = rng.uniform(0.1, 3, (1, 3, 4)), rng.standard_normal((2, 3, 4))
    dense = diagonal[..., None] * np.eye(4)
    np.testing.assert_allclose(
        elastic_net_minimiser(dense, slope, pull, l1), elastic_net_minimiser(diagonal, slope, pull, l1), atol=1e-12
    )


def test_against_cvxpy():
    import cvxpy as cp

    matrix, slope = instance(7, shape=(1, 1))
    h, g = matrix[0, 0], slope[0, 0]
    u = cp.Variable(5)
    loss = 0.5 * cp.quad_form(u, cp.psd_wrap(h)) + g @ u + 0.15 * cp.sum_squares(u) + 0.4 * cp.norm1(u)
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(elastic_net_minimiser(matrix, slope, 0.3, 0.4)[0, 0], u.value, atol=1e-5)


@pytest.mark.parametrize("l1", [0.0, 0.1])
@pytest.mark.parametrize("dense", [True, False])
def test_a_singular_sub_problem_is_refused(dense, l1):
    singular = np.array([[1.0, 1.0], [1.0, 1.0]])[None, None] if dense else np.array([[[1.0, 0.0]]])
    with pytest.raises(NotApplicable, match="no unique minimiser"):
        elastic_net_minimiser(singular, np.ones((1, 1, 2)), 0.0, l1)


def test_soft_threshold():
    assert soft(np.array([-3.0, -0.5, 0.0, 0.5, 3.0]), 1.0).tolist() == [-2.0, 0.0, 0.0, 0.0, 2.0]


@pytest.mark.parametrize("make", [client_quadratics, noisy_quadratic])
def test_oracle_prox_is_the_minimiser_around_its_anchor(make):
    """The gradient of ``f_i + <l, .> + q/2 ||. - a||^2`` vanishes at the prox point; with l1 it is balanced by it."""
    problem = make(dim=4, num_clients=3, round_drift_sq=0.2)
    oracle = problem.reference_oracle(seed=0, replicates=range(2))
    rng = np.random.default_rng(0)
    anchor, linear = rng.standard_normal((2, 1, 4)), rng.standard_normal((2, 3, 4))
    w = oracle.prox(anchor, pull=0.7, linear=linear)
    np.testing.assert_allclose(oracle.gradient(w) + linear + 0.7 * (w - anchor), 0.0, atol=1e-11)
    w = oracle.prox(anchor, pull=0.7, l1=0.5, linear=linear)
    balance = oracle.gradient(w) + linear + 0.7 * (w - anchor)
    assert np.all(np.abs(balance) <= 0.5 + 1e-10)
    moved = w != anchor
    np.testing.assert_allclose(balance[moved], -0.5 * np.sign((w - anchor)[moved]), atol=1e-9)
