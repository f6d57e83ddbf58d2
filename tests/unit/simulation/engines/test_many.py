"""Many different clients, read in groups, have the moments of all clients read at once."""

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.ruan import Ruan
from fltheory.algorithms.scaffold import Scaffold
from fltheory.errors import NotApplicable
from fltheory.participation import BernoulliSteps, Trace
from fltheory.simulation.engines import many
from fltheory.simulation.schedules import Inverse

CLIENTS = 9


def experiment_of(algorithm, *, commuting=True, law=None, problem=None, **more):
    problem = problem or client_quadratics(
        dim=3,
        num_clients=CLIENTS,
        commuting=commuting,
        noise_sq=np.linspace(0.1, 0.5, CLIENTS),
        round_drift_sq=0.2,
        sample_counts=np.arange(1, CLIENTS + 1),
    )
    steps = {} if law is None else {"steps": law}
    options = {
        "participation": Participation(num_clients=CLIENTS, local_steps=3, **steps),
        "rounds": 4,
        "rate": Inverse(scale=0.3, shift=4.0),
        "averaging": [1.0, 2.0, 0.5, 1.0, 3.0],
    }
    return Experiment(problem=problem, algorithm=algorithm, **(options | more))


@pytest.fixture
def summed(monkeypatch):
    """Read two clients at a time, and count how many rounds were read as a sum."""
    rounds = []
    as_map = many._Share.as_map
    monkeypatch.setattr(many, "MANY", 1)
    monkeypatch.setattr(many, "_GROUP", 40)
    monkeypatch.setattr(many._Share, "as_map", lambda share: rounds.append(1) or as_map(share))
    return rounds


UNEVEN = Trace(steps=[[3, 3, 3, 2, 0, 1, 1, 2, 3], [1, 0, 3, 3, 3, 3, 3, 3, 3]])


@pytest.mark.parametrize("law", [None, UNEVEN], ids=["all", "uneven"])
@pytest.mark.parametrize("commuting", [True, False])
@pytest.mark.parametrize(
    "algorithm", [FedAvg(), FedProx(), MinibatchSGD(), Ruan(scheme="C")], ids=lambda algorithm: algorithm.title
)
def test_groups_add_up(request, algorithm, commuting, law):
    experiment = experiment_of(algorithm, commuting=commuting, law=law)
    whole = simulate(experiment, engine="exact")
    rounds = request.getfixturevalue("summed")
    parts = simulate(experiment, engine="exact")
    assert len(rounds) == experiment.rounds
    assert whole.curves() == parts.curves()
    for name in whole.curves():
        np.testing.assert_allclose(parts.curve(name), whole.curve(name), rtol=1e-10, atol=1e-14, err_msg=name)
    without = simulate(experiment, engine="exact", record=Record(consensus=False))
    np.testing.assert_allclose(without.gap, whole.gap, rtol=1e-10)


@pytest.mark.parametrize(
    ("algorithm", "law"),
    [(Mime(), None), (FedNova(), UNEVEN), (FedNova(), Trace(steps=[[1, 1, 1, 1, 1, 1, 1, 1, 3]]))],
    ids=["MIME", "FedNova", "FedNova, one"],
)
def test_rounds_that_are_not_sums_are_read_at_once(request, algorithm, law):
    """FedNova divides by a mean over all clients: it is a sum only where all of them take the same number of steps."""
    experiment = experiment_of(algorithm, law=law)
    whole = simulate(experiment, engine="exact")
    rounds = request.getfixturevalue("summed")
    assert np.array_equal(simulate(experiment, engine="exact").gap, whole.gap)
    assert not rounds


@pytest.mark.parametrize(
    ("least", "record", "rounds"),
    [(CLIENTS - 1, None, 4), (CLIENTS, None, 0), (1, Record(local_models=True), 0), (1, Record(gradient_sq=True), 0)],
)
def test_only_more_than_many_clients_are_read_in_groups_and_only_from_outside(
    monkeypatch, summed, least, record, rounds
):
    monkeypatch.setattr(many, "MANY", least)
    simulate(experiment_of(FedAvg()), engine="exact", record=record)
    assert len(summed) == rounds


def test_drifts_that_sum_to_zero_are_not_independent(monkeypatch, summed):
    monkeypatch.setattr(many.ManyProber, "_is_sum", lambda *_: True)
    problem = noisy_quadratic(dim=3, num_clients=CLIENTS, scenario="S1", client_growth=0.2)
    simulate(experiment_of(FedAvg(), problem=problem), engine="exact")
    assert not summed


@pytest.mark.parametrize(("algorithm", "sums"), [(FedAvg(), 32), (FedNova(), 11)], ids=["all", "some"])
def test_outcomes_of_participation(request, algorithm, sums):
    experiment = experiment_of(algorithm, law=BernoulliSteps(probability=[1.0] * 6 + [0.5] * 3))
    whole = simulate(experiment, engine="exact")
    rounds = request.getfixturevalue("summed")
    parts = simulate(experiment, engine="exact")
    assert len(rounds) == sums
    for name in whole.curves():
        np.testing.assert_allclose(parts.curve(name), whole.curve(name), rtol=1e-10, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("algorithm", [Mime(), Scaffold()], ids=lambda algorithm: algorithm.title)
def test_what_does_not_fit_is_refused(monkeypatch, summed, algorithm):
    monkeypatch.setattr(many, "LARGEST", 100)
    with pytest.raises(NotApplicable, match=rf"cannot follow 9 different clients of {algorithm.title}.*monte_carlo"):
        simulate(experiment_of(algorithm), engine="exact")


def test_thousands_of_different_clients():
    """Their number divides the noise: twice the clients, half the variance, at a common minimiser."""
    found = []
    for clients in (1000, 2000):
        problem = client_quadratics(dim=2, num_clients=clients, spread=0.0, radius=0.0, noise_sq=0.4, commuting=True)
        experiment = Experiment(
            problem=problem,
            algorithm=FedAvg(),
            participation=Participation(num_clients=clients, local_steps=1),
            rounds=1,
            rate=0.1,
        )
        found.append(simulate(experiment, engine="exact").distance_sq[0, 1])
    np.testing.assert_allclose(found, [0.1**2 * 0.4 / 1000, 0.1**2 * 0.4 / 2000], rtol=1e-10)
