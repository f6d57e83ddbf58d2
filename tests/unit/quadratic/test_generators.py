"""What is asked of a generator is what the instance has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import InvalidParameter
from fltheory.quadratic import client_quadratics, noisy_quadratic
from fltheory.quadratic.generators import SPECTRA

seeds = st.integers(0, 10**6)


def curvature_range(mu, width):
    return {"mu": mu, "L": mu + width}


@settings(deadline=None)
@given(
    seed=seeds,
    dim=st.integers(2, 9),
    mu=st.sampled_from([0.0, 1e-3, 1.0]),
    width=st.sampled_from([0.0, 0.5, 40.0]),
    spectrum=st.sampled_from(SPECTRA),
    rotated=st.booleans(),
)
def test_extreme_eigenvalues_are_mu_and_L(seed, dim, mu, width, spectrum, rotated):
    if mu + width == 0:
        return
    problem = noisy_quadratic(dim=dim, spectrum=spectrum, rotated=rotated, seed=seed, **curvature_range(mu, width))
    hessian = problem.objective().hessian
    values = np.linalg.eigvalsh(hessian) if hessian.ndim == 2 else np.sort(hessian)
    np.testing.assert_allclose(values[[0, -1]], [mu, mu + width], rtol=1e-12, atol=1e-13 * (mu + width))
    constants = problem.constants()
    assert constants["mu"].value == mu
    assert constants["L"].value == mu + width
    assert constants["epsilon"].value == 0.0


def test_shapes_of_the_spectra():
    def values(spectrum, **more):
        return noisy_quadratic(dim=5, spectrum=spectrum, rotated=False, **more).hessian[0]

    np.testing.assert_allclose(values("linear", mu=1, L=5), [1, 2, 3, 4, 5])
    np.testing.assert_allclose(values("log", mu=1, L=16), [1, 2, 4, 8, 16])
    np.testing.assert_allclose(values("two-point", mu=1, L=5), [1, 1, 1, 5, 5])
    np.testing.assert_allclose(values("log", mu=0, L=1000), [0, 1, 10, 100, 1000])
    drawn = values("random", mu=1, L=5)
    assert np.all(np.diff(drawn) >= 0)
    assert len(set(drawn)) == 5


@settings(deadline=None)
@given(
    seed=seeds,
    clients=st.integers(2, 7),
    drift_sq=st.sampled_from([1e-6, 0.3, 50.0]),
    centred=st.booleans(),
    radius=st.sampled_from([0.0, 2.5]),
    growth=st.sampled_from([0.0, 0.4]),
)
def test_client_drift_and_radius_are_exact(seed, clients, drift_sq, centred, radius, growth):
    if clients == 2 and centred:
        growth = 0.0
    problem = noisy_quadratic(
        dim=4,
        num_clients=clients,
        client_drift_sq=drift_sq,
        client_drift_centred=centred,
        radius=radius,
        client_growth=growth,
        seed=seed,
    )
    drift = problem.client_drift
    assert np.mean(np.sum(drift**2, axis=1)) == pytest.approx(drift_sq, rel=1e-12)
    assert problem.constants()["client_drift_sq"].value == pytest.approx(drift_sq, rel=1e-12)
    assert problem.constants()["client_growth_sq"].value == pytest.approx(growth**2, rel=1e-12)
    assert np.linalg.norm(problem.objective().w_star - problem.start) == pytest.approx(radius, abs=1e-12)
    total = np.linalg.norm(drift.sum(axis=0)) / np.sqrt(drift_sq)
    assert (total < 1e-12) == centred


@settings(deadline=None)
@given(seed=seeds, clients=st.integers(3, 6), rotated=st.booleans(), growth=st.sampled_from([0.1, 0.5]))
def test_client_growth_is_met_with_equality(seed, clients, rotated, growth):
    """Mean over clients of ``||grad f_i(w) - grad f(w)||^2`` is ``G^2 + B^2 ||grad f(w)||^2`` at every ``w``."""
    problem = noisy_quadratic(
        dim=3,
        num_clients=clients,
        client_drift_sq=2.0,
        round_drift_sq=0.0,
        client_growth=growth,
        rotated=rotated,
        seed=seed,
    )
    w = np.random.default_rng(seed).standard_normal((1, 1, 3)) * 3
    slope = problem.objective().gradient(w[0, 0])
    each = problem.reference_oracle(seed=0, replicates=range(1)).gradient(w)[0]
    spread = np.mean(np.sum((each - slope) ** 2, axis=1))
    assert spread == pytest.approx(2.0 + growth**2 * slope @ slope, rel=1e-10)
    np.testing.assert_allclose(each.mean(axis=0), slope, rtol=1e-10, atol=1e-12)


def test_round_growth_is_met_with_equality_for_every_sign():
    problem = noisy_quadratic(
        dim=3, num_clients=4, client_drift_sq=0, round_drift_sq=0, round_growth=0.4, noise_sq=0, seed=1
    )
    w = np.array([[[1.0, -2.0, 0.5]]])
    slope = problem.objective().gradient(w[0, 0])
    oracle = problem.reference_oracle(seed=0, replicates=range(400))
    away = oracle.gradient(w) - slope
    np.testing.assert_allclose(np.sum(away**2, axis=2), 0.16 * slope @ slope, rtol=1e-10)
    signs = away @ slope / (0.4 * slope @ slope)
    np.testing.assert_allclose(np.abs(signs), 1.0, rtol=1e-10)
    # 1600 fair signs; 6 standard deviations are exceeded with probability 2e-9.
    assert abs(signs.sum()) < 6 * 40
    assert np.linalg.matrix_rank(signs) == 4
    oracle.begin_round(1)
    assert not np.array_equal(oracle.gradient(w) - slope, away)


@settings(deadline=None)
@given(
    seed=seeds,
    clients=st.integers(2, 5),
    dim=st.integers(2, 6),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    commuting=st.booleans(),
    spread=st.sampled_from([0.0, 2.0]),
    mu=st.sampled_from([0.0, 0.7]),
)
def test_client_quadratics_have_their_constants(seed, clients, dim, share, commuting, spread, mu):
    counts = np.arange(1, clients + 1)
    problem = client_quadratics(
        dim=dim,
        num_clients=clients,
        mu=mu,
        L=mu + 4,
        dissimilarity=4 * share,
        commuting=commuting,
        spread=spread,
        sample_counts=counts,
        seed=seed,
    )
    matrices = problem.hessian if problem.is_dense else np.stack([np.diag(h) for h in problem.hessian])
    values = np.linalg.eigvalsh(matrices)
    assert values.min() == pytest.approx(mu, abs=1e-12)
    assert values.max() == pytest.approx(mu + 4, rel=1e-12)
    furthest = max(np.linalg.norm(a - b, 2) for a in matrices for b in matrices)
    assert furthest == pytest.approx(4 * share, abs=1e-12)
    assert problem.constants()["epsilon"].value == pytest.approx(4 * share, abs=1e-12)
    np.testing.assert_allclose(problem.weights, counts / counts.sum(), rtol=1e-15)
    if mu > 0:
        minimisers = np.stack([-np.linalg.solve(h, b) for h, b in zip(matrices, problem.linear, strict=True)])
        centre = problem.weights @ minimisers
        measured = problem.weights @ np.sum((minimisers - centre) ** 2, axis=1)
        assert measured == pytest.approx(spread, abs=1e-9)
        assert np.linalg.norm(centre) == pytest.approx(1.0, rel=1e-9)
        np.testing.assert_allclose(problem.constants()["client_f_star"].value, 0.0, atol=1e-9)


def test_noise_per_client():
    problem = client_quadratics(num_clients=3, noise_sq=[0.1, 0.0, 2.0])
    assert problem.constants()["sigma_sq"].value.tolist() == [0.1, 0.0, 2.0]
    assert client_quadratics(num_clients=3, noise_sq=0.5).noise_sq.tolist() == [0.5] * 3


def test_seed_decides_the_instance():
    same = [noisy_quadratic(seed=5).basis, noisy_quadratic(seed=5).basis]
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], noisy_quadratic(seed=6).basis)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (noisy_quadratic, {"mu": -1.0}, r"noisy_quadratic\.mu must be a number in \[0, inf\)"),
        (noisy_quadratic, {"mu": 3, "L": 2}, r"mu must be in \[0, L\], got mu=3 with L=2"),
        (noisy_quadratic, {"L": float("nan")}, r"noisy_quadratic\.L"),
        (noisy_quadratic, {"dim": 0}, r"noisy_quadratic\.dim"),
        (noisy_quadratic, {"dim": 1}, "must equal L in one dimension"),
        (noisy_quadratic, {"num_clients": 2.5}, r"noisy_quadratic\.num_clients"),
        (noisy_quadratic, {"spectrum": "lin"}, "did you mean 'linear'"),
        (noisy_quadratic, {"scenario": "S3"}, "one of 'S1', 'S2'"),
        (noisy_quadratic, {"rotated": 1}, "true or false"),
        (noisy_quadratic, {"noise_sq": -1e-9}, r"noisy_quadratic\.noise_sq"),
        (noisy_quadratic, {"round_drift_sq": "a"}, r"noisy_quadratic\.round_drift_sq"),
        (noisy_quadratic, {"noise_law": "cauchy"}, "one of 'bounded', 'gaussian'"),
        (noisy_quadratic, {"num_clients": 1}, "must be 0 for one client with centred drift"),
        (noisy_quadratic, {"num_clients": 1, "client_drift_sq": 0, "client_growth": 0.1}, "0 for one client"),
        (noisy_quadratic, {"num_clients": 2, "client_growth": 0.1}, "must be 0 for two clients"),
        (noisy_quadratic, {"num_clients": 3, "client_growth": 1.0}, "must leave every local objective convex"),
        (noisy_quadratic, {"client_growth": 0.6, "round_growth": 0.6}, "must leave every local objective convex"),
        (noisy_quadratic, {"seed": -1}, r"noisy_quadratic\.seed must be an integer >= 0"),
        (client_quadratics, {"mu": 3, "L": 2}, r"mu must be in \[0, L\], got mu=3 with L=2"),
        (client_quadratics, {"L": "x"}, r"client_quadratics\.L"),
        (client_quadratics, {"dissimilarity": 4.5}, "at most L - mu = 4"),
        (client_quadratics, {"dim": -1, "dissimilarity": 4.0}, r"client_quadratics\.dim"),
        (client_quadratics, {"num_clients": 1}, "0 for one client"),
        (client_quadratics, {"num_clients": 1, "dissimilarity": 0}, r"spread must be 0 if only one client"),
        (client_quadratics, {"num_clients": 2, "sample_counts": [1, 0]}, r"spread must be 0 if only one client"),
        (client_quadratics, {"num_clients": 2, "sample_counts": [0, 0]}, "positive sum"),
        (client_quadratics, {"num_clients": 2, "sample_counts": [1, -1]}, "must be >= 0"),
        (client_quadratics, {"noise_sq": "much"}, r"client_quadratics\.noise_sq"),
        (client_quadratics, {"num_clients": 2, "noise_sq": [1, 2, 3]}, r"noise_sq must have shape \(2\)"),
        (client_quadratics, {"hessian_noise": -1}, r"hessian_noise"),
    ],
)
def test_refusals(make, arguments, message):
    with pytest.raises(InvalidParameter, match=message):
        make(**arguments)
