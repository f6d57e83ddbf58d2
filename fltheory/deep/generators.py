r"""Networks on real data, dealt to clients.

Images become :math:`(x/255 - m)/s` with the mean :math:`m` and standard deviation :math:`s` of all training images, one
per channel. Rows of text stay as they are.

The test set serves all clients. A client's own model (APFL, pFedMe, FedAMP) is judged on test samples like the
client's own: those of its natural owner where data have owners, otherwise drawn so that their classes have the shares
that they have among the client's training samples.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory import checks, seeding
from fltheory.checks import Ints
from fltheory.datasets import DataSet, Source, load
from fltheory.datasets.splits import Split
from fltheory.deep.examples import Examples
from fltheory.deep.networks import Network
from fltheory.deep.problem import DeepProblem
from fltheory.seeding import Purpose

_ORDER, _OWN_TESTS, _SUBSET = 2, 3, 4


def network_problem(
    *,
    dataset: Source,
    network: Network,
    split: Split,
    num_clients: int = 100,
    samples: int | None = None,
    batch_size: int | None = 10,
    l2: float = 0.0,
    precision: str = "single",
    judged: int = 2000,
    own_tests: int = 50,
    directory: str | None = None,
    seed: int,
) -> DeepProblem:
    """Return a network to be trained on a data set of this machine.

    Parameters
    ----------
    dataset
        Where the samples come from, such as :class:`~fltheory.datasets.mnist.Mnist`.
    directory
        Where to look for its files first; see :func:`fltheory.datasets.load`.
    network, split, num_clients, samples, batch_size, l2, precision, judged, own_tests, seed
        See :func:`federate`.
    """
    data = load(dataset.name, directory, **dataclasses.asdict(dataset))  # type: ignore[call-overload]
    return federate(
        data,
        network=network,
        split=split,
        num_clients=num_clients,
        samples=samples,
        batch_size=batch_size,
        l2=l2,
        precision=precision,
        judged=judged,
        own_tests=own_tests,
        seed=seed,
    )


def federate(
    data: DataSet,
    *,
    network: Network,
    split: Split,
    num_clients: int,
    samples: int | None = None,
    batch_size: int | None = 10,
    l2: float = 0.0,
    precision: str = "single",
    judged: int = 2000,
    own_tests: int = 50,
    seed: int,
) -> DeepProblem:
    """Return a network to be trained on samples that are dealt to clients.

    Parameters
    ----------
    data
        The samples.
    network
        What is trained; see :mod:`fltheory.deep.networks`.
    split
        Who gets which samples; see :mod:`fltheory.datasets.splits`.
    num_clients
        Number of clients.
    samples
        Deal only so many training samples, drawn at random.
    own_tests
        Test samples on which each client's own model is judged, or as many as there are.
    batch_size, l2, precision, judged
        See :class:`~fltheory.deep.problem.DeepProblem`.
    seed
        Seed of the split, of the order of the samples and of the first model.
    """
    owner = "federate"
    own_tests = checks.integer(owner, "own_tests", own_tests, low=1)
    labels, owners = data.train_labels, data.train_owners
    chosen = np.arange(len(labels))
    if samples is not None:
        checks.integer(owner, "samples", samples, low=1, high=len(labels), remedy="leave it out for all of them")
        chosen = np.sort(seeding.generator(seed, Purpose.INSTANCE, _SUBSET).permutation(len(labels))[:samples])
    hands = split.deal(labels[chosen], num_clients, owners=None if owners is None else owners[chosen], seed=seed)
    order = seeding.generator(seed, Purpose.INSTANCE, _ORDER)
    rows = [chosen[order.permutation(hand)] for hand in hands]
    tests = order.permutation(len(data.test_labels))
    mean, deviation = _scale(data.train_inputs)
    test_labels = data.test_labels[tests]
    return DeepProblem(
        network=network,
        train=Examples.dealt(_numbers(data.train_inputs, mean, deviation), labels, rows),
        test=Examples.dealt(_numbers(data.test_inputs, mean, deviation), data.test_labels, [tests]),
        num_classes=data.num_classes,
        own_test=_own_tests(data, rows, tests, test_labels, own_tests, seed),
        batch_size=batch_size,
        l2=l2,
        precision=precision,
        judged=judged,
        seed=seed,
    )


def _own_tests(
    data: DataSet, rows: list[Ints], tests: Ints, test_labels: Ints, most: int, seed: int
) -> tuple[Ints, ...]:
    """Return the rows of the shuffled test set on which each client's own model is judged."""
    rng = seeding.generator(seed, Purpose.INSTANCE, _OWN_TESTS)
    found = []
    for own in rows:
        if data.train_owners is not None and data.test_owners is not None:
            possible = np.flatnonzero(data.test_owners[tests] == data.train_owners[own[0]])
            chances = np.ones(len(possible))
        else:
            shares = np.bincount(data.train_labels[own], minlength=data.num_classes)
            counts = np.bincount(test_labels, minlength=data.num_classes)
            chances = (shares / np.maximum(counts, 1))[test_labels]
            possible = np.flatnonzero(chances)
            chances = chances[possible]
        size = min(most, len(possible))
        found.append(np.sort(rng.choice(possible, size, replace=False, p=chances / chances.sum())))
    return tuple(found)


def _scale(images: NDArray[np.uint8]) -> tuple[Any, Any]:
    """Return mean and standard deviation of the pixels, each per channel where there are channels."""
    if images.ndim == 2:
        return 0.0, 1.0
    planes = np.moveaxis(images, 1, 0) if images.ndim == 4 else images[None]
    # Counts of the 256 values are exact, and need no copy of all images as real numbers.
    counts = np.stack([np.bincount(plane.ravel(), minlength=256) for plane in planes]).astype(np.float64)
    counts /= counts.sum(axis=1, keepdims=True)
    values = np.arange(256) / 255
    mean = counts @ values
    deviation = np.sqrt(counts @ values**2 - mean**2)
    shape = (1, -1, 1, 1) if images.ndim == 4 else (1, 1, 1)
    return mean.reshape(shape), np.where(deviation > 0, deviation, 1.0).reshape(shape)


def _numbers(inputs: NDArray[np.uint8], mean: Any, deviation: Any) -> NDArray[Any]:
    if inputs.ndim == 2:
        return inputs
    scaled = inputs.astype(np.float32)
    scaled -= (255 * mean).astype(np.float32)
    scaled /= (255 * deviation).astype(np.float32)
    return scaled
