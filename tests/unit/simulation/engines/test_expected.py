"""From moments to expected curves: against clouds of points that have these moments."""

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.engines import expected

ROUNDS, DIM = 4, 3
RISING = np.array([1.0, 1.0, 2.0, 4.0, 8.0])


def experiment_of(problem, **more):
    options = {"rounds": ROUNDS, "rate": 0.1, "averaging": RISING} | more
    participation = Participation(num_clients=problem.num_clients, local_steps=2)
    return Experiment(problem=problem, algorithm=FedAvg(), participation=participation, **options)


def cloud(mean, covariance):
    """Return equally likely points with the given mean and covariance."""
    steps = np.sqrt(len(mean)) * np.linalg.cholesky(covariance).T
    return mean + np.concatenate([steps, -steps])


@pytest.mark.parametrize("held", [None, 1, 20])
@pytest.mark.parametrize("averaging", [None, RISING], ids=["model", "average too"])
@pytest.mark.parametrize("commuting", [True, False])
def test_curves_are_means_over_points_with_these_moments(monkeypatch, commuting, averaging, held):
    """The clients' weights change from round to round, and return; moments are copied in portions of any size."""
    if held is not None:
        monkeypatch.setattr(expected, "_HELD", held)
    problem = client_quadratics(dim=DIM, num_clients=2, commuting=commuting, dissimilarity=1.0)
    oracle = ClosedFormOracle(problem.closed_form(), inside=True)
    rng = np.random.default_rng(3)
    means = rng.standard_normal((2, ROUNDS + 1, DIM))
    roots = rng.standard_normal((2, ROUNDS + 1, DIM, DIM))
    covariances = roots @ roots.swapaxes(-1, -2)
    spreads = covariances
    if commuting:
        spreads = np.diagonal(covariances, axis1=-2, axis2=-1)
        covariances = spreads[..., None] * np.eye(DIM)
    weights = [np.array(p) for p in ([0.5, 0.5], [0.2, 0.8], [0.5, 0.5], [0.2, 0.8], [1.0, 0.0])]
    found = expected.expected_curves(experiment_of(problem, averaging=averaging), oracle, means, spreads, weights)
    names = {"distance_sq", "gap", "gradient_norm_sq"} | (
        set() if averaging is None else {"average_distance_sq", "average_gap"}
    )
    assert found.keys() == names | {"model_mean", "model_covariance"}
    np.testing.assert_array_equal(found["model_mean"], means[0])
    np.testing.assert_array_equal(found["model_covariance"], spreads[0])
    for column, p in enumerate(weights):
        objective = oracle.objective(p)
        model, average = (cloud(means[which, column], covariances[which, column]) for which in range(2))
        values = {
            "distance_sq": np.sum((model - objective.w_star) ** 2, axis=1),
            "gap": objective.gap(model),
            "gradient_norm_sq": np.sum(objective.gradient(model) ** 2, axis=1),
            "average_distance_sq": np.sum((average - objective.w_star) ** 2, axis=1),
            "average_gap": objective.gap(average),
        }
        for name in names:
            assert found[name][column] == pytest.approx(values[name].mean(), rel=1e-10), name


def test_one_coordinate_has_a_variance_even_where_the_hessian_is_a_matrix():
    r"""Mean 3 away and variance 4, Hessian 2: ``E d^2 = 13``, gap 13, squared gradient 52."""
    problem = client_quadratics(dim=1, num_clients=2, mu=2.0, L=2.0, dissimilarity=0.0, spread=0.0)
    oracle = ClosedFormOracle(problem.closed_form(), inside=True)
    p = np.array([0.5, 0.5])
    mean = oracle.objective(p).w_star + 3.0
    experiment = experiment_of(problem, rounds=1, averaging=None)
    means, spreads = np.tile(mean, (2, 2, 1)), np.full((2, 2, 1), 4.0)
    found = expected.expected_curves(experiment, oracle, means, spreads, [p, p])
    for name, value in (("distance_sq", 13.0), ("gap", 13.0), ("gradient_norm_sq", 52.0)):
        np.testing.assert_allclose(found[name], value, rtol=1e-12)


def test_shares_of_the_averaged_iterate():
    """Weights 1, 1, 2, 4, 8: each new model is half of all that was weighed so far."""
    problem = noisy_quadratic(dim=2, num_clients=2)
    assert expected.shares_of(experiment_of(problem)) == [0.5, 0.5, 0.5, 0.5]
    assert expected.shares_of(experiment_of(problem, averaging=[1.0, 3.0, 0.0, 4.0, 0.0])) == [0.75, 0.0, 0.5, 0.0]
    assert expected.shares_of(experiment_of(problem, averaging=None)) == [0.0] * ROUNDS


@pytest.mark.parametrize("rotated", [True, False])
def test_the_covariance_of_two_noisy_steps_by_hand(rotated):
    r"""``w_2 = M (M w_0 - eta (b + nu_1)) - eta (b + nu_2)``: covariance ``eta^2 s (M^2 + I)``, ``M = I - eta H``."""
    eta, noise_sq = 0.2, 0.6
    problem = noisy_quadratic(
        dim=DIM, num_clients=1, rotated=rotated, noise_sq=noise_sq, client_drift_sq=0, round_drift_sq=0
    )
    run = simulate(
        experiment_of(problem, rounds=1, rate=eta, averaging=None), engine="exact", record=Record(moments=True)
    )
    objective = problem.objective()
    b = objective.gradient(np.zeros(DIM))
    decay = np.eye(DIM) - eta * (objective.gradient(np.eye(DIM)) - b)
    mean = decay @ (decay @ problem.start - eta * b) - eta * b
    np.testing.assert_allclose(run.curve("model_mean")[0], [problem.start, mean], rtol=1e-10, atol=1e-14)
    covariance = eta**2 * noise_sq / DIM * (decay @ decay + np.eye(DIM))
    np.testing.assert_allclose(run.curve("model_covariance")[0, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(run.curve("model_covariance")[0, 1], covariance, rtol=1e-10, atol=1e-15)
