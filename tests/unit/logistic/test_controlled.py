"""Controlled logistic problems have the constants that were asked for, or say what can be had."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.configuration import registry
from fltheory.configuration.experiments import parse
from fltheory.errors import InvalidParameter
from fltheory.logistic import controlled_logistic
from fltheory.participation import Participation
from fltheory.problems.oracle import LocalSteps, Round
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment

TILTED: dict[str, Any] = {"client_drift_by": "tilt", "round_drift_by": "tilt"}


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    clients=st.integers(2, 6),
    features=st.integers(2, 5),
    classes=st.integers(2, 4),
    mu=st.floats(1e-3, 1.0),
    gap=st.floats(0.01, 20.0),
    share=st.floats(0.001, 0.8),
    intercept=st.booleans(),
    tilt=st.booleans(),
)
def test_requested_constants_are_those_of_the_instance(
    seed: int,
    clients: int,
    features: int,
    classes: int,
    mu: float,
    gap: float,
    share: float,
    intercept: bool,
    tilt: bool,
) -> None:
    """Measured without the package's own constants: by singular values, per-client gradients and per-label moments."""
    sizes = {"num_clients": clients, "num_features": features, "num_classes": classes, "samples": 12, "seed": seed}
    sizes |= {"mu": mu, "L": mu + gap, "intercept": intercept}
    drift = share if tilt else share * _most("round_drift_sq", sizes)
    wanted = share if tilt else share * _most("client_drift_sq", {**sizes, "round_drift_sq": drift})
    kinds = TILTED if tilt else {}
    problem = controlled_logistic(**sizes, **kinds, client_drift_sq=wanted, round_drift_sq=drift)
    constants = problem.constants()
    assert constants["mu"].value == mu
    factor = 0.25 if classes == 2 else 0.5
    w_star = problem.objective().w_star
    drifts = []
    for i in range(clients):
        x = problem.train.features[problem.train.rows(i)]
        assert factor * np.linalg.norm(x.T @ x / len(x), 2) + mu == pytest.approx(mu + gap, rel=1e-12)
        drifts.append(np.sum(problem.client_objective(i).gradient(w_star) ** 2))
    assert np.mean(drifts) == pytest.approx(wanted, rel=1e-9)
    for name, value in (("L", mu + gap), ("client_drift_sq", wanted), ("round_drift_sq", drift)):
        assert constants[name].value == pytest.approx(value, rel=1e-9), name
    assert np.linalg.norm(problem.objective().gradient(w_star)) <= 1e-12


def _most(field: str, sizes: dict[str, Any]) -> float:
    """Return the largest reachable value, as the error names it."""
    with pytest.raises(InvalidParameter, match=rf"controlled_logistic.{field} must be in \[0, ") as caught:
        controlled_logistic(**{"round_drift_sq": 0.0, "client_drift_sq": 0.0, **sizes, field: 1e9})
    found = re.search(r"in \[0, ([^\]]+)\]", str(caught.value))
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize("field", ["client_drift_sq", "round_drift_sq"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_named_end_of_the_interval_is_reachable_and_twice_as_much_is_not(field: str, classes: int) -> None:
    sizes = {"num_classes": classes, "samples": 20, "seed": 4, "round_drift_sq": 0.0, "client_drift_sq": 0.0}
    most = _most(field, {name: value for name, value in sizes.items() if not name.endswith("drift_sq")})
    problem = controlled_logistic(**{**sizes, field: most})
    assert problem.constants()[field].value == pytest.approx(most, rel=1e-9)
    with pytest.raises(InvalidParameter, match="or set"):
        controlled_logistic(**{**sizes, field: 2 * most})


def test_smoothness_is_attained_by_binary_models_and_approached_by_softmax_with_an_intercept() -> None:
    binary = controlled_logistic(L=2.0)
    at_zero = binary.client_objective(3).loss.hessian(np.zeros(binary.dim))
    assert np.linalg.eigvalsh(at_zero)[-1] == pytest.approx(2.0, rel=1e-12)
    softmax = controlled_logistic(L=2.0, num_classes=3, num_features=3, intercept=True)
    far = np.zeros((3, 4))
    far[2, 3] = -1e3  # the third class becomes impossible, the others equally likely
    assert np.linalg.eigvalsh(softmax.client_objective(0).loss.hessian(far.ravel()))[-1] == pytest.approx(2.0)


def test_tilts_make_the_drift_the_same_at_every_model() -> None:
    problem = controlled_logistic(**TILTED, client_drift_sq=5.0, num_clients=4, num_classes=3)
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, problem.dim))
    slopes = [
        np.stack([problem.client_loss(i).gradient(w) - problem.objective().gradient(w) for i in range(4)])
        for w in (first, second)
    ]
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-12)
    assert (slopes[0] ** 2).sum(axis=1).mean() == pytest.approx(5.0, rel=1e-12)
    np.testing.assert_allclose(slopes[0].sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("centred", [True, False])
def test_drifts_and_noise_of_rounds_have_the_stated_moments(centred: bool) -> None:
    """Means of 4000 replicates, 4 clients, 6 coordinates: within 6 standard errors (false alarms below 1e-6)."""
    problem = controlled_logistic(
        **TILTED,
        scenario="S1",
        num_clients=4,
        num_features=6,
        client_drift_sq=0.5,
        client_drift_centred=centred,
        round_drift_sq=2.0,
        noise_sq=3.0,
    )
    oracle = problem.reference_oracle(seed=1, replicates=range(4000))
    w = np.ones((1, 1, problem.dim))
    full = oracle.gradient(w) - problem.objective().gradient(w[0, 0])
    noise = oracle.gradient(w, oracle.minibatch(2)) - oracle.gradient(w)
    for sample, moment in ((full, 2.5), (noise, 3.0)):
        squares = (sample**2).sum(axis=2).mean(axis=1)
        assert abs(squares.mean() - moment) <= 6 * squares.std() / np.sqrt(len(squares))
        assert np.abs(sample.mean(axis=(0, 1))).max() <= 6 * np.sqrt(moment / 6 / 16000)
    quiet = controlled_logistic(
        **TILTED, scenario="S1", num_clients=4, client_drift_sq=0.5, client_drift_centred=centred, round_drift_sq=0.0
    )
    drifts = quiet.reference_oracle(seed=1, replicates=range(5)).gradient(np.zeros((1, 1, quiet.dim)))
    drifts = drifts - quiet.objective().gradient(np.zeros(quiet.dim))
    assert np.allclose(drifts.sum(axis=1), 0.0, atol=1e-12) is centred


@pytest.mark.parametrize("name", registry.algorithms())
@pytest.mark.parametrize(("kind", "classes", "batch_size"), [("data", 2, 4), ("tilt", 3, None), ("S1", 2, None)])
def test_engines_agree_for_every_algorithm(name: str, kind: str, classes: int, batch_size: int | None) -> None:
    kinds = {} if kind == "data" else TILTED
    clients = 1 if name == "continual" else 3  # it has nobody to average with
    problem = controlled_logistic(
        num_features=3,
        num_clients=clients,
        client_drift_sq=0.01 if clients > 1 else 0.0,
        num_classes=classes,
        samples=15,
        scenario="S1" if kind == "S1" else "S2",
        noise_sq=0.3,
        noise_law="bounded",
        batch_size=batch_size,
        **kinds,
    )
    experiment = Experiment(
        problem=problem,
        algorithm=registry.algorithms()[name](),
        participation=Participation(num_clients=clients, local_steps=3),
        rounds=3,
        rate=0.1,
    )
    runs = [simulate(experiment, engine=engine, seed=2, replicates=3) for engine in ("reference", "monte_carlo")]
    np.testing.assert_allclose(runs[0].distance_sq, runs[1].distance_sq, rtol=1e-9)


def test_replicates_do_not_depend_on_threads_or_blocks() -> None:
    problem = controlled_logistic(**TILTED, num_clients=3, noise_sq=0.5, batch_size=2)
    experiment = Experiment(
        problem=problem,
        algorithm=registry.algorithms()["fedavg"](),
        participation=Participation(num_clients=3, local_steps=4),
        rounds=4,
        rate=0.1,
    )
    runs = [simulate(experiment, seed=3, replicates=40, threads=threads).distance_sq for threads in (1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    fewer = simulate(experiment, seed=3, replicates=7, threads=1).distance_sq
    np.testing.assert_array_equal(runs[0][:7], fewer)


def test_steps_use_the_noise_of_their_minibatch(make_round: Any) -> None:
    """Explicit steps with the gradients of minibatches 0, 1, 2; a client that stops early stays where it is."""
    problem = controlled_logistic(**TILTED, num_clients=3, noise_sq=0.5, batch_size=2)
    oracle = problem.compiled_oracle(seed=0, replicates=range(2), rotation_equivariant=False)
    oracle.begin_round(5)
    work: Round = make_round(problem, [[3, 1, 0], [2, 3, 3]])
    w = np.ones((2, 3, problem.dim))
    for k in range(3):
        w = np.where((work.steps > k)[:, :, None], w - 0.3 * oracle.gradient(w, oracle.minibatch(k)), w)
    np.testing.assert_allclose(oracle.local_steps(np.ones((1, 1, problem.dim)), work), w, rtol=1e-10)


def test_what_a_round_adds_cancels_where_gradients_are_subtracted(make_round: Any) -> None:
    """SVRG-like steps use g(w) - g(start) with one minibatch: drift and noise drop out, corrections do not."""
    problem = controlled_logistic(**TILTED, num_clients=2, client_drift_sq=4.0, noise_sq=0.5, batch_size=2)
    oracle = problem.compiled_oracle(seed=0, replicates=range(2), rotation_equivariant=False)
    start, push = np.ones((2, 2, problem.dim)), np.full((1, 1, problem.dim), 0.1)
    w = start
    for k in range(2):
        batch = oracle.minibatch(k)
        w = w - 0.3 * (oracle.gradient(w, batch) - oracle.gradient(start, batch) + push)
    moved = oracle.local_steps(start, make_round(problem, [[2, 2]]), LocalSteps(correction=push, recentre=True))
    np.testing.assert_allclose(moved, w, rtol=1e-10)


def test_noisy_steps_follow_rates_that_change_inside_a_round(make_round: Any) -> None:
    problem = controlled_logistic(**TILTED, num_clients=2, noise_sq=0.5)
    oracle = problem.compiled_oracle(seed=0, replicates=range(2), rotation_equivariant=False)
    w = np.ones((2, 2, problem.dim))
    for k, rate in enumerate((0.3, 0.1, 0.2)):
        w = w - rate * oracle.gradient(w, oracle.minibatch(k))
    work = replace(make_round(problem, [[3, 3]]), rates=(0.3, 0.1, 0.2))
    np.testing.assert_allclose(oracle.local_steps(np.ones((1, 1, problem.dim)), work), w, rtol=1e-10)


def test_two_clients_at_the_end_of_the_interval_see_opposite_features() -> None:
    """Half a turn in a plane: the sum of both clients' features has lost two dimensions, their difference has two."""
    most = _most("client_drift_sq", {"num_clients": 2, "num_features": 5})
    problem = controlled_logistic(num_clients=2, num_features=5, client_drift_sq=most, round_drift_sq=0.0)
    first, second = (problem.train.features[problem.train.rows(i)] for i in range(2))
    scale = np.linalg.norm(first, 2)
    assert np.linalg.svd(first + second)[1][3:].max() < 0.02 * scale
    assert np.linalg.svd(first - second)[1][2:].max() < 1e-9 * scale


def test_a_configuration_file_may_ask_for_one() -> None:
    text = """
    rounds = 2
    [problem]
    name = "controlled-logistic"
    mu = 0.5
    L = 4.0
    client_drift_sq = 0.125
    [participation]
    local_steps = 2
    [[algorithm]]
    name = "fedavg"
    rate = 0.1
    """
    constants = parse(text).experiments[0][1].problem.constants()
    found = [constants[name].value for name in ("mu", "L", "client_drift_sq")]
    assert found == pytest.approx([0.5, 4.0, 0.125], rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mu": 0.0}, r"mu must be a number in \(0, inf\)"),
        ({"mu": 2.0, "L": 2.0}, r"L must be a number in \(2, inf\), got L=2.0; mu must be below it"),
        ({"scenario": "S1"}, "client_drift_by must be 'tilt' in scenario S1"),
        ({"num_clients": 1}, "client_drift_sq must be 0 for one client"),
        ({"num_features": 1}, "num_features must be at least 2 for clients by rotation"),
        ({"client_drift_by": "rotate"}, "did you mean 'rotation'"),
        ({"noise_law": "cauchy"}, "noise_law"),
        ({"noise_sq": -1.0}, "noise_sq"),
        ({"client_drift_sq": float("nan")}, "client_drift_sq"),
    ],
)
def test_bad_parameters_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        controlled_logistic(**changes)


def test_one_client_may_be_tilted_off_centre() -> None:
    problem = controlled_logistic(**TILTED, num_clients=1, client_drift_centred=False, client_drift_sq=4.0)
    assert problem.constants()["client_drift_sq"].value == pytest.approx(4.0, rel=1e-9)
