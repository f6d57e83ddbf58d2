"""What the claims on elastic federated learning compute by themselves agrees with the engines."""

import dataclasses

import numpy as np
import pytest

from fltheory import Experiment, Participation, simulate
from fltheory.algorithms.efl import EFL, State
from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.claim import Rejected
from fltheory.bounds.efl import (
    _compressor,
    _round,
    _runs,
    corollary_1,
    section_4_1,
    section_4_2,
    table_1,
    theorem_1,
    theorem_1_compressed,
    theorem_1_elastic,
)
from fltheory.bounds.space import Space
from fltheory.communication.compression import SparseTernary
from fltheory.participation import StepCounts, TimeVarying, Trace, UniformSteps
from fltheory.quadratic.gradient_norms import local_gradient_sq
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Constant, Table
from fltheory.validation.evaluate import read
from fltheory.validation.search import random_points

CLOSE = 1e-9


def runs(count, *, elasticity=0.0, compression=None, **fixed):
    """Return experiments on random points of the space of the theorem."""
    rng = np.random.default_rng(3)
    found = []
    for point in random_points(Space(_runs.clients(most=2, dim=3)), rng, 10 * count):
        point |= fixed
        problem, start = _runs.quadratics(point)
        try:
            plan = _runs.plan(point, problem, point["T"])
        except Rejected:
            continue
        experiment = Experiment(
            problem=problem,
            algorithm=EFL(elasticity=elasticity, compression=compression),
            participation=plan.participation,
            rounds=point["T"],
            rate=theorem_1.rates(plan, theorem_1.setting(problem, plan)),
            start=start,
        )
        found.append((experiment, plan))
        if len(found) == count:
            return found
    raise AssertionError("too few points make an instance")


@pytest.mark.parametrize("elasticity", [0.0, 0.3])
def test_all_courses_together_have_the_exact_moments(elasticity):
    for experiment, plan in runs(12, elasticity=elasticity):
        laws = _runs.warmed_up(plan)
        rates = [0.01, *(experiment.rate_at(index) for index in range(experiment.rounds))]
        warm = dataclasses.replace(
            experiment,
            participation=laws.participation,
            rounds=experiment.rounds + 1,
            rate=Table(values=np.array(rates)),
        )
        course = _runs.enumerated(warm, laws)
        exact = simulate(warm, engine="exact", record=Record(consensus=False))
        assert exact.exact
        assert course.chance.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(course.mean, exact.distance_sq[0], rtol=CLOSE, atol=CLOSE)


def test_a_course_with_compression_is_what_the_engine_runs():
    for experiment, plan in runs(8, compression=0.4, participation="full"):
        course = _runs.enumerated(experiment, plan)
        engine = simulate(experiment, engine="reference", replicates=1)
        np.testing.assert_allclose(course.distance_sq, engine.distance_sq, rtol=CLOSE, atol=CLOSE)


def test_samples_are_those_of_the_engine():
    ((experiment, _),) = runs(1, compression=0.4, participation="heterogeneous", T=5, change=4)
    course = _runs.sampled(experiment, replicates=6)
    engine = simulate(experiment, engine="reference", replicates=6, seed=0)
    np.testing.assert_allclose(course.distance_sq, engine.distance_sq, rtol=CLOSE, atol=CLOSE)


def test_gradients_along_all_courses_have_the_exact_second_moments():
    for experiment, plan in runs(6):
        course = _runs.enumerated(experiment, plan)
        plain = dataclasses.replace(experiment, algorithm=Ruan(scheme="C"))
        exact = simulate(plain, engine="exact", record=Record(consensus=False, moments=True))
        mean, covariance = exact.curve("model_mean")[0], exact.curve("model_covariance")[0]
        rates = np.array([experiment.rate_at(index) for index in range(experiment.rounds)])
        steps = experiment.participation.local_steps
        norms = local_gradient_sq(experiment.problem, mean[:-1], covariance[:-1], rates, steps)
        np.testing.assert_allclose(course.gradient_sq, norms.max(axis=(1, 2)), rtol=1e-7, atol=CLOSE)


def test_the_minimiser_of_a_round_has_no_gradient_with_the_elastic_term():
    rng = np.random.default_rng(4)
    for experiment, _ in runs(3, elasticity=0.3):
        problem, algorithm = experiment.problem, experiment.algorithm
        u, v = (
            rng.uniform(0.1, 2, (5, problem.num_clients, problem.dim)),
            rng.normal(size=(5, problem.num_clients, problem.dim)),
        )
        start = np.zeros((5, problem.dim))
        state = State(w=start, w_client=start, residual=start, client_residual=v, u=u, v=v)
        found = _runs.with_pull(problem, problem.objective().w_star, algorithm.elasticity, state)
        slope = (problem.weights @ problem.hessian) * found + problem.weights @ problem.linear
        pull = algorithm.elasticity * (u * found[:, None] - v).sum(axis=1)
        np.testing.assert_allclose(slope + pull, 0.0, atol=CLOSE)


def test_the_terms_of_a_drawn_round_are_those_of_its_models():
    rng = np.random.default_rng(6)
    for point in random_points(_round.DRAWN_ROUNDS.space, rng, 12):
        found = _round.realise_drawn(point)
        paths, chance = np.array(found["w_bar"], dtype=float), np.array(found["chance"], dtype=float)
        pulls = np.array(found["pull"], dtype=float)
        np.testing.assert_allclose(paths[:, 1:] - paths[:, :-1], -found["eta"] * pulls, rtol=CLOSE, atol=CLOSE)
        squared = np.array(found["p_drawn"], dtype=float) ** 2 * np.array(found["s_drawn"])
        noise = chance @ squared @ np.array(found["sigma_sq"], dtype=float)
        assert chance @ np.array(found["noise_sq"], dtype=float) == pytest.approx(noise, rel=CLOSE)
        assert np.max(found["moment"]) <= found["G_sq"] * (1 + CLOSE)
        drift = np.array(found["drift"], dtype=float)
        assert (drift >= 0).all()
        if point["E"] == 1:
            assert not drift.any()


@pytest.mark.parametrize("replicates", [0, 5])
@pytest.mark.parametrize("elasticity", [0.0, 0.3])
def test_a_run_that_goes_on_is_the_longer_run(elasticity, replicates):
    algorithm = EFL(elasticity=elasticity, compression=0.4)
    walks = {}
    for point in (theorem_1_compressed.printed_books, theorem_1_compressed.twice):
        for rounds in (4, 9, 6):
            fixed = {**point, "T": rounds}
            continued = _runs.observe(fixed, algorithm, replicates=replicates, walks=walks)
            fresh = _runs.observe(fixed, algorithm, replicates=replicates)
            assert continued.course.elastic == fresh.course.elastic
            for name in ("chance", "distance_sq", "moving_sq", "gradient_sq"):
                np.testing.assert_array_equal(getattr(continued.course, name), getattr(fresh.course, name))
    assert len(walks) == 2


def test_too_many_courses_are_refused():
    ((experiment, plan),) = runs(1, participation="full", T=12, change=1)
    coins = {"chance": np.full(2, 0.5), "s_drawn": np.zeros((2, experiment.problem.num_clients))}
    with pytest.raises(Rejected, match="4096 courses"):
        _runs.enumerated(experiment, plan._replace(laws=[coins, coins]))


@pytest.mark.parametrize("page", [theorem_1_compressed, theorem_1_elastic])
def test_corrected_bounds_hold_in_runs_longer_than_those_of_the_search(page):
    form = page.claim.form("corrected")
    source = page.claim.check_of(form)
    rng, count = np.random.default_rng(7), 0
    for point in random_points(source.space, rng, 14):
        try:
            env = source.realise({**point, "T": 100, "work": "all", "change": min(point["change"], 3)})
        except Rejected:
            continue
        assert not read(form, env).violated
        count += 1
    assert count > 7


@pytest.mark.parametrize("books", ["000", "consistent"])
def test_the_run_in_exact_arithmetic_is_that_of_the_algorithm(books):
    rng = np.random.default_rng(5)
    for point in random_points(_compressor.SPACE, rng, 25):
        # Coefficients are the algorithm's own: E/s times the weights; that of an inactive client must not matter.
        steps, counts = point["E"], point["s"]
        given = np.where(counts > 0, steps / (point["N"] * np.maximum(counts, 1)), point["p"])
        found = _compressor.run({**point, "p": given}, books)
        h, c = point["curvature"], point["centre"]
        problem = Quadratic(
            hessian=h,
            linear=-h * c,
            constant=0.5 * (h * c**2).sum(axis=1),
            sample_counts=np.ones(point["N"]),
            noise_sq=np.zeros(point["N"]),
            start=point["start"],
        )
        algorithm = EFL(
            elasticity=0.0,
            compression=point["q"],
            ties=point["ties"],
            bookkeeping="printed" if books == "000" else "consistent",
        )
        experiment = Experiment(
            problem=problem,
            algorithm=algorithm,
            participation=Participation(num_clients=point["N"], local_steps=steps, steps=Trace(steps=counts)),
            rounds=point["T"],
            rate=Constant(value=point["eta"]),
        )
        engine = simulate(experiment, engine="reference", replicates=1, record=Record(models=True))
        np.testing.assert_allclose(np.stack(found["server"]), engine.curve("models")[0], rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("books", ["000", "consistent"])
def test_a_long_run_in_other_books_is_that_of_the_algorithm(books):
    point = {**theorem_1_compressed.twice, "T": 40}
    found = theorem_1_compressed.realise_books(point, books=books, courses={})
    algorithm = EFL(elasticity=0.0, compression=0.5, bookkeeping="printed" if books == "000" else "consistent")
    observed = _runs.observe(point, algorithm)
    assert found["distance_sq"] == pytest.approx(observed.env["distance_sq"][20:].mean(), rel=CLOSE)
    for name in ("G_sq", "start_sq", "gaps", "theta"):
        assert found[name] == pytest.approx(observed.env[name], rel=CLOSE, abs=1e-15)
    assert found["B_sum"] == pytest.approx(observed.env["B_sum"][-1], rel=CLOSE)


@pytest.mark.parametrize("ties", ["exact", "threshold"])
def test_the_compressor_in_exact_arithmetic_is_that_of_the_package(ties):
    rng = np.random.default_rng(1)
    for _ in range(50):
        values, fraction = rng.integers(-3, 4, size=rng.integers(1, 7)).astype(float), rng.uniform(0.01, 1)
        count = _compressor.asked_for(fraction, len(values))
        found = _compressor.compress(values, count, ties=ties).values
        np.testing.assert_allclose(found, SparseTernary(fraction=fraction, ties=ties)(values), atol=1e-12)


def line(curvature, minima, noise, weights, start):
    """Return quadratics along a line."""
    h, c = np.asarray(curvature, dtype=float)[:, None], np.asarray(minima, dtype=float)[:, None]
    return Quadratic(
        hessian=h,
        linear=-h * c,
        constant=0.5 * (h * c**2)[:, 0],
        sample_counts=np.asarray(weights, dtype=float),
        noise_sq=np.asarray(noise, dtype=float),
        start=np.atleast_1d(float(start)),
    )


def expected(problem, law, steps, rates, **more):
    """Return the exact trajectories of scheme C."""
    participation = Participation(num_clients=problem.num_clients, local_steps=steps, steps=law)
    experiment = Experiment(
        problem=problem,
        algorithm=Ruan(scheme="C"),
        participation=participation,
        rounds=len(rates),
        rate=Table(values=rates),
    )
    return simulate(experiment, engine="exact", record=Record(consensus=False, **more))


@pytest.mark.parametrize(("when", "start"), [("always", 0.0), ("once", 0.0), ("once", 2.0), ("never", -3.0)])
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_inactive_clients(when, start, noise):
    rounds = 30
    half, everyone = StepCounts(pmf=[[0.0, 1.0], [0.5, 0.5]]), StepCounts(pmf=[[0.0, 1.0]])
    law = {"always": half, "once": TimeVarying(laws=(half, everyone), starts=(0, 1)), "never": everyone}[when]
    inactive = {"always": rounds, "once": 1, "never": 0}[when]
    mean = np.where(np.arange(rounds) < inactive, 0.75, 1.0)
    rates = 16 / (mean * (np.arange(1, rounds + 1) + 64 / mean.min()))
    engine = expected(line([1, 1], [-1, 1], [noise, noise], [1, 1], start), law, 1, rates)
    found = section_4_1.run({"tau": rounds, "noise": noise, "when": when, "start": start})
    assert found["distance_sq"] == pytest.approx(engine.distance_sq[0, -1], rel=CLOSE, abs=1e-15)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_incomplete_clients(steps):
    rounds = 20
    offset = max(4 * steps**2, 64 * (1 + steps))
    rates = 16 / (np.arange(1, rounds + 1) * steps + offset)
    engine = expected(line([1, 2], [-1, 1], [2.0, 2.0], [1, 1], 1 / 3), UniformSteps(low=1), steps, rates)
    found = section_4_2.run({"E": steps, "tau": rounds, "noise": 2.0})
    assert found["distance_sq"] == pytest.approx(engine.distance_sq[0, -1], rel=CLOSE)


@pytest.mark.parametrize("careful", [False, True])
def test_a_client_that_is_kept_or_abandoned(careful):
    rng = np.random.default_rng(2)
    for point in random_points(corollary_1.space, rng, 8):
        point = {**point, "T": 40}
        low, high, active = point["curvature"].min(), point["curvature"].max(), 1 - point["y"]
        theta = 1 / active if careful else 1.0
        mean = point["share"] * active + 1 - point["share"]
        times = np.arange(1, 41)
        weights = [point["share"], 1 - point["share"]]
        offset = max(4 * theta / mean, 32 * (1 + theta) * high / (low * mean))
        problem = line(point["curvature"], [0, 1], point["noise"], weights, point["start"])
        law = StepCounts(pmf=[[1 - active, active], [0.0, 1.0]])
        kept = expected(problem, law, 1, 16 / (low * mean * (times + offset)), moments=True)
        alone = line(point["curvature"][1:], [1], point["noise"][1:], [1], point["start"])
        offset = max(4.0, 64 * high / low)
        left = expected(alone, StepCounts(pmf=[[0.0, 1.0]]), 1, 16 / (low * (times + offset)))
        found = (corollary_1.careful if careful else corollary_1.printed)(point)
        assert found["kept_error"] == pytest.approx(kept.distance_sq[0, -1], rel=CLOSE)
        assert found["kept_loss"] == pytest.approx(kept.gap[0, -1], rel=CLOSE)
        assert found["left_error"] == pytest.approx(left.distance_sq[0, -1], rel=CLOSE)


@pytest.mark.parametrize(
    ("clients", "weights", "inverse"), [(3, "equal", 40.0), (0, "half", 40.0), (3, "equal", 12.0), (3, "equal", 4.0)]
)
def test_rounds_to_accuracy(clients, weights, inverse):
    point = {"S": clients, "weights": weights, "inverse_mu": 2.0, "inverse_epsilon": inverse}
    found = table_1.measured(point)
    low, rounds = 0.5, 5 * int(found["rounds_distance"]) + 100
    count = int(found["S"])
    assert count == (clients or 6)
    problem = Quadratic(
        hessian=np.tile([low, 1.0], (count, 1)),
        linear=np.zeros((count, 2)),
        constant=np.zeros(count),
        sample_counts=np.array([1.0 if weights == "equal" else count - 1.0, *[1.0] * (count - 1)]),
        noise_sq=np.full(count, 2.0),
        start=np.zeros(2),
    )
    rates = 16 / (low * (np.arange(1, rounds + 1) + 64 / low))
    engine = expected(problem, StepCounts(pmf=[[0.0, 1.0]]), 1, rates)
    above = np.flatnonzero(engine.distance_sq[0] > 1 / point["inverse_epsilon"])
    assert found["rounds_distance"] == max(above, default=1)
    above = np.flatnonzero(engine.gap[0] > 1 / point["inverse_epsilon"])
    assert found["rounds_gap"] == max(above, default=1)
