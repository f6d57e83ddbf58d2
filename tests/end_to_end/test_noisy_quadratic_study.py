"""The noisy-quadratic experiment of the CFL paper, all eight settings and three algorithms, with tuned rates."""

import dataclasses

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, simulate
from fltheory.bounds.cfl import settings as study


def final_loss(setting: study.Setting, algorithm: object, rate: float) -> float:
    experiment = Experiment(
        problem=setting.problem(),
        algorithm=algorithm,
        participation=Participation(num_clients=setting.num_clients, local_steps=setting.local_steps),
        rounds=setting.rounds,
        rate=rate,
    )
    run = simulate(experiment, engine="exact", record=Record(consensus=False))
    return float(np.sqrt(run.gradient_norm_sq[0, -1]))


@pytest.mark.parametrize("setting", study.settings(), ids=lambda setting: setting.name)
def test_tuned_rates_are_optimal_and_reproduce_the_loss(setting: study.Setting) -> None:
    for algorithm in study.algorithms():
        result = study.tuned(setting, algorithm)
        assert final_loss(setting, algorithm, result.rate) == pytest.approx(result.loss, rel=1e-9)
        for factor in (0.9, 1.1):
            assert final_loss(setting, algorithm, factor * result.rate) >= result.loss * (1 - 1e-6)


def test_settings_are_the_eight_of_the_paper() -> None:
    cases = {(s.L, s.mu, s.round_drift_sq) for s in study.settings()}
    assert cases == {(big, mu, drift) for big in (5.0, 20.0) for mu in (0.0, 1.0) for drift in (0.01, 100.0)}
    for setting in study.settings():
        constants = setting.problem().constants()
        assert constants["mu"].value == pytest.approx(setting.mu, abs=1e-12)
        assert constants["L"].value == pytest.approx(setting.L)
        assert constants["client_drift_sq"].value == pytest.approx(0.01)
        assert constants["round_drift_sq"].value == setting.round_drift_sq


def test_a_monte_carlo_run_has_the_tuned_loss() -> None:
    """64 replicates, band over the last round only, error level 1e-6, seed fixed."""
    setting = dataclasses.replace(study.settings()[4], rounds=30)
    algorithm = study.algorithms()[2]
    result = study.tuned(setting, algorithm)
    experiment = Experiment(
        problem=setting.problem(),
        algorithm=algorithm,
        participation=Participation(num_clients=setting.num_clients, local_steps=setting.local_steps),
        rounds=setting.rounds,
        rate=result.rate,
    )
    last = simulate(experiment, replicates=64, seed=1, collapse=False).gradient_norm_sq[:, -1]
    assert abs(last.mean() - result.loss**2) < 5.5 * last.std(ddof=1) / 8
