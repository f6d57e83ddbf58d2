"""Pictures of clothes: 28 x 28 grey images in ten classes, a drop-in replacement for MNIST.

60,000 images to train and 10,000 to test on, the same number of each class: T-shirt, trousers, pullover, dress, coat,
sandal, shirt, sneaker, bag, ankle boot. Harder than digits, and free.

Files: the four IDX files ``{train,t10k}-{images-idx3,labels-idx1}-ubyte``, plain or compressed, whose content is
checked. The Debian package ``dataset-fashion-mnist`` installs them; the repository
``zalandoresearch/fashion-mnist`` has them too.

Licence: MIT, Zalando SE.

None of the papers trains on it; it stands in where MNIST cannot be had.

Source: H. Xiao, K. Rasul and R. Vollgraf, *Fashion-MNIST: a novel image dataset for benchmarking machine learning
algorithms*, 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from fltheory.datasets._dataset import DataSet
from fltheory.datasets._source import DatasetSource

TRAIN_IMAGES, TRAIN_LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
TEST_IMAGES, TEST_LABELS = "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"


@dataclass(frozen=True, kw_only=True, slots=True)
class FashionMnist(DatasetSource):
    """Pictures of clothes."""

    name: ClassVar[str] = "fashion-mnist"
    title: ClassVar[str] = "Fashion-MNIST"
    samples: ClassVar[tuple[int, int]] = (60_000, 10_000)
    files: ClassVar[Mapping[str, str | None]] = MappingProxyType(
        {
            TRAIN_IMAGES: "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            TRAIN_LABELS: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            TEST_IMAGES: "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            TEST_LABELS: "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        }
    )
    installed: ClassVar[Path] = Path("/usr/share/datasets/fashion-mnist")
    remedy: ClassVar[str] = "apt-get install dataset-fashion-mnist (Debian, Ubuntu)"

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
