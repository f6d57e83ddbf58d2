"""Real data split over clients: scaling, who gets what, what own models are evaluated on, and that a network learns."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections import Counter
from typing import Any

import numpy as np
import pytest

from fltheory import Experiment, Participation, simulate
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.datasets import DataSet
from fltheory.datasets.splits import ClassesPerClient, Dirichlet, Iid, Natural
from fltheory.deep import DeepProblem
from fltheory.deep.generators import federate
from fltheory.deep.networks import CNN, LSTM, MLP, Softmax
from fltheory.errors import InvalidParameter
from tests.samples import fashion_sample

FASHION = fashion_sample()
PLACES = {image.tobytes(): place for place, image in enumerate(FASHION.train_inputs)}


def clothes(**more: Any) -> DeepProblem:
    given: dict[str, Any] = {"network": Softmax(), "split": Dirichlet(concentration=0.3), "num_clients": 6, "seed": 0}
    return federate(more.pop("data", FASHION), **{**given, **more})


def colours(*, blue: int | None = None) -> DataSet:
    """Return small colour images; with ``blue`` their third channel has this value everywhere."""
    rng = np.random.default_rng(0)
    images = rng.integers([[[20]], [[0]], [[200]]], [[[40]], [[256]], [[210]]], (50, 3, 4, 4)).astype(np.uint8)
    if blue is not None:
        images[:, 2] = blue
    labels = np.arange(50) % 5
    return DataSet(
        name="colours",
        title="Colours",
        train_inputs=images[:30],
        train_labels=labels[:30],
        test_inputs=images[30:],
        test_labels=labels[30:],
        num_classes=5,
    )


def text(test_owners: Any = None) -> DataSet:
    """Return rows of symbols of four owners; row ``j`` says of itself that it is row ``j``."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 90, (90, 6)).astype(np.uint8)
    rows[:, 0] = np.arange(90)
    owners = np.arange(90) % 4
    return DataSet(
        name="text",
        title="Text",
        train_inputs=rows[:60],
        train_labels=rng.integers(0, 90, 60),
        test_inputs=rows[60:],
        test_labels=rng.integers(0, 90, 30),
        num_classes=90,
        train_owners=owners[:60],
        test_owners=owners[60:] if test_owners is None else test_owners,
    )


def rows_of(images: Any, labels: Any) -> Counter[tuple[bytes, int]]:
    return Counter(zip((np.ascontiguousarray(image).tobytes() for image in images), labels.tolist(), strict=True))


def bytes_again(problem: DeepProblem, data: DataSet, part: str) -> Any:
    """Return the pixels that scaled images were made of."""
    pixels = data.train_inputs / 255
    scaled = getattr(problem, part).inputs
    axes = (0, 1, 2) if pixels.ndim == 3 else (0, 2, 3)
    mean, deviation = pixels.mean(axis=axes, keepdims=True), pixels.std(axis=axes, keepdims=True)
    return np.rint(255 * (scaled * np.where(deviation > 0, deviation, 1) + mean)).astype(np.uint8)


def test_grey_images_are_scaled_by_all_training_images() -> None:
    problem = clothes()
    images = problem.train.inputs
    assert images.dtype == np.float32
    assert images.mean(dtype=np.float64) == pytest.approx(0, abs=1e-6)
    assert images.std(dtype=np.float64) == pytest.approx(1, abs=1e-6)
    pixels = FASHION.train_inputs / 255
    expected = (FASHION.test_inputs / 255 - pixels.mean()) / pixels.std()
    assert abs(problem.test.inputs.mean(dtype=np.float64) - expected.mean()) < 1e-6
    assert abs(expected.mean()) > 1e-3  # that of the test images themselves would be 0


def test_colour_images_are_scaled_channel_by_channel() -> None:
    images = clothes(data=colours(), network=MLP(hidden=(3,)), split=Iid()).train.inputs
    assert images.shape == (30, 3, 4, 4)
    np.testing.assert_allclose(images.mean(axis=(0, 2, 3), dtype=np.float64), 0, atol=1e-6)
    np.testing.assert_allclose(images.std(axis=(0, 2, 3), dtype=np.float64), 1, atol=1e-6)


@pytest.mark.parametrize("value", [0, 49, 100, 255])
def test_constant_images_become_zero(value: int) -> None:
    one = colours(blue=value)
    images = clothes(data=one, network=MLP(hidden=(3,)), split=Iid()).train.inputs
    np.testing.assert_allclose(images[:, 2], 0, atol=1e-5)
    np.testing.assert_allclose(images[:, :2].std(axis=(0, 2, 3)), 1, atol=1e-5)
    grey = dataclasses.replace(one, train_inputs=one.train_inputs[:, 2], test_inputs=one.test_inputs[:, 2])
    np.testing.assert_allclose(clothes(data=grey, split=Iid()).train.inputs, 0, atol=1e-5)


def test_the_scale_does_not_depend_on_what_is_dealt() -> None:
    few, all_of_them = clothes(samples=40), clothes()
    known = rows_of(all_of_them.train.inputs, all_of_them.train.labels)
    assert rows_of(few.train.inputs, few.train.labels) <= known


@pytest.mark.parametrize("split", [Iid(), Dirichlet(concentration=0.3), ClassesPerClient(classes=2)])
def test_every_sample_of_the_split_is_dealt_to_its_client_once(split: Any) -> None:
    problem = clothes(split=split)
    images = bytes_again(problem, FASHION, "train")
    hands = split.deal(FASHION.train_labels, 6, seed=0)
    assert problem.train.counts.tolist() == [len(hand) for hand in hands]
    for client, hand in enumerate(hands):
        own = problem.train.rows(client)
        expected = rows_of(FASHION.train_inputs[hand], FASHION.train_labels[hand])
        assert rows_of(images[own], problem.train.labels[own]) == expected
    tests = rows_of(bytes_again(problem, FASHION, "test"), problem.test.labels)
    assert tests == rows_of(FASHION.test_inputs, FASHION.test_labels)


def test_samples_are_shuffled_so_that_the_first_ones_are_a_fair_sample() -> None:
    problem = clothes(split=Iid(), num_clients=1)
    ordered = np.arange(300)
    shuffled = np.array([PLACES[image.tobytes()] for image in bytes_again(problem, FASHION, "train")])
    assert sorted(shuffled) == ordered.tolist()
    assert abs(np.corrcoef(shuffled, ordered)[0, 1]) < 0.2
    assert len(np.unique(problem.test.labels[:30])) >= 7


def test_samples_deals_a_random_part_of_the_data() -> None:
    known = rows_of(FASHION.train_inputs, FASHION.train_labels)
    parts = []
    for seed in (0, 0, 1):
        problem = clothes(samples=90, seed=seed)
        images = bytes_again(problem, FASHION, "train")
        parts.append(rows_of(images, problem.train.labels))
        assert parts[-1].total() == 90
        assert parts[-1] <= known
        assert len(np.unique(problem.train.labels)) == 10
        places = [PLACES[image.tobytes()] for image in images]
        assert max(places) > 250  # not the first ones
    assert parts[0] == parts[1] != parts[2]


def test_everything_follows_from_the_seed() -> None:
    first, again, other = clothes(seed=3), clothes(seed=3), clothes(seed=4)
    for part in ("train", "test"):
        for name in ("inputs", "labels", "offsets"):
            np.testing.assert_array_equal(getattr(getattr(first, part), name), getattr(getattr(again, part), name))
    np.testing.assert_array_equal(first.start, again.start)
    assert all(np.array_equal(a, b) for a, b in zip(first.own_test, again.own_test, strict=True))
    assert not np.array_equal(first.train.labels, other.train.labels)
    assert not np.array_equal(first.test.labels, other.test.labels)
    assert not np.array_equal(first.start, other.start)


@pytest.mark.parametrize(("own_tests", "seed"), [(5, 0), (12, 1), (50, 2)])
def test_own_tests_have_the_classes_of_the_client_in_its_proportions(own_tests: int, seed: int) -> None:
    problem = clothes(own_tests=own_tests, num_clients=10, seed=seed)
    for client, tests in enumerate(problem.own_test):
        assert 1 <= len(tests) <= own_tests
        assert len(set(tests.tolist())) == len(tests)
        shares = np.bincount(problem.train.labels[problem.train.rows(client)], minlength=10)
        counts = np.bincount(problem.test.labels[tests], minlength=10)
        assert not counts[shares == 0].any()
        expected = len(tests) * shares / shares.sum()
        assert np.abs(counts - expected).max() < 1
        # There are 10 test images per class, so fewer are drawn only where one of them would run out.
        assert len(tests) == own_tests or len(tests) + 1 > 10 * shares.sum() / shares.max()


def test_rare_classes_are_among_the_own_tests_as_often_as_they_should() -> None:
    """A class with a share of 1/10, five tests: it is drawn once with probability 1/2; 200 seeds, 5 deviations."""
    labels = np.array([1] + [0] * 9)
    data = DataSet(
        name="two",
        title="Two",
        train_inputs=np.zeros((10, 2, 2), dtype=np.uint8),
        train_labels=labels,
        test_inputs=np.zeros((40, 2, 2), dtype=np.uint8),
        test_labels=np.arange(40) % 2,
        num_classes=2,
    )
    drawn = 0
    for seed in range(200):
        problem = clothes(data=data, split=Iid(), num_clients=1, own_tests=5, seed=seed)
        drawn += int(problem.test.labels[problem.own_test[0]].sum())
    assert abs(drawn - 100) < 5 * np.sqrt(200 / 4)


def test_classes_without_test_samples_are_left_out_of_the_own_tests() -> None:
    keep = FASHION.test_labels != 3
    data = dataclasses.replace(FASHION, test_inputs=FASHION.test_inputs[keep], test_labels=FASHION.test_labels[keep])
    problem = clothes(data=data, split=Iid(), num_clients=2)
    for tests in problem.own_test:
        assert set(problem.test.labels[tests]) == set(range(10)) - {3}
    with pytest.raises(
        InvalidParameter,
        match=r"^federate\.data must have test samples for every client, got none for client \d: none of its classes "
        r"is in the test set; choose another split or another seed$",
    ):
        clothes(data=data, split=ClassesPerClient(classes=1), num_clients=10)


def test_own_tests_of_natural_clients_are_those_of_their_owners() -> None:
    data = text()
    assert data.train_owners is not None
    assert data.test_owners is not None
    problem = clothes(data=data, network=LSTM(embedding=2, hidden=3), split=Natural(), num_clients=3, own_tests=5)
    assert problem.train.inputs.dtype == np.uint8
    for client, tests in enumerate(problem.own_test):
        owners = data.train_owners[problem.train.inputs[problem.train.rows(client), 0]]
        assert len(set(owners)) == 1
        assert len(tests) == 5
        assert set(data.test_owners[problem.test.inputs[tests, 0] - 60]) == {owners[0]}
    all_of_them = clothes(data=data, network=LSTM(embedding=2, hidden=3), split=Natural(), num_clients=4)
    assert sorted(len(tests) for tests in all_of_them.own_test) == [7, 7, 8, 8]


def test_clients_with_samples_of_several_owners_are_evaluated_by_their_classes() -> None:
    data = text()
    problem = clothes(data=data, network=LSTM(embedding=2, hidden=3), split=Iid(), num_clients=2)
    for client, tests in enumerate(problem.own_test):
        own = problem.train.labels[problem.train.rows(client)]
        assert set(problem.test.labels[tests]) <= set(own)


def test_an_owner_without_test_samples_is_told() -> None:
    with pytest.raises(
        InvalidParameter,
        match=r"^federate\.data must have test samples for every client, got none for client 3: its owner 3 has none; "
        r"choose another split or another seed$",
    ):
        clothes(data=text(np.arange(30) % 3), network=LSTM(), split=Natural(), num_clients=4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"samples": 301}, r"federate\.samples must be .* \[1, 300\], got samples=301; leave it out for all of them"),
        ({"samples": 0}, r"federate\.samples must be .* \[1, 300\], got samples=0; leave it out for all of them"),
        ({"own_tests": 0}, r"federate\.own_tests must be an integer >= 1, got own_tests=0"),
        ({"num_clients": 301}, r"Dirichlet\.num_clients must be .* \[1, 300\], got num_clients=301; give every client"),
        ({"samples": 5}, r"Dirichlet\.num_clients must be .* \[1, 5\], got num_clients=6; give every client"),
        ({"seed": -1}, r"seed must be an integer >= 0, got seed=-1"),
        ({"split": Natural()}, r"these data have no natural clients"),
        ({"network": LSTM()}, r"LSTM needs rows of symbols, got inputs of shape \(28, 28\); use mlp or cnn"),
    ],
)
def test_mistakes_are_told_with_their_remedy(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        clothes(**given)


def test_networks_that_cannot_read_the_data_are_told_before_anything_runs() -> None:
    begin = r"^DeepProblem\.network must turn two inputs of shape \(6,\) \(symbols up to 89\) into scores of shape "
    end = "; choose another network, or other sizes of its layers$"
    with pytest.raises(InvalidParameter, match=begin + r"\(2, 90\), got .* of MLP\(hidden=\(200, 200\)\)" + end):
        clothes(data=text(), network=MLP())
    with pytest.raises(InvalidParameter, match=begin + r"\(2, 90\), got .* of LSTM\(.*symbols=50\)" + end):
        clothes(data=text(), network=LSTM(symbols=50))


def test_a_network_with_too_few_scores_is_told() -> None:
    class Short:
        name = "short"

        def build(self, shape: tuple[int, ...], num_classes: int) -> Any:
            return MLP(hidden=(2,)).build(shape, 3)

    with pytest.raises(InvalidParameter, match=r"\(real numbers\) into scores of shape \(2, 10\), got \(2, 3\) of"):
        clothes(network=Short())


def test_federated_averaging_learns() -> None:
    """300 training images, 6 clients with few classes each; chance is 0.1, and all seeds 0 to 4 end above 0.6."""
    problem = clothes(network=MLP(hidden=(50,)), num_clients=6, seed=1)
    experiment = Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=6, local_steps=10),
        rounds=15,
        rate=0.1,
    )
    runs = simulate(experiment, replicates=1, seed=1)
    assert runs.gap is None
    assert runs.curve("accuracy")[0, 0] < 0.3
    assert runs.curve("accuracy")[0, -1] > 0.55
    assert runs.curve("loss")[0, -1] < 0.5 * runs.curve("loss")[0, 0]


def test_personal_models_do_better_at_home() -> None:
    """Two classes per client: a personal model has to tell two things apart, the common one ten (seed 1)."""
    problem = clothes(network=CNN(channels=(4,), kernel=5, dense=()), split=ClassesPerClient(classes=2), seed=1)
    experiment = Experiment(
        problem=problem,
        algorithm=APFL(),
        participation=Participation(num_clients=6, local_steps=10),
        rounds=6,
        rate=0.05,
    )
    runs = simulate(experiment, replicates=1, seed=1)
    assert runs.curve("personal_accuracy")[0, -1] > runs.curve("accuracy")[0, -1] + 0.1


def test_results_name_the_data_the_split_and_pytorch() -> None:
    problem = federate(
        fashion_sample(),
        network=MLP(hidden=(4,)),
        split=Dirichlet(concentration=0.3),
        num_clients=5,
        samples=100,
        seed=3,
    )
    experiment = Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=5, local_steps=1),
        rounds=1,
        rate=0.1,
    )
    record = simulate(experiment, replicates=1).provenance
    origin = record["experiment"]["problem"]["origin"]
    assert origin.startswith("fashion-mnist-sample, Dirichlet(concentration=0.3")
    assert origin.endswith("samples=100, own_tests=50, seed=3")
    assert record["versions"]["torch"] == importlib.metadata.version("torch")
