"""Labelled samples of many clients in one stacked array, since clients own different numbers of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Samples:
    """Features and class labels; client ``i`` owns the rows ``offsets[i]:offsets[i + 1]``.

    Parameters
    ----------
    features
        Shape ``(samples, features)``.
    labels
        Classes counted from 0, shape ``(samples,)``.
    offsets
        First row of every client, then the number of samples, shape ``(clients + 1,)``.
    """

    features: Floats
    labels: Ints
    offsets: Ints

    def __post_init__(self) -> None:
        features = arguments.array("Samples", "features", self.features, shape=(None, None))
        if features.shape[1] == 0:
            raise InvalidParameter("Samples.features must have at least one column, got none")
        labels = _integers("labels", self.labels, len(features))
        offsets = _integers("offsets", self.offsets, None)
        if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(features) or np.any(np.diff(offsets) < 0):
            raise arguments.fail(
                "Samples", "offsets", f"non-decreasing from 0 to the number of samples {len(features)}", self.offsets
            )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def from_clients(cls, features: Sequence[ArrayLike], labels: Sequence[ArrayLike]) -> Samples:
        """Stack one feature matrix and one label vector per client."""
        if not features or len(features) != len(labels):
            raise InvalidParameter(
                "Samples.from_clients needs one feature matrix and one label vector per client, "
                f"got {len(features)} and {len(labels)}"
            )
        matrices = [np.asarray(matrix, dtype=np.float64) for matrix in features]
        vectors = [np.asarray(vector) for vector in labels]
        for i, (matrix, vector) in enumerate(zip(matrices, vectors, strict=True)):
            if matrix.ndim != 2 or vector.shape != matrix.shape[:1] or matrix.shape[1] != matrices[0].shape[-1]:
                raise InvalidParameter(
                    f"Samples.from_clients needs features (n_i, F) and labels (n_i,) with one F for all, got shapes "
                    f"{matrix.shape} and {vector.shape} for client {i}"
                )
        offsets = np.concatenate([[0], np.cumsum([len(vector) for vector in vectors])])
        return cls(features=np.concatenate(matrices), labels=np.concatenate(vectors), offsets=offsets)

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """Samples per client, shape ``(clients,)``."""
        return np.diff(self.offsets)

    def rows(self, client: int) -> slice:
        """Return the rows of one client."""
        return slice(int(self.offsets[client]), int(self.offsets[client + 1]))

    def with_intercept(self) -> Samples:
        """Return the same samples with a last feature that is always 1."""
        ones = np.ones((len(self.features), 1))
        return Samples(features=np.hstack([self.features, ones]), labels=self.labels, offsets=self.offsets)


def _integers(field: str, value: ArrayLike, length: int | None) -> Ints:
    given = np.asarray(value)
    if given.ndim != 1 or (length is not None and len(given) != length):
        wanted = "any" if length is None else str(length)
        raise InvalidParameter(f"Samples.{field} must have shape ({wanted},), got shape {given.shape}")
    if given.size and not (np.issubdtype(given.dtype, np.integer) and given.min() >= 0):
        raise arguments.fail("Samples", field, "an array of integers >= 0", value)
    copy = given.astype(np.int64)
    copy.setflags(write=False)
    return copy
