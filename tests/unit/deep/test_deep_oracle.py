"""The oracle of a softmax network is that of logistic regression, and other networks keep its contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from fltheory import Experiment, Participation, Record, simulate
from fltheory.configuration.registry import algorithms
from fltheory.deep import DeepProblem, Examples
from fltheory.deep.networks import Softmax
from fltheory.errors import Diverged, InvalidParameter, NotApplicable
from fltheory.logistic import LogisticProblem, synthetic
from fltheory.participation import StepCounts
from fltheory.participation.selection import Bernoulli


def twins(**more: Any) -> tuple[LogisticProblem, DeepProblem]:
    """Return the same problem twice."""
    logistic = synthetic(
        alpha=1,
        beta=1,
        num_clients=4,
        num_features=5,
        num_classes=3,
        sizes="equal",
        min_size=20,
        l2=0.05,
        seed=1,
        **more,
    )
    assert logistic.test is not None
    train, test = logistic.train, logistic.test
    network = DeepProblem(
        network=Softmax(intercept=False),
        train=Examples(inputs=train.features, labels=train.labels, offsets=train.offsets),
        test=Examples(inputs=test.features, labels=test.labels, offsets=np.array([0, len(test.labels)])),
        num_classes=3,
        l2=0.05,
        batch_size=logistic.batch_size,
        precision="double",
    )
    return logistic, network


@pytest.mark.parametrize("name", [name for name in algorithms() if name != "continual"])
@pytest.mark.parametrize("engine", ["monte_carlo", "reference"])
def test_every_algorithm_does_on_a_network_what_it_does_on_logistic_regression(name: str, engine: str) -> None:
    logistic, network = twins(batch_size=4)
    participation = Participation(
        num_clients=4,
        local_steps=3,
        selection=Bernoulli(probability=0.7),
        steps=StepCounts(pmf=np.array([0.0, 0.3, 0.3, 0.4])),
    )
    runs = []
    for problem, by in ((logistic, "reference"), (network, engine)):
        experiment = Experiment(
            problem=problem,
            algorithm=algorithms()[name](),
            participation=participation,
            rounds=5,
            rate=0.2,
            start=np.zeros(problem.dim),
        )
        runs.append(simulate(experiment, engine=by, replicates=2, seed=3, record=Record(models=True)))
    expected, found = (run.curve("models") for run in runs)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)
    assert np.abs(expected[:, -1]).max() > 1e-3
    np.testing.assert_array_equal(runs[1].uplink_bits, runs[0].uplink_bits)
    np.testing.assert_allclose(runs[1].curve("accuracy"), logistic.accuracy(expected))
    values = [[logistic.objective().value(w) for w in path] for path in expected]
    np.testing.assert_allclose(runs[1].curve("loss"), values, rtol=1e-10)


def test_what_algorithms_ask_is_answered_alike() -> None:
    logistic, network = twins(batch_size=4)
    oracles = [p.reference_oracle(seed=2, replicates=range(2)) for p in (logistic, network)]
    w = np.random.default_rng(0).standard_normal((2, 4, logistic.dim))
    active = np.array([[True, False, True, False], [False, False, True, True]])
    for index in (0, 3):
        for oracle in oracles:
            oracle.begin_round(index)
        for batch in (None, oracles[0].minibatch(2)):
            expected, found = (oracle.gradient(w, batch) for oracle in oracles)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)
            some = oracles[1].gradient(w, batch, active=active)
            np.testing.assert_allclose(some[active], expected[active], rtol=1e-10, atol=1e-14)
            assert not some[~active].any()
    for kind in ("exact", "diagonal", "fisher", "empirical-fisher"):
        expected, found = (oracle.curvature(w, kind) for oracle in oracles)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(oracles[1].apply(found, w), oracles[0].apply(expected, w), rtol=1e-9, atol=1e-13)
        some = oracles[1].curvature(w, kind, active=active)
        np.testing.assert_allclose(some[active], expected[active], rtol=1e-9, atol=1e-13)
        assert not some[~active].any()


def test_fisher_information_may_rest_on_fewer_samples(make_network_problem: Any) -> None:
    all_, few = make_network_problem("mlp"), make_network_problem("mlp", fisher_samples=2)
    firsts = [np.arange(first, first + 2) for first in all_.train.offsets[:-1]]
    small = replace(all_, train=Examples.per_client(all_.train.inputs, all_.train.labels, firsts))
    w = all_.start[None, None] + 0.1
    oracles = [problem.reference_oracle(seed=0, replicates=range(1)) for problem in (few, small, all_)]
    for kind in ("fisher", "empirical-fisher"):
        found, first, whole = (oracle.curvature(w, kind)[0, 0] for oracle in oracles)
        np.testing.assert_allclose(found, first, rtol=1e-12)
        assert np.abs(found - whole).max() > 1e-4
    np.testing.assert_array_equal(oracles[0].curvature(w, "diagonal"), oracles[2].curvature(w, "diagonal"))


def test_no_digit_depends_on_threads_or_blocks(make_network_problem: Any) -> None:
    allowed = torch.get_num_threads()
    runs = []
    try:
        for threads, replicates in ((1, 3), (2, 3), (2, 1)):
            torch.set_num_threads(threads)
            problem = make_network_problem("cnn", batch_size=2, precision="single")
            experiment = Experiment(
                problem=problem,
                algorithm=algorithms()["scaffold"](),
                participation=Participation(num_clients=3, local_steps=2),
                rounds=3,
                rate=0.1,
            )
            record = Record(models=True)
            runs.append(simulate(experiment, replicates=replicates, threads=threads, record=record).curve("models"))
            assert torch.get_num_threads() == threads
            inside = problem._bench(reference=False).each(lambda network, task: torch.get_num_threads(), range(8))
            assert inside == [1] * 8
    finally:
        torch.set_num_threads(allowed)
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0][:1], runs[2])
    assert len(np.unique(runs[0][:, -1, 0])) == 3


def test_single_precision_is_near_double(make_network_problem: Any) -> None:
    ends = []
    for precision in ("single", "double"):
        experiment = Experiment(
            problem=make_network_problem("mlp", batch_size=2, precision=precision),
            algorithm=algorithms()["fedprox"](prox=0.1),
            participation=Participation(num_clients=3, local_steps=4),
            rounds=5,
            rate=0.1,
        )
        ends.append(simulate(experiment, replicates=1, record=Record(models=True)).curve("models")[0, -1])
    assert 0 < np.abs(ends[0] - ends[1]).max() < 1e-5


def test_exact_solutions_are_refused(make_network_problem: Any) -> None:
    experiment = Experiment(
        problem=make_network_problem(),
        algorithm=algorithms()["feddyn"](exact=True),
        participation=Participation(num_clients=3, local_steps=1),
        rounds=1,
        rate=0.1,
    )
    with pytest.raises(NotApplicable, match="cannot be solved exactly; let the algorithm take gradient steps"):
        simulate(experiment, replicates=1)


def test_expectations_are_refused(make_network_problem: Any) -> None:
    experiment = Experiment(
        problem=make_network_problem(),
        algorithm=algorithms()["fedavg"](),
        participation=Participation(num_clients=3, local_steps=1),
        rounds=1,
        rate=0.1,
    )
    with pytest.raises(NotApplicable, match="affine gradients"):
        simulate(experiment, engine="exact")


def test_divergence_is_noticed(make_network_problem: Any) -> None:
    experiment = Experiment(
        problem=make_network_problem("softmax", l2=1.0),
        algorithm=algorithms()["fedavg"](),
        participation=Participation(num_clients=3, local_steps=50),
        rounds=30,
        rate=1e6,
    )
    with pytest.raises(Diverged, match="FedAvg"):
        simulate(experiment, replicates=1)


def test_averages_have_no_gap(make_network_problem: Any) -> None:
    experiment = Experiment(
        problem=make_network_problem(),
        algorithm=algorithms()["fedavg"](),
        participation=Participation(num_clients=3, local_steps=1),
        rounds=2,
        rate=0.1,
        averaging=np.ones(3),
    )
    with pytest.raises(NotApplicable, match="the gap of a network's loss is not known"):
        simulate(experiment, replicates=1)


def test_arrays_of_other_shapes_are_refused(make_network_problem: Any) -> None:
    oracle = make_network_problem().reference_oracle(seed=0, replicates=range(2))
    with pytest.raises(InvalidParameter, match=r"broadcast to \(replicates, clients, dim\)"):
        oracle.gradient(np.zeros((3, 1, oracle.dim)))
