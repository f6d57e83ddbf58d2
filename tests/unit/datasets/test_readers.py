"""Readers of the published formats, on small files written in exactly these formats."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from fltheory.datasets import cifar, emnist_letters, load
from fltheory.datasets.cifar import Cifar10, Cifar100
from fltheory.datasets.mnist import Mnist
from fltheory.errors import InvalidParameter
from tests.samples import FASHION, fashion_sample, idx


def test_mnist_refuses_the_files_of_another_set() -> None:
    with pytest.raises(InvalidParameter, match=r"train-images-idx3-ubyte\.gz must be the published file"):
        load("mnist", FASHION)


def test_four_idx_files_make_a_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mnist, "files", MappingProxyType(dict.fromkeys(Mnist.files)))
    found, sample = load("mnist", FASHION), fashion_sample()
    for field in ("train_inputs", "train_labels", "test_inputs", "test_labels"):
        np.testing.assert_array_equal(getattr(found, field), getattr(sample, field))
    assert found.num_classes == 10
    assert found.train_owners is None


def test_images_in_the_place_of_labels_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mnist, "files", MappingProxyType(dict.fromkeys(Mnist.files)))
    for name in Mnist.files:
        (tmp_path / name).write_bytes(idx(np.zeros((2, 28, 28))))
    with pytest.raises(InvalidParameter, match=r"train-labels-idx1-ubyte must have 1 axes, got shape \(2, 28, 28\)"):
        load("mnist", tmp_path)


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Any]:
    """Three training images and one test image per letter, stored transposed; return the folder and the images."""
    monkeypatch.setattr(emnist_letters, "PER_LETTER", {"train": 3, "test": 1})
    rng = np.random.default_rng(0)
    labels = {"train": rng.permutation(np.repeat(np.arange(1, 27), 3)), "test": np.arange(26, 0, -1)}
    images = {part: rng.integers(0, 256, (len(of), 28, 28), dtype=np.uint8) for part, of in labels.items()}
    for part, of in labels.items():
        (tmp_path / f"emnist-letters-{part}-images-idx3-ubyte").write_bytes(idx(images[part].transpose(0, 2, 1)))
        (tmp_path / f"emnist-letters-{part}-labels-idx1-ubyte").write_bytes(idx(of))
    return tmp_path, (images, labels)


def test_letters_are_turned_and_counted_from_zero(letters: tuple[Path, Any]) -> None:
    folder, (images, labels) = letters
    found = load("emnist-letters", folder)
    np.testing.assert_array_equal(found.train_inputs, images["train"])
    np.testing.assert_array_equal(found.test_inputs, images["test"])
    np.testing.assert_array_equal(found.train_labels, labels["train"] - 1)
    assert found.num_classes == 26
    assert found.train_inputs.flags.c_contiguous


def test_the_first_letters_can_be_taken_alone(letters: tuple[Path, Any]) -> None:
    folder, (images, labels) = letters
    found = load("emnist-letters", folder, letters=10)
    assert found.num_classes == 10
    assert found.title == "EMNIST letters, first 10"
    assert np.bincount(found.train_labels).tolist() == [3] * 10
    np.testing.assert_array_equal(found.train_inputs, images["train"][labels["train"] <= 10])
    assert found.test_labels.tolist() == list(range(9, -1, -1))
    for bad in (1, 27):
        with pytest.raises(InvalidParameter, match=r"EmnistLetters\.letters must be an integer in \[2, 26\]"):
            load("emnist-letters", folder, letters=bad)


def test_another_edition_of_the_letters_is_refused(letters: tuple[Path, Any]) -> None:
    folder, (_, labels) = letters
    name = "emnist-letters-train-labels-idx1-ubyte"
    (folder / name).write_bytes(idx(np.where(labels["train"] == 26, 25, labels["train"])))
    with pytest.raises(InvalidParameter, match=f"{name} must have 3 samples of class 25, got 6"):
        load("emnist-letters", folder)
    (folder / name).write_bytes(idx(labels["train"]))
    images = "emnist-letters-train-images-idx3-ubyte"
    (folder / images).write_bytes(idx(np.zeros((77, 28, 28))))
    with pytest.raises(InvalidParameter, match=rf"{images} must have shape \(78, 28, 28\), got \(77, 28, 28\)"):
        load("emnist-letters", folder)


def records(labels: Any, extra: int, rng: np.random.Generator) -> tuple[bytes, Any]:
    """Return a file of labelled pictures and the pictures; ``extra`` labels that mean nothing come first."""
    pictures = rng.integers(0, 256, (len(labels), 3, 32, 32), dtype=np.uint8)
    rows = [
        rng.integers(0, 20, (len(labels), extra)),
        np.asarray(labels)[:, None],
        pictures.reshape(len(labels), -1),
    ]
    return np.hstack(rows).astype(np.uint8).tobytes(), pictures


def test_cifar_10_is_read_in_the_order_of_its_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cifar10, "samples", (50, 10))
    rng = np.random.default_rng(0)
    pictures, labels = [], []
    for name in (*cifar.BATCHES, "test_batch.bin"):
        labels.append(rng.permutation(10))
        content, more = records(labels[-1], 0, rng)
        assert len(content) == 10 * 3073
        (tmp_path / name).write_bytes(content)
        pictures.append(more)
    found = load("cifar-10", tmp_path)
    np.testing.assert_array_equal(found.train_inputs, np.concatenate(pictures[:5]))
    np.testing.assert_array_equal(found.train_labels, np.concatenate(labels[:5]))
    np.testing.assert_array_equal(found.test_inputs, pictures[5])
    np.testing.assert_array_equal(found.test_labels, labels[5])
    assert found.num_classes == 10
    (tmp_path / "data_batch_3.bin").write_bytes((tmp_path / "data_batch_3.bin").read_bytes()[:-1])
    with pytest.raises(InvalidParameter, match=r"data_batch_3\.bin must be records of 3073 bytes, got 30729"):
        load("cifar-10", tmp_path)


def test_cifar_100_has_the_fine_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cifar100, "samples", (200, 100))
    rng = np.random.default_rng(0)
    folder = tmp_path / "cifar-100-binary"
    folder.mkdir()
    labels = {"train": rng.permutation(np.repeat(np.arange(100), 2)), "test": rng.permutation(100)}
    pictures = {}
    for part, of in labels.items():
        content, pictures[part] = records(of, 1, rng)
        (folder / f"{part}.bin").write_bytes(content)
    found = load("cifar-100", tmp_path)  # the folder inside the archive is found in a data directory
    np.testing.assert_array_equal(found.train_inputs, pictures["train"])
    np.testing.assert_array_equal(found.train_labels, labels["train"])
    np.testing.assert_array_equal(found.test_inputs, pictures["test"])
    np.testing.assert_array_equal(found.test_labels, labels["test"])
    (folder / "test.bin").write_bytes((folder / "test.bin").read_bytes()[3074:])
    missing = int(labels["test"][0])
    with pytest.raises(InvalidParameter, match=rf"\(test\) must have 1 samples of class {missing}, got 0 among 99"):
        load("cifar-100", tmp_path)


def test_digests_are_of_the_form_that_is_computed() -> None:
    for digest in Mnist.files.values():
        assert digest is not None
        assert len(bytes.fromhex(digest)) == hashlib.sha256().digest_size
