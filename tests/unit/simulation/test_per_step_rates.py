"""Learning rates that change inside a round, on every engine and with every algorithm."""

import re

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fedgate import FedGATE
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.vrl_sgd import VRLSGD
from fltheory.configuration import registry
from fltheory.errors import FltheoryError, NotApplicable, RateChanges
from fltheory.logistic import logistic_clients, synthetic
from fltheory.participation import Arrival, StepCounts, Timeline, UniformSteps
from fltheory.problems.oracle import LocalSteps, Round
from fltheory.simulation.schedules import Constant, PerStep, StepTable, Table

PROBLEMS = {
    "rotated": lambda: noisy_quadratic(dim=5, num_clients=3, noise_sq=0.1, client_drift_sq=0.3, round_drift_sq=0.1),
    "dense": lambda: client_quadratics(dim=4, num_clients=3, noise_sq=0.1, round_drift_sq=0.1, dissimilarity=2.0),
    "random Hessian": lambda: noisy_quadratic(dim=5, num_clients=3, noise_sq=0.1, hessian_noise=0.2, rotated=False),
    "binary": lambda: logistic_clients(num_clients=3, num_features=3, samples=12, batch_size=4, seed=1),
    "softmax": lambda: synthetic(
        alpha=1, beta=1, num_clients=3, num_features=5, num_classes=3, max_size=60, batch_size=5, seed=0
    ),
}
RATE = PerStep(scale=0.5, shift=8.0)
ONE_STEP_A_ROUND = [name for name, kind in registry.algorithms().items() if not kind.local_work.rates_may_change]
ALGORITHMS = {name: kind() for name, kind in registry.algorithms().items() if name not in ONE_STEP_A_ROUND} | {
    "cfl-r stochastic": CFLR(weighting="geometric", gradient="stochastic"),
    "fedelasticnet-1 steps": FedElasticNet1(l1=0.05, l2=0.3, exact=False),
    "fednova prox": FedNova(prox=0.5, server_momentum=0.3),
    "vrl-sgd warm": VRLSGD(warm_up=True),
    "apfl adaptive": APFL(adaptive=True),
}


def experiment(problem, algorithm, rate=RATE, *, rounds=4, **participation):
    clients = 1 if algorithm.name == "continual" else problem.num_clients
    terms = Participation(num_clients=clients, local_steps=3, **participation)
    return Experiment(problem=problem, algorithm=algorithm, participation=terms, rounds=rounds, rate=rate)


def alone(name):
    """Return a problem for the algorithms that have one client."""
    return noisy_quadratic(dim=5, num_clients=1, noise_sq=0.1, client_drift_sq=0.0) if name == "continual" else None


def round_bowl(noise_sq):
    """Return one client with the Hessian 2 I, at distance 1 from the minimiser."""
    return noisy_quadratic(
        dim=2, num_clients=1, mu=2.0, L=2.0, client_drift_sq=0.0, round_drift_sq=0.0, noise_sq=noise_sq
    )


@pytest.mark.parametrize("engine", ["reference", "monte_carlo", "exact"])
def test_one_client_without_noise_contracts_by_every_step(engine):
    """The error is multiplied by ``1 - 2 eta_t`` with ``eta_t = 1 / (t + 4)``, three steps a round."""
    run = experiment(round_bowl(noise_sq=0.0), FedAvg(), PerStep(scale=1.0, shift=4.0))
    expected = [np.prod([(1 - 2 / (t + 4)) ** 2 for t in range(3 * done)]) for done in range(5)]
    np.testing.assert_allclose(simulate(run, engine=engine, replicates=1).distance_sq[0], expected, rtol=1e-12)


def test_the_exact_second_moment_is_that_of_the_recursion():
    """One client, ``E e_{t+1}^2 = (1 - eta_t h)^2 E e_t^2 + eta_t^2 sigma^2``, over rounds that are read together."""
    run = experiment(round_bowl(noise_sq=0.5), FedAvg(), RATE, rounds=200)
    second = 1.0
    expected = [second]
    for t in range(600):
        eta = 0.5 / (t + 8)
        second = (1 - 2 * eta) ** 2 * second + 0.5 * eta**2
        if t % 3 == 2:
            expected.append(second)
    np.testing.assert_allclose(simulate(run, engine="exact").distance_sq[0], expected, rtol=1e-10)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("kind", sorted(PROBLEMS))
def test_compiled_steps_are_those_of_the_reference(kind, name):
    problem = alone(name) or PROBLEMS[kind]()
    run = experiment(problem, ALGORITHMS[name], steps=UniformSteps(low=0))
    record = Record(models=True)
    try:
        reference = simulate(run, engine="reference", replicates=3, record=record).models
    except FltheoryError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            simulate(run, replicates=3, record=record, collapse=False)
        return
    compiled = simulate(run, replicates=3, record=record, collapse=False).models
    np.testing.assert_allclose(compiled, reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("engine", ["reference", "monte_carlo", "exact"])
def test_a_list_of_equal_rates_is_a_constant_rate(name, engine):
    problem = alone(name) or PROBLEMS["dense"]()
    counts = {"steps": StepCounts(pmf=np.eye(4)[[3, 1, 2]])} if name != "continual" else {}
    runs = [experiment(problem, ALGORITHMS[name], rate, **counts) for rate in (StepTable(values=[0.05]), 0.05)]
    try:
        constant = simulate(runs[1], engine=engine, replicates=3, collapse=False)
    except NotApplicable as error:
        assert engine == "exact"
        with pytest.raises(NotApplicable, match=re.escape(str(error))):
            simulate(runs[0], engine=engine, replicates=3)
        return
    listed = simulate(runs[0], engine=engine, replicates=3, collapse=False)
    for curve in constant.curves():
        np.testing.assert_allclose(listed.curve(curve), constant.curve(curve), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("name", ONE_STEP_A_ROUND)
@pytest.mark.parametrize("engine", ["reference", "monte_carlo"])
def test_algorithms_that_take_one_step_a_round_refuse(name, engine):
    algorithm = registry.algorithms()[name]()
    message = (
        f"{algorithm.title} uses one learning rate per round, .*; choose a schedule that is constant inside a round"
    )
    with pytest.raises(RateChanges, match=message):
        simulate(experiment(PROBLEMS["rotated"](), algorithm), engine=engine, replicates=2)


def test_steps_count_from_the_latest_restart():
    problem = PROBLEMS["rotated"]()
    timeline = Timeline(arrivals=[Arrival(client=2, round=2)])
    run = experiment(problem, FedAvg(), timeline=timeline)
    rates = [0.5 / (t + 8) for t in range(6)]
    assert [run.rates_at(index) for index in range(4)] == [tuple(rates[:3]), tuple(rates[3:])] * 2
    assert run.rate_at(1) == rates[3]


def test_other_schedules_have_one_rate_per_round():
    for rate in (Constant(value=0.1), Table(values=[0.1, 0.2])):
        assert len(experiment(PROBLEMS["rotated"](), FedAvg(), rate).rates_at(1)) == 1


def terms(rates, steps):
    p = np.full(3, 1 / 3)
    return Round(
        index=0, rates=rates, local_steps=3, p=p, steps=np.array([steps]), weights=p[None], boost=np.ones(3)
    )  # fmt: skip


def test_what_a_round_says_about_its_rates():
    work = terms((0.5, 0.25, 0.125), [3, 1, 0])
    np.testing.assert_array_equal(work.rate_sum[0, :, 0], [0.875, 0.5, 0.5])
    assert [work.rate_of(k) for k in range(3)] == [0.5, 0.25, 0.125]
    assert work.mean_rate == 0.875 / 3
    with pytest.raises(RateChanges):
        _ = work.rate
    same = terms((0.5,), [3, 1, 0])
    np.testing.assert_array_equal(same.rate_sum[0, :, 0], [1.5, 0.5, 0.5])
    assert (same.rate, same.rate_of(2), same.mean_rate) == (0.5, 0.5, 0.5)
    assert LocalSteps(rate_factor=0.5).rates_in(work) == (0.25, 0.125, 0.0625)
    assert LocalSteps(rate=0.3).rates_in(work) == (0.3,)


@pytest.mark.parametrize("algorithm", [Scaffold(), VRLSGD(), FedGATE()], ids=lambda a: a.name)
def test_the_minimiser_stays_a_fixed_point(algorithm):
    """With unequal step counts and rates the control variates still take the clients to the common minimiser."""
    problem = client_quadratics(dim=3, num_clients=3, dissimilarity=1.0, spread=1.0)
    counts = StepCounts(pmf=np.eye(4)[[3, 1, 2]])
    run = experiment(problem, algorithm, StepTable(values=[0.2, 0.1, 0.05] * 200), rounds=200, steps=counts)
    assert simulate(run, engine="reference", replicates=1).distance_sq[0, -1] < 1e-20


def test_control_variates_are_mean_gradients_weighted_with_the_rates():
    problem = client_quadratics(dim=2, num_clients=3, dissimilarity=1.0)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    rates = (0.1, 0.05, 0.02)
    work = terms(rates, [3, 2, 1])
    algorithm = Scaffold()
    state = algorithm.init(problem.start[None], oracle, work.p)
    after = algorithm.round(state, oracle, work).state
    w = np.repeat(problem.start[None, None], 3, axis=1)
    total = np.zeros_like(w)
    for k, eta in enumerate(rates):
        working = (work.steps > k)[:, :, None]
        g = oracle.gradient(w)
        w, total = w - eta * g * working, total + eta * g * working
    expected = total / np.array([0.17, 0.15, 0.1])[:, None]
    np.testing.assert_allclose(after.c_i, expected, rtol=1e-12)


@pytest.mark.parametrize("prox", [0.0, 3.0, 25.0])
@pytest.mark.parametrize("rates", [[0.02, 0.1], [0.1, 0.02]])
def test_fednova_weighs_displacements_by_the_rates_of_their_steps(rates, prox):
    r"""A client that takes the first step only has moved by its rate :math:`S_i`; the mean of these moves the server.

    .. math:: w^+ = w + \sum_ip_i\frac{\sum_jp_jS_j}{S_i}(w_i - w), \qquad S_i = \sum_{k<s_i}\eta_k .

    With a pull the second step takes the first one back by a part, so that
    :math:`S_i = \eta_0 |1 - \eta_1\rho| + \eta_1` where both steps are taken.
    """
    problem = PROBLEMS["dense"]()
    steps = StepCounts(pmf=np.eye(3)[[2, 1, 1]])
    participation = Participation(num_clients=3, local_steps=2, steps=steps)
    run = Experiment(
        problem=problem,
        algorithm=FedNova(prox=prox),
        participation=participation,
        rounds=1,
        rate=StepTable(values=rates),
    )
    seen = simulate(run, engine="reference", replicates=1, record=Record(models=True, local_models=True))
    moved = seen.local_models[0, 1] - problem.start
    both = rates[0] * abs(1.0 - rates[1] * prox) + rates[1]
    length, p = np.array([both, rates[0], rates[0]]), problem.weights
    expected = problem.start + (p * (p @ length) / length) @ moved
    np.testing.assert_allclose(seen.models[0, 1], expected, rtol=1e-12)
