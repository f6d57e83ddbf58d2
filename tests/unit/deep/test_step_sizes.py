"""Step sizes of a network are those of a local model, and said to be."""

import numpy as np
import pytest

import fltheory as fl
from fltheory.problems import measuring
from fltheory.problems.measuring import measure


def test_a_network_gets_the_table_of_a_local_model(make_network_problem):
    problem = make_network_problem("mlp", batch_size=3)
    options = {"rounds": 5, "server_rates": (), "accuracy": 0.01}
    found = fl.step_sizes(problem, fl.FedAvg(), fl.Participation(num_clients=3, local_steps=2), **options)
    measured = measure(problem, problem.start[None])
    curvature = found.local_model.L
    assert curvature == pytest.approx(measured["L"].value, rel=1e-6)
    assert found.local_model.sigma_sq == pytest.approx(measured["sigma_sq"].value)
    assert found.limit.rate == pytest.approx(2 / curvature, rel=1e-5)
    assert found.method == "exact"
    assert "exact (local model)" in found.heading
    assert "on a local quadratic model, not on the problem itself: mu = " in str(found)
    assert "local quadratic model" in found._repr_html_()
    assert found.as_json()["local_model"]["L"] == curvature
    assert "(local model)" in found.plot().axes[0].get_title()


@pytest.mark.parametrize("small", [measuring.SMALL, 1])
def test_curvatures_of_a_softmax_network_are_those_of_the_exact_hessian(make_network_problem, monkeypatch, small):
    """The Hessian in closed form: the mean of (diag(pi) - pi pi^T) with x x^T, beside biases."""
    monkeypatch.setattr(measuring, "SMALL", small)
    problem = make_network_problem("softmax", l2=0.1)
    found = measure(problem, problem.start[None])
    weight, bias = problem.start[:12].reshape(3, 4), problem.start[12:]
    ends = []
    for client in range(3):
        inputs = problem.train.inputs[problem.train.rows(client)].astype(float)
        hessian = 0.1 * np.eye(15)
        for x in inputs:
            scores = np.exp(weight @ x + bias)
            chances = scores / scores.sum()
            factors = np.vstack([np.kron(np.eye(3), x[:, None]), np.eye(3)])
            hessian += factors @ (np.diag(chances) - np.outer(chances, chances)) @ factors.T / len(inputs)
        ends.append(np.linalg.eigvalsh(hessian)[[0, -1]])
    assert found["mu"].value == pytest.approx(np.min(ends), rel=1e-6)
    assert found["L"].value == pytest.approx(np.max(ends), rel=1e-6)
    assert "by Hessian-vector products" in found["L"].note


def test_a_kink_is_no_curvature(make_network_problem):
    """All hidden units are at their kink: differences of gradients over it would give about 1 / h."""
    problem = make_network_problem("mlp")
    w = np.random.default_rng(3).standard_normal(problem.dim)
    w[:25] = 0.0  # weights and biases of the first layer
    assert abs(measure(problem, w[None])["L"].value) < 100.0
