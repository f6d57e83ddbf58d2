"""What claims compute by formula agrees with the engines, with a solver, and with the algorithms' own code."""

import numpy as np
import pytest

from fltheory import Experiment, Participation, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.cfl._moments import Moments
from fltheory.bounds.fen._prox import gradients, prox
from fltheory.functions import Kinked
from fltheory.quadratic.gradient_norms import local_gradient_sq
from fltheory.quadratic.problem import Quadratic
from fltheory.recording import Record


@pytest.mark.parametrize("seed", range(3))
def test_the_elastic_net_step_solves_its_problem(seed):
    """The sub-problem on quadratics, by an interior-point solver."""
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    centre, linear, anchor = rng.normal(size=(1, 3)), rng.normal(size=(1, 3)), rng.normal(size=3)
    slopes = rng.uniform(0.5, 3, size=(1, 3))
    found = prox(Kinked(centre=centre, knot=centre, left=slopes, right=slopes), linear, anchor, pull=0.7, l1=0.4)[0]
    w = cp.Variable(3)
    smooth = cp.sum(cp.multiply(slopes[0] / 2, cp.square(w - centre[0]))) - linear[0] @ w
    problem = cp.Problem(cp.Minimize(smooth + 0.35 * cp.sum_squares(w - anchor) + 0.4 * cp.norm1(w - anchor)))
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(found, w.value, atol=1e-5)


def test_the_elastic_net_step_holds_coordinates_exactly():
    rng = np.random.default_rng(5)
    clients = Kinked(**{name: rng.uniform(0.1, 2, size=(4, 6)) for name in ("centre", "knot", "left", "right")})
    anchor = rng.uniform(0.1, 2, size=6)
    found = prox(clients, np.zeros((4, 6)), anchor, pull=1.0, l1=0.5)
    held = found == anchor
    assert 0 < held.sum() < held.size
    pulled = gradients(clients, found) + (found - anchor)
    np.testing.assert_allclose(pulled[~held], -0.5 * np.sign(found - anchor)[~held], atol=1e-12)
    assert np.abs(pulled[held]).max() <= 0.5


@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_moments_of_the_rates_are_those_of_the_engine(remembers, centred):
    problem = noisy_quadratic(
        dim=3,
        num_clients=4,
        mu=0.5,
        L=2.0,
        client_drift_sq=0.3,
        client_drift_centred=centred,
        round_drift_sq=0.7,
        noise_sq=0.2,
        seed=3,
    )
    unturned = Quadratic(
        hessian=problem.hessian,
        linear=problem.linear,
        constant=problem.constant,
        sample_counts=problem.sample_counts,
        client_drift=problem.client_drift,
        round_drift_sq=problem.round_drift_sq,
        noise_sq=problem.noise_sq,
        start=problem.inward(problem.start),
    )
    rounds, steps = 12, 3
    experiment = Experiment(
        problem=unturned,
        algorithm=CFLR() if remembers else FedAvg(),
        participation=Participation(num_clients=4, local_steps=steps),
        rounds=rounds,
        rate=0.1,
        averaging=np.arange(1.0, rounds + 2),
    )
    gap = simulate(experiment, engine="exact").average_gap[0, -1]
    moments = Moments.of(unturned, steps, remembers=remembers)
    loss = moments.loss(np.array([0.1 * steps]), np.arange(1.0, rounds + 2)[None])
    assert loss[0] / 2 == pytest.approx(gap, rel=1e-10)


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
