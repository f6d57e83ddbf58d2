"""What a data set is once it has been read, whatever its files look like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fltheory._internal import arguments
from fltheory._internal.arguments import Ints
from fltheory.errors import InvalidParameter

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DataSet:
    """Labelled samples to train and to test on; all arrays are read-only.

    Inputs are taken over as they are, without a copy: bytes that are not changed any more.

    Parameters
    ----------
    name, title
        Name in configuration files, and in headings.
    train_inputs, test_inputs
        One sample per row, as bytes: grey images ``(samples, height, width)``, colour images
        ``(samples, 3, height, width)`` with values 0 to 255, or text ``(samples, length)`` as numbers of symbols.
    train_labels, test_labels
        Classes counted from 0, shape ``(samples,)``.
    num_classes
        Number of classes; for text also the number of symbols.
    train_owners, test_owners
        The natural client of every sample, counted from 0, shape ``(samples,)``; ``None`` if the data have none.
    """

    name: str
    title: str
    train_inputs: Bytes
    train_labels: Ints
    test_inputs: Bytes
    test_labels: Ints
    num_classes: int
    train_owners: Ints | None = None
    test_owners: Ints | None = None

    def __post_init__(self) -> None:
        arguments.integer("DataSet", "num_classes", self.num_classes, low=2)
        for part in ("train", "test"):
            inputs = _inputs(f"{part}_inputs", getattr(self, f"{part}_inputs"))
            if inputs.ndim == 2 and inputs.size and inputs.max() >= self.num_classes:
                raise InvalidParameter(
                    f"DataSet.{part}_inputs must be symbols below num_classes={self.num_classes}, got {inputs.max()}"
                )
            labels = _numbers(f"{part}_labels", getattr(self, f"{part}_labels"), len(inputs), self.num_classes)
            object.__setattr__(self, f"{part}_inputs", inputs)
            object.__setattr__(self, f"{part}_labels", labels)
            owners = getattr(self, f"{part}_owners")
            if owners is not None:
                object.__setattr__(self, f"{part}_owners", _numbers(f"{part}_owners", owners, len(inputs), None))
        if self.train_inputs.shape[1:] != self.test_inputs.shape[1:]:
            raise InvalidParameter(
                f"DataSet.test_inputs must have samples of the shape of the training samples, "
                f"{self.train_inputs.shape[1:]}, got {self.test_inputs.shape[1:]}"
            )
        if (self.train_owners is None) != (self.test_owners is None):
            raise InvalidParameter("DataSet.test_owners must be given if and only if train_owners are")

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return self.train_inputs.shape[1:]


def _inputs(field: str, value: Bytes) -> Bytes:
    given = np.asarray(value)
    if given.dtype != np.uint8:
        raise InvalidParameter(f"DataSet.{field} must be bytes (uint8), got {given.dtype}")
    if given.ndim not in (2, 3, 4) or (given.ndim == 4 and given.shape[1] != 3):
        raise InvalidParameter(
            f"DataSet.{field} must have shape (samples, length), (samples, height, width) or "
            f"(samples, 3, height, width), got shape {given.shape}"
        )
    view = given.view()
    view.setflags(write=False)
    return view


def _numbers(field: str, value: ArrayLike, length: int, below: int | None) -> Ints:
    given = np.asarray(value)
    if given.shape != (length,):
        raise InvalidParameter(f"DataSet.{field} must have one entry per sample, {length}, got shape {given.shape}")
    allowed = "integers >= 0" if below is None else f"integers in [0, {below - 1}]"
    if given.dtype.kind not in "iu":
        raise InvalidParameter(f"DataSet.{field} must be {allowed}, got {given.dtype}")
    numbers = given.astype(np.int64, copy=False).view()
    if length and (numbers.min() < 0 or (below is not None and numbers.max() >= below)):
        raise InvalidParameter(f"DataSet.{field} must be {allowed}, got values from {numbers.min()} to {numbers.max()}")
    numbers.setflags(write=False)
    return numbers
