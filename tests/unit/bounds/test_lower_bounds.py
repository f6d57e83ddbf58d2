"""Lower bounds of Woodworth et al. and Glasgow et al.: what they rest on, held against runs and other quadratures."""

import itertools

import numpy as np
import pytest

import fltheory as fl
from fltheory.bounds.glasgow import _bent, _fedavg, theorem_a_4
from fltheory.bounds.glasgow.theorem_a_4 import drift
from fltheory.bounds.li.figures import theorem_4 as settling
from fltheory.bounds.scaffold.figures import theorem_vi as pulling
from fltheory.bounds.woodworth import _drift, theorem_2, theorem_3
from fltheory.errors import NotApplicable
from fltheory.figures import between


def run(problem, *, steps, rounds, rate, engine="reference", **more):
    experiment = fl.Experiment(
        problem=problem,
        algorithm=fl.FedAvg(),
        participation=fl.Participation(num_clients=problem.num_clients, local_steps=steps),
        rounds=rounds,
        rate=rate,
    )
    return fl.simulate(experiment, engine=engine, **more)


@pytest.mark.parametrize("clients", [2, 3, 4])
def test_pulled_clients_reach_the_closed_form(clients):
    point = {"M": clients, "K": 3, "R": 7, "H": 2.0, "D": 1.5, "sigma": 0.0, "zeta": 0.8}
    env, eta = _fedavg.sizes(point), 0.2
    problem = fl.bent_valley_with_pulls(
        H=2.0, mu=_fedavg.flat(env), distance=1.5, sigma=0.0, zeta=0.8, num_clients=clients
    )
    gap = run(problem, steps=3, rounds=7, rate=eta, replicates=1).gap[0, -1]
    assert float(_fedavg._common(env, eta)) == pytest.approx(gap, rel=1e-12)


def test_noise_of_an_axis_adds_up_as_its_steps_do():
    env = {"K": 3.0, "R": 4.0}
    h, eta, left, total = 0.7, 0.3, 2.0**2, 0.0
    for _ in range(12):
        left, total = (1 - eta * h) ** 2 * left, (1 - eta * h) ** 2 * total + (eta * 1.5) ** 2
    assert _fedavg._noisy(env, h, eta, 1.5, 2.0) == pytest.approx(h / 2 * (left + total), rel=1e-12)


def test_two_gaussian_steps_have_the_closed_form_and_a_finer_grid_changes_little(monkeypatch):
    means = _bent.means([0.0], 12, 0.4)[:, 0]
    assert means[0] == means[1] == 0.0
    assert means[2] == pytest.approx(-0.4 / (2 * np.sqrt(2 * np.pi)), rel=1e-4)
    monkeypatch.setattr(_bent, "SPACING", 0.05)
    np.testing.assert_allclose(means[2:], _bent.means([0.0], 12, 0.4)[2:, 0], rtol=1e-4)


def test_rounds_of_many_clients_follow_the_density_from_round_to_round():
    x = 0.0
    for _ in range(5):
        x = float(_bent.means([x], 4, 0.3)[-1, 0])
    assert _bent.after_rounds(4, 5, 0.3) == pytest.approx(x, rel=3e-3)


def test_smooth_bend_drifts_as_the_noise_of_three_steps_says():
    """All products of the nodes of three steps, step by step; a fourth of the steps cannot be seen from the start."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    u, size, mean = 0.4, 0.05, 0.0
    for chosen in itertools.product(range(10), repeat=3):
        y = 0.0
        for node in chosen:
            y = y - u * (0.75 * y + 0.25 * np.log(np.cosh(y))) + size * nodes[node]
        mean += np.prod(weights[list(chosen)] / 2) * y
    assert drift(3, u, size) == pytest.approx(mean, rel=1e-6)
    assert drift(1, u, size) == pytest.approx(0.0, abs=1e-17)


def test_bias_on_the_smooth_bend_settles_after_hundreds_of_steps():
    """For narrow noise log cosh t is t^2 / 2; variance and bias are fixed points of linear maps, by hand."""
    u, steps, width = 0.5, 147, 3 * 148.0
    second = u**2 / 3 / (1 - (1 - 0.75 * u) ** 2)
    by_hand = (u / (8 * width)) * second / (0.75 * u)
    assert width * abs(drift(steps, u, u / width)) == pytest.approx(by_hand, rel=1e-5)
    third = 1 / (4 * width)
    assert by_hand < 0.52 * 0.005 * u**3 * third * (steps - 1) / u  # what Theorem A.4 claims, printed
    assert by_hand > 5 * 0.005 * u**3 * third / u**2


def test_a_flatter_bend_has_the_printed_bias_after_a_thousand_steps():
    """Noise is narrow for a small third derivative, and log cosh t is t^2 / 2: two linear recursions, by hand."""
    point = {"k": 1000, "more": 1, "H": 2.0, "sigma": 3.0, "share": 1e-3, "step": 1.0}
    eta, third, smooth = 0.25, 1e-3 * 4 / (12 * 1001 * 3.0), 2.0 / np.sqrt(1001)
    variance = mean = 0.0
    for _ in range(1000):
        mean = (1 - 0.75 * eta * smooth) * mean + eta * third / 2 * variance
        variance = (1 - 0.75 * eta * smooth) ** 2 * variance + eta**2 * 9 / 3
    env = theorem_a_4.realise(point, flatter=True)
    assert env[theorem_a_4.bias] == pytest.approx(mean, rel=1e-4)
    printed = 0.005 * eta**3 * 9 * third * 999 / (eta * 2.0)
    assert env[theorem_a_4.bias] > 16 * printed
    assert theorem_a_4.realise(point, flatter=False)[theorem_a_4.bias] < printed / 10


def test_infinitely_many_machines_drift_at_least_as_little_as_a_few():
    problem = fl.bent_valley(H=1.0, mu=0.1, distance=np.sqrt(3.0) * 0.1, sigma=1.0, num_clients=4)
    made = run(problem, steps=3, rounds=4, rate=0.8, replicates=1500, record=fl.Record(models=True))
    bent = made.models[:, -1, 2] - 0.1
    limit, _ = _drift.rounds(-0.1, length=3, number=4, eta=0.8, left=0.25, right=0.5, sigma=1.0)
    error = bent.std() / np.sqrt(len(bent))
    assert limit < -0.05
    assert bent.mean() < limit + 4 * error
    assert bent.mean() > 3 * limit
    gap = _drift.value(bent, 0.25, 0.5)
    assert gap.mean() > _drift.value(limit, 0.25, 0.5)


def test_errors_of_the_valley_are_underestimated_and_overestimated():
    point = {"M": 4, "K": 2, "R": 6, "H": 1.0, "B": 1.0, "sigma": 0.7, "convexity": 1e-3, "step": 0.5}
    env = theorem_3.parameters(point)
    problem = fl.bent_valley(H=1.0, mu=theorem_3.flat(env, 3072.0), distance=1.0, sigma=0.7, num_clients=4)
    gaps = run(problem, steps=2, rounds=6, rate=0.5, replicates=1500).gap[:, -1]
    low = theorem_3.underestimated(point, fourth=False)[theorem_3.error]
    assert low < gaps.mean()
    best = theorem_3.overestimated(point, chosen=True)
    at_best = run(problem, steps=2, rounds=6, rate=float(best[theorem_3.eta]), replicates=1500).gap[:, -1]
    assert at_best.mean() < best[theorem_3.error]


def test_noise_of_the_fourth_axis_is_that_of_all_machines():
    """Along the axes without a bend the estimate is the gap itself."""
    point = {"M": 4, "K": 2, "R": 6, "H": 1.0, "B": 1.0, "sigma": 0.7, "convexity": 1e-3, "step": 0.5}
    env = theorem_3.parameters(point)
    low, nu = theorem_3.flat(env, 4608.0), theorem_3.statistical(env)
    problem = fl.bent_valley(H=1.0, mu=low, distance=1.0, sigma=0.7, num_clients=4, nu=nu)
    made = run(problem, steps=2, rounds=6, rate=0.5, replicates=3000, record=fl.Record(models=True))
    last = made.models[:, -1] - 0.5
    straight = (last**2 * [low, 1.0, 0.0, nu]).sum(axis=1) / 2
    limit, _ = _drift.rounds(-0.5, length=2, number=6, eta=0.5, left=0.25, right=0.5, sigma=0.7 / np.sqrt(2))
    expected = theorem_3.underestimated(point, fourth=True)[theorem_3.error] - _drift.value(limit, 0.25, 0.5)
    assert straight.mean() == pytest.approx(expected, abs=4 * straight.std() / np.sqrt(3000))


HOMOGENEOUS = fl.bent_valley(H=1.0, mu=0.05, distance=1.0, sigma=0.3, num_clients=3)


def test_theorem_2_is_read_on_a_run():
    theorem = fl.theorem("woodworth.theorem-2")
    participation = fl.Participation(num_clients=3, local_steps=2)
    rate = theorem.rate_for(HOMOGENEOUS, participation, rounds=8, variant="sharp")
    expected = theorem_2._runs.convex_rates({"H": 1.0, "B": 1.0, "sigma": 0.3, "M": 3, "K": 2}, 8, 1.0)
    assert rate.value == pytest.approx(min(expected))
    for variant in ("sharp", "published@constants"):
        own = theorem.rate_for(HOMOGENEOUS, participation, rounds=8, variant=variant)
        experiment = fl.Experiment(
            problem=HOMOGENEOUS, algorithm=fl.FedAvg(), participation=participation, rounds=8, rate=own
        )
        made = fl.simulate(experiment, engine="monte_carlo", replicates=50, record=fl.Record(mean_iterate=True))
        found = theorem.compare(experiment, made, variant=variant)
        assert [line.name for line in found.assumptions if not line.met] == []
        assert found.left.max() < found.right.min()


def test_corollary_1_is_read_on_quadratics_with_equal_clients_only():
    theorem = fl.theorem("woodworth.corollary-1")
    sizes = {"dim": 2, "num_clients": 3, "mu": 0.5, "L": 2.0, "round_drift_sq": 0.0, "noise_sq": 1.0}
    same, apart = (fl.noisy_quadratic(**sizes, client_drift_sq=drift_sq) for drift_sq in (0.0, 1.0))
    participation = fl.Participation(num_clients=3, local_steps=2)
    for problem, alike in ((same, True), (apart, False)):
        rate = theorem.rate_for(problem, participation, rounds=5, variant="sharp")
        experiment = fl.Experiment(
            problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=5, rate=rate
        )
        found = theorem.compare(experiment, fl.simulate(experiment, engine="exact"), variant="sharp")
        unmet = [line.name for line in found.assumptions if not line.met]
        assert ("all machines have one objective" in unmet) is not alike
    experiment = fl.Experiment(
        problem=HOMOGENEOUS, algorithm=fl.FedAvg(), participation=participation, rounds=5, rate=0.1
    )
    with pytest.raises(NotApplicable, match="quadratics, got BentQuadratic"):
        theorem.compare(experiment, run(HOMOGENEOUS, steps=2, rounds=5, rate=0.1, replicates=2), variant="sharp")


@pytest.mark.parametrize("steps", [2, 5])
def test_figures_of_earlier_lower_bounds_show_the_runs_of_the_exact_engine(steps):
    pulled = fl.opposed_pulls(mu=1.0, pull=1.0, start=pulling.START)
    gap = run(pulled, steps=steps, rounds=9, rate=0.3, engine="exact").gap[0, -1]
    assert pulling.error(steps, 9, np.array([0.3])) == pytest.approx(gap, rel=1e-12)
    curved = fl.two_curvatures(mu=settling.LOW, L=settling.HIGH)
    far = run(curved, steps=steps, rounds=2000, rate=0.05, engine="exact").curve("distance_sq")[0, -1]
    assert settling.settled(steps, np.array([0.05])) == pytest.approx(np.sqrt(far), rel=1e-9)


def test_a_caption_says_when_a_bound_is_crossed():
    panel = {
        "title": "a",
        "x": [1, 2],
        "upper": {"u": [4.0, 4.0]},
        "lower": {"l": [1.0, 1.0]},
        "run": {"r": [2.0, 2.0]},
    }
    assert between.between([panel]) == "a: by factors of at least 2 and 2"
    assert between.between([{**panel, "run": {"r": [2.0, 5.0]}}]) == "a: not (factors 0.8, 2)"
    assert between.between([{**panel, "run": {"r": [2.0, 0.5]}}]) == "a: not (factors 2, 0.5)"
