"""The full data sets, where they are on this machine; nothing is fetched."""

from __future__ import annotations

import numpy as np
import pytest

from fltheory import datasets
from fltheory.datasets import DataSet
from fltheory.datasets.shakespeare import SYMBOLS


def full(name: str) -> DataSet:
    kind = datasets.source(name)
    if datasets.find(kind) is None:
        pytest.skip(f"{name} is not on this machine; to get it: {kind.remedy}")
    return datasets.load(name)


@pytest.mark.parametrize("name", datasets.sources())
def test_samples_are_as_many_as_the_page_says(name: str) -> None:
    loaded = full(name)
    assert (len(loaded.train_labels), len(loaded.test_labels)) == datasets.source(name).samples
    if loaded.train_inputs.ndim > 2:
        assert np.array_equal(np.unique(loaded.train_labels), np.arange(loaded.num_classes))


@pytest.mark.parametrize(("name", "mean", "deviation"), [("mnist", 0.1307, 0.3081), ("fashion-mnist", 0.2860, 0.3530)])
def test_brightness_is_as_published(name: str, mean: float, deviation: float) -> None:
    """The numbers by which everybody normalises these sets."""
    pixels = full(name).train_inputs / np.float32(255)
    assert abs(pixels.mean(dtype=np.float64) - mean) < 1e-4
    assert abs(pixels.std(dtype=np.float64) - deviation) < 1e-4


def test_digits_are_of_unequal_frequency() -> None:
    counts = np.bincount(full("mnist").train_labels)
    assert counts.tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


def test_clothes_are_of_equal_frequency() -> None:
    assert np.bincount(full("fashion-mnist").train_labels).tolist() == [6000] * 10


def test_roles_of_the_plays() -> None:
    plays = full("shakespeare")
    assert plays.train_owners is not None
    assert plays.test_owners is not None
    sizes = np.bincount(plays.train_owners)
    assert len(sizes) == 781
    assert (sizes.min(), sizes.max()) == (401, 49_197)
    assert np.array_equal(np.unique(plays.test_owners), np.arange(781))
    first = "".join(SYMBOLS[number] for number in plays.train_inputs[0])
    assert first == "In delivering my son from me, I bury a second husband. What hope is there of his"
    assert SYMBOLS[plays.train_labels[0]] == " "
    largest = plays.train_inputs[plays.train_owners == sizes.argmax()]
    assert "".join(SYMBOLS[number] for number in largest[0]).startswith("A little more than kin, and less than kind!")
