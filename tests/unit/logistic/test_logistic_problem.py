"""Constants, weights, accuracy and validation of logistic problems."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic import LogisticProblem, Samples
from fltheory.logistic.constants import variances
from fltheory.problems.problem import Origin

MODELS = st.sampled_from([(2, True), (2, False), (4, False)])


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), model=MODELS, scale=st.floats(0, 5))
def test_mu_and_L_bracket_every_hessian(make_problem: Any, seed: int, model: tuple[int, bool], scale: float) -> None:
    problem = make_problem(seed, num_classes=model[0], binary=model[1])
    w = scale * np.random.default_rng(seed).standard_normal(problem.dim)
    for i, upper in enumerate(problem.client_smoothness):
        eigenvalues = np.linalg.eigvalsh(problem.client_objective(i).loss.hessian(w))
        assert problem.l2 - 1e-12 <= eigenvalues[0]
        assert eigenvalues[-1] <= upper + 1e-12


def test_the_binary_bound_is_attained_at_zero_and_the_softmax_bound_in_the_limit(make_problem: Any) -> None:
    binary = make_problem(0, num_classes=2, binary=True)
    for i, upper in enumerate(binary.client_smoothness):
        hessian = binary.client_objective(i).loss.hessian(np.zeros(binary.dim))
        assert np.linalg.eigvalsh(hessian)[-1] == pytest.approx(upper, rel=1e-12)
    train = Samples.from_clients([np.ones((2, 1))], [np.array([0, 1])])
    softmax = LogisticProblem(train=train, num_classes=3, l2=0.1)
    hessian = softmax.objective().loss.hessian(np.array([0.0, 0.0, -60.0]))
    assert np.linalg.eigvalsh(hessian)[-1] == pytest.approx(softmax.client_smoothness[0], rel=1e-12)


def test_constants_by_their_definitions(make_problem: Any) -> None:
    problem = make_problem(3, batch_size=4, label_drift=0.1)
    constants = problem.constants()
    objective = problem.objective()
    clients = [problem.client_objective(i) for i in range(3)]
    w = objective.w_star
    assert constants["mu"].value == 0.1
    assert constants["L"].value == problem.client_smoothness.max()
    np.testing.assert_array_equal(constants["client_L"].value, problem.client_smoothness)
    np.testing.assert_array_equal(constants["w_star"].value, w)
    assert constants["f_star"].value == objective.f_star
    at_star = np.array([float(client.value(w)) for client in clients])
    assert problem.weights @ at_star == pytest.approx(objective.f_star, rel=1e-13)
    np.testing.assert_allclose(constants["client_f_star"].value, [client.f_star for client in clients])
    np.testing.assert_allclose(constants["gamma"].value, at_star - constants["client_f_star"].value, atol=1e-14)
    hessians = [client.loss.hessian(w) for client in clients]
    distances = [np.linalg.norm(a - b, ord=2) for a in hessians for b in hessians]
    assert constants["epsilon"].value == pytest.approx(max(distances), rel=1e-12)
    sigma_sq, drift_sq = variances(problem, w)
    np.testing.assert_array_equal(constants["sigma_sq"].value, sigma_sq)
    np.testing.assert_array_equal(constants["drift_sq"].value, drift_sq)
    measured = {name for name, constant in constants.items() if constant.origin is Origin.MEASURED}
    assert measured == {"sigma_sq", "epsilon"}
    assert problem.constants() is constants


def test_full_gradients_without_drift_are_exact(make_problem: Any) -> None:
    constants = make_problem(3).constants()
    assert np.all(constants["sigma_sq"].value == 0)
    assert constants["sigma_sq"].origin is Origin.COMPUTED
    assert np.all(constants["drift_sq"].value == 0)


def test_dissimilarity_in_many_dimensions(make_problem: Any) -> None:
    problem = make_problem(1, num_features=25, num_classes=3, counts=(30, 40))
    w = problem.objective().w_star
    first, second = (problem.client_objective(i).loss.hessian(w) for i in range(2))
    assert problem.constants()["epsilon"].value == pytest.approx(np.linalg.norm(first - second, ord=2), rel=1e-9)


def test_weights_are_shares_of_samples_and_may_be_replaced(make_problem: Any) -> None:
    problem = make_problem(0)
    np.testing.assert_allclose(problem.weights, np.array([5, 9, 3]) / 17)
    np.testing.assert_array_equal(problem.sample_counts, [5, 9, 3])
    alone = problem.objective(np.array([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(alone.w_star, problem.client_objective(1).w_star, atol=1e-10)
    assert problem.objective() is problem.objective(problem.weights)
    with pytest.raises(InvalidParameter, match="sum to 1"):
        problem.objective(np.array([0.5, 0.1, 0.1]))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), exponent=st.integers(-12, 1))
def test_gap_is_quadratic_near_the_minimiser_and_never_negative(make_problem: Any, seed: int, exponent: int) -> None:
    objective = make_problem(seed).objective()
    step = 10.0**exponent * np.random.default_rng(seed).standard_normal((2, 3, len(objective.w_star)))
    gaps = objective.gap(objective.w_star + step)
    assert gaps.shape == (2, 3)
    assert np.all(gaps >= 0.05 * (step**2).sum(axis=-1) * (1 - 1e-3))
    if exponent <= -5:
        moved = (objective.w_star + step) - objective.w_star
        curvature = np.einsum("abi,ij,abj->ab", moved, objective.loss.hessian(objective.w_star), moved)
        np.testing.assert_allclose(gaps, 0.5 * curvature, rtol=1e-3)


def test_accuracy_counts_correct_test_samples() -> None:
    train = Samples.from_clients([np.ones((1, 2))], [np.array([0])])
    test = Samples.from_clients([np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])], [np.array([0, 1, 1])])
    softmax = LogisticProblem(train=train, num_classes=2, l2=1.0, test=test)
    models = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    np.testing.assert_allclose(softmax.accuracy(models), [2 / 3, 1 / 3])
    binary = LogisticProblem(train=train, num_classes=2, binary=True, l2=1.0, test=test)
    assert binary.accuracy(np.array([-1.0, 1.0])) == pytest.approx(2 / 3)
    with pytest.raises(NotApplicable, match="test"):
        LogisticProblem(train=train, num_classes=2, l2=1.0).accuracy(np.zeros(4))


def test_intercept_is_a_last_feature_of_ones(make_problem: Any) -> None:
    train = make_problem(0).train
    widened = train.with_intercept()
    assert np.all(widened.features[:, -1] == 1)
    np.testing.assert_array_equal(widened.features[:, :-1], train.features)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l2": 0.0}, r"LogisticProblem.l2 must be a number in \(0, inf\), got l2=0.0"),
        ({"l2": float("nan")}, "LogisticProblem.l2"),
        ({"num_classes": 1}, "LogisticProblem.num_classes"),
        ({"num_classes": 2}, "must have labels in 0 .. 1, got 2"),
        ({"binary": True}, "must be 2 if binary"),
        ({"binary": 1}, "LogisticProblem.binary"),
        ({"batch_size": 0}, "LogisticProblem.batch_size"),
        ({"batch_size": 2.5}, "LogisticProblem.batch_size"),
        ({"label_drift": 1.5}, "LogisticProblem.label_drift"),
        ({"test": Samples.from_clients([np.ones((1, 2))], [np.array([0])])}, "must have 3 features like train"),
        ({"test": Samples.from_clients([np.ones((1, 3))], [np.array([7])])}, "test must have labels in 0 .. 2"),
        (
            {"train": Samples(features=np.ones((1, 3)), labels=np.array([0]), offsets=np.array([0, 1, 1]))},
            "none for client 1",
        ),
    ],
)
def test_bad_parameters_are_named(make_problem: Any, changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"train": make_problem(0).train, "num_classes": 3, "l2": 0.1}
    with pytest.raises(InvalidParameter, match=message):
        LogisticProblem(**{**good, **changes})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"features": np.ones((3, 0))}, "at least one column"),
        ({"features": np.array([[1.0], [np.nan], [1.0]])}, "must be finite"),
        ({"labels": np.array([0, 1])}, r"labels must have shape \(3,\)"),
        ({"labels": np.array([0.0, 1.0, 1.0])}, "labels must be an array of integers"),
        ({"labels": np.array([0, -1, 1])}, "labels must be an array of integers"),
        ({"offsets": np.array([0, 2])}, "offsets must be non-decreasing"),
        ({"offsets": np.array([0, 2, 1, 3])}, "offsets must be non-decreasing"),
    ],
)
def test_bad_samples_are_named(fields: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"features": np.ones((3, 1)), "labels": np.array([0, 1, 1]), "offsets": np.array([0, 3])}
    with pytest.raises(InvalidParameter, match=message):
        Samples(**{**good, **fields})


def test_clients_must_agree_on_their_features() -> None:
    with pytest.raises(InvalidParameter, match="for client 1"):
        Samples.from_clients([np.ones((1, 2)), np.ones((1, 3))], [np.array([0]), np.array([0])])
    with pytest.raises(InvalidParameter, match="got 1 and 2"):
        Samples.from_clients([np.ones((1, 2))], [np.array([0]), np.array([0])])


def test_stored_arrays_are_read_only(make_problem: Any) -> None:
    problem = make_problem(0)
    with pytest.raises(ValueError, match="read-only"):
        problem.train.features[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.objective().w_star[0] = 1.0
