"""Algorithm 3 of the elastic net in exact arithmetic agrees with the algorithm that the engines run."""

import numpy as np
import pytest

from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.bounds.fen import theorem_3_1
from fltheory.bounds.fen._round import Algorithm3
from fltheory.bounds.functions import Kinked
from fltheory.bounds.space import exact
from fltheory.problems.oracle import Round
from fltheory.quadratic.problem import Quadratic
from fltheory.validation.search import random_points


@pytest.mark.parametrize("memory", ["sign", "subgradient"])
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_rounds_are_those_of_the_algorithm(memory, epsilon):
    rng = np.random.default_rng(4)
    clients, dim = 3, 4
    centre, slopes = rng.normal(size=(clients, dim)), rng.uniform(0.2, 2, size=(clients, dim))
    start = rng.normal(size=dim)
    own = Algorithm3(
        clients=Kinked(centre=centre, knot=centre, left=slopes, right=slopes),
        l1=0.3,
        l2=0.8,
        memory=memory,
        epsilon=epsilon,
    )
    problem = Quadratic(
        hessian=slopes,
        linear=-slopes * centre,
        constant=np.zeros(clients),
        sample_counts=np.ones(clients),
        noise_sq=np.zeros(clients),
        start=start,
    )
    package = FedElasticNet3(l1=0.3, l2=0.8, epsilon=epsilon, exact=True, memory_rule=memory)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    ours, theirs = own.start(start), package.init(start[None], oracle, problem.weights)
    held = 0
    for index, chosen in enumerate([(0, 1, 2), (1,), (0, 2), (2,), (0, 1, 2)]):
        active = np.isin(np.arange(clients), chosen)
        work = Round(
            index=index,
            rates=(0.1,),
            local_steps=1,
            p=problem.weights,
            steps=active[None].astype(np.int64),
            weights=active[None] / len(chosen),
            boost=np.ones(clients),
        )
        oracle.begin_round(index)
        theirs = package.round(theirs, oracle, work).state
        solved = own.solve(ours)
        held += int((solved.sign == 0).sum())
        ours = own.advance(ours, solved, chosen)
        np.testing.assert_allclose(ours.server, theirs.w[0], atol=1e-12)
        np.testing.assert_allclose(ours.h, theirs.h[0], atol=1e-12)
        np.testing.assert_allclose(ours.stored, theirs.h_i[0], atol=1e-12)
    assert held > 0


def test_a_run_that_stands_still_is_the_run_taken_round_by_round():
    """All clients are held from the start, so that the shortcut for long runs applies."""
    point = {
        "P": 1,
        "m": 1,
        "d": 1,
        "T": 2,
        "beta": 0.25,
        "centre": np.array([[0.0]]),
        "knot": np.array([[0.0]]),
        "left": np.array([[1.0]]),
        "right": np.array([[1.0]]),
        "start": np.array([1.0]),
        "l1": 0.5,
        "l2_over_beta": 30.0,
    }
    found = theorem_3_1.realise(exact(point), "sign")
    assert found["T"] == 2 * theorem_3_1.LONG
    fen = theorem_3_1.algorithm(point, "sign")
    state = fen.start(point["start"])
    ((*steps,),) = theorem_3_1.paths(fen, state, [(0,)], found["T"])
    models = np.stack([step[0] for step in steps])
    np.testing.assert_allclose(models.mean(axis=0), float(found["gamma_mean"][0][0]))
    np.testing.assert_allclose(sum(step[0] @ step[3].sum(axis=0) for step in steps), float(found["tug_kick"][0]))


def test_means_over_rounds_are_those_of_the_printed_sums():
    rng = np.random.default_rng(0)
    for point in random_points(theorem_3_1.claim.check.space, rng, 20):
        found = theorem_3_1.realise(point, "subgradient")
        fen, options = theorem_3_1.algorithm(point, "subgradient"), theorem_3_1.draws(point)
        if found["T"] > 3 or len(found["chance"]) != len(options) ** found["T"]:
            continue
        runs = theorem_3_1.paths(fen, fen.start(point["start"]), options, found["T"])
        optimum = found["theta_star"]
        for number, run in enumerate(runs):
            along = sum((at - optimum) @ kick.sum(axis=0) / point["m"] for at, _, _, kick in run)
            assert found["tug_kick"][number] == pytest.approx(along, abs=1e-12)
            risks = [found["risk"](at) - found["risk"](optimum) for at, *_ in run]
            assert found["excess_mean"][number] == pytest.approx(np.mean(risks), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_kinked_sub_problems_are_solved_and_hold_coordinates(seed):
    """The same minimiser by an interior-point solver, with zeros where its update is tiny."""
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    centre, knot = rng.uniform(-3, 3, size=(2, 1, 6))
    left, right = rng.uniform(0.05, 2, size=(2, 1, 6))
    linear, anchor = rng.normal(size=(1, 6)), rng.normal(size=6)
    clients = Kinked(centre=centre, knot=knot, left=left, right=right)
    found = clients.elastic(linear, anchor, pull=0.7, l1=1.0).at[0]
    w = cp.Variable(6)
    away = w - knot[0]
    bent = left[0] * np.minimum(centre - knot, 0)[0] + right[0] * np.maximum(centre - knot, 0)[0]
    smooth = cp.sum(
        cp.multiply(left[0] / 2, cp.square(cp.neg(away))) + cp.multiply(right[0] / 2, cp.square(cp.pos(away)))
    )
    penalty = 0.35 * cp.sum_squares(w - anchor) + cp.norm1(w - anchor)
    cp.Problem(cp.Minimize(smooth - (bent + linear[0]) @ w + penalty)).solve(solver="CLARABEL")
    np.testing.assert_allclose(found, w.value, atol=1e-4)
    np.testing.assert_array_equal(found == anchor, np.abs(w.value - anchor) < 1e-4)
    assert (found == anchor).any()
