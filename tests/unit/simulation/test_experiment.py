"""What an experiment is made of is looked at before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fltheory as fl
from fltheory.simulation.experiment import describe
from fltheory.simulation.schedules import Constant

GOOD: dict[str, Any] = {
    "problem": fl.noisy_quadratic(dim=2, num_clients=2),
    "algorithm": fl.FedAvg(),
    "participation": fl.Participation(num_clients=2, local_steps=2),
    "rounds": 2,
    "rate": 0.1,
}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("algorithm", fl.FedAvg, r"an algorithm, such as fl.FedAvg\(\), got .*; write FedAvg\(\) for one with"),
        ("algorithm", "fedavg", r"Experiment.algorithm must be an algorithm, .* got algorithm='fedavg'"),
        ("algorithm", np.zeros(3), "Experiment.algorithm must be an algorithm"),
        ("problem", None, "Experiment.problem must be a problem, .* got problem=None"),
        ("problem", fl.Quadratic, r"Experiment.problem must be a problem"),
        ("participation", 0.5, r"such as fl.Participation\(num_clients=2, local_steps=5\), got participation=0.5"),
        ("rounds", "five", "Experiment.rounds must be an integer >= 1, got rounds='five'"),
    ],
)
def test_parts_of_another_type_are_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(fl.InvalidParameter, match=message):
        fl.Experiment(**{**GOOD, field: value})


def test_what_is_not_run_is_refused_by_name() -> None:
    with pytest.raises(fl.InvalidParameter, match=r"simulate.experiment must be an fl.Experiment, got experiment='x'"):
        fl.simulate("x")  # type: ignore[arg-type]
    with pytest.raises(fl.InvalidParameter, match=r"simulate.record must be an fl.Record"):
        fl.simulate(fl.Experiment(**GOOD), record={"models": True})  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [0, 0.0, -0.1, float("nan"), float("inf"), "fast", Constant])
def test_rates_are_positive_numbers_or_schedules(rate: Any) -> None:
    with pytest.raises(fl.InvalidParameter, match=r"Experiment\.rate must be"):
        fl.Experiment(**{**GOOD, "rate": rate})


@pytest.mark.parametrize(
    ("name", "least", "refused"),
    [("replicates", 1, (0, 1.5, True)), ("seed", 0, (-1, 0.5)), ("threads", 1, (0, 1.5))],
)
def test_numbers_of_a_run(name: str, least: int, refused: tuple[Any, ...]) -> None:
    experiment = fl.Experiment(**GOOD)
    assert fl.simulate(experiment, **{"replicates": 1, name: least}).replicates == 1
    for value in refused:
        with pytest.raises(fl.InvalidParameter, match=rf"simulate\.{name} must be an integer >= {least}, got {name}="):
            fl.simulate(experiment, **{name: value})


def test_arrays_are_written_out_up_to_64_entries() -> None:
    assert describe(np.arange(64.0)) == list(range(64))
    assert describe(np.ones((5, 13))) == {"shape": [5, 13], "sum": 65.0}
    assert describe((np.float64(0.5), [np.int64(2)], None, True, "x")) == [0.5, [2], None, True, "x"]


@pytest.mark.parametrize("make", [fl.logistic_from_arrays, fl.softmax_from_arrays])
def test_arrays_that_are_no_lists_are_refused(make: Any) -> None:
    with pytest.raises(
        fl.InvalidParameter, match=r"\.features must be a list with one array per client, got features=3"
    ):
        make(3, [np.zeros(2)], l2=0.1)
    with pytest.raises(
        fl.InvalidParameter, match=r"\.labels must be a list with one array per client, got labels=None"
    ):
        make([np.zeros((2, 2))], None, l2=0.1)
