"""The short way for clients that are alike gives the moments of the long way, client by client."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.configuration import registry
from fltheory.participation import BernoulliSteps, Trace
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.engines import exact, stretches, symmetric
from fltheory.simulation.engines.affine import Prober
from fltheory.simulation.engines.exchangeable import ExchangeableProber
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.schedules import Inverse, Table

AFFINE = {name: kind() for name, kind in registry.algorithms().items() if not kind().not_affine} | {
    "cfl-r sum": CFLR(form="sum"),
    "scaffnew": Scaffnew(probability=1.0),  # its coins leave one outcome
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
    "one matrix": lambda n: client_quadratics(
        dim=3, num_clients=n, dissimilarity=0.0, commuting=False, spread=float(n > 1), noise_sq=0.2
    ),
    "rotated": lambda n: noisy_quadratic(
        dim=3, num_clients=n, scenario="S1", client_drift_sq=0.4, client_drift_centred=n > 1, rotated=True
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


def assert_both_ways_agree(monkeypatch, experiment, record=None):
    short = simulate(experiment, engine="exact", record=record)
    monkeypatch.setattr(exact, "is_exchangeable", lambda oracle, works: False)
    long = simulate(experiment, engine="exact", record=record)
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
    assert short_runs, "the short way was not taken"


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "cfl-r sum"])
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_both_ways_agree_in_other_dimensions(monkeypatch, short_runs, name, dim):
    """Where coordinates interact, a row of the state is ``dim`` rows of the maps."""
    smooth = {"mu": 5.0 if dim == 1 else 1.0, "L": 5.0, "dissimilarity": 0.0, "commuting": False}
    problem = client_quadratics(dim=dim, num_clients=3, spread=1.0, round_drift_sq=0.1, noise_sq=0.2, **smooth)
    assert_both_ways_agree(monkeypatch, experiment_of(problem, AFFINE[name]))
    assert short_runs, "the short way was not taken"


@pytest.mark.parametrize("name", ["scaffold", "feddyn", "vrl-sgd"])
@pytest.mark.parametrize("problem", ["own minimisers", "one matrix"])
def test_both_ways_agree_where_the_rate_changes_now_and_then(monkeypatch, short_runs, name, problem):
    """What belongs to the clients is carried from one stretch of equal rounds to the next."""
    rate = Table(values=[0.1] * 4 + [0.05] * 4 + [0.02])
    experiment = experiment_of(PROBLEMS[problem](3), AFFINE[name], rate=rate, rounds=11, averaging=None)
    assert_both_ways_agree(monkeypatch, experiment)
    assert short_runs, "the short way was not taken"


@pytest.mark.parametrize("rounds", [1, 2, 9])
@pytest.mark.parametrize("problem", ["same clients", "one matrix"])
def test_both_ways_have_the_same_moments_of_the_model(monkeypatch, short_runs, problem, rounds):
    experiment = experiment_of(PROBLEMS[problem](3), Scaffold(), rounds=rounds, averaging=None)
    found = simulate(experiment, engine="exact", record=Record(moments=True))
    assert found.curve("model_mean").shape == (1, rounds + 1, 3)
    assert found.curve("model_covariance").shape == (1, rounds + 1, 3, 3)
    assert_both_ways_agree(monkeypatch, experiment, Record(moments=True))
    assert short_runs, "the short way was not taken"


class UnfairState(NamedTuple):
    w: Floats
    x: Floats
    m: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfair(Algorithm):
    """Starts from ``(1 - m_i) w + x_i / 2``, ``x_i`` being apart; in one place the clients are not treated alike."""

    name: ClassVar[str] = "unfair"
    title: ClassVar[str] = "Unfair"
    memory: ClassVar[tuple[str, ...]] = ("m",)
    autonomous: ClassVar[bool] = False

    place: str = ""

    def init(self, start, oracle, p):
        zeros = np.zeros((len(start), oracle.num_clients, oracle.dim))
        return UnfairState(w=start, x=zeros, m=zeros)

    def round(self, state, oracle, work):
        numbers = np.arange(1.0, oracle.num_clients + 1)[:, None]
        local = oracle.local_steps(state.w[:, None] * (1.0 - state.m) + state.x / 2, work)
        mean = local.mean(axis=1, keepdims=True)
        late = self.place == "memory" and work.index > 2
        after = UnfairState(
            w=local[:, 0] if self.place == "common" else mean[:, 0],
            x=np.roll(local - mean, 1, axis=1) if self.place == "apart" else local - mean,
            m=state.m + 0.01 * (numbers if late else 2.0),
        )
        return RoundResult(after, local * numbers if self.place == "local models" else local, (), ())


@pytest.mark.parametrize("place", ["", "common", "apart", "memory", "local models"])
def test_unequal_treatment_of_the_clients_is_noticed_wherever_it_is(short_runs, place):
    """The long way is then gone, whose moments are those of the run, there being no noise.

    What is remembered differs from the fourth round on, so that no map with a random probe shows it in time.
    """
    experiment = experiment_of(PROBLEMS["no noise"](4), Unfair(place=place), rounds=6, averaging=None)
    moments, run = simulate(experiment, engine="exact"), simulate(experiment, engine="reference", replicates=1)
    assert bool(short_runs) == (not place)
    for name in moments.curves():
        np.testing.assert_allclose(moments.curve(name), run.curve(name), rtol=1e-9, atol=1e-12, err_msg=name)


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


@pytest.mark.parametrize("more", [{"dissimilarity": 1.0}, {"sample_counts": [1, 2, 3]}, {"noise_sq": [0.1, 0.2, 0.1]}])
def test_unequal_problems_go_the_long_way(short_runs, more):
    options = {"dim": 3, "num_clients": 3, "dissimilarity": 0.0, "commuting": True} | more
    simulate(experiment_of(client_quadratics(**options), FedAvg()), engine="exact")
    assert not short_runs


@pytest.mark.parametrize("rotated", [False, True])
def test_long_runs_are_cut_where_their_covariances_fill_the_memory(monkeypatch, rotated):
    problem = noisy_quadratic(dim=3, num_clients=3, rotated=rotated)
    experiment = experiment_of(problem, EFL(), rounds=40, rate=0.05, averaging=None)
    whole = simulate(experiment, engine="exact")
    monkeypatch.setattr(stretches, "_HELD", 4 * (15**2 if rotated else 3 * 5**2))
    lengths = [part.length for part in parts_of(experiment)]
    assert max(lengths) == 4
    assert sum(lengths) == 40
    pieces = simulate(experiment, engine="exact")
    for name in whole.curves():
        np.testing.assert_allclose(pieces.curve(name), whole.curve(name), rtol=1e-12, err_msg=name)


def parts_of(experiment):
    """Return the stretches that the rounds of an experiment are read in."""
    oracle = ClosedFormOracle(experiment.problem.closed_form(), inside=False)
    prober = ExchangeableProber(Prober(experiment.algorithm, oracle, spread=False), spread=False)
    terms = Terms(experiment)
    works = [terms.sample(index, seed=0, replicates=range(1)) for index in range(experiment.rounds)]
    return list(stretches.stretches(prober, np.asarray(experiment.start), works))


def test_growing_drifts_go_the_long_way(short_runs):
    simulate(experiment_of(noisy_quadratic(dim=3, num_clients=3, client_growth=0.2), FedAvg()), engine="exact")
    assert not short_runs


def test_what_grows_with_the_square_of_the_clients_is_not_made(monkeypatch):
    def refuse(self):
        raise AssertionError("a matrix of all clients was made")

    monkeypatch.setattr(ClosedFormOracle, "drift_factor", refuse)
    monkeypatch.setattr(Prober, "model_weights", refuse)
    experiment = experiment_of(noisy_quadratic(dim=3, num_clients=5000, round_drift_sq=0.3), Scaffold())
    simulate(experiment, engine="exact")
    simulate(experiment, replicates=2)


def test_rows_that_stay_zero_are_left_out_only_where_they_begin_as_zero():
    rng = np.random.default_rng(0)
    matrix, shift = rng.standard_normal((1, 4, 4)) / 4, rng.standard_normal((1, 4, 1))
    root = rng.standard_normal((1, 4, 4))
    noise = root @ root.swapaxes(1, 2)
    matrix[:, [1, 3]] = shift[:, [1, 3]] = noise[:, [1, 3]] = noise[:, :, [1, 3]] = 0.0
    step = symmetric._Step(matrix, shift, noise)
    zero, other = np.zeros((1, 4, 1)), np.array([0.0, 2.0, 0.0, 0.0]).reshape(1, 4, 1)
    for mean in (zero, other):
        start = moments = symmetric._Moments(mean, np.zeros((1, 4, 4)))
        assert list(step.live(start)) == [True, mean is other, True, False]
        whole = symmetric._orbit(step, start, stretches.Stretch(0, 5, None, True))
        for k in range(5):
            moments = step.of(moments)
            np.testing.assert_allclose(whole.mean[k], moments.mean, atol=1e-14)
            np.testing.assert_allclose(whole.covariance[k], moments.covariance, atol=1e-13)
