"""Theorems beside networks: constants are measured, what cannot be measured is declared."""

from typing import Any

import numpy as np
import pytest

import fltheory as fl
from fltheory.problems import Origin

MAIN = "ruan.theorem-3.1"


@pytest.fixture
def experiment(make_network_problem: Any) -> fl.Experiment:
    """A softmax network with a penalty, which is strongly convex, so that the theorem applies."""
    problem = make_network_problem("softmax", l2=0.5)
    participation = fl.Participation(num_clients=3, local_steps=2)
    rate = fl.theorem(MAIN).rate_for(problem, participation, algorithm=fl.FedAvg(), Gamma=np.full(3, 0.3))
    return fl.Experiment(problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=4, rate=rate)


def test_what_a_network_does_not_know_is_asked_for(experiment: fl.Experiment) -> None:
    with pytest.raises(fl.MissingConstants, match="Gamma"):
        fl.theorem(MAIN).compare(experiment, replicates=2)
    with pytest.raises(fl.MissingConstants, match="w_star"):
        fl.theorem(MAIN).compare(experiment, replicates=2, Gamma=np.full(3, 0.3))


def test_constants_are_measured_and_distances_taken_from_the_declared_minimiser(experiment: fl.Experiment) -> None:
    best = np.zeros(experiment.problem.dim)
    compared = fl.theorem(MAIN).compare(experiment, replicates=2, seed=1, Gamma=np.full(3, 0.3), w_star=best)
    assert compared.constants["mu"].origin is compared.constants["L"].origin is Origin.MEASURED
    assert compared.constants["mu"].value >= 0.5 - 1e-6  # the penalty
    np.testing.assert_allclose(compared.left, (compared.run.models[:, 1:] ** 2).sum(axis=-1).mean(axis=0), rtol=1e-9)
    assert compared.constants["Gamma"].origin is Origin.DECLARED


def test_a_network_without_penalty_is_not_strongly_convex(make_network_problem: Any) -> None:
    problem = make_network_problem("mlp", l2=0.0)
    participation = fl.Participation(num_clients=3, local_steps=1)
    experiment = fl.Experiment(problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=2, rate=0.01)
    measured = fl.measure(problem, problem.start[None])
    assert measured["mu"].value < 0
    given: dict[str, Any] = {"Gamma": np.zeros(3), "w_star": np.zeros(problem.dim)}
    compared = fl.theorem(MAIN).compare(experiment, replicates=2, **given)
    assert compared.decision is fl.Decision.NOT_APPLICABLE
    assert any("strong convexity" in one.name and "mu = -" in one.value for one in compared.unmet), str(compared)
