"""Parabolas with a bend: gradients against differences, minimisers, noise, and what the hard problems promise."""

import numpy as np
import pytest

import fltheory as fl
from fltheory.quadratic.bent import NOISE_LAWS, BentQuadratic

PROBLEMS = {
    "kinked": fl.bent_parabola(H=2.0, sigma=0.5),
    "smooth": fl.bent_parabola(H=2.0, sigma=0.5, Q=3.0, num_clients=2),
    "valley": fl.bent_valley(H=2.0, mu=0.1, distance=3.0, sigma=0.5, num_clients=3),
    "shared-noise": fl.bent_valley(H=2.0, mu=0.1, distance=3.0, sigma=0.5, num_clients=3, nu=0.7),
    "pulls": fl.bent_valley_with_pulls(H=2.0, mu=0.1, distance=3.0, sigma=0.5, zeta=1.0, num_clients=3),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_gradients_are_differences_of_values(problem):
    rng = np.random.default_rng(0)
    step = 1e-6
    for w in 2 * rng.standard_normal((5, problem.dim)) + 0.01:
        for client in range(problem.num_clients):
            slopes = [
                (problem.value(client, w + step * e) - problem.value(client, w - step * e)) / (2 * step)
                for e in np.eye(problem.dim)
            ]
            np.testing.assert_allclose(problem.slope(client, w), slopes, rtol=1e-6, atol=1e-8)
            curved = [
                (problem.slope(client, w + step * e) - problem.slope(client, w - step * e)) / (2 * step)
                for e in np.eye(problem.dim)
            ]
            np.testing.assert_allclose(problem.hessian(client, w), curved, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_constants_bound_curvature_and_minimiser_is_one(problem):
    known = {name: constant.value for name, constant in problem.constants().items()}
    whole = problem.objective()
    assert np.abs(whole.gradient(known["w_star"])).max() < 1e-12
    assert known["L"] <= 2.0 + 1e-12
    points = np.linspace(-5, 5, 41)[:, None] * np.ones(problem.dim)
    for client in range(problem.num_clients):
        spectrum = np.array([np.diag(problem.hessian(client, w)) for w in points])
        assert known["mu"] - 1e-12 <= spectrum.min()
        assert spectrum.max() <= known["L"] + 1e-12


def test_third_derivatives_reach_their_bound_and_do_not_exceed_it():
    problem = fl.bent_parabola(H=2.0, sigma=0.5, Q=3.0)
    points = np.linspace(-1, 1, 2001)
    curvature = np.array([problem.hessian(0, np.array([x]))[0, 0] for x in points])
    third = np.diff(curvature) / np.diff(points)
    assert third.max() == pytest.approx(3.0, rel=1e-3)
    assert third.max() <= 3.0


def test_kink_is_the_limit_of_a_smooth_bend():
    smooth, kinked = fl.bent_parabola(H=1.0, sigma=0.0, Q=1e9), fl.bent_parabola(H=1.0, sigma=0.0)
    w = np.array([[-1.5], [0.5], [2.0]])
    np.testing.assert_allclose(smooth.value(0, w), kinked.value(0, w), atol=1e-8)
    np.testing.assert_allclose(smooth.slope(0, w), kinked.slope(0, w), atol=1e-8)


def test_minimiser_of_unequal_bends_is_the_zero_of_the_mean_gradient():
    one = np.ones((2, 1))
    problem = BentQuadratic(
        left=one, right=one * [[2.0], [3.0]], centre=[[-1.0], [2.0]], width=[0.0], noise_sq=0 * one, start=[0.0]
    )
    # Right of the first centre, left of the second one: 2 (x + 1) + (x - 2) = 0.
    assert problem.objective().w_star[0] == pytest.approx(0.0, abs=1e-14)
    assert problem.objective([0.0, 1.0]).w_star[0] == 2.0


@pytest.mark.parametrize("law", NOISE_LAWS)
def test_noise_has_the_variance_that_is_declared(law):
    ones = np.ones((1, 2))
    problem = BentQuadratic(
        left=ones, right=ones, centre=0 * ones, width=[0.0, 0.0], noise_sq=[[0.0, 4.0]], noise_law=law, start=[0.0, 0.0]
    )
    oracle = problem.reference_oracle(seed=1, replicates=range(4000))
    oracle.begin_round(0)
    noise = oracle.gradient(np.zeros((4000, 1, 2)), oracle.minibatch(0))[:, 0]
    assert np.all(noise[:, 0] == 0)
    # Standard errors: at most 2 sqrt(3) / sqrt(4000) = 0.03 for the mean, 4 sqrt(2) / sqrt(4000) = 0.09 for the square.
    assert abs(noise[:, 1].mean()) < 0.16
    assert abs((noise[:, 1] ** 2).mean() - 4.0) < 0.45
    assert (law == "sign") == bool(np.all(np.abs(noise[:, 1]) == 2.0))


def test_two_local_steps_drift_by_the_closed_form():
    """From the minimiser, two steps with Gaussian noise: the mean is ``-eta^2 H sigma / (2 sqrt(2 pi))``."""
    eta = 0.4
    run = fl.simulate(
        fl.Experiment(
            problem=fl.bent_parabola(H=1.0, sigma=1.0, num_clients=8),
            algorithm=fl.FedAvg(),
            participation=fl.Participation(num_clients=8, local_steps=2),
            rounds=1,
            rate=eta,
        ),
        engine="monte_carlo",
        replicates=2000,
        record=fl.Record(models=True),
    )
    drift = run.models[:, -1, 0]
    error = drift.std() / np.sqrt(len(drift))
    assert abs(drift.mean() + eta**2 / (2 * np.sqrt(2 * np.pi))) < 4 * error
    assert drift.mean() < -5 * error


def test_heterogeneity_at_the_minimiser_is_zeta():
    for clients, expected in ((2, 1.0), (3, 2 / 3), (4, 1.0)):
        problem = fl.bent_valley_with_pulls(H=1.0, mu=0.1, distance=1.0, sigma=0.0, zeta=1.0, num_clients=clients)
        at = np.stack([problem.slope(i, np.zeros(4)) for i in range(clients)])
        assert (at**2).sum() / clients == pytest.approx(expected)
        np.testing.assert_allclose(at.mean(axis=0), 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "bad"),
    [
        (fl.bent_parabola, {"H": 0.0, "sigma": 1.0}),
        (fl.bent_parabola, {"H": 1.0, "sigma": 1.0, "Q": 0.0}),
        (fl.bent_valley, {"H": 1.0, "mu": 2.0, "distance": 1.0, "sigma": 1.0, "num_clients": 1}),
        (fl.bent_valley, {"H": 1.0, "mu": 0.5, "distance": 1.0, "sigma": 1.0, "num_clients": 1, "nu": 2.0}),
        (
            fl.bent_valley_with_pulls,
            {"H": 1.0, "mu": 0.5, "distance": 1.0, "sigma": 1.0, "zeta": -1.0, "num_clients": 2},
        ),
    ],
)
def test_bad_constants_are_refused(make, bad):
    with pytest.raises(fl.InvalidParameter, match=make.__name__):
        make(**bad)


@pytest.mark.parametrize("field", ["left", "right"])
def test_curvatures_must_be_positive(field):
    ones = np.ones((1, 1))
    given = {"left": ones, "right": ones, "centre": 0 * ones, "width": [0.0], "noise_sq": ones, "start": [0.0]}
    with pytest.raises(fl.InvalidParameter, match=f"BentQuadratic.{field} must be positive curvatures"):
        BentQuadratic(**{**given, field: 0 * ones})


def test_the_bent_valley_is_the_one_of_its_parameters():
    """Three axes, or four: the first two are quadratic, the third bends from ``H/4`` to ``H/2``."""
    for nu, left, right, noise in (
        (None, [0.5, 8.0, 2.0], [0.5, 8.0, 4.0], [0.0, 0.0, 9.0]),
        (5.0, [0.5, 8.0, 2.0, 5.0], [0.5, 8.0, 4.0, 5.0], [0.0, 0.0, 4.5, 4.5]),
    ):
        valley = fl.bent_valley(H=8.0, mu=0.5, distance=6.0, sigma=3.0, num_clients=2, nu=nu)
        np.testing.assert_array_equal(valley.left, [left, left])
        np.testing.assert_array_equal(valley.right, [right, right])
        np.testing.assert_allclose(valley.noise_sq, [noise, noise])
        assert np.linalg.norm(valley.objective().w_star - valley.start) == pytest.approx(6.0)


def test_the_bent_valley_with_pulls_starts_at_its_distance():
    """The bent axis and that of the pulls start at their minimiser, the others half of the distance away."""
    for nu, axes in ((None, 2), (5.0, 3)):
        valley = fl.bent_valley_with_pulls(H=8.0, mu=0.5, distance=6.0, sigma=3.0, zeta=2.0, num_clients=3, nu=nu)
        np.testing.assert_array_equal(valley.start, [0.0, 3.0, 3.0, 0.0, *[3.0] * (axes - 2)])
        np.testing.assert_array_equal(valley.left[:, 3], [8.0, 4.0, 8.0])
        np.testing.assert_array_equal(valley.right[:, 0], 2 * valley.left[:, 0])
        np.testing.assert_array_equal(valley.right[:, 1:], valley.left[:, 1:])
        pulls = -valley.left[:, 3] * valley.centre[:, 3]
        np.testing.assert_allclose(pulls, [-2.0, 2.0, 0.0])


@pytest.mark.parametrize(
    ("make", "more"), [(fl.bent_valley, {}), (fl.bent_valley_with_pulls, {"zeta": 1.0})], ids=["valley", "pulls"]
)
def test_limits_of_the_valleys(make, more):
    usual = {"H": 2.0, "mu": 0.1, "distance": 3.0, "sigma": 0.5, "num_clients": 2, "nu": 1.0} | more
    limits = {
        "H": ((2.0, 9.0), (0, -1.0, np.inf)),
        "mu": ((1e-9, 2.0), (0, 2.1)),
        "distance": ((1e-9, 9.0), (0, -1.0)),
        "sigma": ((0, 9.0), (-1e-9, np.nan)),
        "zeta": ((0, 9.0), (-1e-9, np.nan)),
        "num_clients": ((1, 4), (0, 1.5)),
        "nu": ((1e-9, 2.0, None), (0, 2.1)),
    }
    for name, (inside, outside) in limits.items():
        if name in usual:
            for value in inside:
                make(**{**usual, name: value})
            for value in outside:
                with pytest.raises(fl.InvalidParameter, match=rf"{make.__name__}\.{name} must be"):
                    make(**{**usual, name: value})
