"""Random draws of an algorithm's own: their law, their seeds, and Scaffnew, which uses them."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.base import Chance
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic import logistic_clients
from fltheory.participation import UniformSteps
from fltheory.problems.oracle import Round
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.engines.terms import Terms, own_draws


def problem_of(**more):
    options = {"dim": 3, "num_clients": 3, "dissimilarity": 1.0, "spread": 1.0, "sample_counts": [1, 2, 3]}
    return client_quadratics(**(options | more))


def experiment_of(algorithm=Scaffnew(), problem=None, *, local_steps=2, rounds=5, **more):  # noqa: B008
    problem = problem_of(noise_sq=0.3) if problem is None else problem
    terms = Participation(num_clients=problem.num_clients, local_steps=local_steps, **more)
    return Experiment(problem=problem, algorithm=algorithm, participation=terms, rounds=rounds, rate=0.1)


def test_outcomes_have_probabilities_that_sum_to_one_and_leave_the_impossible_out():
    die = Chance(values=(1.0, 2.0, 6.0), probabilities=(0.5, 0.0, 0.5), count=3)
    outcomes = die.outcomes()
    assert len(outcomes) == die.num_outcomes == 8
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1.0)
    assert {value for _, values in outcomes for value in values} == {1.0, 6.0}


def test_samples_follow_the_law():
    """40,000 draws; each share is within 5 standard deviations with probability above 1 - 1e-6."""
    law = Chance(values=(-1.0, 0.5, 3.0), probabilities=(0.2, 0.5, 0.3))
    uniforms = np.random.default_rng(1).random(40_000)
    drawn = law.sample(uniforms)
    for value, chance in zip(law.values, law.probabilities, strict=True):
        assert abs(np.mean(drawn == value) - chance) < 5 * np.sqrt(chance * (1 - chance) / 40_000)
    np.testing.assert_array_equal(law.sample(np.array([0.0, 0.2, 0.7, np.nextafter(1.0, 0.0)])), [-1.0, 0.5, 3.0, 3.0])
    np.testing.assert_array_equal(Chance.coin(1.0).sample(np.array([0.0, 0.999])), [1.0, 1.0])


@pytest.mark.parametrize(
    "terms",
    [
        {"values": (0.0, 1.0), "probabilities": (0.5,)},
        {"values": (0.0, 1.0), "probabilities": (0.7, 0.7)},
        {"values": (0.0, 1.0), "probabilities": (1.5, -0.5)},
        {"values": (0.0, 1.0), "probabilities": (0.5, 0.5), "count": 0},
    ],
)
def test_refusals(terms):
    with pytest.raises(InvalidParameter, match=r"Chance\."):
        Chance(**terms)
    with pytest.raises(InvalidParameter, match=r"Scaffnew\.probability"):
        Scaffnew(probability=0.0)


P = np.array([0.5, 0.5])


def test_coins_are_addressed_by_seed_replicate_and_round():
    def coins(index, seed, replicates):
        everybody = np.full((1, 2), 64)
        work = Round(index=index, rates=(0.1,), local_steps=64, p=P, steps=everybody, weights=P[None], boost=np.ones(2))
        return own_draws(Scaffnew(probability=0.5), work, seed=seed, replicates=replicates, dim=3)["communicate"]

    whole = coins(3, 7, range(6))
    assert whole.shape == (6, 64)
    np.testing.assert_array_equal(coins(3, 7, range(2, 4)), whole[2:4])
    for other in (coins(4, 7, range(6)), coins(3, 8, range(6))):
        assert np.mean(other != whole) > 0.3
    assert len({row.tobytes() for row in whole}) == 6


@pytest.mark.parametrize(
    "problem",
    [
        problem_of(noise_sq=0.3),
        noisy_quadratic(dim=4, num_clients=3, noise_sq=0.1),
        logistic_clients(num_clients=3, num_features=3, samples=12, batch_size=4, seed=1),
    ],
    ids=["dense", "rotated", "logistic"],
)
def test_engines_that_simulate_share_the_coins(problem):
    run = experiment_of(problem=problem, steps=UniformSteps(low=0), local_steps=3)
    both = [simulate(run, engine=engine, replicates=9, seed=3) for engine in ("reference", "monte_carlo")]
    np.testing.assert_array_equal(both[0].uplink_bits, both[1].uplink_bits)
    np.testing.assert_allclose(both[0].gap, both[1].gap, rtol=1e-9, atol=1e-12)
    threads = simulate(run, replicates=300, seed=3, threads=2)
    np.testing.assert_array_equal(threads.gap, simulate(run, replicates=300, seed=3, threads=1).gap)


def test_drawing_leaves_participation_and_noise_as_they_were():
    """With the same seed FedAvg and Scaffnew see the same step counts."""
    runs = [experiment_of(algorithm, steps=UniformSteps(low=0)) for algorithm in (FedAvg(), Scaffnew())]
    works = [Terms(run).sample(2, seed=5, replicates=range(50)) for run in runs]
    np.testing.assert_array_equal(works[0].steps, works[1].steps)
    assert works[0].draws == {}
    assert set(works[1].draws) == {"communicate"}


def test_always_meeting_is_gradient_descent_with_mean_gradients():
    run = experiment_of(Scaffnew(probability=1.0), problem_of(), local_steps=1, rounds=6)
    problem, w = run.problem, run.problem.start
    for _ in range(6):
        w = w - 0.1 * problem.objective().gradient(w)
    after = simulate(run, engine="reference", replicates=1, record=Record(models=True)).models[0, -1]
    np.testing.assert_allclose(after, w, rtol=1e-10)


def test_one_round_by_hand():
    """Two clients, weights 1/2, rate 1/2, q = 1/4; ``f_1 = (w-1)^2/2``, ``f_2 = (w+3)^2``, from 0; coins 0, then 1.

    Step 1: ``0 - (0-1)/2 = 1/2`` and ``0 - 2(0+3)/2 = -3``; no meeting. Step 2: ``1/2 + 1/4 = 3/4`` and
    ``-3 - 0 = -3``; the mean is -9/8, and ``h = (1/4)/(1/2) (-9/8 - x) = (1/2) (-15/8, 15/8)``.
    """
    problem = Quadratic(
        hessian=np.array([[[1.0]], [[2.0]]]),
        linear=np.array([[-1.0], [6.0]]),
        constant=np.zeros(2),
        sample_counts=np.ones(2),
        noise_sq=np.zeros(2),
        start=np.zeros(1),
    )
    p = np.full(2, 0.5)
    work = Round(
        index=0,
        rates=(0.5,),
        local_steps=2,
        p=p,
        steps=np.array([[2, 2]]),
        weights=p[None],
        boost=np.ones(2),
        draws={"communicate": np.array([[0.0, 1.0]])},
    )
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    algorithm = Scaffnew(probability=0.25)
    result = algorithm.round(algorithm.init(problem.start[None], oracle, p), oracle, work)
    np.testing.assert_allclose(result.state.w, [[-9 / 8]])
    np.testing.assert_allclose(result.state.x, [[[-9 / 8], [-9 / 8]]])
    np.testing.assert_allclose(result.state.h, [[[-15 / 16], [15 / 16]]])
    np.testing.assert_array_equal(result.uplink[0].times, [[1.0, 1.0]])


def test_the_minimiser_is_reached_with_few_communications():
    """Heterogeneous clients and unequal weights; FedAvg with as many steps stops elsewhere."""
    run = experiment_of(Scaffnew(probability=0.3), problem_of(), local_steps=5, rounds=150)
    result = simulate(run, engine="reference", replicates=3)
    assert result.distance_sq[:, -1].max() < 1e-16
    every_step = 150 * 5 * 3 * 32 * 3
    assert 0.2 < result.uplink_bits[:, -1].mean() / every_step < 0.4
    other = dataclasses.replace(run, algorithm=FedAvg())
    assert simulate(other, engine="reference", replicates=1).distance_sq[0, -1] > 1e-4


def test_control_variates_stay_centred_when_clients_stay_away():
    run = experiment_of(steps=UniformSteps(low=0))
    oracle = run.problem.reference_oracle(seed=1, replicates=range(4))
    terms, algorithm = Terms(run), run.algorithm
    state = algorithm.init(np.tile(run.problem.start, (4, 1)), oracle, run.problem.weights)
    for index in range(6):
        oracle.begin_round(index)
        state = algorithm.round(state, oracle, terms.sample(index, seed=1, replicates=range(4))).state
    assert np.abs(state.h).max() > 0.01
    np.testing.assert_allclose(np.einsum("n,rnd->rd", run.problem.weights, state.h), 0.0, atol=1e-12)


def test_the_exact_engine_lists_all_coins():
    """Without noise, three rounds of two coins: 64 paths, each run on its own and weighted with its probability."""
    run = experiment_of(Scaffnew(probability=0.3), problem_of(), rounds=3)
    oracle = run.problem.reference_oracle(seed=0, replicates=range(1))
    objective = run.problem.objective()
    laws = [Terms(run).outcomes(index, limit=64) for index in range(3)]
    expected = np.zeros(3)

    def follow(state, index, chance):
        for own, work in laws[index] if index < 3 else []:
            after = run.algorithm.round(state, oracle, work).state
            expected[index] += chance * own * objective.gap(after.w)[0]
            follow(after, index + 1, chance * own)

    follow(run.algorithm.init(run.problem.start[None], oracle, run.problem.weights), 0, 1.0)
    moments = simulate(run, engine="exact")
    assert moments.exact
    np.testing.assert_allclose(moments.gap[0, 1:], expected, rtol=1e-10)
    # Bits: 3 clients, 3 numbers of 32 bits, two coins a round with probability 0.3 each.
    np.testing.assert_allclose(moments.uplink_bits[0], 0.6 * 3 * 3 * 32 * np.arange(4), rtol=1e-12)


def test_too_many_coins_are_sampled_and_the_result_says_so():
    run = experiment_of(local_steps=12, rounds=2)
    result = simulate(run, engine="exact", replicates=5)
    assert not result.exact
    with pytest.raises(NotApplicable, match="sampled='allow'"):
        simulate(run, engine="exact", replicates=5, sampled="error")


def test_rounds_are_not_drawn_at_once():
    run = simulate(experiment_of(problem=noisy_quadratic(dim=4, num_clients=3)), replicates=2)
    assert run.provenance["steps"] == "every step run: Scaffnew draws random numbers of its own"


def test_two_chances_of_one_algorithm_are_independent():
    """4,000 pairs of fair coins agree half of the time, within 5 standard deviations (false alarm below 1e-6)."""
    coins = {"one": Chance.coin(0.5), "other": Chance.coin(0.5)}
    algorithm = SimpleNamespace(chances=lambda local_steps: coins)
    work = SimpleNamespace(local_steps=1, index=3, p=P)
    drawn = own_draws(algorithm, work, seed=0, replicates=range(4000), dim=1)
    assert abs(np.mean(drawn["one"] == drawn["other"]) - 0.5) < 5 * 0.5 / np.sqrt(4000)
