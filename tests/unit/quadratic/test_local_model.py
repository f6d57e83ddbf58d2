"""Local quadratic models have the constants that were measured."""

import numpy as np
import pytest

import fltheory as fl
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.quadratic.local_model import FLATTEST


def test_constants_of_a_quadratic_come_back():
    other = fl.client_quadratics(
        dim=6, num_clients=3, mu=0.5, L=4.0, dissimilarity=1.0, noise_sq=[0.1, 0.4, 0.9], sample_counts=[1.0, 2.0, 5.0]
    )
    found = fl.local_model(other, dim=9)
    known = found.problem.constants()
    assert (found.mu, found.L) == pytest.approx((0.5, 4.0), rel=1e-5)
    assert (known["mu"].value, known["L"].value) == pytest.approx((found.mu, found.L))
    assert found.sigma_sq == pytest.approx(np.array([0.1, 0.4, 0.9]), rel=0.6)
    assert found.problem.noise_sq == pytest.approx(found.sigma_sq)
    assert found.problem.weights == pytest.approx(other.weights)
    assert found.problem.dim == 9
    gradient = other.objective().gradient(other.start)
    assert found.gradient_norm_sq == pytest.approx(gradient @ gradient)


def test_gradient_and_drift_at_the_start_are_those_that_were_measured():
    other = fl.client_quadratics(dim=6, num_clients=3, sample_counts=[1.0, 2.0, 5.0])
    found = fl.local_model(other)
    model = found.problem
    oracle = model.reference_oracle(seed=0, replicates=range(1))
    oracle.begin_round(0)
    gradients = oracle.gradient(np.broadcast_to(oracle.enter(model.start), (1, 3, model.dim)))[0]
    mean = model.weights @ gradients
    assert mean @ mean == pytest.approx(found.gradient_norm_sq)
    assert model.weights @ ((gradients - mean) ** 2).sum(axis=1) == pytest.approx(found.client_drift_sq)
    assert found.client_drift_sq > 0
    assert model.objective().gradient(model.start) == pytest.approx(mean @ (model.basis or np.eye(model.dim)))


def test_it_is_measured_where_it_is_asked_for():
    other = fl.client_quadratics(dim=4, num_clients=2)
    here = fl.local_model(other, at=other.objective().w_star)
    assert here.gradient_norm_sq == pytest.approx(0.0, abs=1e-20)
    assert fl.local_model(other).gradient_norm_sq > 0.1


def test_one_client_has_no_drift():
    other = fl.noisy_quadratic(dim=4, num_clients=1, client_drift_sq=0.0)
    found = fl.local_model(other)
    assert found.client_drift_sq == pytest.approx(0.0, abs=1e-20)
    assert not np.any(found.problem.client_drift)


def test_a_flat_direction_gets_a_small_curvature_and_it_is_said():
    found = fl.local_model(fl.noisy_quadratic(dim=4, num_clients=2, mu=0.0, L=3.0))
    assert found.problem.constants()["mu"].value == pytest.approx(FLATTEST * 3.0)
    assert "taken as 0.001 L" in str(found)
    assert "taken" not in str(fl.local_model(fl.noisy_quadratic(dim=4, num_clients=2, mu=1.0, L=3.0)))


class Hill:
    """The negative of a problem: no curvature is positive."""

    def __init__(self, problem):
        self._problem = problem

    def __getattr__(self, name):
        return getattr(self._problem, name)

    def reference_oracle(self, **options):
        oracle = self._problem.reference_oracle(**options)
        inner = oracle.gradient
        oracle.gradient = lambda w, *more, **rest: -inner(w, *more, **rest)
        return oracle


def test_without_positive_curvature_there_is_no_model():
    with pytest.raises(NotApplicable, match=r"the largest measured curvature is -1; .* pass another one as at="):
        fl.local_model(Hill(fl.client_quadratics(dim=3, num_clients=2, dissimilarity=0.0)))


def test_bad_input():
    other = fl.noisy_quadratic(dim=4, num_clients=2)
    with pytest.raises(InvalidParameter, match=r"local_model\.dim must be an integer >= 2"):
        fl.local_model(other, dim=1)
    with pytest.raises(InvalidParameter, match=r"local_model\.at must have shape \(4\)"):
        fl.local_model(other, at=np.zeros(3))
