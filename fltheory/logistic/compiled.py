"""The compiled steps behind the interface of :mod:`fltheory.logistic.oracle`, and arrays as the loops want them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats
from fltheory._internal.kernels import Kernel
from fltheory.logistic.steps import StepperInput

LANES, _ROWS, _WIDTH = 4, 2, 16
"""Sizes of the tiles in :mod:`fltheory.logistic.tiles`, which is not imported here: it is needed to compile only."""

SAMPLES = 32
"""Samples that are measured together: few enough to stay in the fastest cache."""

_LINE = 64
"""Bytes of a cache line: a vector that crosses the end of one takes twice as long to load."""

_local_steps = Kernel("fltheory.logistic.kernel", "local_steps")


class CompiledSteps:
    """Runs local steps on samples with these features, which are filled up once with zeros to whole tiles."""

    def __init__(self, features: Floats) -> None:
        count, width = features.shape
        self.features = aligned_zeros((filled(count, SAMPLES), filled(width, _WIDTH)))
        self.features[:count, :width] = features

    def __call__(self, work: StepperInput) -> Floats:
        """Return the local models after all steps, ``(replicates, clients, dim)``."""
        used, dim = work.features.shape[1], work.start.shape[2]
        out = np.empty((*work.steps.shape, dim // used, used))
        terms = work.how.written_out(dim)
        use_dense = terms.pull.ndim == 4
        diagonal = np.zeros((1, 1, dim)) if use_dense else terms.pull
        model = filled_shape(out.shape[2:])
        longest = filled(work.batch_size or int(np.diff(work.offsets).max()), LANES)
        arguments: list[Any] = [
            out,
            work.start,
            work.steps,
            self.features,
            work.labels,
            work.offsets,
            work.keys,
            work.batch_size,
            work.fixed,
            work.how.recentre,
            np.array(work.rates, dtype=np.float64),
            float(work.l2),
            not (use_dense or work.how.l1 or terms.correction.any() or diagonal.any()),
            terms.correction,
            diagonal,
            terms.pull if use_dense else np.zeros((1, 1, 1, 1)),
            use_dense,
            terms.anchor,
            float(work.how.l1),
            terms.l1_anchor,
            aligned_zeros((8, *model)),
            aligned_zeros((model[0] * longest + _WIDTH,)),
            np.zeros(longest, np.int64),
            np.zeros(longest, np.int64),
        ]
        _local_steps(*(np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in arguments))
        return out.reshape(*work.steps.shape, dim)


def filled(count: int, multiple: int) -> int:
    """Return the least multiple that is not below ``count``."""
    return -(-count // multiple) * multiple


def filled_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return rows and features of a model that is filled up to whole tiles."""
    return filled(shape[0], _ROWS), filled(shape[1], _WIDTH)


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[Any]:
    """Return zeros that begin at a cache line."""
    size = math.prod(shape)
    room = np.zeros(size + _LINE // 8)
    first = -room.__array_interface__["data"][0] % _LINE // 8
    return room[first : first + size].reshape(shape)
