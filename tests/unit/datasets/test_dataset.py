"""A data set that exists is consistent, and its large arrays are not copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fltheory.datasets import DataSet
from fltheory.errors import InvalidParameter

IMAGES = np.arange(48, dtype=np.uint8).reshape(4, 3, 4)
GOOD: dict[str, Any] = {
    "name": "toy",
    "title": "Toy",
    "train_inputs": IMAGES,
    "train_labels": np.array([0, 1, 2, 0]),
    "test_inputs": IMAGES[:2],
    "test_labels": np.array([2, 1], dtype=np.uint8),
    "num_classes": 3,
}


def test_inputs_are_taken_over_and_all_arrays_are_read_only() -> None:
    images = IMAGES.copy()
    labels = np.array([0, 1, 2, 0])
    made = DataSet(**{**GOOD, "train_inputs": images, "train_labels": labels}, train_owners=labels, test_owners=[0, 5])
    assert np.shares_memory(made.train_inputs, images)
    for field in ("train_inputs", "train_labels", "test_inputs", "test_labels", "train_owners", "test_owners"):
        assert not getattr(made, field).flags.writeable
    assert made.test_labels.dtype == made.train_owners.dtype == np.int64
    assert images.flags.writeable
    assert labels.flags.writeable
    assert made.sample_shape == (3, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_inputs": IMAGES.astype(float)}, r"DataSet\.train_inputs must be bytes \(uint8\), got float64"),
        ({"test_inputs": IMAGES.ravel()}, r"DataSet\.test_inputs must have shape"),
        ({"train_inputs": IMAGES.reshape(4, 2, 3, 2)}, r"DataSet\.train_inputs must have shape"),
        ({"train_labels": [0, 1, 2]}, r"DataSet\.train_labels must have one entry per sample, 4, got shape \(3,\)"),
        ({"test_labels": [0.0, 1.0]}, r"DataSet\.test_labels must be integers in \[0, 2\], got float64"),
        ({"test_labels": [0, 3]}, r"DataSet\.test_labels must be integers in \[0, 2\], got values from 0 to 3"),
        ({"train_labels": [0, 1, 2, -1]}, r"DataSet\.train_labels .* got values from -1 to 2"),
        ({"num_classes": 1}, r"DataSet\.num_classes must be an integer >= 2"),
        ({"test_inputs": IMAGES[:2, :2]}, r"DataSet\.test_inputs must have samples of the shape .* got \(2, 4\)"),
        ({"train_owners": [0, 1, 2, 3]}, r"DataSet\.test_owners must be given if and only if"),
        ({"train_owners": [0, 1, -2, 3], "test_owners": [0, 1]}, r"DataSet\.train_owners must be integers >= 0"),
        (
            {"train_inputs": IMAGES.reshape(4, 12), "test_inputs": IMAGES[:2].reshape(2, 12)},
            r"DataSet\.train_inputs must be symbols below num_classes=3, got 47",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        DataSet(**{**GOOD, **changes})
