"""What claims compute by formula agrees with the engines, with a solver, and with the algorithms' own code."""

from dataclasses import replace

import numpy as np
import pytest

from fltheory import Experiment, Participation, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.cfl._moments import QuadraticMoments
from fltheory.bounds.functions import Kinked
from fltheory.errors import InvalidParameter
from fltheory.quadratic.gradient_norms import local_gradient_sq
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.recording import Record


@pytest.mark.parametrize("seed", range(3))
def test_the_elastic_net_step_solves_its_problem(seed):
    """The sub-problem on quadratics, by an interior-point solver."""
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    centre, linear, anchor = rng.normal(size=(1, 3)), rng.normal(size=(1, 3)), rng.normal(size=3)
    slopes = rng.uniform(0.5, 3, size=(1, 3))
    one = Kinked(centre=centre, knot=centre, left=slopes, right=slopes)
    found = one.elastic(linear, anchor, pull=0.7, l1=0.4).at[0]
    w = cp.Variable(3)
    smooth = cp.sum(cp.multiply(slopes[0] / 2, cp.square(w - centre[0]))) - linear[0] @ w
    problem = cp.Problem(cp.Minimize(smooth + 0.35 * cp.sum_squares(w - anchor) + 0.4 * cp.norm1(w - anchor)))
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(found, w.value, atol=1e-5)


def test_the_elastic_net_step_holds_coordinates_exactly():
    rng = np.random.default_rng(5)
    clients = Kinked(**{name: rng.uniform(0.1, 2, size=(4, 6)) for name in ("centre", "knot", "left", "right")})
    anchor = rng.uniform(0.1, 2, size=6)
    found = clients.elastic(np.zeros((4, 6)), anchor, pull=1.0, l1=0.5).at
    held = found == anchor
    assert 0 < held.sum() < held.size
    pulled = clients.gradients(found) + (found - anchor)
    np.testing.assert_allclose(pulled[~held], -0.5 * np.sign(found - anchor)[~held], atol=1e-12)
    assert np.abs(pulled[held]).max() <= 0.5


def _commuting(kind, seed):
    """Return a problem whose Hessians share a basis: one for all, one per client, or scaled by growth; S1 or S2."""
    sort, scenario, centring = kind.split("-")
    drawn = noisy_quadratic(
        dim=3,
        num_clients=4,
        mu=0.5,
        L=2.0,
        scenario=scenario,
        client_drift_sq=0.3,
        client_drift_centred=centring == "centred",
        round_drift_sq=0.7,
        noise_sq=0.2,
        client_growth=0.4 if sort == "growing" else 0.0,
        seed=seed,
    )
    if sort != "own":
        return drawn
    rng = np.random.default_rng(seed)
    return replace(
        drawn,
        hessian=rng.uniform(0.3, 2.0, size=(4, 3)),
        linear=rng.normal(size=(4, 3)),
        constant=np.zeros(4),
        noise_sq=rng.uniform(0, 0.5, size=4),
    )


@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.parametrize("local_steps", [1, 3])
@pytest.mark.parametrize(
    "kind", [f"{a}-{b}-{c}" for a in ("one", "own", "growing") for b in ("S1", "S2") for c in ("centred", "drawn")]
)
def test_moments_of_the_rates_are_those_of_the_engine(remembers, local_steps, kind):
    problem = _commuting(kind, seed=3)
    rounds = 12
    experiment = Experiment(
        problem=problem,
        algorithm=CFLR() if remembers else FedAvg(),
        participation=Participation(num_clients=4, local_steps=local_steps),
        rounds=rounds,
        rate=0.1,
        averaging=np.arange(1.0, rounds + 2),
    )
    gap = simulate(experiment, engine="exact").average_gap[0, -1]
    moments = QuadraticMoments.of(problem, local_steps, remembers=remembers)
    loss = moments.loss(np.array([0.1 * local_steps]), np.arange(1.0, rounds + 2)[None])
    assert loss[0] / 2 == pytest.approx(gap, rel=1e-10)


@pytest.mark.parametrize("remembers", [False, True])
def test_moments_against_the_mean_of_all_rounds_are_those_of_a_run(remembers):
    """Own Hessians, drifts replayed by hand: the model and the minimiser of all rounds' mean objective together."""
    problem = replace(_commuting("own-S2-centred", seed=4), noise_sq=np.zeros(4))
    inside, rounds, local_steps, rate = problem.objective_inside(), 5, 2, 0.2
    rng = np.random.default_rng(1)
    drifts = rng.normal(scale=np.sqrt(0.7 / 3), size=(100_000, rounds, 4, 3))
    w = np.broadcast_to(problem.inward(problem.start), (len(drifts), 3))
    offset = problem.linear + problem.client_drift
    total = np.zeros_like(w)
    for t in range(rounds):
        total = total + w
        stored = drifts[:, : t + 1].mean(axis=1) if remembers else drifts[:, t]
        local = np.repeat(w[:, None], 4, axis=1)
        for _ in range(local_steps):
            local = local - rate * (problem.hessian * local + offset + stored)
        w = local.mean(axis=1)
    goal = inside.w_star - (problem.client_drift.mean(axis=0) + drifts.mean(axis=(1, 2))) / inside.hessian
    squared = ((total / rounds - goal) ** 2 * inside.hessian).sum(axis=1)
    weights = np.ones((1, rounds + 1))
    weights[0, -1] = 0.0
    moments = QuadraticMoments.of(problem, local_steps, remembers=remembers)
    found = moments.loss(np.array([rate * local_steps]), weights, over_rounds=True)[0]
    # Five standard errors of the mean of a hundred thousand runs.
    assert found == pytest.approx(squared.mean(), abs=5 * squared.std() / np.sqrt(len(squared)))


@pytest.mark.parametrize(
    "change", [{"round_growth": 0.3}, {"hessian_noise": 0.1}, {"sample_counts": np.array([1.0, 1.0, 1.0, 2.0])}]
)
def test_moments_refuse_what_they_do_not_know(change):
    with pytest.raises(InvalidParameter, match=r"Moments\.of"):
        QuadraticMoments.of(replace(_commuting("one-S2-centred", seed=0), **change), 2, remembers=True)


def test_gradient_norms_inside_rounds_are_those_of_a_run():
    """Expected squared stochastic gradients of one client, against many simulated ones."""
    problem = Quadratic(
        hessian=np.array([[1.0, 3.0]]),
        linear=np.array([[0.5, -1.0]]),
        constant=np.zeros(1),
        sample_counts=np.ones(1),
        noise_sq=np.array([0.4]),
        start=np.array([2.0, -1.0]),
    )
    experiment = Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=1, local_steps=3),
        rounds=4,
        rate=0.2,
    )
    run = simulate(experiment, engine="exact", record=Record(moments=True))
    norms = local_gradient_sq(problem, run.model_mean[0, :-1], run.model_covariance[0, :-1], np.full(4, 0.2), 3)
    rng = np.random.default_rng(0)
    w = np.tile(problem.start, (200_000, 1))
    for index in range(4):
        for step in range(3):
            noisy = w * [1.0, 3.0] + [0.5, -1.0] + rng.normal(scale=np.sqrt(0.2), size=w.shape)
            assert norms[index, 0, step] == pytest.approx(float((noisy**2).sum(axis=1).mean()), rel=0.02)
            w = w - 0.2 * noisy
