"""What is handed in beside an experiment: runs of others, constants that are none, arguments of a wrong type."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fltheory as fl

THEOREM = fl.theorem("ruan.theorem-3.1")
QUADRATIC = fl.client_quadratics(dim=3, num_clients=3, mu=1.0, L=6.0, dissimilarity=2.0, noise_sq=0.1)
EVERYONE = fl.Participation(num_clients=3, local_steps=2)
EXPERIMENT = fl.Experiment(
    problem=QUADRATIC,
    algorithm=fl.FedAvg(),
    participation=EVERYONE,
    rounds=6,
    rate=THEOREM.rate_for(QUADRATIC, EVERYONE),
)


def test_a_run_with_nothing_recorded_is_completed_if_it_is_exact() -> None:
    run = fl.simulate(EXPERIMENT, engine="exact")
    assert run.gradient_sq is None
    compared = THEOREM.compare(EXPERIMENT, run)
    assert compared.decision is fl.Decision.HOLDS
    np.testing.assert_allclose(compared.left, run.distance_sq[0, 1:], rtol=1e-12)


def test_what_was_recorded_before_is_recorded_again() -> None:
    run = fl.simulate(EXPERIMENT, engine="exact", record=fl.Record(moments=True))
    again = THEOREM.compare(EXPERIMENT, run).run
    assert again.gradient_sq is not None
    np.testing.assert_allclose(again.model_mean, run.model_mean, rtol=1e-12)


def test_expectations_given_sampled_participation_are_completed_from_the_same_sample() -> None:
    half = fl.participation.BernoulliSteps(probability=0.5)
    participation = fl.Participation(num_clients=12, local_steps=3, steps=half)
    problem = fl.client_quadratics(dim=2, num_clients=12, mu=1.0, L=2.0)
    experiment = fl.Experiment(
        problem=problem, algorithm=fl.Ruan(scheme="C"), participation=participation, rate=0.01, rounds=2
    )
    run = fl.simulate(experiment, engine="exact", seed=5, replicates=7)
    compared = fl.theorem("ruan.eq-66").compare(experiment, run)
    assert not run.exact
    np.testing.assert_allclose(compared.run.distance_sq, run.distance_sq, rtol=1e-12)


def test_a_simulated_run_without_what_is_needed_says_how_to_record_it() -> None:
    run = fl.simulate(EXPERIMENT, engine="monte_carlo", replicates=4)
    with pytest.raises(fl.NotApplicable, match=r"gradient_sq.*record=fl\.theorem\('ruan\.theorem-3\.1'\)\.record"):
        THEOREM.compare(EXPERIMENT, run)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"rate": 0.01}, "whose rate is another"),
        ({"rounds": 4}, "4 rounds in place of 6"),
        ({"algorithm": fl.Ruan(scheme="A")}, "whose algorithm is another"),
        ({"problem": fl.noisy_quadratic(dim=3, num_clients=3)}, "whose problem is another"),
        ({"start": np.ones(3)}, "whose start is another"),
    ],
)
def test_a_run_of_another_experiment_is_refused(changed: dict[str, Any], name: str) -> None:
    run = fl.simulate(dataclasses.replace(EXPERIMENT, **changed), engine="exact", record=THEOREM.record())
    with pytest.raises(fl.InvalidParameter, match=name):
        THEOREM.compare(EXPERIMENT, run)


def test_the_beginning_of_a_longer_run_is_a_run() -> None:
    run = fl.simulate(dataclasses.replace(EXPERIMENT, rounds=9), engine="exact", record=THEOREM.record())
    again = THEOREM.compare(EXPERIMENT, run.until(6))
    np.testing.assert_array_equal(again.left, THEOREM.compare(EXPERIMENT).left)


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"mu": "a"}, r"compare\.mu must be numbers without NaN, got mu='a'"),
        ({"mu": float("nan")}, r"compare\.mu must be numbers without NaN"),
        ({"mu": [1.0, 2.0]}, r"compare\.mu must have 6 numbers, got 2"),
        ({"Gamma": [1.0, 2.0]}, r"compare\.Gamma must have 3 numbers, one per client, got 2"),
        ({"sigma_sq": [1j, 2, 3]}, r"compare\.sigma_sq must be numbers"),
        ({"w_star": [0.0]}, r"compare\.w_star must have shape \(3\)"),
    ],
)
def test_declared_constants_are_numbers_of_the_right_length(constants: dict[str, Any], message: str) -> None:
    with pytest.raises(fl.InvalidParameter, match=message):
        THEOREM.compare(EXPERIMENT, **constants)


NO_PROBLEM: Any = "problem"
RUN = fl.simulate(EXPERIMENT, engine="exact")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: THEOREM.compare(NO_PROBLEM), "compare.experiment must be an fl.Experiment"),
        (lambda: THEOREM.compare(EXPERIMENT, NO_PROBLEM), "compare.run must be what fl.simulate returns"),
        (lambda: THEOREM.compare(EXPERIMENT, replicates=0), "compare.replicates must be an integer >= 1"),
        (lambda: THEOREM.rate_for(NO_PROBLEM, EVERYONE), "rate_for.problem must be a problem"),
        (lambda: THEOREM.rate_for(QUADRATIC, NO_PROBLEM), "rate_for.participation must be a participation"),
        (lambda: THEOREM.rate_for(QUADRATIC, EVERYONE, algorithm=NO_PROBLEM), "rate_for.algorithm must be"),
        (lambda: THEOREM.rate_for(QUADRATIC, EVERYONE, rounds=0), "rate_for.rounds must be an integer >= 1"),
        (lambda: THEOREM.rate_for(QUADRATIC, EVERYONE, thetta=1), "makes no use of thetta; did you mean 'theta'"),
        (lambda: THEOREM.rate_for(QUADRATIC, fl.Participation(num_clients=5, local_steps=2)), "for 3 clients like"),
        (lambda: fl.theorem("ruan.eq-9", claims=3), "claims must be a folder with claims"),  # type: ignore[arg-type]
        (lambda: fl.check([]), "no claim is named"),
        (lambda: fl.check(3), "a claim is named by its id"),  # type: ignore[arg-type]
        (lambda: fl.check("ruan.eq-9", quick="x"), "check.quick must be true or false"),  # type: ignore[arg-type]
        (lambda: fl.check("ruan.eq-9", output=3), "check.output must be the path of a folder"),  # type: ignore[arg-type]
        (lambda: fl.replay(3), "replay.counterexample must be the path of a file"),  # type: ignore[call-overload]
        (lambda: fl.validate(output=3), "validate.output must be the path of a folder"),  # type: ignore[arg-type]
        (lambda: fl.compare_theorems(NO_PROBLEM), "compare_theorems.experiment must be an fl.Experiment"),
        (lambda: fl.tune_rate(NO_PROBLEM), "tune_rate.experiment must be an fl.Experiment"),
        (lambda: fl.largest_stable_rate(NO_PROBLEM), "largest_stable_rate.experiment must be an fl.Experiment"),
        (lambda: fl.step_sizes(NO_PROBLEM, fl.FedAvg(), EVERYONE, rounds=3), "step_sizes.problem must be a problem"),
        (lambda: fl.local_model(NO_PROBLEM), "local_model.problem must be a problem"),
        (lambda: fl.measure(NO_PROBLEM, np.ones((1, 3))), "measure.problem must be a problem"),
        (lambda: fl.problems.constants_on_ball(NO_PROBLEM, 1.0), "constants_on_ball.problem must be a problem"),
        (lambda: fl.run_sweep(3), "sweep.source must be the path of a file"),  # type: ignore[arg-type]
        (lambda: fl.merge_sweeps("one"), r"merge_sweeps.folders must be a list of folders.*write \['one'\]"),
        (lambda: fl.conform(NO_PROBLEM, "fedavg"), "conform.run must be a function that takes a federation"),
        (lambda: fl.simulate(EXPERIMENT, checkpoint=NO_PROBLEM), "simulate.checkpoint must be"),
        (lambda: RUN.band("gap", level=2.0), r"band.level must be a number in \(0, 1\)"),
        (lambda: fl.comparison(RUN), "comparison.curves must be runs by label"),  # type: ignore[arg-type]
        (lambda: fl.comparison({"a": NO_PROBLEM}), "comparison.curves must be runs by label"),
        (
            lambda: fl.comparison({"a": RUN}, references=[fl.Reference("b", np.ones(2), np.ones(3))]),
            "Reference.y must have one value per place",
        ),
        (
            lambda: fl.comparison({"a": RUN}, references=[fl.Reference("b", np.ones(2), NO_PROBLEM)]),
            "Reference.y must be an array of numbers",
        ),
    ],
)
def test_arguments_of_a_wrong_kind_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(fl.InvalidParameter, match=message):
        call()


def test_a_rate_that_divides_by_zero_is_none() -> None:
    with pytest.raises(fl.NotApplicable, match="divides by a constant that is 0"):
        THEOREM.rate_for(QUADRATIC, EVERYONE, mu=0.0)
    compared = THEOREM.compare(EXPERIMENT, mu=0.0)
    assert compared.decision is fl.Decision.NOT_APPLICABLE
    assert compared.unmet[0].name == "learning rate of the theorem"
    assert "the right-hand side is finite" in [one.name for one in compared.unmet]
    assert THEOREM.compare(EXPERIMENT, mu=0).decision is fl.Decision.NOT_APPLICABLE


def test_a_path_may_be_of_any_kind(tmp_path: Path) -> None:
    assert fl.check("ruan.eq-68", quick=True, output=str(tmp_path / "a")).kept is not None
