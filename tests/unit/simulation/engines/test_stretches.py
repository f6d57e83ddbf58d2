"""Rounds read several at once have the maps that they have one at a time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg, State
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.vrl_sgd import VRLSGD
from fltheory.configuration import registry
from fltheory.participation import Trace
from fltheory.simulation.engines import stretches
from fltheory.simulation.schedules import Inverse

ROUNDS = 20
CHANGING = {name: kind() for name, kind in registry.algorithms().items() if not kind().not_affine} | {
    "cfl-r sum": CFLR(form="sum"),
    "scaffnew": Scaffnew(probability=1.0),  # its coins leave one outcome
    "cfl-r geometric": CFLR(weighting="geometric", gradient="stochastic"),
    "vrl-sgd warm-up": VRLSGD(warm_up=True),
}
# They branch on the number of the round, sum over clients, or use the rate as a number.
ONE_AT_A_TIME = {"vrl-sgd warm-up", "efl", "fednova"}


def experiment_of(algorithm, **more):
    clients = 1 if algorithm.name == "continual" else 4
    problem = noisy_quadratic(
        dim=3, num_clients=clients, client_drift_sq=0.4, client_drift_centred=False, round_drift_sq=0.3, noise_sq=0.2
    )
    options = {
        "participation": Participation(num_clients=clients, local_steps=3),
        "rounds": ROUNDS,
        "rate": Inverse(scale=0.3, shift=4.0),
        "averaging": np.linspace(1.0, 2.0, ROUNDS + 1),
    }
    return Experiment(problem=problem, algorithm=algorithm, **(options | more))


@pytest.fixture
def read(monkeypatch):
    """Note how many rounds were read at once."""
    counts = []

    def noted(self, *arguments):
        stretch = several(self, *arguments)
        counts.extend([] if stretch is None else [stretch.length])
        return stretch

    several = stretches._Several.read
    monkeypatch.setattr(stretches._Several, "read", noted)
    return counts


@pytest.mark.parametrize("consensus", [None, False])
@pytest.mark.parametrize("name", CHANGING)
def test_several_rounds_agree_with_single_ones(monkeypatch, read, name, consensus):
    experiment, record = experiment_of(CHANGING[name]), Record(consensus=consensus)
    several = simulate(experiment, engine="exact", record=record)
    # The spread of clients that always meet is nothing but rounding, about which two readings differ.
    single = name in ONE_AT_A_TIME or (name == "scaffnew" and consensus is None)
    assert sum(read) == (0 if single else ROUNDS - 2)
    monkeypatch.setattr(stretches._Several, "read", lambda *arguments: None)
    single = simulate(experiment, engine="exact", record=record)
    for curve in single.curves():
        np.testing.assert_allclose(several.curve(curve), single.curve(curve), rtol=1e-11, atol=1e-30, err_msg=curve)


def test_rounds_drawn_at_once_agree(monkeypatch, read):
    experiment = experiment_of(CFLR(), rate=0.1)
    several = simulate(experiment, replicates=5, seed=1)
    assert sum(read) == ROUNDS - 2
    monkeypatch.setattr(stretches._Several, "read", lambda *arguments: None)
    np.testing.assert_allclose(several.gap, simulate(experiment, replicates=5, seed=1).gap, rtol=1e-9)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixing(FedAvg):
    """Takes its rate from all coordinates, which is harmless as long as they belong to one round."""

    name: ClassVar[str] = "mixing"

    def round(self, state, oracle, work):
        outcome = FedAvg.round(self, state, oracle, work)
        return outcome._replace(state=State(w=outcome.state.w * np.mean(work.rate)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Late(FedAvg):
    """Changes its map after a while."""

    name: ClassVar[str] = "late"
    autonomous: ClassVar[bool] = False

    def round(self, state, oracle, work):
        outcome = FedAvg.round(self, state, oracle, work)
        return outcome._replace(state=State(w=outcome.state.w * np.where(np.asarray(work.index) > 9, 0.5, 1.0)))


def test_a_round_that_mixes_coordinates_is_read_alone(read):
    simulate(experiment_of(Mixing()), engine="exact")
    assert not read


def test_numbers_of_rounds_may_be_compared_by_array_code(monkeypatch, read):
    several = simulate(experiment_of(Late()), engine="exact")
    assert sum(read) == ROUNDS - 2
    monkeypatch.setattr(stretches._Several, "read", lambda *arguments: None)
    np.testing.assert_allclose(several.gap, simulate(experiment_of(Late()), engine="exact").gap, rtol=1e-11)


@pytest.mark.parametrize("algorithm", [FedAvg(), CFLR(form="sum")], ids=lambda algorithm: algorithm.title)
def test_a_round_with_fewer_steps_is_not_read_with_its_neighbours(monkeypatch, read, algorithm):
    """Every fourth round is shorter, so that some stretch would have a short round between long ones."""
    steps = Trace(steps=[[2 if index % 4 == 2 else 3] * 4 for index in range(ROUNDS)])
    experiment = experiment_of(algorithm, participation=Participation(num_clients=4, local_steps=3, steps=steps))
    several = simulate(experiment, engine="exact")
    assert max(read) == 3
    monkeypatch.setattr(stretches._Several, "read", lambda *arguments: None)
    single = simulate(experiment, engine="exact")
    for curve in single.curves():
        np.testing.assert_allclose(several.curve(curve), single.curve(curve), rtol=1e-11, atol=1e-30, err_msg=curve)


@pytest.mark.parametrize(("consensus", "longest"), [(None, 2), (False, 8)])
def test_as_many_rounds_are_read_at_once_as_have_room(monkeypatch, read, consensus, longest):
    """Four clients of three coordinates fill 24 numbers with two rounds; their mean, which is enough, with eight."""
    monkeypatch.setattr(stretches, "_ENTRIES", 24)
    simulate(experiment_of(FedAvg()), engine="exact", record=Record(consensus=consensus))
    assert max(read) == longest
    assert sum(read) == ROUNDS - 2
    read.clear()
    monkeypatch.setattr(stretches, "_MOST", 3)
    simulate(experiment_of(FedAvg()), engine="exact", record=Record(consensus=False))
    assert max(read) == 3
    read.clear()
    monkeypatch.setattr(stretches, "_MOST", 1)
    simulate(experiment_of(FedAvg()), engine="exact", record=Record(consensus=False))
    assert not read
