"""What becomes of one run: final values, and words for failures."""

import numpy as np
import pytest

from fltheory import Experiment, Participation, noisy_quadratic
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.signsgd import SignSGD
from fltheory.errors import TimeLimit
from fltheory.simulation import engines
from fltheory.simulation.recording import Record
from fltheory.simulation.run_result import final, run_experiment
from fltheory.simulation.trajectories import Trajectories


def trajectories(values, **more):
    names = ("distance_sq", "gap", "gradient_norm_sq", "uplink_bits", "downlink_bits")
    return Trajectories(algorithm="A", **(dict.fromkeys(names, np.asarray(values, dtype=float)) | more))


def test_final_values_have_the_half_width_of_the_band():
    runs = trajectories([[1.0, 2.0], [1.0, 4.0]], models=np.zeros((2, 2, 3)))
    band = runs.band("gap", level=0.99)
    assert final(runs)["gap"] == {"mean": 3.0, "half_width": band.high[-1] - 3.0}
    assert "models" not in final(runs)


def test_one_replicate_and_the_edge_of_floating_point_have_no_band():
    assert final(trajectories([[1.0, 2.0]]))["gap"] == {"mean": 2.0, "half_width": None}
    assert final(trajectories([[1.0, 2.0]], exact=True))["gap"] == {"mean": 2.0, "half_width": 0.0}
    assert final(trajectories([[1.0, 0.1e308], [1.0, 1.6e308]]))["gap"]["half_width"] is None


def experiment(algorithm=None, rate=0.1):
    problem, alone = noisy_quadratic(dim=2, num_clients=2), Participation(num_clients=2, local_steps=1)
    return Experiment(problem=problem, algorithm=algorithm or FedAvg(), participation=alone, rounds=5, rate=rate)


def test_a_run_that_ends_well():
    result = run_experiment("one", experiment(), seed=3, replicates=2)
    assert (result.label, result.status, result.error) == ("one", "done", "")
    np.testing.assert_array_equal(result.trajectories.gap, engines.simulate(experiment(), seed=3, replicates=2).gap)


@pytest.mark.parametrize(
    ("one", "options", "status"),
    [
        (experiment(rate=1e80), {}, "diverged"),
        (experiment(SignSGD()), {"engine": "exact"}, "not affine"),
        (experiment(), {"engine": "exact", "record": Record(models=True)}, "not applicable"),
    ],
    ids=["diverged", "not affine", "not applicable"],
)
def test_refusals_have_a_word(one, options, status):
    result = run_experiment("one", one, **options)
    assert (result.label, result.status, result.trajectories) == ("one", status, None)
    assert result.error
    assert "\n" not in result.error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TimeLimit(3.0), "too slow"),
        (MemoryError(), "too large"),
        (OverflowError(), "too large"),
        (KeyError(1), "failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_accidents_are_told_from_refusals(monkeypatch, error, status):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(engines, "simulate", fails)
    result = run_experiment("one", experiment())
    assert (result.label, result.status, result.trajectories) == ("one", status, None)
    assert "lower replicates" in result.error if status == "too large" else str(error) in result.error
