"""Gradients against the objective, the law of drifts and noise, and compiled against NumPy steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.problems.oracle import LocalSteps
from fltheory.quadratic import client_quadratics, noisy_quadratic
from fltheory.quadratic.closed_form import ClosedFormOracle

KINDS = ["rotated", "axes", "commuting", "dense"]


def assert_close(actual, expected):
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("kind", ["commuting", "dense"])
def test_client_gradients_differentiate_the_client_objectives(make_problem, kind):
    problem = make_problem(kind)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    fixed = oracle.gradient(np.zeros((1, 1, problem.dim))) - problem.linear  # this round's drift
    w, size = np.random.default_rng(0).standard_normal((1, 3, problem.dim)), 1e-4
    differences = np.empty((3, problem.dim))
    for j in range(problem.dim):
        shift = np.zeros((1, 3, problem.dim))
        shift[..., j] = size
        differences[:, j] = (
            oracle.client_measures(w + shift)["personal_gap"] - oracle.client_measures(w - shift)["personal_gap"]
        )[0] / (2 * size)
    np.testing.assert_allclose(oracle.gradient(w)[0], differences + fixed[0], rtol=1e-7, atol=1e-8)


@settings(deadline=None, max_examples=120)
@given(data=st.data())
def test_compiled_steps_equal_numpy_steps(make_problem, make_round, data):
    """Every option of the generic step, on every layout of the Hessian."""
    kind = data.draw(st.sampled_from(KINDS))
    problem = make_problem(
        kind,
        noise_sq=data.draw(st.sampled_from([0.0, 0.4])),
        hessian_noise=data.draw(st.sampled_from([0.0, 0.2])),
        noise_law=data.draw(st.sampled_from(["gaussian", "bounded"])),
    )
    dim, replicates = problem.dim, 4
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    seed = data.draw(st.integers(0, 100))
    oracles = [
        problem.reference_oracle(seed=seed, replicates=range(replicates)),
        problem.compiled_oracle(seed=seed, replicates=range(replicates), rotation_equivariant=False),
    ]

    def vectors():
        shape = (data.draw(st.sampled_from([1, replicates])), data.draw(st.sampled_from([1, 3])), dim)
        return data.draw(st.sampled_from([None, rng.standard_normal(shape)]))

    pulls = [0.0, 0.3, rng.uniform(0, 1, (1, 3, dim)), rng.uniform(0, 1, (replicates, 1, dim))]
    if kind in ("rotated", "dense"):
        half = rng.standard_normal((1, 3, dim, dim)) / dim
        pulls.append(half @ half.swapaxes(-1, -2))
    options = {
        "correction": vectors(),
        "pull": data.draw(st.sampled_from(pulls)),
        "anchor": vectors(),
        "l1": data.draw(st.sampled_from([0.0, 0.2])),
        "l1_anchor": vectors(),
        "recentre": data.draw(st.booleans()),
        "rate": data.draw(st.sampled_from([None, 0.03])),
        "steps": data.draw(st.sampled_from([None, 2])),
    }
    minibatch = data.draw(st.sampled_from([None, 0, 3]))
    rows = data.draw(st.sampled_from([1, replicates]))
    work = make_round(rng.integers(0, 5, (rows, 3)))
    start = rng.standard_normal((replicates, data.draw(st.sampled_from([1, 3])), dim))
    results = []
    for oracle in oracles:
        oracle.begin_round(2)
        batch = None if minibatch is None else oracle.minibatch(minibatch)
        results.append(oracle.local_steps(start, work, LocalSteps(minibatch=batch, **options)))
    assert results[0].shape == (replicates, 3, dim)
    assert_close(results[1], results[0])
    absent = np.broadcast_to(work.steps == 0, (replicates, 3))
    assert np.array_equal(results[1][absent], np.broadcast_to(start, results[1].shape)[absent])


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), recentre=st.booleans(), dense_pull=st.booleans(), rho=st.sampled_from([0.0, 0.2]))
def test_steps_in_the_eigenbasis_are_rotated_steps(make_problem, make_round, seed, recentre, dense_pull, rho):
    problem = make_problem("rotated", noise_sq=0.4, hessian_noise=rho)
    outer = problem.reference_oracle(seed=seed, replicates=range(3))
    inner = problem.compiled_oracle(seed=seed, replicates=range(3), rotation_equivariant=True)
    rng = np.random.default_rng(seed)
    start, correction, anchor = rng.standard_normal((3, 3, 3, 5))
    work = make_round(rng.integers(0, 5, (3, 3)))

    def run(oracle):
        oracle.begin_round(1)
        pull = 0.3 * oracle.curvature(start, "exact") if dense_pull else 0.3
        entered = [oracle.enter(x) for x in (start, correction, anchor)]
        options = {"correction": entered[1], "anchor": entered[2], "pull": pull, "recentre": recentre}
        return oracle.leave(oracle.local_steps(entered[0], work, LocalSteps(**options)))

    assert_close(run(inner), run(outer))


def test_one_step_by_hand(make_round):
    r"""``w - eta (g + c + Q (w - a) + lambda_1 sign(w - b))`` with the oracle's own stochastic gradient."""
    problem = client_quadratics(dim=3, num_clients=2, noise_sq=0.5, hessian_noise=0.1, commuting=True, round_drift_sq=1)
    oracle = problem.reference_oracle(seed=1, replicates=range(2))
    rng = np.random.default_rng(0)
    w, c, a, b = rng.standard_normal((4, 2, 2, 3))
    g = oracle.gradient(w, oracle.minibatch(0))
    how = LocalSteps(correction=c, pull=0.3, anchor=a, l1=0.4, l1_anchor=b)
    stepped = oracle.local_steps(w, make_round([1, 1], rate=0.2), how)
    assert_close(stepped, w - 0.2 * (g + c + 0.3 * (w - a) + 0.4 * np.sign(w - b)))
    fixed = oracle.local_steps(w, make_round([1, 1], rate=0.2), LocalSteps(minibatch=oracle.minibatch(5)))
    assert_close(fixed, w - 0.2 * oracle.gradient(w, oracle.minibatch(5)))


def test_fresh_steps_use_the_minibatches_in_order(make_round):
    problem = noisy_quadratic(dim=3, num_clients=2, noise_sq=0.5)
    oracle = problem.reference_oracle(seed=1, replicates=range(2))
    w = np.ones((2, 2, 3))
    expected = w
    for k in range(3):
        expected = expected - 0.1 * oracle.gradient(expected, oracle.minibatch(k))
    assert_close(oracle.local_steps(w, make_round([3, 3], rate=0.1)), expected)


def test_recentred_noise_of_a_random_hessian_does_not_cancel(make_round):
    problem = client_quadratics(dim=3, num_clients=2, noise_sq=0.5, hessian_noise=0.3, commuting=True)
    oracle = problem.reference_oracle(seed=1, replicates=range(2))
    rng = np.random.default_rng(0)
    w, c = rng.standard_normal((2, 2, 2, 3))
    expected = w
    for k in range(3):
        batch = oracle.minibatch(k)
        expected = expected - 0.1 * (oracle.gradient(expected, batch) - oracle.gradient(w, batch) + c)
    stepped = oracle.local_steps(w, make_round([3, 3], rate=0.1), LocalSteps(correction=c, recentre=True))
    assert_close(stepped, expected)


def drawn_gradients(problem, rounds, replicates, batch):
    """Return stochastic gradients of many rounds at the origin, shape ``(rounds, replicates, clients, dim)``."""
    oracle = problem.reference_oracle(seed=12, replicates=range(replicates))
    out = []
    for index in range(rounds):
        oracle.begin_round(index)
        out.append(oracle.gradient(np.zeros((1, 1, problem.dim)), oracle.minibatch(0) if batch else None))
    return np.broadcast_to(np.stack(out), (rounds, replicates, problem.num_clients, problem.dim))


def assert_mean(values, expected):
    """Compare means over the first axis at 6 standard errors: false alarms below 2e-9 per entry, seeds fixed."""
    error = 6 * values.std(axis=0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - expected) <= error + 1e-12)


@pytest.mark.parametrize("law", ["gaussian", "bounded"])
@pytest.mark.parametrize("rotated", [True, False])
def test_second_moments_of_round_drift_and_noise(law, rotated):
    """12,000 draws per client; the relative standard error of a second moment is below 1 %."""
    problem = noisy_quadratic(
        dim=3, num_clients=2, client_drift_sq=0, round_drift_sq=0.7, noise_sq=0.2, noise_law=law, rotated=rotated
    )
    base = problem.objective().gradient(np.zeros(3))
    drifts = (drawn_gradients(problem, 120, 100, batch=False) - base).reshape(-1, 2, 3)
    noise = drawn_gradients(problem, 120, 100, batch=True).reshape(-1, 2, 3) - drifts - base
    for values, second_moment in ((drifts, 0.7), (noise, 0.2)):
        assert_mean(values, 0.0)
        assert_mean(np.sum(values**2, axis=2), second_moment)
        assert_mean(np.sum(values[:, 0] * values[:, 1], axis=1), 0.0)
    assert_mean(np.sum(drifts * noise, axis=2), 0.0)
    if law == "bounded":
        limit = 3 * 0.2  # every coordinate is at most sqrt(3) standard deviations
        assert np.sum(noise**2, axis=2).max() <= limit * (1 + 1e-12)


@pytest.mark.parametrize("centred", [True, False])
def test_fresh_clients_follow_their_covariance(centred):
    """12,000 rounds of scenario S1 against the covariance that the exact engine uses."""
    problem = noisy_quadratic(
        dim=3,
        num_clients=4,
        scenario="S1",
        client_drift_sq=0.6,
        client_drift_centred=centred,
        round_drift_sq=0.1,
        noise_sq=0,
    )
    drifts = (drawn_gradients(problem, 120, 100, batch=False) - problem.objective().gradient(np.zeros(3))).reshape(
        -1, 4, 3
    )
    factor = ClosedFormOracle(problem.closed_form(), inside=True).drift_factor()
    covariance = factor @ factor.T
    np.testing.assert_allclose(np.diag(covariance), 0.7 / 3, rtol=1e-12)
    between = -0.2 / 3 if centred else 0.0
    np.testing.assert_allclose(covariance[0, 1:], between, atol=1e-12)
    assert_mean(drifts, 0.0)
    assert_mean(np.sum(drifts**2, axis=2), 0.7)
    for i in range(4):
        for j in range(i):
            assert_mean(drifts[:, i] * drifts[:, j], covariance[i, j])


def test_random_hessian_has_its_variance():
    problem = client_quadratics(dim=3, num_clients=2, hessian_noise=0.3, noise_sq=0.1, commuting=True)
    w = np.array([[[1.0, 2.0, -1.0]]])
    oracle = problem.reference_oracle(seed=0, replicates=range(12_000))
    full = oracle.gradient(w)
    away = oracle.gradient(w, oracle.minibatch(1)) - full
    assert_mean(away, 0.0)
    assert_mean(np.sum(away**2, axis=2), 0.09 * np.sum(full[0] ** 2, axis=1) + 0.1)
    again = oracle.gradient(w, oracle.minibatch(1)) - full
    assert np.array_equal(away, again)


def test_scenarios_keep_or_renew_their_clients():
    w = np.zeros((1, 1, 3))
    for scenario, renewed in (("S1", True), ("S2", False)):
        problem = noisy_quadratic(dim=3, num_clients=2, scenario=scenario, client_drift_sq=1, round_drift_sq=0)
        oracle = problem.reference_oracle(seed=0, replicates=range(2))
        oracle.begin_round(0)
        first = oracle.gradient(w)
        oracle.begin_round(1)
        assert np.array_equal(first, oracle.gradient(w)) is not renewed


class TestCurvature:
    def test_kinds(self):
        problem = noisy_quadratic(dim=3, num_clients=3, client_growth=0.2, hessian_noise=0.5, noise_sq=0.3)
        oracle = problem.reference_oracle(seed=0, replicates=range(2))
        w = np.ones((2, 1, 3))
        matrix = problem.objective().hessian
        scale = (1 + problem.client_growth)[None, :, None]
        exact = oracle.curvature(w, "exact")
        np.testing.assert_allclose(exact, scale[..., None] * matrix, atol=1e-12)
        for kind in ("diagonal", "fisher"):
            np.testing.assert_allclose(oracle.curvature(w, kind), scale * np.diag(matrix), atol=1e-12)
        empirical = 1.25 * oracle.gradient(w) ** 2 + 0.1
        np.testing.assert_allclose(oracle.curvature(w, "empirical-fisher"), empirical, atol=1e-12)
        vectors = np.random.default_rng(0).standard_normal((2, 3, 3))
        applied = np.einsum("rnab,rnb->rna", np.broadcast_to(exact, (2, 3, 3, 3)), vectors)
        np.testing.assert_allclose(oracle.apply(exact, vectors), applied, atol=1e-12)

    def test_diagonal_kinds_need_the_coordinates_of_the_model(self):
        problem = noisy_quadratic(dim=3, num_clients=3)
        inside = problem.compiled_oracle(seed=0, replicates=range(1), rotation_equivariant=True)
        for kind in ("diagonal", "fisher", "empirical-fisher"):
            with pytest.raises(NotApplicable, match="must not call itself rotation equivariant"):
                inside.curvature(np.zeros((1, 1, 3)), kind)
        with pytest.raises(InvalidParameter, match=r"did you mean 'diagonal'\?"):
            problem.reference_oracle(seed=0, replicates=range(1)).curvature(np.zeros((1, 1, 3)), "diagnal")


def test_personal_losses_of_unbounded_clients_are_refused():
    problem = noisy_quadratic(dim=3, num_clients=3, mu=0.0, client_drift_sq=1.0)
    with pytest.raises(NotApplicable, match="unbounded below"):
        problem.reference_oracle(seed=0, replicates=range(1)).client_measures(np.zeros((1, 3, 3)))["personal_gap"]
