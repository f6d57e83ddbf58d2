"""l1 problems are solved to rounding however badly conditioned they are, quickly."""

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import NotApplicable
from fltheory.logistic import LogisticProblem, Samples, synthetic
from fltheory.problems.elastic_net import minimise_with_l1, newton_direction
from fltheory.quadratic import noisy_quadratic
from fltheory.quadratic.prox import elastic_net_minimiser


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    dim=st.integers(1, 8),
    condition=st.floats(0, 10),
    l1=st.floats(-3, 1),
    size=st.floats(-2, 2),
)
def test_quadratics_satisfy_the_optimality_condition(
    seed: int, dim: int, condition: float, l1: float, size: float
) -> None:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    matrix = (turn * 10 ** -np.sort(rng.uniform(0, condition, dim))) @ turn.T
    matrix = (matrix + matrix.T) / 2
    slope = 10**size * rng.standard_normal(dim)
    u = elastic_net_minimiser(matrix[None, None], slope[None, None], 1e-10, 10**l1)[0, 0]
    gradient = (matrix + 1e-10 * np.eye(dim)) @ u + slope
    rounding = 1e-12 * (np.abs(matrix) @ np.abs(u) + np.abs(slope)).max()
    assert np.abs(gradient + 10**l1 * np.sign(u))[u != 0].max(initial=0.0) <= rounding
    assert np.abs(gradient)[u == 0].max(initial=0.0) <= 10**l1 + rounding


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), l2=st.floats(-10, -3), l1=st.floats(-4, 0), scale=st.floats(-1, 2))
def test_logistic_losses_with_hardly_any_regularisation(seed: int, l2: float, l1: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    features = rng.standard_normal((int(rng.integers(3, 40)), int(rng.integers(1, 7)))) * 10**scale
    train = Samples.from_clients([features], [rng.integers(0, classes, len(features))])
    problem = LogisticProblem(train=train, num_classes=classes, l2=10**l2)
    oracle = problem.reference_oracle(seed=0, replicates=range(2))
    anchor = 10.0 * rng.standard_normal((2, 1, problem.dim))
    w = oracle.prox(anchor, pull=0.0, l1=10**l1)
    slope, kink = oracle.gradient(w), w == anchor
    rounding = 1e-11 * problem.client_smoothness[0] * max(1.0, np.abs(w).max())
    assert np.abs(slope + 10**l1 * np.sign(w - anchor))[~kink].max(initial=0.0) <= rounding
    assert np.abs(slope)[kink].max(initial=0.0) <= 10**l1 + rounding


def test_condition_numbers_cost_nothing() -> None:
    """Coordinate descent takes minutes here, and the accelerated gradient method half a minute; 5 s leave a margin."""
    quadratic = noisy_quadratic(dim=100, num_clients=3, mu=1e-6, L=10.0, spectrum="log", radius=10.0)
    logistic = synthetic(
        alpha=1.0, beta=10.0, num_clients=2, num_features=8, num_classes=3, max_size=60, l2=1e-8, seed=0
    )
    for problem in (quadratic, logistic):
        oracle = problem.reference_oracle(seed=0, replicates=range(2))
        begun = time.perf_counter()
        oracle.prox(np.ones((1, 1, problem.dim)), pull=0.0, l1=0.01)
        assert time.perf_counter() - begun < 5.0


class Quadratic:
    """``v'Mv/2 + g'v``, with something added to every rise of it."""

    def __init__(self, matrix: Any, slope: Any, wrong: float = 0.0) -> None:
        self.matrix, self.slope, self.wrong = np.array(matrix), np.array(slope), wrong

    def gradient(self, v: Any) -> Any:
        return self.matrix @ v + self.slope

    def hessian(self, v: Any) -> Any:
        return self.matrix

    def divergence(self, v: Any, step: Any) -> float:
        return float(0.5 * step @ self.matrix @ step) + self.wrong


def test_by_hand_in_two_dimensions() -> None:
    """Separable, slopes 3 and 0.5, l1 = 1: v = -(3 - 1)/2 and 0."""
    found = minimise_with_l1(Quadratic(np.diag([2.0, 4.0]), [3.0, 0.5]), np.array([5.0, 5.0]), l1=1.0, tolerance=1e-14)
    assert found.tolist() == [-1.0, 0.0]


def test_a_function_that_never_decreases_is_given_up() -> None:
    with pytest.raises(NotApplicable, match="stopped at a subgradient of norm"):
        minimise_with_l1(Quadratic(np.eye(2), [3.0, 0.5], wrong=50.0), np.zeros(2), l1=1.0, tolerance=1e-14)


def test_singular_hessians_are_named() -> None:
    with pytest.raises(NotApplicable, match="singular to rounding"):
        newton_direction(np.ones((2, 2)), np.ones(2))


@pytest.mark.parametrize("beta", [1e20, 1e80, 1e150, 1e300])
def test_enormous_features_are_refused_in_words(beta: float) -> None:
    with pytest.raises((NotApplicable, ValueError), match=r"scale the features|scale them"):
        synthetic(alpha=0.0, beta=beta, num_clients=3, num_features=4, num_classes=3, seed=0, max_size=60).objective()
