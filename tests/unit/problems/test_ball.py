"""Constants on a ball hold at every model in it, are exact for radius 0, and are attained where the docs say so."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic import LogisticProblem, Samples, ball, controlled_logistic
from fltheory.logistic.constants import variances
from fltheory.logistic.model import LogisticLoss
from fltheory.problems.problem import Origin, constants_on_ball
from fltheory.quadratic import Quadratic, client_quadratics, noisy_quadratic
from fltheory.quadratic.ball import largest_on_ball

RADII = st.sampled_from([0.0, 1e-3, 0.1, 1.0, 10.0, 1e3])


def points(rng: np.random.Generator, centre: Floats, radius: float, towards: Floats) -> Floats:
    """Return models in the ball: at random, and on the sphere along given directions and back."""
    drawn = rng.standard_normal((30, len(centre)))
    drawn[15:] = rng.standard_normal((15, 1)) * towards[rng.integers(len(towards), size=15)]
    lengths = np.where(rng.random(30) < 0.7, 1.0, rng.random(30))
    norms = np.maximum(np.linalg.norm(drawn, axis=1), 1e-300)
    return np.asarray(centre + radius * (lengths / norms)[:, None] * drawn)


def logistic(seed: int, classes: int, binary: bool, **more: Any) -> LogisticProblem:
    rng = np.random.default_rng(seed)
    sizes = (1, 6, 9)
    features = [10 ** rng.uniform(-1, 1) * rng.standard_normal((n, 3)) + rng.standard_normal(3) for n in sizes]
    train = Samples.from_clients(features, [rng.integers(0, classes, n) for n in sizes])
    return LogisticProblem(train=train, num_classes=classes, binary=binary, l2=10 ** rng.uniform(-3, 0), **more)


def moments(problem: LogisticProblem, client: int, w: Floats) -> tuple[Floats, float, float]:
    """Return eigenvalues of the Hessian, variance of a stochastic gradient and its second moment, at one model."""
    loss = problem.client_loss(client)
    sigma_sq, drift_sq = variances(problem, w)
    second = float(np.sum(loss.gradient(w) ** 2)) + sigma_sq[client] + drift_sq[client] + problem.fresh_drift_sq
    return np.linalg.eigvalsh(loss.hessian(w)), float(sigma_sq[client]), second


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from([(2, True), (2, False), (4, False)]),
    radius=RADII,
    batch_size=st.sampled_from([None, 3]),
    label_drift=st.sampled_from([0.0, 0.3]),
    far=st.booleans(),
)
@example(seed=4983, model=(2, False), radius=1.0, batch_size=None, label_drift=0.0, far=True)  # saturated samples
def test_logistic_bounds_hold_everywhere_in_the_ball(
    seed: int, model: tuple[int, bool], radius: float, batch_size: int | None, label_drift: float, far: bool
) -> None:
    rng = np.random.default_rng(seed)
    problem = logistic(seed, *model, batch_size=batch_size, label_drift=label_drift)
    problem = replace(
        problem,
        client_drift=rng.standard_normal((3, problem.dim)),
        round_drift_sq=0.3,
        fresh_drift_sq=0.2,
        noise_sq=np.array([0.0, 0.5, 1.0]),
    )
    centre = 3.0 * rng.standard_normal(problem.dim) if far else None
    known = {name: constant.value for name, constant in problem.constants_on_ball(radius, centre).items()}
    c = problem.objective().w_star if centre is None else centre
    assert known["mu"] == np.min(known["client_mu"]) >= problem.l2
    assert known["L"] == np.max(known["client_L"]) <= problem.client_smoothness.max() * (1 + 1e-12)
    assert known["G_sq"] == np.max(known["gradient_sq"])
    for i in range(3):
        loss = problem.client_loss(i)
        towards = np.concatenate([loss.gradient(c)[None], np.linalg.eigh(loss.hessian(c))[1].T])
        for w in points(rng, c, radius, towards):
            values, sigma_sq, second = moments(problem, i, w)
            rounding = 1e-13 * problem.client_smoothness[i]
            assert values[0] >= known["client_mu"][i] - rounding
            assert values[-1] <= known["client_L"][i] * (1 + 1e-12) + rounding
            assert sigma_sq <= known["sigma_sq"][i] * (1 + 1e-9) + rounding
            assert second <= known["gradient_sq"][i] * (1 + 1e-9) + rounding


@pytest.mark.parametrize("model", [(2, True), (4, False)])
def test_a_ball_without_radius_has_the_constants_of_its_centre(model: tuple[int, bool]) -> None:
    problem = logistic(3, *model, batch_size=2, label_drift=0.2)
    w = np.random.default_rng(0).standard_normal(problem.dim)
    known = problem.constants_on_ball(0.0, w)
    for i in range(3):
        values, sigma_sq, second = moments(problem, i, w)
        assert known["client_L"].value[i] == pytest.approx(values[-1], rel=1e-9)
        assert known["client_mu"].value[i] == pytest.approx(values[0], rel=1e-9)
        assert known["sigma_sq"].value[i] == pytest.approx(sigma_sq, rel=1e-9)
        assert known["gradient_sq"].value[i] == pytest.approx(second, rel=1e-9)
    assert {constant.origin for constant in known.values()} == {Origin.COMPUTED}


@pytest.mark.parametrize("radius", [0.01, 0.5, 2.0, 30.0])
def test_one_sample_attains_mu_L_and_the_gradient_bound(radius: float) -> None:
    """Sample x with label 1 around the origin: all are met on the line through x, the noise within a factor of 2."""
    x = np.array([[0.6, -0.8], [0.0, 1e-9]])
    train = Samples.from_clients([x[:1], x], [np.array([1]), np.array([1, 1])])
    problem = LogisticProblem(train=train, num_classes=2, binary=True, l2=0.1, batch_size=1)
    known = problem.constants_on_ball(radius, np.zeros(2))
    _, _, second = moments(problem, 0, -radius * x[0])
    assert known["gradient_sq"].value[0] == pytest.approx(second, rel=1e-12)
    assert known["client_L"].value[0] == pytest.approx(
        np.linalg.eigvalsh(problem.client_loss(0).hessian(np.zeros(2)))[1]
    )
    line = LogisticProblem(
        train=Samples.from_clients([np.ones((1, 1))], [np.array([1])]), num_classes=2, binary=True, l2=0.1
    )
    attained = line.client_loss(0).hessian(np.array([radius]))[0, 0]
    assert line.constants_on_ball(radius, np.zeros(1))["mu"].value == pytest.approx(attained, rel=1e-12)
    _, sigma_sq, _ = moments(problem, 1, -radius * x[0])
    assert sigma_sq <= known["sigma_sq"].value[1] <= 2.0 * sigma_sq


def test_far_away_the_residual_of_soft_labels_is_that_of_the_farthest_corner() -> None:
    """No probabilities are farther from a law of labels than one of the corners of the simplex."""
    rng = np.random.default_rng(2)
    law, features = rng.dirichlet(np.ones(3), size=5), rng.standard_normal((5, 2))
    loss = LogisticLoss(features=features, targets=law, weights=np.full(5, 0.2), l2=0.1)
    bounds = ball._softmax(loss, np.zeros(6), np.full(5, 1e3))
    corners = np.linalg.norm(np.eye(3)[None] - law[:, None], axis=2).max(axis=1)
    assert bounds.residual == pytest.approx(corners, rel=1e-12)


def test_local_strong_convexity_exceeds_the_regularisation() -> None:
    problem = controlled_logistic(mu=0.01, L=2.0, num_features=3, samples=200)
    near, far = (problem.constants_on_ball(radius)["mu"].value for radius in (0.1, 1e4))
    assert near > 0.1
    assert far == pytest.approx(0.01)


def quadratics(seed: int, dense: bool, growth: bool) -> Quadratic:
    rng = np.random.default_rng(seed)
    if dense:
        problem = client_quadratics(dim=3, num_clients=3, spread=2.0, noise_sq=[0.0, 0.1, 0.2], seed=seed)
    else:
        problem = noisy_quadratic(dim=3, num_clients=3, rotated=bool(seed % 2), noise_sq=0.1, radius=2.0, seed=seed)
    return replace(
        problem,
        client_drift=rng.standard_normal((3, 3)),
        client_growth=np.array([0.3, -0.2, 0.0]) if growth else None,
        round_growth=0.4 if growth else 0.0,
        hessian_noise=0.5 if growth else 0.0,
        round_drift_sq=0.2,
        fresh_drift_sq=0.1,
    )


def second_moments(problem: Quadratic, w: Floats) -> tuple[Floats, Floats]:
    """Return second moment and variance of every client's stochastic gradient: the sum over both signs is exact."""
    flat = problem.unrotated()
    hessian = np.broadcast_to(flat.hessian, (3, *flat.hessian.shape[1:]))
    slope = (np.einsum("nab,b->na", hessian, w) if flat.is_dense else hessian * w) + flat.linear
    full_sq = np.zeros(3)
    for sign in (-1.0, 1.0):
        scale = 1.0 + np.asarray(problem.client_growth) + sign * problem.round_growth
        full_sq += 0.5 * np.sum((scale[:, None] * slope + np.asarray(flat.client_drift)) ** 2, axis=1)
    full_sq += problem.round_drift_sq + problem.fresh_drift_sq
    sigma_sq = problem.noise_sq + problem.hessian_noise**2 * full_sq
    return full_sq + sigma_sq, sigma_sq


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), dense=st.booleans(), growth=st.booleans(), radius=RADII, far=st.booleans())
def test_quadratic_bounds_hold_and_are_attained(seed: int, dense: bool, growth: bool, radius: float, far: bool) -> None:
    problem = quadratics(seed, dense, growth)
    rng = np.random.default_rng(seed)
    centre = rng.standard_normal(3) if far else None
    known = {name: constant.value for name, constant in problem.constants_on_ball(radius, centre).items()}
    c = problem.objective().w_star if centre is None else centre
    constants = problem.constants()
    if not growth:
        assert known["mu"] == pytest.approx(constants["mu"].value)
        assert known["L"] == pytest.approx(constants["L"].value)
    best = np.zeros(3)
    for w in points(rng, c, radius, np.eye(3)):
        second, sigma_sq = second_moments(problem, w)
        assert np.all(second <= np.asarray(known["gradient_sq"]) * (1 + 1e-10))
        assert np.all(sigma_sq <= np.asarray(known["sigma_sq"]) * (1 + 1e-10))
    for i in range(3):
        # Ascent to the boundary point that its own gradient points to increases a convex function.
        for w in points(rng, c, radius, np.eye(3)):
            for _ in range(300):
                step = 1e-6 * max(radius, 1e-3)
                slope = np.array(
                    [
                        second_moments(problem, w + e)[0][i] - second_moments(problem, w - e)[0][i]
                        for e in step * np.eye(3)
                    ]
                )
                following = c + radius * slope / np.linalg.norm(slope)
                if np.linalg.norm(following - w) <= 1e-7 * radius:
                    break
                w = following
            best[i] = max(best[i], second_moments(problem, w)[0][i])
            if best[i] >= known["gradient_sq"][i] * (1 - 1e-5):
                break
    assert np.all(best >= np.asarray(known["gradient_sq"]) * (1 - 1e-5))


@pytest.mark.parametrize(
    ("values", "h", "radius", "largest"),
    [
        ([1.0, 4.0], [0.0, 0.0], 3.0, 36.0),
        ([1.0, 4.0], [0.0, 1.0], 3.0, 42.0),
        ([4.0, 4.0], [3.0, 4.0], 1.0, 14.0),
        ([0.0, 0.0], [3.0, 4.0], 2.0, 20.0),
        # Nothing points to the largest eigenvalue: d = (1/3, sqrt(1 - 1/9)) gives 1/9 + 2/3 + 32/9.
        ([1.0, 4.0], [1.0, 0.0], 1.0, 13 / 3),
        # The same with a slope that reaches the sphere first: d = (1, 0).
        ([1.0, 4.0], [9.0, 0.0], 1.0, 19.0),
        ([1.0, 4.0], [9.0, 1.0], 0.0, 0.0),
    ],
)
def test_largest_value_on_a_ball_by_hand(values: list[float], h: list[float], radius: float, largest: float) -> None:
    assert largest_on_ball(np.array(values), np.array(h), radius) == pytest.approx(largest, rel=1e-12)


def test_what_is_no_ball_is_refused() -> None:
    problem = noisy_quadratic(dim=3)
    with pytest.raises(InvalidParameter, match=r"Quadratic.radius must be"):
        problem.constants_on_ball(-1.0)
    with pytest.raises(InvalidParameter, match=r"Quadratic.centre must have shape \(3\)"):
        problem.constants_on_ball(1.0, np.zeros(2))
    with pytest.raises(InvalidParameter, match=r"LogisticProblem.radius must be"):
        controlled_logistic().constants_on_ball(float("inf"))


def test_problems_without_the_ability_say_so() -> None:
    class Bare:
        num_clients, dim, objective = 1, 3, None

    with pytest.raises(NotApplicable, match="constants on a ball are not known for Bare"):
        constants_on_ball(Bare(), 1.0)  # type: ignore[arg-type]
    assert constants_on_ball(noisy_quadratic(dim=3), 1.0)["L"].value == pytest.approx(5.0)
