"""The short way for clients that are alike gives the moments of the long way, client by client."""

import numpy as np
import pytest

from fltheory import Experiment, Participation, catalogue, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.scaffold import Scaffold
from fltheory.engines import exact
from fltheory.participation import BernoulliSteps, Trace
from fltheory.rates import Inverse

AFFINE = {name: kind() for name, kind in catalogue.algorithms().items() if not kind().not_affine} | {
    "cfl-r sum": CFLR(form="sum"),
    "cfl-r geometric": CFLR(weighting="geometric", gradient="stochastic"),
    "feddyn exact": FedDyn(exact=True),
    "fednova momentum": FedNova(prox=0.3, server_momentum=0.5),
    "scaffold I": Scaffold(option="I", initial="gradient"),
}
PROBLEMS = {
    "same clients": lambda n: noisy_quadratic(
        dim=3, num_clients=n, client_drift_sq=0.4, client_drift_centred=False, round_drift_sq=0.3, noise_sq=0.2
    ),
    "fresh clients": lambda n: noisy_quadratic(
        dim=3, num_clients=n, scenario="S1", client_drift_sq=0.4, client_drift_centred=n > 1, noise_sq=0.2
    ),
    "own minimisers": lambda n: client_quadratics(
        dim=3, num_clients=n, dissimilarity=0.0, commuting=True, spread=float(n > 1), noise_sq=0.2
    ),
    "no noise": lambda n: noisy_quadratic(
        dim=3, num_clients=n, client_drift_sq=0.4, client_drift_centred=False, round_drift_sq=0.0, noise_sq=0.0
    ),
}


def experiment_of(problem, algorithm, **more):
    options = {
        "participation": Participation(num_clients=problem.num_clients, local_steps=3),
        "rounds": 4,
        "rate": Inverse(scale=0.3, shift=4.0),
        "averaging": [1.0, 2.0, 0.5, 1.0, 3.0],
    }
    return Experiment(problem=problem, algorithm=algorithm, **(options | more))


@pytest.fixture
def short_runs(monkeypatch):
    """Count how often the short way is taken to its end."""
    taken = []

    def counting(*arguments):
        curves = shortcut(*arguments)
        taken.append(1)
        return curves

    shortcut = exact.symmetric_curves
    monkeypatch.setattr(exact, "symmetric_curves", counting)
    return taken


def assert_both_ways_agree(monkeypatch, experiment):
    short = simulate(experiment, engine="exact")
    monkeypatch.setattr(exact, "is_exchangeable", lambda oracle, works: False)
    long = simulate(experiment, engine="exact")
    assert short.curves() == long.curves()
    for name in long.curves():
        atol = 1e-11 * max(float(np.abs(long.curve(name)).max()), 1e-6)
        np.testing.assert_allclose(short.curve(name), long.curve(name), rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(
    ("name", "clients"), [(name, n) for name in AFFINE for n in ((1,) if name.startswith("continual") else (1, 2, 4))]
)
def test_both_ways_agree(monkeypatch, short_runs, name, clients, problem):
    assert_both_ways_agree(monkeypatch, experiment_of(PROBLEMS[problem](clients), AFFINE[name]))
    if name != "efl":
        assert short_runs, "the short way was not taken"


@pytest.mark.parametrize(
    "participation",
    [
        Participation(num_clients=3, local_steps=3, steps=Trace(steps=[[3, 1, 2]])),
        Participation(num_clients=3, local_steps=3, steps=BernoulliSteps(probability=0.5)),
    ],
)
def test_unequal_participation_goes_the_long_way(short_runs, participation):
    experiment = experiment_of(PROBLEMS["same clients"](3), FedAvg(), participation=participation)
    simulate(experiment, engine="exact", replicates=2)
    assert not short_runs


@pytest.mark.parametrize(
    "more", [{"dissimilarity": 1.0}, {"sample_counts": [1, 2, 3]}, {"noise_sq": [0.1, 0.2, 0.1]}, {"commuting": False}]
)
def test_unequal_problems_go_the_long_way(short_runs, more):
    options = {"dim": 3, "num_clients": 3, "dissimilarity": 0.0, "commuting": True} | more
    simulate(experiment_of(client_quadratics(**options), FedAvg()), engine="exact")
    assert not short_runs


def test_growing_drifts_go_the_long_way(short_runs):
    simulate(experiment_of(noisy_quadratic(dim=3, num_clients=3, client_growth=0.2), FedAvg()), engine="exact")
    assert not short_runs
