"""Local steps in closed form against steps taken one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import NotAffine
from fltheory.problems.oracle import LocalSteps
from fltheory.quadratic import client_quadratics, noisy_quadratic
from fltheory.quadratic.closed_form import ClosedFormOracle, geometric

LAYOUTS = {
    "rotated": lambda **more: noisy_quadratic(dim=4, num_clients=3, round_drift_sq=0, **more),
    "commuting": lambda **more: client_quadratics(dim=3, num_clients=3, commuting=True, **more),
    "dense": lambda **more: client_quadratics(dim=4, num_clients=3, dissimilarity=3.0, **more),
}

ratios = st.floats(-1.5, 1.5) | st.sampled_from([0.0, 1.0, -1.0]) | st.floats(-1e-9, 1e-9).map(lambda x: 1.0 + x)


@settings(deadline=None, max_examples=200)
@given(pairs=st.lists(st.tuples(ratios, st.integers(0, 60)), min_size=1, max_size=5))
def test_geometric_sums(pairs):
    ratio, counts = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    power, total = geometric(ratio, counts)
    for (m, s), got_power, got_total in zip(pairs, power, total, strict=True):
        summed, p = 0.0, 1.0
        for _ in range(s):
            summed, p = summed * m + 1.0, p * m
        size = sum(abs(m) ** k for k in range(s)) + 1.0
        assert got_power == pytest.approx(p, rel=1e-12, abs=1e-300)
        assert got_total == pytest.approx(summed, abs=1e-12 * size)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    layout=st.sampled_from(sorted(LAYOUTS)),
    inside=st.booleans(),
    recentre=st.booleans(),
    pull=st.sampled_from([0.0, 0.3, "exact", "diagonal"]),
    steps=st.sampled_from([None, 0, 3]),
)
def test_noiseless_steps_equal_the_reference(make_round, seed, layout, inside, recentre, pull, steps):
    problem = LAYOUTS[layout](noise_sq=0.0)
    if pull == "diagonal" and layout == "rotated":
        inside = False
    closed = ClosedFormOracle(problem.closed_form(), inside=inside)
    closed.arm(2, None, {})
    reference = problem.reference_oracle(seed=0, replicates=range(2))
    rng = np.random.default_rng(seed)
    start, correction, anchor = rng.standard_normal((3, 2, 3, problem.dim))
    work = make_round(rng.integers(0, 7, 3), rate=0.1)

    def run(oracle):
        entered = [oracle.enter(x) for x in (start, correction, anchor)]
        q = oracle.curvature(entered[0], pull) if isinstance(pull, str) else pull
        how = LocalSteps(correction=entered[1], pull=q, anchor=entered[2], recentre=recentre, steps=steps)
        moved = oracle.local_steps(entered[0], work, how)
        solved = oracle.prox(entered[0], pull=0.4, linear=entered[1])
        slope = oracle.gradient(entered[0])
        return [oracle.leave(x) for x in np.broadcast_arrays(moved, solved, slope)]

    for mine, expected in zip(run(closed), run(reference), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("fixed", [False, True])
def test_covariance_of_the_steps(make_round, layout, fixed):
    r"""Fresh noise: ``eta^2 sigma^2/d sum_k M^{2k}``; one minibatch throughout: ``eta^2 sigma^2/d (sum_k M^k)^2``."""
    sigma_sq = 0.6
    problem = LAYOUTS[layout](noise_sq=sigma_sq)
    oracle, dim, eta, pull = ClosedFormOracle(problem.closed_form(), inside=True), problem.dim, 0.1, 0.5
    units = np.zeros((1 + dim, 3, dim))
    units[1:] = np.eye(dim)[:, None]
    source = ("minibatch", 7) if fixed else ("steps", 0)
    oracle.arm(1 + dim, None, {source: units})
    counts = np.array([1, 4, 0])
    batch = oracle.minibatch(7) if fixed else None
    out = oracle.local_steps(
        np.zeros((1 + dim, 3, dim)), make_round(counts, rate=eta), LocalSteps(pull=pull, minibatch=batch)
    )
    assert oracle.sources == [source]
    change = out[1:] - out[0]
    for i, s in enumerate(counts):
        h = problem.hessian[i % len(problem.hessian)]
        M = np.eye(dim) - eta * ((np.diag(h) if h.ndim == 1 else h) + pull * np.eye(dim))
        powers = [np.linalg.matrix_power(M, k) for k in range(s)]
        summed = sum(powers, np.zeros((dim, dim)))
        inner = summed @ summed if fixed else sum((m @ m for m in powers), np.zeros((dim, dim)))
        covariance = np.einsum("pa,pb->ab", change[:, i], change[:, i])
        np.testing.assert_allclose(covariance, eta**2 * sigma_sq / dim * inner, atol=1e-14)


def noisy_oracle():
    oracle = ClosedFormOracle(LAYOUTS["rotated"](noise_sq=0.1).closed_form(), inside=True)
    oracle.arm(1, None, {})
    return oracle, np.zeros((1, 3, 4))


@pytest.mark.parametrize("more", [{"hessian_noise": 0.1}, {"round_growth": 0.2}])
def test_noise_that_multiplies_the_state_is_not_left_out(more):
    with pytest.raises(NotAffine, match="multiplies the state"):
        ClosedFormOracle(noisy_quadratic(**more).closed_form(), inside=True)


class TestRefusals:
    def test_signs(self, make_round):
        oracle, w = noisy_oracle()
        with pytest.raises(NotAffine, match=r"sign term of the local steps \(lambda_1 = 0.1\)"):
            oracle.local_steps(w, make_round([1, 1, 1]), LocalSteps(l1=0.1))
        with pytest.raises(NotAffine, match=r"l1 term of the sub-problem"):
            oracle.prox(w, pull=1.0, l1=0.1)

    def test_noise_used_twice(self, make_round):
        work = make_round([2, 2, 2])
        oracle, w = noisy_oracle()
        oracle.local_steps(w, work)
        with pytest.raises(NotAffine, match="twice"):
            oracle.local_steps(w, work)
        oracle, w = noisy_oracle()
        oracle.local_steps(w, work)
        oracle.gradient(w, oracle.minibatch(2))
        with pytest.raises(NotAffine, match="second time"):
            oracle.gradient(w, oracle.minibatch(1))
        oracle, w = noisy_oracle()
        oracle.gradient(w, oracle.minibatch(1))
        with pytest.raises(NotAffine, match="second time by the local steps"):
            oracle.local_steps(w, work)

    def test_a_pull_that_follows_the_state(self, make_round):
        oracle, _ = noisy_oracle()
        oracle.arm(2, None, {})
        pull = np.ones((2, 1, 4)) * np.array([1.0, 2.0])[:, None, None]
        with pytest.raises(NotAffine, match="quadratic pull of the local steps depends on the state"):
            oracle.local_steps(np.zeros((2, 3, 4)), make_round([1, 1, 1]), LocalSteps(pull=pull))

    def test_personal_losses(self):
        oracle, w = noisy_oracle()
        with pytest.raises(NotAffine, match="personal models"):
            oracle.client_measures(w)["personal_gap"]
