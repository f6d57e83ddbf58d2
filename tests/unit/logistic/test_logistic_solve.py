"""Minimisers and proximal points: optimality conditions, and one cross-check each with a conic solver."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import FltheoryError, InvalidParameter, NotApplicable
from fltheory.logistic import LogisticProblem, Samples, logistic_clients


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    scale=st.floats(0.01, 10),
    l2=st.floats(1e-4, 10),
    kind=st.sampled_from([(2, True), (2, False), (4, False)]),
)
def test_newton_reaches_a_gradient_norm_of_1e_12(
    make_problem: Any, seed: int, scale: float, l2: float, kind: tuple[int, bool]
) -> None:
    classes, binary = kind
    problem = make_problem(seed, num_classes=classes, binary=binary, l2=l2)
    scaled = Samples(
        features=scale * problem.train.features, labels=problem.train.labels, offsets=problem.train.offsets
    )
    objective = LogisticProblem(train=scaled, num_classes=classes, binary=binary, l2=l2).objective()
    assert np.linalg.norm(objective.gradient(objective.w_star)) <= 1e-12
    assert objective.gap(objective.w_star) == 0.0


def test_newton_agrees_with_a_conic_solver(make_problem: Any) -> None:
    problem = make_problem(4, counts=(8, 12), l2=0.05)
    W = cp.Variable((3, 3))
    loss = 0.025 * cp.sum_squares(W)
    weights = np.repeat(problem.weights / problem.sample_counts, problem.train.counts)
    for x, y, weight in zip(problem.train.features, problem.train.labels, weights, strict=True):
        loss += weight * (cp.log_sum_exp(W @ x) - W[int(y)] @ x)
    f_star = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    objective = problem.objective()
    assert objective.f_star == pytest.approx(f_star, abs=1e-7)
    np.testing.assert_allclose(objective.w_star, W.value.ravel(), atol=1e-4)


def test_newton_says_so_when_rounding_keeps_it_from_the_tolerance() -> None:
    rng = np.random.default_rng(0)
    train = Samples.from_clients([1e9 * rng.standard_normal((40, 3))], [rng.integers(0, 2, 40)])
    with pytest.raises(NotApplicable, match="scale the features"):
        LogisticProblem(train=train, num_classes=2, binary=True, l2=1e-6).objective()


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    pull=st.floats(0, 20),
    l1=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
    kind=st.sampled_from([(2, True), (3, False)]),
    drift=st.sampled_from([0.0, 0.4]),
)
def test_prox_satisfies_the_optimality_condition(
    make_problem: Any, seed: int, pull: float, l1: float, kind: tuple[int, bool], drift: float
) -> None:
    problem = make_problem(seed, num_classes=kind[0], binary=kind[1], label_drift=drift)
    oracle = problem.reference_oracle(seed=1, replicates=range(2))
    oracle.begin_round(3)
    rng = np.random.default_rng(seed)
    anchor = rng.standard_normal((2, 1, problem.dim))
    linear = 0.3 * rng.standard_normal((1, 3, problem.dim))
    w = oracle.prox(anchor, pull=pull, l1=l1, linear=linear)
    slope = oracle.gradient(w) + linear + pull * (w - anchor)
    kink = w == anchor
    np.testing.assert_allclose((slope + l1 * np.sign(w - anchor))[~kink], 0.0, atol=1e-10)
    assert np.all(np.abs(slope[kink]) <= l1 + 1e-10)


def test_a_strong_l1_term_keeps_the_anchor_exactly(make_problem: Any) -> None:
    problem = make_problem(0)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    anchor = np.random.default_rng(0).standard_normal((1, 1, problem.dim))
    w = oracle.prox(anchor, pull=1.0, l1=100.0)
    np.testing.assert_array_equal(w, np.broadcast_to(anchor, w.shape))


def test_l1_prox_agrees_with_a_conic_solver() -> None:
    problem = logistic_clients(num_clients=1, num_features=4, samples=15, seed=2)
    anchor = np.array([0.5, -0.2, 0.1, 0.3])
    w = cp.Variable(4)
    X, y = problem.train.features, problem.train.labels
    loss = cp.sum(cp.logistic(X @ w)) / 15 - (y @ X @ w) / 15 + problem.l2 / 2 * cp.sum_squares(w)
    loss += 0.35 * cp.sum_squares(w - anchor) + 0.05 * cp.norm1(w - anchor) + 0.2 * w[1]
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    linear = np.array([0.0, 0.2, 0.0, 0.0])[None, None]
    found = oracle.prox(anchor[None, None], pull=0.7, l1=0.05, linear=linear)[0, 0]
    np.testing.assert_allclose(found, w.value, atol=1e-5)


def test_prox_rejects_negative_weights(make_problem: Any) -> None:
    oracle = make_problem(0).reference_oracle(seed=0, replicates=range(1))
    with pytest.raises(InvalidParameter, match="pull"):
        oracle.prox(np.zeros((1, 1, 9)), pull=-1.0)
    with pytest.raises(InvalidParameter, match="l1"):
        oracle.prox(np.zeros((1, 1, 9)), pull=1.0, l1=-0.5)


@pytest.mark.parametrize("size", [1e50, 1e150])
def test_a_hessian_that_is_singular_to_rounding_is_one_line(size):
    from fltheory.logistic.synthetic import synthetic

    with pytest.raises(FltheoryError, match=r"scale (the features|them) to order one"):
        synthetic(alpha=0.0, beta=size, seed=0, num_clients=3, num_features=4, num_classes=3, max_size=60).objective(
            np.full(3, 1 / 3)
        )
