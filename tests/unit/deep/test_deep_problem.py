"""Problems of networks: what they check, where they begin, how they evaluate models."""

from __future__ import annotations

import dataclasses
import importlib.util
from typing import Any

import numpy as np
import pytest
import torch

from fltheory import Experiment, Participation, simulate
from fltheory.configuration.registry import algorithms
from fltheory.deep import DeepProblem, Examples
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.problems import constants_on_ball


def test_the_first_model_is_that_of_the_seed_and_no_other_generator_is_touched(make_network_problem: Any) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = (make_network_problem(seed=seed).start for seed in (1, 1, 2))
    torch.testing.assert_close(torch.rand(3), expected)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_weights_are_shares_of_the_samples(make_network_problem: Any) -> None:
    problem = make_network_problem()
    np.testing.assert_allclose(problem.weights, np.array([5, 9, 3]) / 17)
    assert problem.constants() == {}


def test_a_network_prints_as_one_line_and_has_no_constants_to_show(make_network_problem: Any) -> None:
    text = repr(make_network_problem("mlp", batch_size=2))
    assert text == (
        "DeepProblem(network=MLP(hidden=(5, 4)), num_clients=3, dim=64, samples=17, classes=3, l2=0, batch_size=2)"
    )
    shown = make_network_problem("mlp", batch_size=2)._repr_html_()
    assert text in shown
    assert "<table>" not in shown
    with pytest.raises(NotApplicable, match="constants on a ball are not known for DeepProblem"):
        constants_on_ball(make_network_problem(), 1.0)


def test_loss_and_accuracy_of_models(make_network_problem: Any) -> None:
    """By hand, with a sample after the other."""
    problem = make_network_problem("mlp", l2=0.4)
    p = np.array([0.5, 0.2, 0.3])
    models = problem.start + 0.3 * np.random.default_rng(0).standard_normal((2, 3, problem.dim))
    found = problem.objective(p).measure(models)
    assert found.loss.shape == found.accuracy.shape == (2, 3)
    w = models[1, 2]
    scores = {part: scored(problem, w, getattr(problem, part).inputs) for part in ("train", "test")}
    logs = torch.log_softmax(scores["train"], dim=1)
    losses = -logs.numpy()[np.arange(17), problem.train.labels]
    expected = sum(p[i] * losses[problem.train.rows(i)].mean() for i in range(3)) + 0.2 * (w @ w)
    assert found.loss[1, 2] == pytest.approx(expected, rel=1e-12)
    right = (scores["test"].argmax(dim=1).numpy() == problem.test.labels).mean()
    assert found.accuracy[1, 2] == right


def scored(problem: DeepProblem, w: Any, inputs: Any) -> Any:
    module = problem.module().double()
    torch.nn.utils.vector_to_parameters(torch.tensor(np.array(w)), module.parameters())
    with torch.no_grad():
        return module(torch.tensor(np.array(inputs)))


def test_fewer_samples_are_evaluated_in_proportion(make_network_problem: Any) -> None:
    problem = make_network_problem("mlp", counts=(10, 20, 30), evaluated=6)
    rows, weights = problem.objective()._evaluated()
    np.testing.assert_array_equal(rows, [0, 10, 11, 30, 31, 32])
    np.testing.assert_allclose(weights, [1 / 6] * 6)
    rows, weights = problem.objective(np.array([0.6, 0.2, 0.2]))._evaluated()
    np.testing.assert_allclose(weights, [0.6, 0.1, 0.1, 0.2 / 3, 0.2 / 3, 0.2 / 3])
    whole = dataclasses.replace(problem, evaluated=60).objective()._evaluated()
    np.testing.assert_array_equal(whole[0], np.arange(60))
    accuracy = problem.objective().measure(problem.start).accuracy
    hits = scored(problem, problem.start, problem.test.inputs[:6]).argmax(dim=1).numpy() == problem.test.labels[:6]
    assert accuracy == hits.mean()


def test_the_gradient_of_the_objective_is_the_mean_over_clients(make_network_problem: Any) -> None:
    problem = make_network_problem("cnn", l2=0.1)
    p = np.array([0.5, 0.2, 0.3])
    w = problem.start + 0.1
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    expected = p @ oracle.gradient(w[None, None])[0]
    np.testing.assert_allclose(problem.objective(p).gradient(np.stack([w, w])), [expected] * 2, rtol=1e-9, atol=1e-12)


def test_what_nobody_knows_is_not_made_up(make_network_problem: Any) -> None:
    objective = make_network_problem().objective()
    for ask in (lambda: objective.w_star, lambda: objective.f_star, lambda: objective.gap(np.zeros(3))):
        with pytest.raises(NotApplicable, match="of a network's loss is not known"):
            ask()


def test_personal_models_are_evaluated_on_their_own_samples(make_network_problem: Any) -> None:
    own_test = (np.array([0, 1, 2]), np.array([7]), np.array([3, 4]))
    problem = make_network_problem("mlp", own_test=own_test, l2=0.4)
    models = problem.start + 0.5 * np.random.default_rng(0).standard_normal((2, 3, problem.dim))
    found = problem.reference_oracle(seed=0, replicates=range(2)).client_measures(models)
    for r, i in np.ndindex(2, 3):
        w, own = models[r, i], problem.train.rows(i)
        logs = torch.log_softmax(scored(problem, w, problem.train.inputs[own]), dim=1).numpy()
        loss = -logs[np.arange(len(logs)), problem.train.labels[own]].mean() + 0.2 * (w @ w)
        assert found["personal_loss"][r, i] == pytest.approx(loss, rel=1e-12)
        guess = scored(problem, w, problem.test.inputs[own_test[i]]).argmax(dim=1).numpy()
        assert found["personal_accuracy"][r, i] == (guess == problem.test.labels[own_test[i]]).mean()


def test_personal_curves_are_recorded(make_network_problem: Any) -> None:
    own_test = (np.array([0]), np.array([1, 2]), np.array([3]))
    for given, curves in ((own_test, {"personal_loss", "personal_accuracy"}), ((), {"personal_loss"})):
        experiment = Experiment(
            problem=make_network_problem("mlp", own_test=given),
            algorithm=algorithms()["apfl"](),
            participation=Participation(num_clients=3, local_steps=2),
            rounds=2,
            rate=0.1,
        )
        run = simulate(experiment, replicates=2)
        assert {name for name in run.curves() if name.startswith("personal")} == curves
        assert "gap" not in run.curves()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_classes": 2}, r"DeepProblem\.train must have labels in 0 \.\. 1, got 2; raise num_classes"),
        ({"num_classes": 1}, "num_classes must be an integer >= 2"),
        ({"l2": -1.0}, r"DeepProblem\.l2 must be"),
        ({"batch_size": 0}, r"batch_size must be .*leave it out for full gradients"),
        ({"precision": "half"}, r"precision must be one of 'double', 'single'"),
        ({"evaluated": 0}, "evaluated must be an integer >= 1"),
        ({"fisher_samples": 0}, r"fisher_samples must be .*leave it out for all samples"),
        ({"seed": -1}, "seed must be"),
        ({"own_test": (np.array([0]),)}, r"own_test must have one vector of rows for each of 3 clients, got 1"),
        ({"own_test": (np.array([0]), np.array([8]), np.array([1]))}, r"own_test must be rows in 0 \.\. 7"),
        (
            {"test": Examples(inputs=np.zeros((2, 5)), labels=np.zeros(2, int), offsets=np.array([0, 2]))},
            r"test must have inputs of shape \(4,\) like train, got \(5,\)",
        ),
    ],
)
def test_bad_values_are_refused(make_network_problem: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        dataclasses.replace(make_network_problem(), **change)


def test_without_pytorch_a_remedy_is_named(make_network_problem: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_network_problem()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotApplicable, match=r"pip install --editable '\.\[torch\]'"):
        dataclasses.replace(problem)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": np.zeros(4)}, r"inputs must be numbers of shape \(samples, \.\.\.\), got shape \(4,\)"),
        ({"inputs": np.full((4, 2), np.nan)}, "inputs must be finite"),
        ({"inputs": np.array([["a"]] * 4)}, "inputs must be numbers"),
        ({"labels": np.zeros(3, int)}, "labels must be 4 integers >= 0"),
        ({"labels": np.array([0, 1, -1, 0])}, "labels must be 4 integers >= 0"),
        ({"labels": np.zeros(4)}, "labels must be 4 integers >= 0"),
        ({"offsets": np.array([0, 2, 2, 4])}, "offsets must be increasing from 0 to the number of samples 4"),
        ({"offsets": np.array([0, 2, 3])}, "offsets must be increasing"),
        ({"offsets": np.array([4])}, "offsets must be increasing"),
    ],
)
def test_examples_that_are_none_are_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"inputs": np.zeros((4, 2)), "labels": np.zeros(4, int), "offsets": np.array([0, 1, 4])}
    with pytest.raises(InvalidParameter, match=message):
        Examples(**(given | change))


def test_examples_are_read_only_and_dealt_by_number() -> None:
    inputs, labels = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 2])
    examples = Examples.per_client(inputs, labels, [np.array([5, 0]), np.array([2, 3, 1])])
    np.testing.assert_array_equal(examples.labels, [2, 0, 2, 0, 1])
    np.testing.assert_array_equal(examples.inputs[:, 0], [10, 0, 4, 6, 2])
    np.testing.assert_array_equal(examples.counts, [2, 3])
    assert examples.num_clients == 2
    assert examples.shape == (2,)
    assert examples.rows(1) == slice(2, 5)
    for array in (examples.inputs, examples.labels, examples.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
