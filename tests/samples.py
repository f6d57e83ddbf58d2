"""The sample of Fashion-MNIST in ``tests/data``, and small files in the formats of data sets."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from fltheory.datasets import DataSet, read_idx

FASHION = Path(__file__).parent / "data" / "fashion-mnist-sample"


def fashion_sample() -> DataSet:
    """Return 300 training and 100 test images of Fashion-MNIST, 30 and 10 of every class."""
    return DataSet(
        name="fashion-mnist-sample",
        title="Fashion-MNIST, sample",
        train_inputs=read_idx(FASHION / "train-images-idx3-ubyte.gz"),
        train_labels=read_idx(FASHION / "train-labels-idx1-ubyte.gz").astype(np.int64),
        test_inputs=read_idx(FASHION / "t10k-images-idx3-ubyte.gz"),
        test_labels=read_idx(FASHION / "t10k-labels-idx1-ubyte.gz").astype(np.int64),
        num_classes=10,
    )


def idx(array: Any) -> bytes:
    """Return an array of bytes in the format IDX."""
    values = np.asarray(array, dtype=np.uint8)
    return bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes()
