"""The federation that foreign code is given."""

import numpy as np
import pytest

from fltheory.conformance import Federation
from fltheory.conformance.instances import OPTIONAL, Feature, instances
from fltheory.errors import InvalidParameter


def federation(**changes):
    values = {
        "features": (np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([[1.0, 1.0], [2.0, -1.0], [0.5, 0.0]])),
        "targets": (np.array([1.0, 0.0]), np.array([3.0, 1.0, -1.0])),
        "steps": [[2, 1], [2, 0]],
        "local_steps": 2,
        "rates": (0.1, 0.05),
        "initial": np.array([0.5, -1.0]),
    }
    return Federation(**(values | changes))


def test_gradients_are_those_of_the_mean_squared_error():
    on, w, h = federation(), np.array([0.3, 0.7]), 1e-6
    for client in range(2):
        numeric = [(on.loss(client, w + h * e) - on.loss(client, w - h * e)) / (2 * h) for e in np.eye(2)]
        np.testing.assert_allclose(on.gradient(client, w), numeric, rtol=1e-7)
        difference = on.gradient(client, w + np.array([1.0, 0.0])) - on.gradient(client, w)
        np.testing.assert_allclose(on.hessian(client)[:, 0], difference)


def test_the_problem_of_the_package_is_the_same_objective():
    on, w = federation(), np.array([0.3, 0.7])
    objective = on.problem().objective()
    total = sum(p * on.loss(i, w) for i, p in enumerate(on.weights))
    np.testing.assert_allclose(objective.gap(w) + objective.f_star, total)
    oracle = on.problem().reference_oracle(seed=0, replicates=range(1))
    np.testing.assert_allclose(oracle.gradient(w[None, None])[0], [on.gradient(i, w) for i in range(2)])


def test_noise_comes_from_the_generator_and_a_minibatch_keeps_it():
    on = federation(noise=0.3)
    full = on.gradient(0, on.start)
    np.testing.assert_array_equal(full, on.gradient(0, on.start))
    draws = np.array([on.gradient(0, on.start, on.rng) - full for _ in range(4000)])
    assert np.abs(draws.mean(axis=0)).max() < 0.3 * 5 / np.sqrt(4000)
    assert np.abs(draws.std(axis=0) / 0.3 - 1).max() < 5 / np.sqrt(8000)
    batch = on.minibatch(0, on.rng)
    np.testing.assert_allclose(batch(on.start) - full, batch(on.start + 1) - on.gradient(0, on.start + 1))
    quiet = federation()
    np.testing.assert_array_equal(quiet.gradient(0, on.start, quiet.rng), full)


def test_schedules_are_read_off_the_step_counts():
    on = federation()
    assert on.participants == ((0, 1), (0,))
    assert (on.rounds, on.num_clients, on.dim) == (2, 2, 2)
    np.testing.assert_allclose(on.weights, [0.4, 0.6])
    work = on.work(1)
    np.testing.assert_allclose(work.weights, [[1.0, 0.0]])
    np.testing.assert_allclose(on.work(0).weights, [[0.4, 0.6]])
    assert on.server_rate == 1.0
    assert federation(parameters={"server_rate": 0.7}).server_rate == 0.7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": (np.zeros(2),)}, "one array per client"),
        ({"targets": (np.zeros(3), np.zeros(3))}, r"Federation.targets must have shape \(2\)"),
        ({"steps": [[2, 1, 0]]}, r"Federation.steps must have shape \(rounds, 2\)"),
        ({"steps": [[3, 1], [1, 1]]}, "between 0 and local_steps=2"),
        ({"rates": (0.1,)}, "must have 2 entries"),
        ({"rates": (0.1, 0.0)}, r"Federation.rates must be a number in \(0"),
        ({"noise": -1.0}, "Federation.noise"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(InvalidParameter, match=message):
        federation(**changes)


def test_models_of_another_shape_are_refused():
    with pytest.raises(InvalidParameter, match=r"w must have shape \(2,\), got shape \(3,\)"):
        federation().gradient(0, np.zeros(3))


def test_every_optional_feature_has_an_instance_of_its_own():
    base = {Feature.LOCAL_STEPS, Feature.CLIENTS, Feature.ROUNDS}
    found = instances({}, skip=frozenset())
    for feature in OPTIONAL:
        assert sum(each.features == base | {feature} for each in found) == 1
    assert found[-1].features == base | set(OPTIONAL)


@pytest.mark.parametrize("feature", OPTIONAL)
def test_instances_have_what_they_say(feature):
    for each in (*instances({}, skip=frozenset()), *instances({}, skip=frozenset({feature}))):
        on = each.federation
        present = on.steps[on.steps > 0]
        assert (Feature.ROUNDS in each.features) == (on.rounds > 1)
        assert (Feature.CLIENTS in each.features) == (on.num_clients > 1)
        assert (Feature.LOCAL_STEPS in each.features) == (on.local_steps > 1)
        assert (Feature.WEIGHTS in each.features) == (len(set(on.sample_counts)) > 1)
        assert (Feature.ABSENCE in each.features) == bool((on.steps == 0).any())
        assert (Feature.STRAGGLERS in each.features) == (len(set(present)) > 1)
        assert (Feature.SCHEDULE in each.features) == (len(set(on.rates)) > 1)
        assert (Feature.SERVER_RATE in each.features) == (on.server_rate != 1.0)
    assert not any(feature in each.features for each in instances({}, skip=frozenset({feature})))


def test_clients_have_different_hessians_and_come_back_after_an_absence():
    rich = instances({}, skip=frozenset())[-1].federation
    hessians = [rich.hessian(i) for i in range(rich.num_clients)]
    assert all(np.abs(a - b).max() > 0.1 for k, a in enumerate(hessians) for b in hessians[:k])
    present = [np.flatnonzero(column) for column in rich.steps.T]
    assert sum(np.any(np.diff(rounds) > 1) for rounds in present) >= 3
