"""Rounds drawn at once: when they may be, and that they keep the promises about random numbers.

Their law is compared with that of every step in ``tests/statistical``.
"""

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory._internal import seeding
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.signsgd import SignSGD
from fltheory.errors import Diverged
from fltheory.participation import BernoulliSteps

OUTSIDE = Record(consensus=False)
AT_ONCE = "rounds drawn at once"


def experiment_of(algorithm=None, **more):
    options = {
        "problem": noisy_quadratic(dim=3, num_clients=3, noise_sq=0.1),
        "participation": Participation(num_clients=3, local_steps=2),
        "rounds": 4,
        "rate": 0.1,
    }
    return Experiment(algorithm=algorithm or FedAvg(), **(options | more))


def run(experiment, **more):
    return simulate(experiment, collapse=True, **({"record": OUTSIDE, "replicates": 5} | more))


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold(), CFLR()])
def test_without_noise_nothing_changes(algorithm):
    problem = noisy_quadratic(dim=3, num_clients=3, noise_sq=0.0, round_drift_sq=0.0)
    experiment = experiment_of(algorithm, problem=problem, averaging=np.ones(5))
    at_once, every = run(experiment, replicates=2), simulate(experiment, replicates=2, record=OUTSIDE)
    assert at_once.provenance["steps"].startswith(AT_ONCE)
    assert at_once.curves() == every.curves()
    for name in every.curves():
        np.testing.assert_allclose(at_once.curve(name), every.curve(name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold()])
def test_same_bits_for_any_number_of_threads(algorithm):
    experiment = experiment_of(algorithm)
    one, two = (run(experiment, threads=threads, replicates=1500) for threads in (1, 2))
    assert one.provenance["steps"].startswith(AT_ONCE)
    assert all(np.array_equal(one.curve(name), two.curve(name)) for name in one.curves())
    assert len(np.unique(one.gap[:, -1])) == 1500


def test_rounds_at_once_have_random_numbers_of_their_own(monkeypatch):
    """They share none with the noise of single steps, nor with runs of another seed."""
    asked = []
    keys = seeding.replicate_keys

    def noted(seed, purpose, replicates):
        asked.append((seed, purpose.name))
        return keys(seed, purpose, replicates)

    monkeypatch.setattr(seeding, "replicate_keys", noted)
    run(experiment_of(), seed=5)
    assert set(asked) == {(5, "COLLAPSED")}


def test_more_replicates_extend_a_run():
    few, many = (run(experiment_of(), replicates=n) for n in (5, 70))
    np.testing.assert_allclose(many.gap[:5], few.gap, rtol=1e-12)


@pytest.mark.parametrize(
    ("experiment", "record", "reason"),
    [
        (experiment_of(), Record(consensus=True), "looks inside rounds"),
        (experiment_of(), Record(consensus=False, nonzeros=True), "looks inside rounds"),
        (experiment_of(SignSGD()), OUTSIDE, "singles out coordinates"),
        (experiment_of(APFL()), OUTSIDE, "personal models"),
        (experiment_of(problem=client_quadratics(num_clients=3)), OUTSIDE, "common eigenbasis"),
        (experiment_of(problem=noisy_quadratic(num_clients=3, noise_law="bounded")), OUTSIDE, "not Gaussian"),
        (experiment_of(problem=noisy_quadratic(num_clients=3, hessian_noise=0.1)), OUTSIDE, "multiplies the state"),
        (
            experiment_of(
                participation=Participation(num_clients=3, local_steps=2, steps=BernoulliSteps(probability=0.5))
            ),
            OUTSIDE,
            "participation is random",
        ),
    ],
)
def test_where_the_law_would_change_every_step_is_run(experiment, record, reason):
    asked, plain = run(experiment, record=record), simulate(experiment, replicates=5, record=record)
    assert reason in asked.provenance["steps"]
    assert all(np.array_equal(asked.curve(name), plain.curve(name)) for name in plain.curves())


def test_divergence():
    with pytest.raises(Diverged, match=r"FedAvg diverged in round \d+, replicate 0 \(seed 3, learning rate 5\)"):
        run(experiment_of(rounds=400, rate=5.0), seed=3)
