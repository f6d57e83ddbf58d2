"""Handwritten letters: 28 x 28 grey images in 26 classes, upper and lower case together.

124,800 images to train and 20,800 to test on, 4,800 and 800 of each letter. With ``letters=10`` only the first ten,
A to J: the set EMNIST-L of FedDyn and FedElasticNet (48,000 and 8,000 images).

Files: the four IDX files ``emnist-letters-{train,test}-{images-idx3,labels-idx1}-ubyte``, plain or compressed, from the
archive ``gzip.zip`` of the authors. There the images are transposed and the labels start at 1; both are put right
here. An older edition with 88,800 and 14,800 images is refused.

Licence: none stated; the forms are those of MNIST, collected by the United States government.

Source: G. Cohen, S. Afshar, J. Tapson and A. van Schaik, *EMNIST: extending MNIST to handwritten letters*, IJCNN 2017;
the first ten letters as in the public code of Acar et al., *Federated learning based on dynamic regularization*,
ICLR 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Ints
from fltheory.datasets._dataset import Bytes, DataSet
from fltheory.datasets._files import check_counts
from fltheory.datasets._source import DatasetSource
from fltheory.errors import InvalidParameter

ALPHABET = 26
SHAPE = (28, 28)
PER_LETTER = {"train": 4_800, "test": 800}


@dataclass(frozen=True, kw_only=True, slots=True)
class EmnistLetters(DatasetSource):
    """Handwritten letters.

    Parameters
    ----------
    letters
        Keep the first letters of the alphabet only.
    """

    name: ClassVar[str] = "emnist-letters"
    title: ClassVar[str] = "EMNIST letters"
    samples: ClassVar[tuple[int, int]] = (124_800, 20_800)
    files: ClassVar[Mapping[str, str | None]] = MappingProxyType(
        {
            f"emnist-letters-{part}-{kind}-ubyte": None
            for part in ("train", "test")
            for kind in ("images-idx3", "labels-idx1")
        }
    )
    remedy: ClassVar[str] = "unpack them from gzip.zip, the archive on the EMNIST site"

    letters: int = ALPHABET

    def __post_init__(self) -> None:
        arguments.integer("EmnistLetters", "letters", self.letters, low=2, high=ALPHABET)

    def read(self, folder: Path) -> DataSet:
        train_images, train_labels = self._part(folder, "train")
        test_images, test_labels = self._part(folder, "test")
        return DataSet(
            name=self.name,
            title=self.title if self.letters == ALPHABET else f"{self.title}, first {self.letters}",
            train_inputs=train_images,
            train_labels=train_labels,
            test_inputs=test_images,
            test_labels=test_labels,
            num_classes=self.letters,
        )

    def _part(self, folder: Path, part: str) -> tuple[Bytes, Ints]:
        name = f"emnist-letters-{part}-labels-idx1-ubyte"
        labels = self.labels(folder, name)
        check_counts(str(folder / name), labels, [0] + [PER_LETTER[part]] * ALPHABET)
        name = f"emnist-letters-{part}-images-idx3-ubyte"
        images = self.images(folder, name)
        if images.shape != (len(labels), *SHAPE):
            raise InvalidParameter(f"{folder / name} must have shape {(len(labels), *SHAPE)}, got {images.shape}")
        if self.letters < ALPHABET:
            kept = labels <= self.letters
            images, labels = images[kept], labels[kept]
        return np.ascontiguousarray(images.transpose(0, 2, 1)), labels - 1
