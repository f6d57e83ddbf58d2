"""Colour pictures of things: 32 x 32 images, in 10 classes (``cifar-10``) or in 100 (``cifar-100``).

50,000 images to train and 10,000 to test on, the same number of each class. Images are ``(3, 32, 32)``: red, green and
blue, 0 to 255. ``cifar-100`` has the fine labels; its 20 coarse ones are not read.

Files: those of the *binary version* of the authors, ``cifar-10-binary.tar.gz`` (folder ``cifar-10-batches-bin``, files
``data_batch_1.bin`` to ``data_batch_5.bin`` and ``test_batch.bin``) and ``cifar-100-binary.tar.gz`` (folder
``cifar-100-binary``, files ``train.bin`` and ``test.bin``). Unpacked in a data directory they are found under these
folder names. The Python version is not read: it consists of pickles, and loading a pickle runs what is in it.

Licence: none stated.

Used by EFL (``cifar-100``), FedElasticNet and FedDyn (both, 100 clients).

Source: A. Krizhevsky, *Learning multiple layers of features from tiny images*, 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from fltheory._internal.arguments import Ints
from fltheory.datasets._dataset import Bytes, DataSet
from fltheory.datasets._files import check_counts, records
from fltheory.datasets._source import DatasetSource

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
BATCHES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))


@dataclass(frozen=True, kw_only=True, slots=True)
class Cifar10(DatasetSource):
    """Colour pictures in 10 classes."""

    name: ClassVar[str] = "cifar-10"
    title: ClassVar[str] = "CIFAR-10"
    samples: ClassVar[tuple[int, int]] = (50_000, 10_000)
    files: ClassVar[Mapping[str, str | None]] = MappingProxyType(dict.fromkeys((*BATCHES, "test_batch.bin")))
    folders: ClassVar[tuple[str, ...]] = ("cifar-10-batches-bin",)
    remedy: ClassVar[str] = "unpack cifar-10-binary.tar.gz, the binary version on the CIFAR site"

    def read(self, folder: Path) -> DataSet:
        # A record is the label and the pixels.
        batches = [records(self.content(folder, name), str(folder / name), 1 + PIXELS) for name in BATCHES]
        test = records(self.content(folder, "test_batch.bin"), str(folder / "test_batch.bin"), 1 + PIXELS)
        train_inputs = np.concatenate([_images(batch, 1) for batch in batches])
        train_labels = np.concatenate([batch[:, 0] for batch in batches]).astype(np.int64)
        return _data_set(self, folder, train_inputs, train_labels, _images(test, 1), test[:, 0].astype(np.int64), 10)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cifar100(DatasetSource):
    """Colour pictures in 100 classes."""

    name: ClassVar[str] = "cifar-100"
    title: ClassVar[str] = "CIFAR-100"
    samples: ClassVar[tuple[int, int]] = (50_000, 10_000)
    files: ClassVar[Mapping[str, str | None]] = MappingProxyType(dict.fromkeys(("train.bin", "test.bin")))
    folders: ClassVar[tuple[str, ...]] = ("cifar-100-binary",)
    remedy: ClassVar[str] = "unpack cifar-100-binary.tar.gz, the binary version on the CIFAR site"

    def read(self, folder: Path) -> DataSet:
        # A record is the coarse label, the fine label and the pixels.
        train, test = (
            records(self.content(folder, name), str(folder / name), 2 + PIXELS) for name in ("train.bin", "test.bin")
        )
        train_labels, test_labels = train[:, 1].astype(np.int64), test[:, 1].astype(np.int64)
        return _data_set(self, folder, _images(train, 2), train_labels, _images(test, 2), test_labels, 100)


def _images(found: Bytes, start: int) -> Bytes:
    return found[:, start:].reshape(-1, *SHAPE)


def _data_set(
    source: DatasetSource,
    folder: Path,
    train_inputs: Bytes,
    train_labels: Ints,
    test_inputs: Bytes,
    test_labels: Ints,
    num_classes: int,
) -> DataSet:
    for part, labels, samples in zip(("train", "test"), (train_labels, test_labels), source.samples, strict=True):
        check_counts(f"{folder} ({part})", labels, [samples // num_classes] * num_classes)
    return DataSet(
        name=source.name,
        title=source.title,
        train_inputs=train_inputs,
        train_labels=train_labels,
        test_inputs=test_inputs,
        test_labels=test_labels,
        num_classes=num_classes,
    )
