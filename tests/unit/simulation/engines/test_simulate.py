"""The compiled engine against the reference, and the promises about random numbers."""

import importlib
import re

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.scaffold import Scaffold
from fltheory.configuration import registry
from fltheory.errors import Diverged, InvalidParameter, NotApplicable
from fltheory.participation import Arrival, Bernoulli, BernoulliSteps, Timeline, UniformSteps, WithoutReplacement
from fltheory.quadratic import Quadratic
from fltheory.simulation.engines.simulate import BLOCK, runs_every_step
from fltheory.simulation.schedules import Inverse, Table

EVERYTHING = Record(nonzeros=True, entropy_bin=0.01, models=True)

ALGORITHMS = {name: kind() for name, kind in registry.algorithms().items()} | {
    "cfl-r diagonal": CFLR(curvature="diagonal", weighting="geometric", gradient="stochastic"),
    "efl compressed": EFL(elasticity=0.1, compression=0.5, bookkeeping="printed"),
    "fedelasticnet-1 exact": FedElasticNet1(l1=0.05, l2=0.3, exact=True),
    "fedelasticnet-3 exact": FedElasticNet3(l1=0.05, exact=True, memory_rule="subgradient"),
    "scaffold I": Scaffold(option="I", initial="gradient"),
}


def full(clients):
    return Participation(num_clients=clients, local_steps=3)


def partial(clients):
    selection = WithoutReplacement(size=max(clients // 2, 1), renormalise=False)
    return Participation(num_clients=clients, local_steps=3, selection=selection, steps=UniformSteps(low=1))


def shared(clients, **more):
    drift_sq = 0.3 if clients > 1 else 0.0
    return noisy_quadratic(dim=5, num_clients=clients, noise_sq=0.1, client_drift_sq=drift_sq, **more)


def own(clients, **more):
    several = clients > 1
    return client_quadratics(
        dim=4,
        num_clients=clients,
        noise_sq=0.1,
        dissimilarity=2.0 if several else 0.0,
        spread=1.0 if several else 0.0,
        sample_counts=np.arange(1, clients + 1),
        **more,
    )


SETTINGS = {
    "rotated": lambda n: (shared(n), full(n)),
    "diagonal": lambda n: (own(n, commuting=True, hessian_noise=0.1), full(n)),
    "dense": lambda n: (own(n, round_drift_sq=0.1), full(n)),
    "fresh clients": lambda n: (shared(n, scenario="S1"), full(n)),
    "bounded": lambda n: (shared(n, noise_law="bounded", rotated=False, round_growth=0.2), full(n)),
    "partial": lambda n: (shared(n), partial(n)),
}


def assert_same_curves(actual, expected, tolerance=1e-9):
    assert actual.curves() == expected.curves()
    for name in expected.curves():
        curve = expected.curve(name)
        atol = tolerance * max(float(np.abs(curve).max()), 1e-12)
        np.testing.assert_allclose(actual.curve(name), curve, rtol=0, atol=atol, err_msg=name)


def both(experiment, *, replicates, record):
    return [
        simulate(experiment, engine=engine, seed=3, replicates=replicates, record=record, collapse=False)
        for engine in ("monte_carlo", "reference")
    ]


def small_experiment(name, setting):
    problem, participation = SETTINGS[setting](1 if name == "continual" else 4)
    return Experiment(
        problem=problem,
        algorithm=ALGORITHMS[name],
        participation=participation,
        rounds=3,
        rate=Inverse(scale=0.2, shift=3.0),
        averaging=[1.0, 2.0, 3.0, 4.0],
    )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_compiled_engine_equals_the_reference(name, setting):
    """Without counting entries, so that equivariant algorithms run in the eigenbasis."""
    assert_same_curves(*both(small_experiment(name, setting), replicates=3, record=Record(models=True)))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_entries_of_messages_are_those_of_the_model(name):
    """Non-zeros and entropy are no invariants of a rotation."""
    assert_same_curves(*both(small_experiment(name, "rotated"), replicates=2, record=EVERYTHING))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_compiled_engine_equals_the_reference_on_logistic_regression(name):
    from fltheory.logistic.synthetic import logistic_clients

    clients = 1 if name == "continual" else 3
    problem = logistic_clients(
        num_clients=clients, num_features=3, samples=8, feature_shift=0.5, batch_size=4, label_drift=0.2, seed=0
    )
    experiment = Experiment(
        problem=problem, algorithm=ALGORITHMS[name], participation=partial(clients), rounds=2, rate=0.1
    )
    assert_same_curves(*both(experiment, replicates=2, record=EVERYTHING))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_compiled_engine_equals_the_reference_on_softmax_regression(name):
    from fltheory.logistic.synthetic import synthetic

    clients = 1 if name == "continual" else 3
    problem = synthetic(
        alpha=1.0,
        beta=1.0,
        num_clients=clients,
        num_features=3,
        num_classes=3,
        sizes="equal",
        min_size=9,
        l2=0.1,
        batch_size=5,
        seed=1,
    )
    experiment = Experiment(
        problem=problem, algorithm=ALGORITHMS[name], participation=partial(clients), rounds=2, rate=0.1
    )
    assert_same_curves(*both(experiment, replicates=2, record=EVERYTHING))


def experiment_of(algorithm, **changes):
    parts = {
        "problem": shared(4),
        "algorithm": algorithm,
        "participation": partial(4),
        "rounds": 4,
        "rate": 0.05,
    }
    return Experiment(**(parts | changes))


def equal_bits(first, second):
    return all(np.array_equal(first.curve(name), second.curve(name)) for name in first.curves())


@pytest.mark.parametrize("problem", [shared(4), own(4)])
def test_same_bits_for_any_number_of_threads(problem):
    experiment = experiment_of(Scaffold(), problem=problem)
    replicates = 3 * BLOCK + 5
    runs = [simulate(experiment, seed=1, replicates=replicates, threads=threads) for threads in (1, 2, 3)]
    assert equal_bits(runs[0], runs[1])
    assert equal_bits(runs[0], runs[2])


@pytest.mark.parametrize("engine", ["reference", "monte_carlo"])
def test_more_replicates_extend_a_run(engine):
    experiment = experiment_of(FedAvg())
    few = simulate(experiment, engine=engine, seed=1, replicates=7, record=EVERYTHING)
    many = simulate(experiment, engine=engine, seed=1, replicates=BLOCK + 3, record=EVERYTHING)
    for name in few.curves():
        scale = 1e-13 * (1 + np.abs(few.curve(name)).max())
        np.testing.assert_allclose(many.curve(name)[:7], few.curve(name), rtol=0, atol=scale, err_msg=name)


def test_more_rounds_extend_a_run():
    short, long = (simulate(experiment_of(FedAvg(), rounds=rounds), replicates=4) for rounds in (3, 6))
    assert np.array_equal(long.gap[:, :4], short.gap)


def test_seeds_and_replicates_differ():
    first, again, other = (simulate(experiment_of(FedAvg()), seed=seed, replicates=4) for seed in (1, 1, 2))
    assert equal_bits(first, again)
    assert not np.any(first.gap[:, 1:] == other.gap[:, 1:])
    assert len(np.unique(first.gap[:, -1])) == 4


def test_algorithms_share_noise_and_participation():
    """FedProx without its pull is FedAvg on the same draws; SCAFFOLD meets the same clients in the same rounds."""
    plain, prox = (simulate(experiment_of(a), replicates=5) for a in (FedAvg(), FedProx(prox=0.0)))
    assert equal_bits(plain, prox)
    anybody = Participation(num_clients=4, local_steps=3, selection=Bernoulli(probability=0.5))
    bits = [
        np.diff(simulate(experiment_of(a, participation=anybody), replicates=20).uplink_bits, axis=1)
        for a in (FedAvg(), Scaffold())
    ]
    assert len(np.unique(bits[0])) > 2
    np.testing.assert_allclose(bits[1] / bits[0], 2.0)


@pytest.mark.parametrize("engine", ["reference", "monte_carlo", "exact"])
@pytest.mark.parametrize("rate", [4.0, 1e60])
def test_divergence_is_an_error_that_says_where(engine, rate):
    experiment = experiment_of(FedAvg(), rounds=400, rate=rate, participation=full(4))
    where = rf"FedAvg diverged in round \d+.*seed 9, learning rate {re.escape(f'{rate:g}')}"
    with pytest.raises(Diverged, match=where) as caught:
        simulate(experiment, engine=engine, seed=9, replicates=2)
    error = caught.value
    assert (error.seed, error.rate, error.algorithm) == (9, rate, "FedAvg")
    assert error.replicate == (None if engine == "exact" else 0)
    assert 1 <= error.round_index <= 400
    if rate == 4.0:
        assert error.round_index > 20


@pytest.mark.parametrize("engine", ["reference", "monte_carlo", "exact"])
def test_the_learning_rate_of_a_divergence_is_that_of_its_round(engine):
    """A rate of ``1e120`` in the third round takes the distance beyond all bounds."""
    rate = Table(values=[0.05, 0.06, 1e120, 0.07])
    experiment = experiment_of(FedAvg(), rounds=6, rate=rate, participation=full(4))
    with pytest.raises(Diverged) as caught:
        simulate(experiment, engine=engine, replicates=2)
    assert (caught.value.round_index, caught.value.rate) == (3, 1e120)


def test_engines_diverge_in_the_same_round():
    experiment = experiment_of(
        FedAvg(),
        problem=noisy_quadratic(noise_sq=0, round_drift_sq=0, num_clients=4),
        rounds=400,
        rate=4.0,
        participation=full(4),
    )
    rounds = []
    for engine in ("reference", "monte_carlo", "exact"):
        with pytest.raises(Diverged) as caught:
            simulate(experiment, engine=engine, replicates=1)
        rounds.append(caught.value.round_index)
    assert len(set(rounds)) == 1


class TestRecording:
    def test_curves_follow_from_the_models(self):
        experiment = experiment_of(FedAvg(), averaging=[1.0, 0.0, 2.0, 3.0, 1.0])
        run = simulate(experiment, replicates=3, record=EVERYTHING)
        objective, models = experiment.problem.objective(), run.models
        np.testing.assert_allclose(run.distance_sq, np.sum((models - objective.w_star) ** 2, axis=2))
        np.testing.assert_allclose(run.gap, objective.gap(models), rtol=1e-10)
        np.testing.assert_allclose(run.gradient_norm_sq, np.sum(objective.gradient(models) ** 2, axis=2), rtol=1e-10)
        weights = experiment.averaging
        averages = np.cumsum(weights[:, None] * models, axis=1) / np.cumsum(weights)[:, None]
        np.testing.assert_allclose(run.average_gap, objective.gap(averages), rtol=1e-9)
        np.testing.assert_allclose(run.average_distance_sq, np.sum((averages - objective.w_star) ** 2, axis=2))

    def test_communication_is_cumulated_over_participants(self):
        run = simulate(experiment_of(FedAvg()), replicates=3, record=EVERYTHING)
        rounds = np.arange(5)
        assert np.array_equal(run.uplink_bits, np.tile(2 * 5 * 32.0 * rounds, (3, 1)))
        assert np.array_equal(run.downlink_bits, run.uplink_bits)
        assert np.array_equal(run.nonzeros, np.tile(2 * 5.0 * rounds, (3, 1)))
        assert np.all(run.entropy[:, 0] == 0)
        assert np.all((run.entropy[:, 1:] > 0) & (run.entropy[:, 1:] <= np.log2(10)))

    def test_consensus_is_the_spread_of_one_round(self):
        """One noiseless round of FedAvg by hand: local models after two steps."""
        problem = client_quadratics(dim=3, num_clients=3, commuting=True, sample_counts=[1, 2, 3])
        experiment = Experiment(
            problem=problem,
            algorithm=FedAvg(),
            participation=Participation(num_clients=3, local_steps=2),
            rounds=1,
            rate=0.1,
        )
        local = np.zeros((3, 3))
        for _ in range(2):
            local = local - 0.1 * (problem.hessian * local + problem.linear)
        spread = np.mean(np.sum((local - local.mean(axis=0)) ** 2, axis=1))
        for engine in ("reference", "monte_carlo", "exact"):
            run = simulate(
                experiment, engine=engine, replicates=1, record=Record(consensus=True, models=engine != "exact")
            )
            assert run.consensus_sq[0].tolist() == pytest.approx([0.0, spread], rel=1e-12)
            if engine != "exact":
                np.testing.assert_allclose(run.models[0, 1], problem.weights @ local)

    def test_a_model_is_evaluated_by_the_objective_of_its_round(self):
        timeline = Timeline(arrivals=[Arrival(client=3, round=2)])
        problem = own(4)
        participation = Participation(num_clients=4, local_steps=2, timeline=timeline)
        run = simulate(
            experiment_of(FedAvg(), problem=problem, participation=participation), replicates=2, record=EVERYTHING
        )
        before = problem.objective(np.array([1, 2, 3, 0]) / 6)
        after = problem.objective()
        for column in range(5):
            objective = before if column <= 2 else after
            np.testing.assert_allclose(run.gap[:, column], objective.gap(run.models[:, column]), rtol=1e-10)

    def test_nobody_may_come(self):
        nobody = Participation(num_clients=4, local_steps=3, steps=BernoulliSteps(probability=0.0))
        run = simulate(experiment_of(FedAvg(), participation=nobody), replicates=2, record=EVERYTHING)
        assert np.array_equal(run.models, np.zeros((2, 5, 5)))
        assert np.all(run.uplink_bits == 0)
        assert np.all(run.consensus_sq == 0)
        assert np.all(run.entropy == 0)

    def test_bad_bin(self):
        with pytest.raises(InvalidParameter, match=r"Record\.entropy_bin must be a number in \(0, inf\)"):
            Record(entropy_bin=0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "montecarlo"}, "did you mean 'monte_carlo'"),
        ({"replicates": 0}, r"simulate\.replicates"),
        ({"seed": -1}, r"simulate\.seed"),
        ({"threads": 0}, r"simulate\.threads"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidParameter, match=message):
        simulate(experiment_of(FedAvg()), **arguments)


@pytest.mark.parametrize(("engine", "other"), [("reference", "compiled_oracle"), ("monte_carlo", "reference_oracle")])
def test_every_engine_asks_for_an_oracle_of_its_own(monkeypatch, engine, other):
    def refuse(*arguments, **more):
        raise AssertionError("the oracle of the other engine was made")

    monkeypatch.setattr(Quadratic, other, refuse)
    run = simulate(experiment_of(FedAvg()), engine=engine, replicates=2, collapse=False)
    assert run.provenance["engine"] == engine


@pytest.mark.parametrize(
    ("engine", "threads", "replicates", "made"),
    [
        ("reference", 2, BLOCK + 1, []),
        ("monte_carlo", 1, BLOCK + 1, []),
        ("monte_carlo", 3, BLOCK, []),
        ("monte_carlo", 3, BLOCK + 1, [3]),
    ],
)
def test_blocks_are_run_in_as_many_threads_as_asked_for(monkeypatch, engine, threads, replicates, made):
    """The reference engine has one thread, and so has a single block."""
    module = importlib.import_module("fltheory.simulation.engines.simulate")
    pools, kind = [], module.ThreadPoolExecutor
    monkeypatch.setattr(
        module, "ThreadPoolExecutor", lambda max_workers: pools.append(max_workers) or kind(max_workers=max_workers)
    )
    experiment = experiment_of(FedAvg(), rounds=1)
    run = simulate(experiment, engine=engine, threads=threads, replicates=replicates, collapse=False)
    assert pools == made
    assert run.gap.shape == (replicates, 2)


@pytest.mark.parametrize(
    ("engine", "record", "collapse", "every"),
    [
        ("exact", Record(), True, False),
        ("exact", Record(), False, False),
        ("reference", Record(consensus=False), True, True),
        ("monte_carlo", Record(consensus=False), True, False),
        ("monte_carlo", Record(consensus=False), False, True),
        ("monte_carlo", Record(consensus=True), True, True),
    ],
)
def test_which_engine_runs_every_step(engine, record, collapse, every):
    experiment = experiment_of(FedAvg(), participation=full(4))
    assert runs_every_step(experiment, engine, record, collapse) is every
    run = simulate(experiment, engine=engine, record=record, collapse=collapse, replicates=2)
    assert run.provenance.get("steps", "").startswith("every step run") is every


def test_moments_are_not_sampled():
    for engine in ("reference", "monte_carlo"):
        with pytest.raises(NotApplicable, match="recorded by the exact engine only"):
            simulate(experiment_of(FedAvg()), engine=engine, record=Record(moments=True))


@pytest.mark.parametrize("name", ["nonzeros", "entropy"])
def test_entries_of_messages_are_those_of_the_model_and_not_of_the_eigenbasis(name):
    """On the way along an eigenvector only one of the rotated entries is not zero, but all entries that are sent."""
    problem = noisy_quadratic(
        dim=3, num_clients=2, rotated=True, noise_sq=0.0, client_drift_sq=0.0, round_drift_sq=0.0, seed=1
    )
    oracle = problem.compiled_oracle(seed=0, replicates=range(1), rotation_equivariant=True)
    experiment = Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=2, local_steps=2),
        rounds=3,
        rate=0.1,
        start=problem.objective().w_star + oracle.leave(np.eye(3)[:1])[0],
    )
    record = Record(nonzeros=True) if name == "nonzeros" else Record(entropy_bin=0.01)
    curves = [
        simulate(experiment, engine=engine, replicates=1, record=record) for engine in ("reference", "monte_carlo")
    ]
    expected, compiled = (run.curve(name)[0] for run in curves)
    np.testing.assert_allclose(compiled, expected, rtol=1e-9)
    if name == "nonzeros":
        np.testing.assert_array_equal(expected, 2 * 3 * np.arange(4))
