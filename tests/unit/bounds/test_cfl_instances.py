"""Instances of the CFL claims are what their modules say: coins, bases, curvatures, moments, sweeps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fltheory import simulate
from fltheory.bounds._space import exact
from fltheory.bounds.cfl import _drift, _round
from fltheory.bounds.cfl._moments import LARGEST, averaging, best_step
from fltheory.bounds.cfl._rate_sweeps import BASE, everything, size
from fltheory.bounds.cfl._rates import Setting
from fltheory.validation.search import random_points


@pytest.mark.parametrize("number", range(1, 8))
def test_coins_are_fair_and_pairwise_independent(number):
    """Columns of a strength-two array: every pair of faces is equally likely."""
    coins = _drift.coin_table(number)
    assert coins.shape[1] == number
    assert not coins.sum(axis=0).any()
    assert np.array_equal(coins.T @ coins, len(coins) * np.eye(number))


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
def test_the_gradient_of_the_base_is_that_of_its_height(slopes, turn, x, y):
    base = _base(slopes, turn)
    w = np.array([x, y])
    gradient = base.along(base.derivative(base.across(w)))
    for axis in np.eye(2):
        h = 1e-5 * axis
        slope = (base.height(base.across(w + h)) - base.height(base.across(w - h))) / 2e-5
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
        mean = np.mean(made["cfl_grad_at"][:, :, :, 0], axis=0)
        np.testing.assert_allclose(mean, np.broadcast_to(made["cfl_grad_t"], mean.shape), atol=1e-9)
        if seen <= 3:
            other = _round.realise(exact(point))
            for name in ("cfl_update", "cfl_lost", "cfl_gap"):
                np.testing.assert_allclose(np.array(other[name], dtype=float), made[name], atol=1e-9)
    assert seen > 20


SETTINGS = [
    Setting(remembers=remembers, scenario=scenario, centred=centred, strongly=strongly)
    for remembers in (False, True)
    for scenario, centred in (("S1", False), ("S2", True), ("S2", False))
    for strongly in (False, True)
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_rates_measured_by_formula_are_those_of_the_engine(setting):
    """Every method, scenario and convexity; drawn drifts are averaged over both directions."""
    point = {**BASE, "T": 40, "N": 3, "D": 1.0, "G": 0.7, "sigma": 2.0, "kappa": 2.0, "F": 3.0}
    by_formula = setting.quantities(point, (), ())
    runs = setting.experiments({**point, "by": "engine"})
    assert len(runs) == (2 if setting.lasting else 1)
    by_engine = setting.quantities(point, runs, tuple(simulate(run, engine="exact") for run in runs))
    assert by_engine["rate_eps"] == pytest.approx(by_formula["rate_eps"], rel=1e-9)
    assert by_engine["mu"] == pytest.approx(float(runs[0].problem.hessian.min()))


@pytest.mark.parametrize("setting", [s for s in SETTINGS if not s.strongly])
@pytest.mark.parametrize("source", ["D", "G", "sigma"])
def test_the_curvature_of_the_general_convex_rates_is_about_the_worst(setting, source):
    """No other curvature costs several times as much at its own best step."""
    if not setting.acts(source):
        pytest.skip("drifts that sum to zero do not act with one Hessian")
    point = {**BASE, source: setting.size(source)}
    gaps = {}
    for bend in (1 / 32, 1 / 8, 1 / 2, 1.0, 2.0, 8.0):
        bent = {**point, "steep": max(bend, 1.0), "kappa": max(1.0 / bend, 1.0)}
        gaps[bend] = best_step(setting.moments(bent, remembers=setting.remembers), 512, 0.0)[1]
    assert max(gaps.values()) < 3 * gaps[1.0]
    assert min(gaps[1 / 32], gaps[8.0]) < gaps[1.0] / 2


def test_weights_of_the_mean_grow_as_in_the_proof():
    steps = np.array([LARGEST, LARGEST / 10])
    weights = averaging(steps, 5, 0.5)
    shrink = 1 - 0.25 * steps
    np.testing.assert_allclose(weights[:, 1:-1] / weights[:, :-2], np.repeat(1 / shrink[:, None], 4, axis=1))
    assert not weights[:, -1].any()


def test_short_and_long_runs_use_the_same_recursion():
    """The closed form walks rounds in two ways; both give the moments."""
    setting = Setting(remembers=True, scenario="S1", centred=False)
    point = {**BASE, "T": 600, "D": 1.0, "sigma": 1.0, "kappa": 3.0}
    moments = setting.moments(point, remembers=True)
    steps = np.geomspace(0.01, LARGEST, 40)
    weights = averaging(steps, 600, 1 / 3)
    together = moments.loss(steps, weights)
    single = [moments.loss(steps[n : n + 1], weights[n : n + 1])[0] for n in range(len(steps))]
    np.testing.assert_allclose(together, single, rtol=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_source_is_swept_along_every_parameter(setting):
    swept = setting.everything("D", "G", "sigma")
    names = {"T", "N", "K", "F", "kappa"} | (set() if setting.strongly else {"steep"})
    for source in ("D", "G", "sigma"):
        if not setting.acts(source):
            assert source in {s.name for s in swept}
            continue
        others = [other for other in ("D", "G", "sigma") if other != source]
        alone = {s.name for s in swept if s.base[source] > 0 and not any(s.base[o] for o in others)}
        assert alone == names | {source}
    fixed = replace(setting, clients=1)
    assert "N" not in {s.name for s in fixed.everything("D")}
