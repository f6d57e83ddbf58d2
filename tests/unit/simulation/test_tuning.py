"""Tuned learning rates against minima known in closed form."""

import dataclasses
import math

import numpy as np
import pytest

from fltheory import Experiment, Participation, noisy_quadratic, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.signsgd import SignSGD
from fltheory.errors import InvalidParameter, NotAffine, NotApplicable
from fltheory.simulation.schedules import Constant
from fltheory.simulation.tuning import tune_rate


def experiment_of(rounds=1, steps=1, algorithm=None, **more):
    options = {"dim": 3, "num_clients": 2, "client_drift_sq": 0.0, "round_drift_sq": 0.0, "noise_sq": 0.0} | more
    return Experiment(
        problem=noisy_quadratic(**options),
        algorithm=algorithm or FedAvg(),
        participation=Participation(num_clients=2, local_steps=steps),
        rounds=rounds,
        rate=1.0,
    )


@pytest.mark.parametrize(("h", "noise_sq"), [(2.0, 10.0), (7.3, 0.1), (20.0, 1.0)])
def test_one_noisy_step_has_a_known_best_rate(h, noise_sq):
    r"""``(1 - eta h)^2 r^2 + eta^2 s / N`` is least at ``eta = h r^2 / (h^2 r^2 + s / N)``."""
    tuned = tune_rate(experiment_of(mu=h, L=h, radius=1.0, noise_sq=noise_sq), quantity="distance_sq")
    best = h / (h**2 + noise_sq / 2)
    assert tuned.rate == pytest.approx(best, rel=3e-3)
    least = (1 - best * h) ** 2 + best**2 * noise_sq / 2
    assert least * (1 - 1e-12) <= tuned.loss <= least * (1 + 1e-2)


def test_the_best_rate_beats_a_fine_grid():
    experiment = experiment_of(rounds=12, steps=3, mu=1.0, L=8.0, client_drift_sq=0.1, noise_sq=0.2, dim=4)
    tuned = tune_rate(experiment)
    grid = np.geomspace(0.01, 0.2, 60)
    losses = [
        simulate(dataclasses.replace(experiment, rate=Constant(value=float(rate))), engine="exact").gap[0, -1]
        for rate in grid
    ]
    assert tuned.loss <= min(losses) * (1 + 1e-6)
    assert tuned.rate == pytest.approx(grid[int(np.argmin(losses))], rel=0.06)


def test_the_run_belongs_to_the_rate():
    tuned = tune_rate(experiment_of(rounds=3, mu=1.0, L=3.0))
    assert tuned.trajectories.gap[0, -1] == tuned.loss
    assert tuned.trajectories.provenance["experiment"]["rate"]["value"] == tuned.rate


def test_rates_that_diverge_are_passed_over():
    tuned = tune_rate(experiment_of(rounds=200, steps=20, mu=100.0, L=1000.0), low=1e-5, high=1e3)
    assert tuned.rate < 2 / 1000
    assert math.isfinite(tuned.loss)


def test_a_minimum_at_the_end_is_that_end():
    assert tune_rate(experiment_of(mu=1.0, L=1.0), low=1e-3, high=0.1).rate == pytest.approx(0.1, rel=2e-3)
    noise_only = experiment_of(radius=0.0, noise_sq=1.0)
    assert tune_rate(noise_only, low=0.01, high=0.1).rate == pytest.approx(0.01, rel=2e-3)


def test_a_minimum_between_the_end_and_its_neighbour_is_found():
    """One step with rate 1 is exact; the grid of the interval has a point at either side of it, the end among them."""
    for low, high in ((0.97, 3.0), (0.01, 1.03)):
        assert tune_rate(experiment_of(mu=1.0, L=1.0), low=low, high=high).rate == pytest.approx(1.0, rel=3e-3)


def test_other_quantities_and_engines():
    experiment = experiment_of(rounds=3, mu=2.0, L=4.0, noise_sq=0.1)
    by_gradient = tune_rate(experiment, quantity="gradient_norm_sq")
    assert by_gradient.trajectories.gradient_norm_sq[0, -1] == by_gradient.loss
    sampled = [tune_rate(experiment, engine="monte_carlo", replicates=20, seed=1) for _ in range(2)]
    assert sampled[0].rate == sampled[1].rate
    assert sampled[0].trajectories.replicates == 20


def test_refusals():
    with pytest.raises(NotApplicable, match=r"every learning rate in \[10, 100\] makes FedAvg diverge"):
        tune_rate(experiment_of(rounds=500), low=10.0, high=100.0)
    with pytest.raises(InvalidParameter, match=r"tune_rate\.low"):
        tune_rate(experiment_of(), low=0.0)
    with pytest.raises(InvalidParameter, match=r"tune_rate\.high"):
        tune_rate(experiment_of(), low=0.1, high=0.1)
    with pytest.raises(InvalidParameter, match="did you mean 'gap'"):
        tune_rate(experiment_of(), quantity="gaps")
    with pytest.raises(NotAffine, match="signSGD"):
        tune_rate(experiment_of(algorithm=SignSGD()))
