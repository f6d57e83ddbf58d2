"""Expectations of what happens inside rounds, of rates per step and of coins, against means of simulated runs.

4,000 replicates each. Every number of a curve is compared with Student's interval at a level that all numbers of the
curve divide (Bonferroni), so one curve fails with probability below 1e-6 if replicate means are near normal. With fewer
than 400 curves in this file, the probability of any false alarm over seeds drawn at random is below 4e-4. The seeds
are fixed, so a run repeats.
"""

import numpy as np
import pytest
from scipy.special import stdtrit

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.ruan import Ruan
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.vrl_sgd import VRLSGD
from fltheory.participation import BernoulliSteps, StepCounts, UniformSteps
from fltheory.simulation.schedules import PerStep

REPLICATES = 4000
ALARM = 1e-6
INSIDE = Record(gradient_sq=True, local_models=True, mean_iterate=True)
RATE = PerStep(scale=1.0, shift=12.0)

PROBLEMS = {
    "rotated": noisy_quadratic(dim=3, num_clients=3, noise_sq=0.5, client_drift_sq=0.4, round_drift_sq=0.2),
    "dense": client_quadratics(
        dim=3, num_clients=3, noise_sq=0.5, round_drift_sq=0.2, dissimilarity=2.0, sample_counts=[1, 2, 3]
    ),
    "fresh clients": noisy_quadratic(dim=3, num_clients=3, scenario="S1", noise_sq=0.5, client_drift_sq=0.4),
}
ALGORITHMS = [
    FedAvg(),
    Scaffold(),
    FedNova(prox=0.3, server_momentum=0.5),
    FedDyn(alpha=0.8),
    VRLSGD(),
    Mime(momentum=0.5),
    CFLR(gradient="stochastic"),
    Ruan(),
    Scaffnew(probability=0.3),
]


def experiment_of(problem, algorithm, rate=RATE, *, rounds=4, **more):
    participation = Participation(num_clients=problem.num_clients, local_steps=2, **more)
    return Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=rounds, rate=rate)


def assert_same_means(run, record, *, seed=5):
    exact = simulate(run, engine="exact", record=record)
    assert exact.exact
    drawn = simulate(run, seed=seed, replicates=REPLICATES, record=record, collapse=False)
    for name in exact.curves():
        values, expected = drawn.curve(name), exact.curve(name)[0]
        quantile = stdtrit(REPLICATES - 1, 1.0 - ALARM / (2.0 * expected.size))
        error = quantile * values.std(axis=0, ddof=1) / np.sqrt(REPLICATES)
        slack = 1e-15 + 1e-9 * np.abs(expected).max(initial=0.0)
        off = np.abs(values.mean(axis=0) - expected)
        assert np.all(off <= error + slack), f"{name} is off by {np.max(off / (error + slack)):.2f} half-widths"


@pytest.mark.parametrize("kind", sorted(PROBLEMS))
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_everybody_works(algorithm, kind):
    assert_same_means(experiment_of(PROBLEMS[kind], algorithm), INSIDE)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_stragglers_on_a_fixed_trace(algorithm):
    counts = StepCounts(pmf=np.eye(3)[[2, 1, 2]])
    assert_same_means(experiment_of(PROBLEMS["dense"], algorithm, steps=counts), INSIDE)


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold(), Scaffnew(probability=0.4)], ids=lambda a: a.name)
@pytest.mark.parametrize("law", [UniformSteps(low=0), BernoulliSteps(probability=0.6)], ids=["uniform", "coins"])
def test_random_participation(algorithm, law):
    assert_same_means(experiment_of(PROBLEMS["rotated"], algorithm, steps=law), INSIDE)


def test_what_is_remembered_of_clients():
    run = experiment_of(PROBLEMS["rotated"], EFL(elasticity=0.2), steps=BernoulliSteps(probability=0.5), rounds=3)
    assert_same_means(run, INSIDE)


@pytest.mark.parametrize("probability", [0.1, 0.8])
@pytest.mark.parametrize("kind", sorted(PROBLEMS))
def test_coins(kind, probability):
    assert_same_means(experiment_of(PROBLEMS[kind], Scaffnew(probability=probability), rate=0.1, rounds=6), Record())


@pytest.mark.parametrize("noise", [{"hessian_noise": 0.5}, {"round_growth": 0.4}], ids=lambda noise: next(iter(noise)))
def test_noise_that_multiplies_the_model(noise):
    problem = noisy_quadratic(dim=3, num_clients=3, noise_sq=0.3, client_drift_sq=0.4, **noise)
    assert_same_means(experiment_of(problem, FedAvg()), Record(local_models=True))
    participation = Participation(num_clients=3, local_steps=1)
    single = Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=4, rate=0.1)
    assert_same_means(single, INSIDE)


def test_wrong_expectations_are_noticed():
    """The comparison itself: a rate that is 3 % larger is seen in a curve."""
    run = experiment_of(PROBLEMS["dense"], FedAvg(), rate=0.1)
    other = experiment_of(PROBLEMS["dense"], FedAvg(), rate=0.103)
    exact = simulate(other, engine="exact", record=INSIDE)
    values = simulate(run, seed=5, replicates=REPLICATES, record=INSIDE).mean_iterate_gap
    quantile = stdtrit(REPLICATES - 1, 1.0 - ALARM / (2.0 * values[0].size))
    error = quantile * values.std(axis=0, ddof=1) / np.sqrt(REPLICATES)
    assert np.any(np.abs(values.mean(axis=0) - exact.mean_iterate_gap[0]) > error)
