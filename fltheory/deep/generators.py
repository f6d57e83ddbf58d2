r"""Networks on real data that is split among clients.

Images become :math:`(x/255 - m)/s` with the mean :math:`m` and standard deviation :math:`s` of all training images, one
per channel. Rows of text stay as they are.

The test set serves all clients. A client's own model (APFL, pFedMe, FedAMP) is evaluated on test samples like the
client's own: those of the natural owner where all samples of a client have the same one, otherwise drawn so that their
classes have the shares that they have among the client's training samples. Where a class is too rare in the test set
for that, fewer are drawn rather than others.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Ints
from fltheory._internal.seeding import Purpose
from fltheory.datasets import DataSet, DatasetSource, find, load
from fltheory.datasets.splits import Split
from fltheory.deep.examples import Examples
from fltheory.deep.networks import Network
from fltheory.deep.problem import DeepProblem
from fltheory.errors import InvalidParameter

_ORDER, _OWN_TESTS, _SUBSET = 2, 3, 4


def network_problem(
    *,
    dataset: DatasetSource,
    network: Network,
    split: Split,
    num_clients: int = 100,
    samples: int | None = None,
    batch_size: int | None = 10,
    l2: float = 0.0,
    precision: str = "single",
    evaluated: int = 2000,
    fisher_samples: int | None = None,
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
    network, split, num_clients, samples, batch_size, l2, precision, evaluated, fisher_samples, own_tests, seed
        See :func:`federate`.
    """
    return federate(
        _read_once(dataset, directory, _state(dataset, directory)),
        network=network,
        split=split,
        num_clients=num_clients,
        samples=samples,
        batch_size=batch_size,
        l2=l2,
        precision=precision,
        evaluated=evaluated,
        fisher_samples=fisher_samples,
        own_tests=own_tests,
        seed=seed,
    )


@functools.lru_cache(maxsize=1)
def _read_once(dataset: DatasetSource, directory: str | None, state: tuple[Any, ...]) -> DataSet:
    """Return the samples of a data set; those read last are kept, as the points of a grid mostly have the same ones."""
    found: DataSet = load(dataset.name, directory, **dataclasses.asdict(dataset))  # type: ignore[call-overload]
    return found


def _state(dataset: DatasetSource, directory: str | None) -> tuple[Any, ...]:
    """Return what changes when the files of a data set do."""
    folder = find(type(dataset), directory)
    files = [] if folder is None else sorted(file for file in folder.iterdir() if file.is_file())
    return tuple((str(file), (now := file.stat()).st_size, now.st_mtime_ns, now.st_ino) for file in files)


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
    evaluated: int = 2000,
    fisher_samples: int | None = None,
    own_tests: int = 50,
    seed: int,
) -> DeepProblem:
    """Return a network to be trained on samples that are split among clients.

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
        Most test samples on which each client's own model is evaluated.
    batch_size, l2, precision, evaluated, fisher_samples
        See :class:`~fltheory.deep.problem.DeepProblem`.
    seed
        Seed of the split, of the order of the samples and of the first model.
    """
    owner = "federate"
    own_tests = arguments.integer(owner, "own_tests", own_tests, low=1)
    labels, owners = data.train_labels, data.train_owners
    chosen = np.arange(len(labels))
    if samples is not None:
        arguments.integer(owner, "samples", samples, low=1, high=len(labels), remedy="leave it out for all of them")
        chosen = np.sort(seeding.generator(seed, Purpose.INSTANCE, _SUBSET).permutation(len(labels))[:samples])
    hands = split.deal(labels[chosen], num_clients, owners=None if owners is None else owners[chosen], seed=seed)
    order = seeding.generator(seed, Purpose.INSTANCE, _ORDER)
    rows = [chosen[order.permutation(hand)] for hand in hands]
    tests = order.permutation(len(data.test_labels))
    scale = _scale(data.train_inputs)
    return DeepProblem(
        network=network,
        train=_scaled(Examples.per_client(data.train_inputs, labels, rows), *scale),
        test=_scaled(Examples.per_client(data.test_inputs, data.test_labels, [tests]), *scale),
        num_classes=data.num_classes,
        own_test=_own_tests(data, rows, tests, own_tests, seed),
        batch_size=batch_size,
        l2=l2,
        precision=precision,
        evaluated=evaluated,
        fisher_samples=fisher_samples,
        seed=seed,
        origin=f"{data.name}, {split}, samples={samples}, own_tests={own_tests}, seed={seed}",
    )


def _own_tests(data: DataSet, rows: list[Ints], tests: Ints, most: int, seed: int) -> tuple[Ints, ...]:
    """Return the rows of the shuffled test set on which each client's own model is evaluated."""
    rng = seeding.generator(seed, Purpose.INSTANCE, _OWN_TESTS)
    labels = data.test_labels[tests]
    found = []
    for client, own in enumerate(rows):
        owner = _owner(data, own)
        if owner is None:
            shares = np.bincount(data.train_labels[own], minlength=data.num_classes)
            picked, lacking = _like(rng, shares, labels, most), "none of its classes is in the test set"
        else:
            assert data.test_owners is not None  # DataSet has both or neither
            picked, lacking = np.flatnonzero(data.test_owners[tests] == owner), f"its owner {owner} has none"
            picked = rng.permutation(picked)[:most]
        if not picked.size:
            raise InvalidParameter(
                f"federate.data must have test samples for every client, got none for client {client}: {lacking}; "
                "choose another split or another seed"
            )
        found.append(np.sort(picked))
    return tuple(found)


def _owner(data: DataSet, rows: Ints) -> int | None:
    """Return the natural owner of samples; ``None`` if there is none, or more than one."""
    owners = np.zeros(0) if data.train_owners is None else np.unique(data.train_owners[rows])
    return int(owners[0]) if len(owners) == 1 else None


def _like(rng: np.random.Generator, shares: Ints, labels: Ints, most: int) -> Ints:
    """Return places of labels whose classes have the given shares, each up to one sample and right on average."""
    supply = np.bincount(labels, minlength=len(shares))
    wanted = np.where(supply > 0, shares, 0) / max(shares[supply > 0].sum(), 1)
    has = wanted > 0
    if not has.any():
        return np.zeros(0, dtype=np.int64)
    size = min(most, int((supply[has] / wanted[has]).min()))
    ends = np.floor(size * np.cumsum(wanted) + rng.random())
    ends[np.flatnonzero(has)[-1] :] = size  # whatever the rounding of the sum
    counts = np.minimum(np.diff(ends, prepend=0).astype(np.int64), supply)
    return np.concatenate([rng.permutation(np.flatnonzero(labels == c))[: counts[c]] for c in np.flatnonzero(counts)])


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
    deviation = np.sqrt((counts * (values - mean[:, None]) ** 2).sum(axis=1))
    shape = (1, -1, 1, 1) if images.ndim == 4 else (1, 1, 1)
    return mean.reshape(shape), np.where(deviation > 0, deviation, 1.0).reshape(shape)


def _scaled(examples: Examples, mean: Any, deviation: Any) -> Examples:
    """Return images as scaled numbers, and text as it is."""
    if examples.inputs.ndim == 2:
        return examples
    scaled = examples.inputs.astype(np.float32)
    scaled -= (255 * mean).astype(np.float32)
    scaled /= (255 * deviation).astype(np.float32)
    return dataclasses.replace(examples, inputs=scaled)
