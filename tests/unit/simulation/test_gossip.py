"""Gossip SGD: written out once more, its special cases, mixing matrices, and what it refuses."""

import itertools

import numpy as np
import pytest

from fltheory import Experiment, GossipSGD, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.configuration.experiments import parse
from fltheory.errors import InvalidParameter
from fltheory.participation import UniformSteps
from tests import laws
from tests.federations import close, federation, run

SWAP = ((0.0, 1.0), (1.0, 0.0))
STAR = ((0.4, 0.3, 0.3, 0.0), (0.3, 0.7, 0.0, 0.0), (0.3, 0.0, 0.2, 0.5), (0.0, 0.0, 0.5, 0.5))


def experiment_of(algorithm, problem=None, *, local_steps=2, rounds=7, **more):
    problem = client_quadratics(dim=2, num_clients=4, dissimilarity=2.0, noise_sq=0.3) if problem is None else problem
    terms = Participation(num_clients=problem.num_clients, local_steps=local_steps, **more)
    return Experiment(problem=problem, algorithm=algorithm, participation=terms, rounds=rounds, rate=0.1)


def by_hand(problem, matrices, *, rounds, local_steps=2, rate=0.1):
    """Return the mean models and the consensus distances of all rounds without noise, one client at a time."""
    x = [problem.start.astype(float) for _ in range(problem.num_clients)]
    means, apart = [], []
    for number in range(rounds):
        for i in range(len(x)):
            own = problem.objective(np.eye(len(x))[i])
            for _ in range(local_steps):
                x[i] = x[i] - rate * own.gradient(x[i])
        matrix = matrices[number % len(matrices)]
        x = [sum(matrix[i][j] * x[j] for j in range(len(x))) for i in range(len(x))]
        means.append(np.mean(x, axis=0))
        apart.append(np.mean([((own - means[-1]) ** 2).sum() for own in x]))
    return np.array(means), np.array(apart)


@pytest.mark.parametrize("engine", ["exact", "reference", "monte_carlo"])
@pytest.mark.parametrize("mixing", [(STAR,), (STAR, "identity", "ring")], ids=["one", "three"])
def test_rounds_are_those_that_are_written_out(engine, mixing):
    problem = client_quadratics(dim=2, num_clients=4, dissimilarity=2.0, noise_sq=0.0)
    ring = (np.eye(4) + np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0)) / 3
    matrices = [{"identity": np.eye(4), "ring": ring}.get(one, one) if isinstance(one, str) else one for one in mixing]
    made = experiment_of(GossipSGD(mixing=mixing), problem)
    found = simulate(made, engine=engine, replicates=1, record=Record(consensus=True))
    means, apart = by_hand(problem, matrices, rounds=made.rounds)
    np.testing.assert_allclose(found.curve("consensus_sq")[0, 1:], apart, rtol=1e-9, atol=1e-14)
    away = ((means - problem.objective().w_star) ** 2).sum(axis=1)
    np.testing.assert_allclose(found.curve("distance_sq")[0, 1:], away, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("engine", ["exact", "monte_carlo"])
def test_with_the_mean_it_is_local_sgd(engine):
    problem = client_quadratics(dim=3, num_clients=4, dissimilarity=2.0, noise_sq=0.4, sample_counts=[1, 2, 3, 4])
    one, other = (
        simulate(experiment_of(rule, problem), engine=engine, replicates=3, seed=5) for rule in (GossipSGD(), FedAvg())
    )
    np.testing.assert_allclose(one.gap, other.gap, rtol=1e-9, atol=1e-14)


def test_exchangeable_clients_are_those_of_local_sgd_too():
    problem = noisy_quadratic(dim=3, num_clients=4, client_drift_sq=1.0, noise_sq=0.4)
    one, other = (simulate(experiment_of(rule, problem), engine="exact") for rule in (GossipSGD(), FedAvg()))
    np.testing.assert_allclose(one.gap, other.gap, rtol=1e-9, atol=1e-14)


def test_local_steps_are_rounds_without_communication():
    """Three local steps and the mean, or three rounds of one step of which the last one ends with the mean."""
    problem = client_quadratics(dim=2, num_clients=3, dissimilarity=2.0, noise_sq=0.3)
    short = experiment_of(GossipSGD(mixing=["identity", "identity", "mean"]), problem, local_steps=1, rounds=12)
    whole = experiment_of(GossipSGD(), problem, local_steps=3, rounds=4)
    one, other = (simulate(made, engine="exact").gap[0] for made in (short, whole))
    np.testing.assert_allclose(one[::3], other, rtol=1e-10)


@pytest.mark.parametrize("mixing", ["mean", "ring"])
def test_exact_moments_agree_with_monte_carlo(mixing):
    """Level 0.999 over all rounds, for gap and consensus distance."""
    made = experiment_of(GossipSGD(mixing=mixing), local_steps=2)
    record = Record(consensus=True)
    exact = simulate(made, engine="exact", record=record)
    sampled = simulate(made, replicates=600, seed=4, record=record)
    assert exact.exact
    for curve in ("gap", "consensus_sq"):
        band, truth = sampled.band(curve, level=0.999), exact.curve(curve)[0]
        assert np.all((band.low[1:] - 1e-12 <= truth[1:]) & (truth[1:] <= band.high[1:] + 1e-12)), curve


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mixing", ["mean", "ring"])
def test_mixing_keeps_the_weighted_mean_whoever_is_absent(seed, mixing):
    on = federation(seed, clients=4)
    algorithm = GossipSGD(mixing=mixing)
    for index in range(on.rounds):
        active = on.steps[index] > 0
        matrix = algorithm.matrix(index, on.problem.weights, active)
        close(matrix.sum(axis=1), 1.0)
        close(on.problem.weights @ matrix, on.problem.weights)
        close(matrix[~active], np.eye(4)[~active])
        assert matrix.min() >= 0
    for state in run(algorithm, on):
        close(state.w, np.einsum("n,rnd->rd", on.problem.weights, state.x))
        np.testing.assert_array_equal(algorithm.personal(state), state.x)
    laws.absent_clients_keep_their_memory(algorithm, on)


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_those_present_is_that_of_their_weights(seed):
    on = federation(seed, clients=4)
    p, active = on.problem.weights, np.array([True, False, True, True])
    matrix = GossipSGD().matrix(0, p, active)
    for row in matrix[active]:
        close(row, p * active / p[active].sum())


def test_a_link_is_an_upload():
    """A path of four clients with three links, both ways: six vectors of two numbers with 32 bits in each round."""
    made = experiment_of(GossipSGD(mixing=[STAR]), rounds=3)
    bits = simulate(made, engine="exact")
    np.testing.assert_array_equal(bits.uplink_bits[0], 6 * 2 * 32 * np.arange(4))
    np.testing.assert_array_equal(bits.downlink_bits[0], np.zeros(4))
    swapped = experiment_of(GossipSGD(mixing=[SWAP]), client_quadratics(dim=2, num_clients=2), rounds=1)
    assert simulate(swapped, engine="exact").uplink_bits[0, -1] == 2 * 2 * 32


def test_the_round_number_is_read_only_where_matrices_change():
    assert GossipSGD(mixing=[STAR]).autonomous
    assert not GossipSGD(mixing=["mean", "ring"]).autonomous


def test_no_probabilities_are_none_however_they_are_written():
    assert GossipSGD(probabilities=[]) == GossipSGD(probabilities=()) == GossipSGD()
    assert hash(GossipSGD(probabilities=[])) == hash(GossipSGD())
    assert GossipSGD(mixing=["mean", "ring"], probabilities=[0.5, 0.5]).probabilities == (0.5, 0.5)


def test_a_configuration_file_may_have_names_and_matrices():
    text = """
    rounds = 3
    [problem]
    name = "noisy-quadratic"
    num_clients = 2
    [participation]
    local_steps = 1
    [[algorithm]]
    name = "gossip-sgd"
    rate = 0.1
    mixing = ["ring", [[0, 1], [1, 0]]]
    """
    ((_, made),) = parse(text).experiments
    assert made.algorithm == GossipSGD(mixing=("ring", SWAP))
    assert simulate(made, engine="exact").exact


@pytest.mark.parametrize(
    ("mixing", "words"),
    [
        ("rign", "did you mean 'ring'"),
        ((), "a mixing matrix or a sequence"),
        (1.0, "a mixing matrix or a sequence"),
        ([[[0.5, 0.4], [0.4, 0.6]]], "add up to one"),
        ([[[0.5, 0.5]]], "square"),
        ([[[1.5, -0.5], [-0.5, 1.5]]], ">= 0"),
        ([[[np.nan, 1.0], [1.0, 0.0]]], "finite"),
        (["mean", 3], "shape"),
        ([0.5, 0.5], "shape"),
    ],
)
def test_refusals(mixing, words):
    with pytest.raises(InvalidParameter, match=rf"GossipSGD\.mixing.*{words}"):
        GossipSGD(mixing=mixing)


def test_matrices_have_to_fit_the_clients():
    with pytest.raises(InvalidParameter, match="got 2 rows for 4 clients"):
        simulate(experiment_of(GossipSGD(mixing=[SWAP])), engine="exact")
    tilted = client_quadratics(dim=2, num_clients=2, sample_counts=[1, 3])
    with pytest.raises(InvalidParameter, match="p_i w_ij = p_j w_ji"):
        simulate(experiment_of(GossipSGD(mixing=[SWAP]), tilted), replicates=2)
    reversible = GossipSGD(mixing=[[[0.4, 0.6], [0.2, 0.8]]])
    assert simulate(experiment_of(reversible, tilted), engine="exact").exact


def test_random_step_counts_are_allowed():
    made = experiment_of(GossipSGD(mixing="ring"), steps=UniformSteps(low=0))
    assert np.all(np.isfinite(simulate(made, replicates=3).gap))


COIN = GossipSGD(mixing=["identity", "ring"], probabilities=[0.3, 0.7])


def written_out(problem, algorithm, *, rounds, local_steps=2, rate=0.1):
    """Return expected gaps and consensus distances without noise: the mean over all sequences of matrices."""
    gaps, apart = np.zeros(rounds), np.zeros(rounds)
    for places in itertools.product(range(len(algorithm.mixing)), repeat=rounds):
        chance = np.prod([algorithm.probabilities[place] for place in places])
        matrices = [algorithm.matrix(place, problem.weights) for place in places]
        means, distances = by_hand(problem, matrices, rounds=rounds, local_steps=local_steps, rate=rate)
        gaps += chance * ((means - problem.objective().w_star) ** 2).sum(axis=1)
        apart += chance * distances
    return gaps, apart


@pytest.mark.parametrize("algorithm", [COIN, GossipSGD.random_matchings(4)], ids=["coin", "matchings"])
def test_exact_moments_of_drawn_matrices_are_means_over_all_sequences(algorithm):
    problem = client_quadratics(dim=2, num_clients=4, dissimilarity=2.0, noise_sq=0.0)
    made = experiment_of(algorithm, problem, rounds=4)
    found = simulate(made, engine="exact", record=Record(consensus=True))
    gaps, apart = written_out(problem, algorithm, rounds=4)
    assert found.exact
    np.testing.assert_allclose(found.curve("distance_sq")[0, 1:], gaps, rtol=1e-9)
    np.testing.assert_allclose(found.curve("consensus_sq")[0, 1:], apart, rtol=1e-9)


@pytest.mark.parametrize("engine", ["reference", "monte_carlo"])
def test_drawn_matrices_agree_with_exact_moments(engine):
    """Level 0.999 over all rounds, for gap and consensus distance; as many uploads in every round."""
    made = experiment_of(GossipSGD.random_pairs(4), local_steps=1, rounds=5)
    record = Record(consensus=True)
    exact = simulate(made, engine="exact", record=record)
    sampled = simulate(made, engine=engine, replicates=400, seed=4, record=record)
    for curve in ("gap", "consensus_sq"):
        band, truth = sampled.band(curve, level=0.999), exact.curve(curve)[0]
        assert np.all((band.low[1:] - 1e-12 <= truth[1:]) & (truth[1:] <= band.high[1:] + 1e-12)), curve
    for found in (exact, sampled):  # one pair, both ways
        np.testing.assert_allclose(found.uplink_bits - 2 * 2 * 32 * np.arange(6.0), 0.0, atol=1e-9)


def test_a_matrix_that_is_certain_is_the_only_one():
    one, other = (
        simulate(experiment_of(rule), engine="exact").gap
        for rule in (GossipSGD(mixing="ring"), GossipSGD(mixing=["mean", "ring"], probabilities=[0.0, 1.0]))
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_pairs_and_matchings_are_all_there_are():
    """Pairs of four: {01, 02, 03, 12, 13, 23}; matchings of four: {01|23, 02|13, 03|12}; of three: one pair each."""
    assert len(set(GossipSGD.random_pairs(4).mixing)) == 6
    assert len(set(GossipSGD.random_matchings(4).mixing)) == 3
    assert set(GossipSGD.random_matchings(3).mixing) == set(GossipSGD.random_pairs(3).mixing)
    assert len(set(GossipSGD.random_matchings(6).mixing)) == 15
    for algorithm in (GossipSGD.random_pairs(5), GossipSGD.random_matchings(5)):
        for place in range(len(algorithm.mixing)):
            matrix = algorithm.matrix(place, np.full(5, 0.2))
            np.testing.assert_allclose(matrix @ matrix, matrix)  # both of a pair have the mean: once more does nothing
            assert set(np.diag(matrix).tolist()) == {0.5, 1.0}


def test_drawn_matrices_do_not_read_the_round_number_and_pass_through_files():
    assert COIN.autonomous
    text = """
    rounds = 3
    [problem]
    name = "noisy-quadratic"
    num_clients = 2
    [participation]
    local_steps = 1
    [[algorithm]]
    name = "gossip-sgd"
    rate = 0.1
    mixing = ["identity", "mean"]
    probabilities = [0.5, 0.5]
    """
    ((_, made),) = parse(text).experiments
    assert made.algorithm == GossipSGD(mixing=("identity", "mean"), probabilities=(0.5, 0.5))
    assert simulate(made, engine="exact").exact


@pytest.mark.parametrize(
    ("probabilities", "words"),
    [([0.5], "shape"), ([0.5, 0.6], "sum to 1"), ([1.5, -0.5], ">= 0"), (0.5, "a sequence, one per matrix")],
)
def test_probabilities_are_refused(probabilities, words):
    with pytest.raises(InvalidParameter, match=rf"GossipSGD\.probabilities.*{words}"):
        GossipSGD(mixing=["mean", "ring"], probabilities=probabilities)


def test_too_many_matchings_are_refused():
    """Nine clients have 9 * 7 * 5 * 3 matchings, one client left over each time."""
    assert len(GossipSGD.random_matchings(9).mixing) == 945
    with pytest.raises(InvalidParameter, match="num_clients"):
        GossipSGD.random_matchings(10)
    for draw in (GossipSGD.random_pairs, GossipSGD.random_matchings):
        with pytest.raises(InvalidParameter, match="num_clients=1"):
            draw(1)
        assert draw(2) == GossipSGD(mixing=[[0.5, 0.5], [0.5, 0.5]], probabilities=[1.0])


@pytest.mark.parametrize("kind", [lambda rows: rows, np.array, tuple], ids=["rows", "array", "tuple"])
def test_one_matrix_is_a_sequence_of_one(kind):
    rows = [[0.75, 0.25], [0.25, 0.75]]
    assert GossipSGD(mixing=kind(rows)) == GossipSGD(mixing=[rows])
    assert GossipSGD(mixing=[kind(rows), "mean"]).mixing[1] == "mean"


@pytest.mark.parametrize("wrong", [[[1.0, 2.0], [3.0, 4.0]], np.ones((2, 3)), [[1.0], [0.5, 0.5]]])
def test_one_matrix_has_rows_that_add_up_to_one(wrong):
    with pytest.raises(InvalidParameter, match=r"GossipSGD\.mixing must be"):
        GossipSGD(mixing=wrong)
