"""Labelled inputs of any shape, images or windows of text, of many clients in one stacked array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory._internal import arguments
from fltheory._internal.arguments import Ints
from fltheory.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Examples:
    """Inputs and class labels; client ``i`` owns the rows ``offsets[i]:offsets[i + 1]``.

    Parameters
    ----------
    inputs
        Shape ``(samples, ...)``: real numbers, or integers for symbols.
    labels
        Classes counted from 0, shape ``(samples,)``.
    offsets
        First row of every client, then the number of samples, shape ``(clients + 1,)``.
    """

    inputs: NDArray[Any]
    labels: Ints
    offsets: Ints

    def __post_init__(self) -> None:
        inputs, labels, offsets = np.asarray(self.inputs), np.asarray(self.labels), np.asarray(self.offsets)
        if inputs.ndim < 2 or inputs.dtype.kind not in "iuf":
            raise InvalidParameter(
                f"Examples.inputs must be numbers of shape (samples, ...), got shape {inputs.shape} of {inputs.dtype}"
            )
        if inputs.dtype.kind == "f" and not np.all(np.isfinite(inputs)):
            raise InvalidParameter("Examples.inputs must be finite")
        if labels.shape != inputs.shape[:1] or labels.dtype.kind not in "iu" or (labels.size and labels.min() < 0):
            raise arguments.fail("Examples", "labels", f"{len(inputs)} integers >= 0, one per input", self.labels)
        whole = offsets.ndim == 1 and len(offsets) > 1 and offsets.dtype.kind in "iu"
        if not whole or offsets[0] != 0 or offsets[-1] != len(inputs) or np.any(np.diff(offsets.astype(np.int64)) < 1):
            raise arguments.fail(
                "Examples", "offsets", f"increasing from 0 to the number of samples {len(inputs)}", self.offsets
            )
        for name, values in (("inputs", inputs), ("labels", labels.astype(np.int64)), ("offsets", offsets)):
            frozen = values.astype(np.int64) if name == "offsets" else values.view()
            frozen.setflags(write=False)
            object.__setattr__(self, name, frozen)

    @classmethod
    def per_client(cls, inputs: NDArray[Any], labels: Ints, rows: Sequence[Ints]) -> Examples:
        """Return the indices of the samples that every client has."""
        order = np.concatenate([np.asarray(own, dtype=np.int64) for own in rows])
        offsets = np.concatenate([[0], np.cumsum([len(own) for own in rows])])
        return cls(inputs=inputs[order], labels=labels[order], offsets=offsets)

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """Samples per client, shape ``(clients,)``."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return tuple(int(length) for length in self.inputs.shape[1:])

    def rows(self, client: int) -> slice:
        """Return the rows of one client."""
        return slice(int(self.offsets[client]), int(self.offsets[client + 1]))
