"""Instances of the CFL claims are what their modules say: coins, bases, curvatures, moments, sweeps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fltheory import simulate
from fltheory.bounds import catalogue
from fltheory.bounds.cfl import _drift, _round, figure_1
from fltheory.bounds.cfl._moments import LARGEST, QuadraticMoments, averaging, best_step, largest
from fltheory.bounds.cfl._rate_sweeps import BASE, base, everything
from fltheory.bounds.cfl._rates import RateSetting, camp_signs
from fltheory.bounds.claim import Rejected
from fltheory.bounds.space import exact
from fltheory.validation.evaluate import holds
from fltheory.validation.search import random_points


@pytest.mark.parametrize("number", range(1, 8))
def test_coins_are_fair_and_pairwise_independent(number):
    """Columns of a strength-two array: every pair of faces is equally likely."""
    coins = _drift.coin_table(number)
    assert coins.shape[1] == number
    assert not coins.sum(axis=0).any()
    assert np.array_equal(coins.T @ coins, len(coins) * np.eye(number))


@pytest.mark.parametrize("part", ["1", "2", "3"])
def test_coins_fulfil_the_assumptions_on_drifts(part):
    """In float64 too, where sums of coins are not exactly zero."""
    claim = catalogue.index()[f"cfl.lemma-3.5.{part}"].load()
    for form in claim.forms:
        source = claim.check_of(form)
        for point in random_points(source.space, np.random.default_rng(2), 20):
            env = source.realise(point)
            assert all(holds(assumption, form, env) for assumption in claim.assumptions_of(form))


def _two_rounds(**changed):
    """Two rounds without drift, on four outcomes."""
    still = np.zeros((4, 2, 1))
    numbers = {f"{name}_sq": 9.0 for name in "ABDG"}
    env = {"t": 2, "p": np.array([0.5, 0.5]), "grad": np.ones((4, 1)), "delta": still, "xi": still}
    return {**env, **numbers, "chance": [0.25] * 4, **changed}


def test_drifts_that_depend_on_each_other_are_refused():
    """Each assumption on drifts refuses what it is there for, and nothing else does."""
    claim = catalogue.index()["cfl.lemma-3.5.3"].load()
    form = claim.form("published@independent")
    first, second = (coin[:, None] for coin in np.array(_drift.coin_table(2)).T)
    lasting, alternating = np.stack([first, first], axis=1), np.stack([first, second], axis=1)
    refused = {
        "new clients in every round (6, S1)": {"delta": lasting},
        "uncorrelated rounds, which no assumption says": {"xi": lasting},
        "drifts are uncorrelated (5)": {"delta": alternating, "xi": alternating[:, ::-1]},
        "client drift is centred (5)": {"delta": np.stack([0 * first, 1 + 0 * first], axis=1)},
        "model does not depend on the drifts": {"grad": 2 + first},
    }
    for name, changed in refused.items():
        env = _two_rounds(**changed)
        assert [a.name for a in claim.assumptions_of(form) if not holds(a, form, env)] == [name]
    assert all(holds(a, form, _two_rounds(delta=alternating)) for a in claim.assumptions_of(form))


def _base(slopes, turn):
    left, right, knot = np.array(slopes).reshape(3, 2)
    return _round.Base(_round.unit(np.array([0.0, turn]), 2), left, right, knot)


slopes = st.lists(st.floats(0.05, 2), min_size=6, max_size=6)


@given(slopes, st.floats(0.05, 1), st.floats(-3, 3), st.floats(-3, 3))
def test_hessians_of_the_base_are_between_the_bounds(slopes, turn, x, y):
    """The difference of gradients over a short step, against the bounds on the eigenvalues."""
    base = _base(slopes, turn)
    low, high = base.eigenvalues()
    w, v = np.array([x, y]), np.array([0.6, -0.8])

    def gradient(at):
        return base.along(base.derivative(base.across(at)))

    curvature = float((gradient(w + 1e-3 * v) - gradient(w)) @ v) / 1e-3
    assert low - 1e-6 <= curvature <= high + 1e-6


@given(slopes, st.floats(0.05, 1), st.floats(-3, 3), st.floats(-3, 3))
def test_the_gradient_of_the_base_is_that_of_its_value(slopes, turn, x, y):
    base = _base(slopes, turn)
    w = np.array([x, y])
    gradient = base.gradient(w)
    assert gradient == pytest.approx(base.along(base.derivative(base.across(w))), abs=1e-12)
    for axis in np.eye(2):
        h = 1e-5 * axis
        slope = (base.value(w + h) - base.value(w - h)) / 2e-5
        assert slope == pytest.approx(float(gradient @ axis), abs=1e-4)


def test_oblique_bases_have_hessians_that_do_not_commute():
    base = _base([2.0, 0.0, 0.0, 2.0, 0.0, 0.0], 0.5)
    u = base.units
    first, second = (sum(s * np.outer(e, e) for s, e in zip(side, u, strict=True)) for side in (base.left, base.right))
    assert np.abs(first @ second - second @ first).max() > 0.1


@pytest.mark.parametrize("growing", [False, True])
def test_a_round_is_the_same_on_rationals(growing):
    """Floats and rationals walk through the same round, and no noise or drift biases the first gradients."""
    space = _round.space(rate=1.0, growing=growing)
    seen = 0
    for point in random_points(space, np.random.default_rng(1), 40):
        try:
            made = _round.realise(point)
        except _round.Rejected:
            continue
        seen += 1
        mean = np.mean(made["grad_at"][:, :, :, 0], axis=0)
        np.testing.assert_allclose(mean, np.broadcast_to(made["grad_t"], mean.shape), atol=1e-9)
        if seen <= 3:
            other = _round.realise(exact(point))
            for name in ("update", "lost", "gap"):
                np.testing.assert_allclose(np.array(other[name], dtype=float), made[name], atol=1e-9)
    assert seen > 20


def test_a_step_is_made_of_what_was_stored():
    """The sums that the server sends give (32) with the weighted noise, and a noisy memory shifts the step."""
    later = 0
    for point in random_points(_round.space(rate=1.0, growing=True), np.random.default_rng(4), 40):
        try:
            made, noisy = (_round.realise(point, memory_noise=noise) for noise in (0, point["past"][:-1]))
        except _round.Rejected:
            continue
        later += 1
        held = np.tensordot(made["p"][:-1], point["past"][:-1], axes=1)[:, None]
        for run, shift in ((made, 0 * held), (noisy, held)):
            expected = run["grad_tilde"][:, :, :-1] + run["p"][-1] * run["nu"] + shift
            np.testing.assert_allclose(run["direction"], expected, atol=1e-9)
            moved = -run["eta_l"] * run["direction"]
            np.testing.assert_allclose(np.diff(run["w"], axis=2), moved, atol=1e-9)
    assert later > 10


SETTINGS = [
    RateSetting(remembers=remembers, scenario=scenario, centred=centred, strongly=strongly)
    for remembers in (False, True)
    for scenario, centred in (("S1", False), ("S2", True), ("S2", False))
    for strongly in (False, True)
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("growth", [0.0, 0.4])
def test_rates_measured_by_formula_are_those_of_the_engine(setting, growth):
    """Every method, scenario and convexity, one Hessian or two groups; drawn drifts are averaged over both signs."""
    point = {**BASE, "T": 40, "N": 3, "D": 1.0, "G": 0.7, "sigma": 2.0, "B": growth, "kappa": 4.0, "F": 3.0}
    by_formula = setting.quantities(point, (), ())
    runs = setting.experiments({**point, "by": "engine"})
    assert len(runs) == (2 if setting.lasting else 1)
    by_engine = setting.quantities(point, runs, tuple(simulate(run, engine="exact") for run in runs))
    assert by_engine["eps"] == pytest.approx(by_formula["eps"], rel=1e-9)
    flattest = runs[0].problem.objective_inside().hessian.min()
    assert by_engine["mu"] == pytest.approx(float(flattest))


@pytest.mark.parametrize("setting", [s for s in SETTINGS if not s.strongly])
@pytest.mark.parametrize("source", ["D", "G", "sigma"])
def test_the_curvature_of_the_general_convex_rates_is_about_the_worst(setting, source):
    """No other curvature costs several times as much at its own best step."""
    point = base(setting, source)
    if point["B"] > 0:
        # Far above the curvature at which the start is as costly at the largest step.
        point["G"] *= 8.0
    gaps = {}
    for bend in (1 / 32, 1 / 8, 1 / 2, 1.0, 2.0, 8.0):
        bent = {**point, "steep": max(bend, 1.0), "kappa": max(1.0 / bend, 1.0)}
        moments = setting.moments(bent, remembers=setting.remembers)
        gaps[bend] = best_step(moments, point["T"], 0.0, high=largest(point["B"] ** 2))[1]
    assert max(gaps.values()) < 3 * gaps[1.0]
    assert min(gaps[1 / 32], gaps[8.0]) < gaps[1.0] / 2


@given(st.integers(2, 9), st.floats(0.05, 0.6), st.floats(0, 5), st.floats(-50, 50), st.floats(-50, 50), st.booleans())
def test_two_camps_fulfil_the_assumptions(clients, growth, drift, x, y, strongly):
    """Drifts sum to zero at every model, with a mean square as Assumption 3 says, and all clients are L-smooth."""
    setting = RateSetting(remembers=False, strongly=strongly)
    point = {**BASE, "N": clients, "B": growth, "G": drift, "kappa": 8.0}
    problem = setting.problem(point)
    w = np.array([x, y])
    own = problem.hessian * w + problem.linear + problem.client_drift
    mean = own.mean(axis=0)
    goal = problem.objective_inside()
    np.testing.assert_allclose(mean, goal.hessian * (w - goal.w_star), atol=1e-9)
    apart = ((own - mean) ** 2).sum(axis=1).mean()
    assert apart <= (drift**2 + growth**2 * (mean @ mean)) * (1 + 1e-9) + 1e-9
    assert problem.hessian.max() == pytest.approx(1.0)
    assert problem.hessian.min() >= setting.known_mu(point) * (1 - 1e-12)
    assert np.linalg.norm(problem.start - goal.w_star) == pytest.approx(point["F"])


@given(st.integers(2, 33))
def test_signs_of_camps_sum_to_zero_with_mean_square_one(clients):
    signs = camp_signs(clients)
    assert abs(signs.sum()) < 1e-12
    assert np.mean(signs**2) == pytest.approx(1.0)


def test_camps_that_make_no_instance_are_refused():
    point = {**BASE, "B": 0.5, "G": 1.0, "kappa": 1.5}
    with pytest.raises(Rejected, match="flatter than mu"):
        RateSetting(remembers=False).problem(point)
    with pytest.raises(Rejected, match="two clients"):
        RateSetting(remembers=False, strongly=False).problem({**point, "N": 1})


@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.parametrize("local_steps", [1, 2, 8])
def test_drifts_that_sum_to_zero_act_to_second_order(remembers, local_steps):
    """The steep axis tends to ``(K - 1) / (4 K) eta B G``, as the engine finds it; not at all with one step."""
    setting = RateSetting(remembers=remembers)
    point = {**BASE, "N": 4, "K": local_steps, "G": 3.0, "B": 0.5, "kappa": 4.0, "by": "engine", "T": 4000}
    run = replace(setting.experiments(point)[0], rate=0.01 / local_steps, averaging=None)
    gap = simulate(run, engine="exact").curve("gap")[0, -1]
    steep = run.problem.objective_inside().hessian[1]
    predicted = steep / 2 * ((local_steps - 1) / (4 * local_steps) * 0.01 * 0.5 * 3.0) ** 2
    assert gap == pytest.approx(predicted, rel=0.03, abs=1e-9)


def test_weights_of_the_mean_grow_as_in_the_proof():
    steps = np.array([LARGEST, LARGEST / 10])
    weights = averaging(steps, 5, 0.5)
    shrink = 1 - 0.25 * steps
    np.testing.assert_allclose(weights[:, 1:-1] / weights[:, :-2], np.repeat(1 / shrink[:, None], 4, axis=1))
    assert not weights[:, -1].any()


def test_short_and_long_runs_use_the_same_recursion():
    """The closed form walks rounds in two ways; both give the moments."""
    setting = RateSetting(remembers=True, scenario="S1", centred=False)
    point = {**BASE, "T": 600, "D": 1.0, "sigma": 1.0, "kappa": 3.0}
    moments = setting.moments(point, remembers=True)
    steps = np.geomspace(0.01, LARGEST, 40)
    weights = averaging(steps, 600, 1 / 3)
    together = moments.loss(steps, weights)
    single = [moments.loss(steps[n : n + 1], weights[n : n + 1])[0] for n in range(len(steps))]
    np.testing.assert_allclose(together, single, rtol=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_source_is_swept_along_every_parameter(setting):
    swept = everything(setting, "D", "G", "sigma")
    names = {"T", "N", "K", "F", "kappa"} | (set() if setting.strongly else {"steep"})
    for source in ("D", "G", "sigma"):
        others = [other for other in ("D", "G", "sigma") if other != source]
        alone = [s for s in swept if s.base[source] > 0 and not any(s.base[o] for o in others)]
        assert {s.name for s in alone} == names | {source}
        assert all(s.base["B"] > 0 for s in alone) == (setting.balanced and source == "G")
    together = [s for s in swept if all(s.base[source] > 0 for source in ("D", "G", "sigma"))]
    assert any(s.name == "T" and s.base["B"] > 0 for s in together)
    fixed = replace(setting, clients=1, scenario="S1", centred=False)
    assert "N" not in {s.name for s in everything(fixed, "D")}


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.balanced])
def test_a_quick_check_has_a_sweep_in_which_the_client_drift_acts(setting):
    """Twice the drift, another gap, at every point that a shortened check visits along N and K."""
    short = setting.check(*everything(setting, "D", "G", "sigma")).shortened()
    for swept in (s for s in short.sweeps if s.name in ("N", "K")):
        for value in swept.values:
            point = {**swept.base, swept.name: value}
            gaps = [setting.quantities({**point, "G": point["G"] * twice}, (), ())["eps"] for twice in (1, 2)]
            assert gaps[1] > 1.5 * gaps[0]


def test_checks_of_a_setting_share_what_is_run():
    first, second = (RateSetting(remembers=True).check(*everything(RateSetting(remembers=True), "D")) for _ in range(2))
    assert first.instances is second.instances


@pytest.mark.parametrize(
    ("setting", "numbers"),
    [
        ("SRD-LL-GC", {"d": 6, "N": 17, "K": 4, "T": 13, "radius": 7.9}),
        ("SRD-LL-SC", {"d": 5, "N": 12, "K": 4, "T": 33, "radius": 16.0}),
        ("SRD-LL-SC", {"d": 2, "N": 19, "K": 2, "T": 43, "radius": 0.23}),
        ("BRD-SL-GC", {"d": 3, "N": 5, "K": 7, "T": 29, "radius": 0.14}),
    ],
)
@pytest.mark.parametrize(("remembers", "prox"), [(True, 0.0), (False, 0.0), (False, 1.0)])
def test_best_rates_of_the_figure_are_those_of_a_dense_grid(setting, numbers, remembers, prox):
    """Also where the loss has a second minimum close to the largest rate."""
    instance = figure_1.problem(numbers, setting, True)
    ends = 1e-4, 1.95 / (float(instance.hessian.max()) + prox)
    rates = np.union1d(np.linspace(*ends, 2000), np.geomspace(*ends, 2000))
    moments = QuadraticMoments.of(instance, numbers["K"], remembers=remembers, prox=prox)
    losses = moments.loss(rates * numbers["K"], np.eye(numbers["T"] + 1)[-1:], power=2)
    rate, loss = figure_1.tuned(numbers, instance, averaged=False, remembers=remembers, prox=prox)
    assert rate == pytest.approx(rates[np.argmin(losses)], rel=0.02)
    assert loss == pytest.approx(losses.min(), rel=2e-3)
