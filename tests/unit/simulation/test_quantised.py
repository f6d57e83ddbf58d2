"""Unbiased quantisation, and FedPAQ and DIANA, which upload what it leaves: law, cost, special cases, refusals."""

import itertools

import numpy as np
import pytest

from fltheory import DIANA, Experiment, FedAvg, FedPAQ, MinibatchSGD, Participation, client_quadratics, simulate
from fltheory.algorithms import Quantiser
from fltheory.errors import InvalidParameter, NotAffine, RateChanges
from fltheory.participation import UniformSteps, WithReplacement
from fltheory.simulation.schedules import PerStep

X = np.array([0.3, -1.2, 0.0, 2.0])


def experiment_of(algorithm, *, dim=3, clients=4, local_steps=2, rounds=6, rate=0.1, noise_sq=0.0, **more):
    problem = client_quadratics(dim=dim, num_clients=clients, dissimilarity=2.0, noise_sq=noise_sq)
    terms = Participation(num_clients=clients, local_steps=local_steps, **more)
    return Experiment(problem=problem, algorithm=algorithm, participation=terms, rounds=rounds, rate=rate)


def law_of(quantiser, x):
    """Return all outcomes with their probabilities: every coordinate goes down or up, whatever the others do."""
    scaled = quantiser.levels * np.abs(x) / np.linalg.norm(x)
    low, share = np.floor(scaled), scaled - np.floor(scaled)
    for up in itertools.product((0, 1), repeat=len(x)):
        chance = np.prod(np.where(up, share, 1 - share))
        yield chance, np.linalg.norm(x) * np.sign(x) * (low + np.array(up)) / quantiser.levels


@pytest.mark.parametrize("levels", [1, 2, 3, 16])
def test_the_law_is_unbiased_and_its_variance_within_the_bound(levels):
    quantiser = Quantiser(levels=levels)
    outcomes = list(law_of(quantiser, X))
    np.testing.assert_allclose(sum(chance * value for chance, value in outcomes), X, atol=1e-12)
    variance = sum(chance * ((value - X) ** 2).sum() for chance, value in outcomes)
    assert 0 < variance <= quantiser.variance(4) * (X**2).sum()


@pytest.mark.parametrize("levels", [1, 3])
def test_draws_follow_the_law(levels):
    """Numbers on a fine grid per coordinate, all others at random: shares of outcomes within 1e-3 of their chances."""
    quantiser = Quantiser(levels=levels)
    grid = (np.arange(2000) + 0.5) / 2000
    for place in range(4):
        uniforms = np.random.default_rng(place).random((2000, 4))
        uniforms[:, place] = grid
        drawn = quantiser(np.tile(X, (2000, 1)), uniforms)[:, place]
        expected = {}
        for chance, value in law_of(quantiser, X):
            expected[round(value[place], 9)] = expected.get(round(value[place], 9), 0.0) + chance
        for value, chance in expected.items():
            assert np.mean(np.abs(drawn - value) < 1e-8) == pytest.approx(chance, abs=1e-3)


def test_the_variance_bound_is_attained():
    """One level, all entries equal: n entries are sent or not, with chance 1/sqrt(n); (sqrt(n) - 1) of the square."""
    n = 16
    quantiser, x = Quantiser(levels=1), np.ones(n)
    share = 1 / np.sqrt(n)
    assert n * n / 1 * share * (1 - share) / (x**2).sum() == pytest.approx(quantiser.variance(n) - 1)
    assert quantiser.variance(n) == 4.0
    assert Quantiser(levels=8).variance(n) == 16 / 64


def test_what_is_a_level_already_stays_and_zero_is_zero():
    on_levels = np.array([3.0, 4.0])  # of norm 5, three and four fifths of it
    for u in (1e-6, 0.5, 1 - 2.0**-53):
        np.testing.assert_allclose(Quantiser(levels=5)(on_levels, np.full(2, u)), on_levels, rtol=1e-12)
    np.testing.assert_array_equal(Quantiser(levels=3)(np.zeros(4), np.full(4, 0.99)), np.zeros(4))
    alone = np.array([0.0, -7.0, 0.0])
    np.testing.assert_array_equal(Quantiser(levels=2)(alone, np.full(3, np.nextafter(1.0, 0.0))), alone)


@pytest.mark.parametrize(("algorithm", "plain"), [(FedPAQ, FedAvg), (DIANA, MinibatchSGD)])
def test_with_very_many_levels_nothing_is_lost(algorithm, plain):
    many = simulate(experiment_of(algorithm(levels=2**30)), engine="reference", replicates=1)
    other = simulate(experiment_of(plain()), engine="reference", replicates=1)
    np.testing.assert_allclose(many.gap, other.gap, rtol=1e-6)


@pytest.mark.parametrize("algorithm", [FedPAQ(levels=2), DIANA(levels=1)])
def test_engines_that_simulate_agree_and_means_are_those_without_quantisation(algorithm):
    """One round on quadratics: the model is unbiased, its variance that of the law; level 1e-6 for each coordinate."""
    made = experiment_of(algorithm, rounds=1, local_steps=1)
    both = [simulate(made, engine=engine, replicates=50, seed=3) for engine in ("reference", "monte_carlo")]
    np.testing.assert_allclose(both[0].gap, both[1].gap, rtol=1e-9)
    problem, rate, count = made.problem, 0.1, 4
    gradients = np.stack([problem.objective(np.eye(count)[i]).gradient(problem.start) for i in range(count)])
    quantiser = Quantiser(levels=algorithm.levels)
    laws = [list(law_of(quantiser, g)) for g in gradients]
    variance = sum(
        sum(chance * ((value - g) ** 2).sum() for chance, value in law) for law, g in zip(laws, gradients, strict=True)
    )
    expected = ((problem.start - rate * gradients.mean(axis=0) - problem.objective().w_star) ** 2).sum()
    expected += rate**2 * variance / count**2
    sampled = simulate(made, replicates=4000, seed=1).curve("distance_sq")[:, 1]
    assert abs(sampled.mean() - expected) < 4.9 * sampled.std() / np.sqrt(len(sampled))


def test_diana_reaches_the_minimiser_of_different_clients_and_fedpaq_does_not():
    """Without noise: the memory of DIANA takes the variance of the quantiser away, FedPAQ keeps it."""
    gaps = {}
    for algorithm in (DIANA(levels=2), DIANA(levels=2, memory_rate=0.0), FedPAQ(levels=2)):
        made = experiment_of(algorithm, rounds=600, local_steps=1, rate=0.05)
        gaps[algorithm] = simulate(made, replicates=20, seed=2).gap[:, -1].mean()
    assert gaps[DIANA(levels=2)] < 1e-10
    assert min(gaps[DIANA(levels=2, memory_rate=0.0)], gaps[FedPAQ(levels=2)]) > 1e-4


def test_the_default_rate_of_the_memory_is_that_of_the_theory():
    """Four coordinates, two levels: variance bound min(4/4, 2/2) = 1, so that alpha = 1/2."""
    one, other = (
        simulate(experiment_of(algorithm, dim=4), replicates=5, seed=1).gap
        for algorithm in (DIANA(levels=2), DIANA(levels=2, memory_rate=0.5))
    )
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, simulate(experiment_of(DIANA(levels=2, memory_rate=0.4), dim=4), seed=1).gap[:5])


@pytest.mark.parametrize("algorithm", [FedPAQ(levels=4), DIANA(levels=4)])
def test_bits_are_counted(algorithm):
    """Upload: per client a norm of 32 bits, a sign and one of five levels (3 bits) per coordinate; down 32 each."""
    run = simulate(experiment_of(algorithm, dim=5, rounds=3), replicates=2)
    np.testing.assert_array_equal(run.uplink_bits[0], 4 * (32 + 5 * 4) * np.arange(4))
    np.testing.assert_array_equal(run.downlink_bits[0], 4 * 5 * 32 * np.arange(4))


@pytest.mark.parametrize("algorithm", [FedPAQ(), DIANA(momentum=0.5)])
def test_random_participation_and_replicates(algorithm):
    made = experiment_of(algorithm, noise_sq=0.3, steps=UniformSteps(low=0), selection=WithReplacement(size=2))
    few, many = (simulate(made, replicates=n, seed=5).gap for n in (3, 12))
    np.testing.assert_array_equal(few, many[:3])
    assert np.all(np.isfinite(many))


@pytest.mark.parametrize("algorithm", [FedPAQ(), DIANA()])
def test_the_exact_engine_refuses(algorithm):
    with pytest.raises(NotAffine, match=f"{algorithm.title}.*random rounding"):
        simulate(experiment_of(algorithm), engine="exact")


def test_rates_that_change_inside_a_round_are_refused_by_diana():
    with pytest.raises((RateChanges, InvalidParameter), match="DIANA"):
        simulate(experiment_of(DIANA(), rate=PerStep(scale=0.1)), replicates=2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FedPAQ(levels=0), r"Quantiser\.levels"),
        (lambda: DIANA(levels=0), r"Quantiser\.levels"),
        (lambda: DIANA(memory_rate=1.5), r"DIANA\.memory_rate"),
        (lambda: DIANA(momentum=1.0), r"DIANA\.momentum"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()
