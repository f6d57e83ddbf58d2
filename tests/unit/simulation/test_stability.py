"""Largest stable rates against those known in closed form, and against what runs do on both sides of them."""

import dataclasses
import math

import numpy as np
import pytest

from fltheory import Experiment, Participation, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fedavgm import FedAvgM
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fedgate import FedGATE
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.signsgd import SignSGD
from fltheory.errors import Diverged, InvalidParameter, NotAffine, NotApplicable
from fltheory.participation import Arrival, Timeline, WithoutReplacement
from fltheory.simulation import stability
from fltheory.simulation.engines import many
from fltheory.simulation.stability import growth_per_round, largest_stable_rate

QUIET = {"client_drift_sq": 0.0, "round_drift_sq": 0.0, "noise_sq": 0.0}


def experiment_of(algorithm=None, *, clients=1, steps=1, problem=None, rounds=50, rate=1.0, selection=None, **more):
    problem = problem or noisy_quadratic(**({"dim": 3, "num_clients": clients, "mu": 1.0, "L": 4.0} | QUIET | more))
    asked = {} if selection is None else {"selection": selection}
    return Experiment(
        problem=problem,
        algorithm=algorithm or FedAvg(),
        participation=Participation(num_clients=problem.num_clients, local_steps=steps, **asked),
        rounds=rounds,
        rate=rate,
    )


@pytest.mark.parametrize("L", [0.3, 4.0, 1000.0])
def test_gradient_descent_is_stable_up_to_two_over_L(L):
    limit = largest_stable_rate(experiment_of(L=L, mu=L / 10))
    assert limit.rate == pytest.approx(2 / L, rel=1e-6)
    assert (limit.method, limit.reason) == ("spectral radius", "")


@pytest.mark.parametrize("noise", [{}, {"noise_sq": 5.0, "round_drift_sq": 1.0}])
def test_neither_local_steps_nor_noise_nor_flat_directions_move_it(noise):
    for steps in (2, 5):
        found = largest_stable_rate(experiment_of(clients=3, steps=steps, mu=0.0, **noise))
        assert found.rate == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("server_rate", [0.5, 1.7, 4.0])
def test_the_server_rate_multiplies_one_local_step(server_rate):
    found = largest_stable_rate(experiment_of(FedAvg(server_rate=server_rate)))
    assert found.rate == pytest.approx(0.5 / server_rate, rel=1e-6)


def test_a_limit_that_is_crossed_slowly_is_found():
    r"""``1 - 2 (1 - m^5)`` with ``m = 1 - eta L`` passes -1 at ``m = 0``, with five vanishing derivatives."""
    found = largest_stable_rate(experiment_of(FedAvg(server_rate=2.0), steps=5))
    assert found.rate == pytest.approx(0.25, rel=3e-3)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_heavy_ball_is_stable_up_to_two_times_one_plus_beta_over_L(beta):
    assert largest_stable_rate(experiment_of(FedAvgM(momentum=beta))).rate == pytest.approx((1 + beta) / 2, rel=1e-5)


def test_the_pull_of_fedprox_adds_to_the_curvature():
    r"""Two steps: ``m -> 1 - (1 - m^2) L / (L + q)`` with ``m = 1 - eta (L + q)`` leaves [-1, 1] where m = -1."""
    found = largest_stable_rate(experiment_of(FedProx(prox=2.0), steps=2))
    assert found.rate == pytest.approx(2 / 6, rel=1e-6)


def test_one_of_two_clients_at_a_time_counts_in_mean_square():
    r"""``E (1 - eta h_i)^2 = 1`` at ``eta = 2 (h_1 + h_2) / (h_1^2 + h_2^2)``; the mean alone would give more."""
    problem = client_quadratics(dim=1, num_clients=2, mu=1.0, L=4.0, dissimilarity=3.0, spread=0.0)
    one = WithoutReplacement(size=1, renormalise=True)
    found = largest_stable_rate(experiment_of(problem=problem, selection=one))
    assert found.rate == pytest.approx(2 * 5 / 17, rel=1e-6)
    assert found.rate < 2 / 2.5
    growth = growth_per_round(experiment_of(problem=problem, selection=one), 0.3)
    assert growth == pytest.approx(math.sqrt((0.7**2 + 0.2**2) / 2))


def test_random_hessians_count_in_mean_square():
    r"""``(1 - eta h)^2 + eta^2 rho^2 h^2 = 1`` at ``eta = 2 / (h (1 + rho^2))``."""
    found = largest_stable_rate(experiment_of(mu=4.0, hessian_noise=0.8))
    assert found.rate == pytest.approx(0.5 / (1 + 0.64), rel=1e-6)


@pytest.mark.parametrize(
    "algorithm",
    [FedAvg(server_rate=2.0), Scaffold(), FedDyn(), FedAvgM(), FedGATE(), Mime(), APFL()],
    ids=lambda algorithm: algorithm.name,
)
@pytest.mark.parametrize("selection", [None, WithoutReplacement(size=2, renormalise=True)], ids=["all", "two"])
def test_runs_fall_below_the_limit_and_grow_above_it(algorithm, selection):
    problem = client_quadratics(dim=2, num_clients=3, mu=1.0, L=4.0, dissimilarity=1.0)
    experiment = experiment_of(algorithm, problem=problem, steps=2, selection=selection, rounds=400)
    limit = largest_stable_rate(experiment)
    assert limit.method == "spectral radius"

    def late(rate):
        curve = simulate(dataclasses.replace(experiment, rate=rate), engine="exact").gap[0]
        return curve[-1] / curve[200]

    assert late(0.97 * limit.rate) <= 1.01
    assert late(1.03 * limit.rate) > 2.0


def test_growth_is_that_of_a_run():
    experiment = experiment_of(clients=2, steps=3)
    gap = simulate(dataclasses.replace(experiment, rate=0.55), engine="exact").gap[0]
    assert growth_per_round(experiment, 0.55) == pytest.approx(math.sqrt(gap[-1] / gap[-2]), rel=1e-6)
    assert growth_per_round(experiment, 0.55) == pytest.approx((0.55 * 4 - 1) ** 3)


def test_a_part_that_never_changes_is_not_unstable():
    """The control variates of Scaffnew sum to zero for ever; rounding lifts that eigenvalue above one."""
    problem = client_quadratics(dim=3, num_clients=4, mu=1.0, L=5.0, dissimilarity=2.0)
    experiment = experiment_of(Scaffnew(), problem=problem, steps=3)
    assert growth_per_round(experiment, 1e-4) == 1.0
    assert largest_stable_rate(experiment, low=1e-4, high=1e-2).lowest == 1e-4


def test_large_states_are_iterated(monkeypatch):
    two = WithoutReplacement(size=2, renormalise=True)
    experiment = experiment_of(Scaffold(), clients=4, steps=2, selection=two, client_drift_sq=0.1)
    dense = [growth_per_round(experiment, rate) for rate in (0.1, 0.6)]
    monkeypatch.setattr(stability, "_DENSE", 1)
    assert [growth_per_round(experiment, rate) for rate in (0.1, 0.6)] == pytest.approx(dense, rel=1e-4)


def test_the_law_of_the_last_round_counts():
    problem = client_quadratics(dim=1, num_clients=2, mu=1.0, L=4.0, dissimilarity=3.0)
    timeline = Timeline(arrivals=(Arrival(client=1, round=10),))
    late = Participation(num_clients=2, local_steps=1, timeline=timeline)
    experiment = experiment_of(problem=problem, rounds=5)
    before = dataclasses.replace(experiment, participation=late)
    after = dataclasses.replace(before, rounds=20)
    assert largest_stable_rate(before).rate == pytest.approx(2.0, rel=1e-5)
    assert largest_stable_rate(after).rate == pytest.approx(2 / 2.5, rel=1e-5)


@pytest.mark.parametrize("algorithm", [EFL(), FedElasticNet1(l1=1e-6)], ids=lambda algorithm: algorithm.name)
def test_where_there_is_no_fixed_map_runs_are_watched(algorithm):
    limit = largest_stable_rate(experiment_of(algorithm, clients=2, steps=2), low=1e-2, high=10.0)
    assert limit.method == "divergence of runs"
    assert algorithm.title in limit.reason
    assert 0.4 < limit.rate < 0.52


def test_a_problem_without_closed_form_is_watched():
    from fltheory import logistic_clients

    problem = logistic_clients(num_clients=2, num_features=2, samples=20, l2=1.0, seed=1)
    limit = largest_stable_rate(experiment_of(problem=problem, rounds=20), low=0.1, high=10.0)
    assert limit.method == "divergence of runs"
    assert 2 / problem.constants()["L"].value * 0.9 < limit.rate < 2.2 / problem.constants()["mu"].value


def test_what_never_diverges_has_no_limit():
    watched = largest_stable_rate(experiment_of(SignSGD()), low=1e-3, high=1e-1)
    assert (watched.rate, watched.lowest, watched.method) == (math.inf, 1e-3, "divergence of runs")
    assert SignSGD.title in watched.reason
    read = largest_stable_rate(experiment_of(), low=1e-3, high=1e-1)
    assert (read.rate, read.lowest, read.method, read.reason) == (math.inf, 1e-3, "spectral radius", "")


def test_runs_that_are_watched_have_the_seed_and_the_replicates_that_were_asked_for(monkeypatch):
    asked = set()

    def watched(*arguments, **options):
        if options["engine"] == "monte_carlo":
            asked.add((options["seed"], options["replicates"]))
        return simulate(*arguments, **options)

    monkeypatch.setattr(stability, "simulate", watched)
    largest_stable_rate(experiment_of(SignSGD(), rounds=5), low=1e-3, high=1e-1, seed=4, replicates=3)
    assert asked == {(4, 3)}


def test_what_is_never_stable_is_refused():
    with pytest.raises(NotApplicable, match=r"stable with no constant rate in \[1, 10\]; lower the interval"):
        largest_stable_rate(experiment_of(), low=1.0, high=10.0)


def test_bad_intervals():
    with pytest.raises(InvalidParameter, match=r"largest_stable_rate\.low"):
        largest_stable_rate(experiment_of(), low=0.0)
    with pytest.raises(InvalidParameter, match=r"largest_stable_rate\.high"):
        largest_stable_rate(experiment_of(), low=0.1, high=0.1)


def test_overflow_is_unstable():
    assert growth_per_round(experiment_of(steps=200), 1e6) == math.inf
    assert np.isfinite(growth_per_round(experiment_of(steps=200), 0.1))


def test_overflow_on_one_axis_is_divergence_and_nothing_else():
    """The flat axis is solved in one step, and the steep one overflows within a round: a factor of -9999, 200 times."""
    problem = noisy_quadratic(dim=2, num_clients=2, mu=1.0, L=1e4, noise_sq=0.0)
    experiment = experiment_of(problem=problem, steps=200)
    assert growth_per_round(experiment, 1.0) == math.inf
    with pytest.raises(Diverged):
        simulate(dataclasses.replace(experiment, rate=1.0), engine="exact")


DIVERGED = Diverged(algorithm="fedavg", round_index=1, replicate=0, seed=0, rate=0.1)


@pytest.mark.parametrize(
    ("error", "stable"), [(DIVERGED, False), (NotApplicable("too large for the cloud"), False), (None, True)]
)
def test_a_rate_that_an_algorithm_refuses_is_not_stable(monkeypatch, error, stable):
    def run(experiment, **more):
        if error is not None:
            raise error
        return simulate(experiment, engine="reference", replicates=1)

    monkeypatch.setattr(stability, "simulate", run)
    assert stability._survives(experiment_of(), 0.1, "monte_carlo", 0, 1) is stable


def test_what_is_not_affine_is_told_and_not_taken_for_unstable(monkeypatch):
    def run(experiment, **more):
        raise NotAffine("signs")

    monkeypatch.setattr(stability, "simulate", run)
    with pytest.raises(NotAffine):
        stability._survives(experiment_of(), 0.1, "exact", 0, 1)


def test_too_many_different_clients_have_no_round_map(monkeypatch):
    """What is read client by client needs a row for each; the limit is that of the exact engine."""
    experiment = experiment_of(Scaffold(), problem=client_quadratics(dim=2, num_clients=9, noise_sq=0.0))
    assert growth_per_round(experiment, 0.01) < 1.0 + 1e-9
    monkeypatch.setattr(many, "LARGEST", 100)
    with pytest.raises(NotApplicable, match="cannot follow 9 different clients of SCAFFOLD"):
        growth_per_round(experiment, 0.01)


def test_a_window_of_stable_rates_is_found_between_unstable_ends(monkeypatch):
    """Rates are tried all along the interval, so that a decade in the middle is not passed over."""
    window = stability._Search(lambda rate: 0.02 < rate < 0.2, 1e-3, "planted", "")
    monkeypatch.setattr(stability, "_search", lambda *arguments: window)
    found = largest_stable_rate(experiment_of(), low=1e-6, high=1e3)
    assert found.rate == pytest.approx(0.2, rel=2e-3)
