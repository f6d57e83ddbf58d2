"""Objective, constants and coordinates of a quadratic."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fltheory.errors import InvalidParameter
from fltheory.problems.problem import Origin
from fltheory.quadratic import Quadratic, client_quadratics, noisy_quadratic

KINDS = ["rotated", "axes", "commuting", "dense"]


def client_functions(problem):
    """Return every client's own objective, growth and fixed drift included, in the coordinates of ``hessian``."""

    def function(i):
        h = problem.hessian[i % len(problem.hessian)]
        h = np.diag(h) if h.ndim == 1 else h
        b, c = problem.linear[i % len(problem.linear)], problem.constant[i % len(problem.constant)]
        scale = 1 + problem.client_growth[i]
        return lambda w: scale * (0.5 * w @ h @ w + b @ w + c) + problem.client_drift[i] @ w

    return [function(i) for i in range(problem.num_clients)]


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_is_that_of_the_objective(make_problem, kind):
    problem = make_problem(kind)
    objective = problem.objective()
    rng = np.random.default_rng(0)
    w, size = rng.standard_normal(problem.dim), 1e-4
    shifts = size * np.eye(problem.dim)
    differences = (objective.gap(w + shifts) - objective.gap(w - shifts)) / (2 * size)
    np.testing.assert_allclose(objective.gradient(w), differences, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(objective.gradient(objective.w_star), 0.0, atol=1e-12)
    assert objective.gap(objective.w_star) == 0.0
    matrix = objective.hessian if objective.hessian.ndim == 2 else np.diag(objective.hessian)
    np.testing.assert_allclose(objective.gradient(w), matrix @ w + objective.linear, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_objective_is_the_weighted_mean_of_the_clients_without_drift(make_problem, kind):
    problem = make_problem(kind)
    p = np.array([0.5, 0.2, 0.3])
    inside = problem.objective_inside(p)
    w = np.random.default_rng(1).standard_normal(problem.dim)
    still = [
        0.5 * w @ (np.diag(h) if h.ndim == 1 else h) @ w + b @ w + c
        for h, b, c in zip(
            np.broadcast_to(problem.hessian, (3, *problem.hessian.shape[1:])),
            np.broadcast_to(problem.linear, (3, problem.dim)),
            np.broadcast_to(problem.constant, (3,)),
            strict=True,
        )
    ]
    assert inside.gap(w) + inside.f_star == pytest.approx(p @ still, rel=1e-10)
    outside = problem.objective(p)
    assert outside.gap(problem.outward(w)) == pytest.approx(inside.gap(w), rel=1e-12)
    np.testing.assert_allclose(problem.inward(outside.gradient(problem.outward(w))), inside.gradient(w), atol=1e-12)


def test_shared_hessian_gives_A_w_plus_B():
    problem = noisy_quadratic(dim=4, num_clients=3, radius=2.0, seed=8)
    A = problem.basis.T @ np.diag(problem.hessian[0]) @ problem.basis
    B = -A @ problem.objective().w_star
    w = np.array([1.0, 2.0, -3.0, 0.5])
    np.testing.assert_allclose(problem.objective().gradient(w), A @ w + B, rtol=1e-12)
    assert problem.objective().f_star == pytest.approx(0.5 * B @ problem.objective().w_star)


@pytest.mark.parametrize("kind", KINDS)
def test_rotation_changes_coordinates_only(make_problem, kind):
    problem = make_problem(kind, noise_sq=0.3)
    flat = problem.unrotated()
    w = np.random.default_rng(2).standard_normal((2, 3, problem.dim))
    np.testing.assert_allclose(flat.objective().gap(w), problem.objective().gap(w), rtol=1e-10)
    np.testing.assert_allclose(flat.objective().gradient(w), problem.objective().gradient(w), rtol=1e-9, atol=1e-12)
    outer = problem.reference_oracle(seed=3, replicates=range(2))
    inner = problem.compiled_oracle(seed=3, replicates=range(2), rotation_equivariant=True)
    for oracle in (outer, inner):
        oracle.begin_round(4)
    entered = inner.enter(w)
    np.testing.assert_allclose(inner.leave(entered), w, atol=1e-13)
    for batch in (None, inner.minibatch(2)):
        np.testing.assert_allclose(inner.leave(inner.gradient(entered, batch)), outer.gradient(w, batch), atol=1e-11)
    np.testing.assert_allclose(
        inner.client_measures(entered)["personal_gap"], outer.client_measures(w)["personal_gap"], rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("kind", ["rotated", "commuting", "dense"])
def test_client_minima_and_gamma(make_problem, kind):
    problem = make_problem(kind)
    constants = problem.constants()
    w_star = problem.objective_inside().w_star
    functions = client_functions(problem)
    found = np.array([minimize(f, w_star, method="BFGS", options={"gtol": 1e-7}).fun for f in functions])
    np.testing.assert_allclose(constants["client_f_star"].value, found, atol=1e-9)
    at_optimum = np.array([f(w_star) for f in functions])
    np.testing.assert_allclose(constants["gamma"].value, at_optimum - found, atol=1e-9)
    assert np.all(constants["gamma"].value >= 0)
    w = np.random.default_rng(3).standard_normal((2, 3, problem.dim))
    gaps = problem.compiled_oracle(seed=0, replicates=range(2), rotation_equivariant=True).client_measures(w)[
        "personal_gap"
    ]
    expected = [[f(x) - m for f, x, m in zip(functions, row, found, strict=True)] for row in w]
    np.testing.assert_allclose(gaps, expected, atol=1e-8)


def test_flat_directions_keep_a_minimiser_but_not_the_clients():
    problem = noisy_quadratic(dim=4, num_clients=3, mu=0.0, L=2.0, radius=1.0, client_drift_sq=0.5, seed=1)
    objective = problem.objective()
    np.testing.assert_allclose(objective.gradient(objective.w_star), 0.0, atol=1e-14)
    assert np.all(np.isneginf(problem.constants()["client_f_star"].value))
    assert np.all(np.isposinf(problem.constants()["gamma"].value))
    calm = noisy_quadratic(dim=4, num_clients=3, mu=0.0, L=2.0, client_drift_sq=0.0, seed=1)
    np.testing.assert_allclose(calm.constants()["gamma"].value, 0.0, atol=1e-14)


def test_of_several_minimisers_the_closest_to_the_start_is_taken():
    problem = Quadratic(
        hessian=[[0.0, 2.0]],
        linear=[[0.0, -2.0]],
        constant=[1.0],
        sample_counts=[1.0],
        noise_sq=[0.0],
        start=[7.0, 5.0],
    )
    assert problem.objective().w_star.tolist() == [7.0, 1.0]
    assert problem.objective().f_star == 0.0


def test_no_minimiser_is_refused():
    problem = Quadratic(
        hessian=[[0.0, 2.0]], linear=[[1.0, 0.0]], constant=[0.0], sample_counts=[1.0], noise_sq=[0.0], start=[0, 0]
    )
    with pytest.raises(InvalidParameter, match="no minimiser"):
        problem.objective()


def test_growth_widens_mu_L_and_epsilon():
    """``alpha = (0.2, -0.2)`` and ``A = 0.1`` on the spectrum [1, 5]."""
    problem = noisy_quadratic(num_clients=2, client_drift_sq=0, client_growth=0.2, round_growth=0.1, mu=1, L=5)
    values = {name: constant.value for name, constant in problem.constants().items()}
    assert values["mu"] == pytest.approx(0.7)
    assert values["L"] == pytest.approx(6.5)
    assert values["epsilon"] == pytest.approx(0.4 * 5 + 2 * 0.1 * 5)
    assert values["round_growth_sq"] == pytest.approx(0.01)


def test_origins_are_labelled():
    constants = noisy_quadratic(hessian_noise=0.1).constants()
    assert {constants[name].origin for name in ("mu", "L", "w_star", "gamma", "epsilon")} == {Origin.COMPUTED}
    assert {constants[name].origin for name in ("sigma_sq", "fresh_drift_sq", "round_drift_sq")} == {Origin.DECLARED}
    assert "random Hessian" in constants["sigma_sq"].note


BASE = {
    "hessian": [[1.0, 2.0]],
    "linear": [[0.0, 0.0]],
    "constant": [0.0],
    "sample_counts": [1.0, 1.0],
    "noise_sq": [0.0, 0.0],
    "start": [0.0, 0.0],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hessian": [[1.0, -2.0]]}, "positive semidefinite"),
        ({"hessian": [[[1.0, 2.0], [0.0, 1.0]]]}, "symmetric"),
        ({"hessian": [[1.0, 2.0]] * 3}, r"shape \(1 \| 2, dim\)"),
        ({"hessian": [1.0, 2.0]}, "must have shape"),
        ({"linear": [[0.0, 0.0]] * 3, "constant": [0.0] * 3}, "1 or 2 rows"),
        ({"basis": [[1.0, 1.0], [0.0, 1.0]]}, "orthogonal"),
        ({"hessian": [np.eye(2)], "basis": np.eye(2)}, "must be None"),
        ({"sample_counts": []}, "positive sum"),
        ({"sample_counts": [1.0], "noise_sq": [0.0], "fresh_drift_centred": True}, "at least two clients"),
        ({"start": [0.0]}, r"Quadratic\.start must have shape"),
        ({"noise_sq": [0.0]}, r"Quadratic\.noise_sq must have shape"),
        ({"client_drift": [[0.0, 0.0]]}, r"Quadratic\.client_drift must have shape"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(InvalidParameter, match=message):
        Quadratic(**(BASE | changes))


def test_dissimilarity_of_one_hessian_is_zero():
    assert client_quadratics(dissimilarity=0.0, spread=0.5).constants()["epsilon"].value == pytest.approx(0, abs=1e-14)


def test_minima_by_hand_with_growth_constants_and_drift():
    """``1.5 (w^2 + 3) + w`` and ``0.5 (w^2 + 3) - 2 w``: minima ``4.5 - 1/6`` and ``1.5 - 2``; ``w* = 0``."""
    problem = Quadratic(
        hessian=[[2.0]],
        linear=[[0.0]],
        constant=[3.0],
        sample_counts=[1.0, 1.0],
        client_growth=[0.5, -0.5],
        client_drift=[[1.0], [-2.0]],
        noise_sq=[0.0, 0.0],
        start=[1.0],
    )
    constants = problem.constants()
    assert constants["client_f_star"].value.tolist() == pytest.approx([4.5 - 1 / 6, -0.5])
    assert constants["gamma"].value.tolist() == pytest.approx([1 / 6, 2.0])
    assert constants["f_star"].value == 3.0
    gaps = problem.reference_oracle(seed=0, replicates=range(1)).client_measures(np.array([[[1.0], [3.0]]]))[
        "personal_gap"
    ]
    assert gaps[0].tolist() == pytest.approx([7 - (4.5 - 1 / 6), 0.5])


@pytest.mark.parametrize("seed", range(4))
def test_a_flat_direction_has_the_curvature_zero_whatever_the_rounding(seed):
    flat, steep = (
        client_quadratics(dim=3, num_clients=3, mu=mu, L=5.0, dissimilarity=0.0, spread=0.5, seed=seed)
        for mu in (0.0, 1e-6)
    )
    assert flat.constants()["mu"].value == 0.0
    assert flat.constants_on_ball(1.0)["mu"].value == 0.0
    assert steep.constants()["mu"].value == pytest.approx(1e-6, rel=1e-6)
