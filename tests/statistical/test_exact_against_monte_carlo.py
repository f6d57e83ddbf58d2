"""Expectations of the exact engine against means of simulated runs.

3,000 replicates each. A band covers all rounds of one curve with probability ``LEVEL`` when replicate means are
near normal; with fewer than 1,000 bands in this file, the probability of any false alarm over seeds drawn at random
is below 1e-3. The seeds are fixed, so a run repeats.
"""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.continual import Continual
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.scaffold import Scaffold
from fltheory.configuration import registry
from fltheory.participation import (
    Arrival,
    Bernoulli,
    BernoulliSteps,
    Departure,
    Timeline,
    UniformSteps,
    WithoutReplacement,
)
from fltheory.simulation.schedules import Inverse

REPLICATES = 3000
LEVEL = 1 - 1e-6

AFFINE = {name: kind() for name, kind in registry.algorithms().items() if not kind().not_affine} | {
    "cfl-r sum": CFLR(form="sum"),
    "cfl-r geometric": CFLR(weighting="geometric", forgetting=0.6),
    "cfl-r diagonal, stochastic": CFLR(curvature="diagonal", gradient="stochastic"),
    "cfl-r fisher": CFLR(curvature="fisher"),
    "continual ewc": Continual(variant="ewc"),
    "efl": EFL(elasticity=0.3),
    "feddyn exact": FedDyn(exact=True, alpha=0.8),
    "scaffold I": Scaffold(option="I", initial="gradient"),
}


def assert_in_bands(experiment, *, seed=11, sampled=200, record=None, collapse=False):
    """Compare every curve that the exact engine knows with the band of the simulated mean."""
    moments = simulate(experiment, engine="exact", seed=seed + 1, replicates=sampled, record=record)
    run = simulate(experiment, seed=seed, replicates=REPLICATES, record=record, collapse=collapse)
    assert np.all(run.gap[:, 1:].std(axis=0) > 0)
    for name in moments.curves():
        known, band = moments.band(name, level=LEVEL), run.band(name, level=LEVEL)
        expected = known.mean
        slack = 1e-15 + 1e-9 * np.abs(expected).max() + (known.high - known.mean)
        inside = (band.low - slack <= expected) & (expected <= band.high + slack)
        assert np.all(inside), f"{name} outside its band in rounds {np.flatnonzero(~inside).tolist()}"
    return moments


def shared(clients, **more):
    options = {"client_drift_sq": 0.4 if clients > 1 else 0.0, "round_drift_sq": 0.2, "noise_sq": 0.5} | more
    return noisy_quadratic(dim=3, num_clients=clients, **options)


def own(clients, **more):
    several = clients > 1
    return client_quadratics(
        dim=3,
        num_clients=clients,
        dissimilarity=2.0 * several,
        spread=1.0 * several,
        sample_counts=np.arange(1, clients + 1),
        round_drift_sq=0.2,
        noise_sq=0.5,
        **more,
    )


def experiment_of(problem, algorithm, participation=None, **more):
    participation = participation or Participation(num_clients=problem.num_clients, local_steps=3)
    options = {"rounds": 4, "rate": Inverse(scale=0.6, shift=4.0)} | more
    return Experiment(problem=problem, algorithm=algorithm, participation=participation, **options)


@pytest.mark.parametrize("make", [shared, own])
@pytest.mark.parametrize("name", AFFINE)
def test_every_affine_algorithm(name, make):
    clients = 1 if name.startswith("continual") else 3
    assert_in_bands(experiment_of(make(clients), AFFINE[name], averaging=[1.0, 1.0, 2.0, 3.0, 4.0]))


@pytest.mark.parametrize("law", ["gaussian", "bounded"])
@pytest.mark.parametrize("centred", [True, False])
def test_fresh_clients_in_every_round(law, centred):
    problem = shared(3, scenario="S1", client_drift_centred=centred, noise_law=law)
    for algorithm in (FedAvg(), Scaffold()):
        assert_in_bands(experiment_of(problem, algorithm))


ENUMERATED = {
    "coin flips": Participation(num_clients=3, local_steps=2, steps=BernoulliSteps(probability=[0.3, 0.6, 0.9])),
    "two of three": Participation(
        num_clients=3,
        local_steps=2,
        selection=WithoutReplacement(size=2, renormalise=False),
        steps=UniformSteps(low=1),
    ),
    "redrawn": Participation(num_clients=3, local_steps=2, selection=Bernoulli(probability=0.5)),
}


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "feddyn", "fednova", "ruan"])
@pytest.mark.parametrize("law", ENUMERATED)
def test_random_participation_enumerated(law, name):
    moments = assert_in_bands(experiment_of(own(3, commuting=True), AFFINE[name], ENUMERATED[law]))
    assert moments.provenance["participation"] == "enumerated"


def test_random_participation_sampled():
    """CFL-R remembers when everybody came, so participation is sampled and moments are exact given the sample."""
    moments = assert_in_bands(experiment_of(own(3, commuting=True), CFLR(), ENUMERATED["coin flips"], rounds=7))
    assert moments.method == "Rao-Blackwell"


@pytest.mark.parametrize("algorithm", [EFL(elasticity=0.3), CFLR(), CFLR(form="sum")], ids=["efl", "cfl-r", "sum"])
def test_memories_of_absent_clients_enumerated(algorithm):
    moments = assert_in_bands(experiment_of(own(3), algorithm, ENUMERATED["coin flips"]))
    assert moments.exact


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "feddyn", "fednova", "minibatch-sgd"])
@pytest.mark.parametrize(
    "law", [{"hessian_noise": 0.5}, {"round_growth": 0.5}, {"hessian_noise": 0.3, "round_growth": 0.4}]
)
@pytest.mark.parametrize("rotated", [False, True])
def test_noise_that_multiplies_the_state(rotated, law, name):
    problem = shared(3, scenario="S1", client_drift_centred=True, rotated=rotated, **law)
    participation = ENUMERATED["coin flips"] if rotated else None
    moments = assert_in_bands(experiment_of(problem, AFFINE[name], participation, averaging=np.ones(5)))
    assert moments.exact


def test_a_random_hessian_of_every_client():
    for algorithm in (FedAvg(), CFLR(), Scaffold()):
        assert_in_bands(experiment_of(own(3, hessian_noise=0.5), algorithm))


@pytest.mark.parametrize("name", ["fedavg", "ruan", "scaffold"])
def test_arrivals_and_departures(name):
    timeline = Timeline(
        arrivals=[Arrival(client=2, round=2, fast_reboot=True)], departures=[Departure(client=0, round=3, exclude=True)]
    )
    participation = Participation(num_clients=3, local_steps=2, timeline=timeline)
    assert_in_bands(experiment_of(own(3), AFFINE[name], participation, rounds=5))


@pytest.mark.parametrize("name", ["cfl-r", "fedavg", "fedgate", "mime", "scaffold I"])
def test_rounds_drawn_at_once(name):
    experiment = experiment_of(shared(3), AFFINE[name], averaging=[1.0, 1.0, 2.0, 3.0, 4.0])
    assert_in_bands(experiment, record=Record(consensus=False), collapse=True)


@pytest.mark.parametrize("name", ["fedavg", "scaffold"])
def test_rounds_drawn_at_once_have_the_whole_law(name):
    """Gaps and distances after three rounds, 3,000 against 3,000 replicates; false alarms below 1e-6 each."""
    experiment = experiment_of(shared(3, scenario="S1"), AFFINE[name], rounds=3)
    record = Record(consensus=False)
    every, once = (
        simulate(experiment, seed=seed, replicates=REPLICATES, record=record, collapse=collapse)
        for seed, collapse in ((1, False), (2, True))
    )
    assert every.provenance["steps"] != once.provenance["steps"]
    for curve in ("gap", "distance_sq"):
        for column in (1, 3):
            assert ks_2samp(every.curve(curve)[:, column], once.curve(curve)[:, column]).pvalue > 1e-6
    change = [np.diff(run.gap[:, 1:], axis=1)[:, 0] for run in (every, once)]
    assert ks_2samp(*change).pvalue > 1e-6


def test_bands_are_narrow_enough_to_see_noise_that_multiplies_the_state():
    """The same comparison against the moments without it has to fail."""
    for law in ({"hessian_noise": 0.5, "radius": 3.0}, {"round_growth": 0.5, "radius": 3.0}):
        run = simulate(experiment_of(shared(3, **law), FedAvg()), seed=11, replicates=REPLICATES)
        wrong = simulate(experiment_of(shared(3, radius=3.0), FedAvg()), engine="exact")
        band = run.band("distance_sq", level=LEVEL)
        assert np.any((wrong.distance_sq[0] < band.low)[1:] | (wrong.distance_sq[0] > band.high)[1:])


def test_bands_are_narrow_enough_to_see_a_missing_noise():
    """The same comparison against the moments of a problem with 15 % less noise has to fail."""
    run = simulate(experiment_of(shared(3), FedAvg()), seed=11, replicates=REPLICATES, record=Record())
    wrong = simulate(experiment_of(shared(3, noise_sq=0.425, round_drift_sq=0.17), FedAvg()), engine="exact")
    band = run.band("distance_sq", level=LEVEL)
    assert np.any((wrong.distance_sq[0] < band.low) | (wrong.distance_sq[0] > band.high))
