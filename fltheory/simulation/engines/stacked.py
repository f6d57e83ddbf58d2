"""The maps of all outcomes of one round, stacked, with the averaged iterate as part of the state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats
from fltheory.simulation.engines.affine import RoundMap, Tilts

_DIGITS = 2.0**40


class Average(NamedTuple):
    """How the averaged iterate takes in a new model: by ``share``."""

    combine: Floats
    share: float
    start: Floats | None


class StackedMaps(NamedTuple):
    """Round maps with what every propagation needs computed once; all arrays start with the outcomes."""

    matrix: Floats
    shift: Floats
    noise_covariance: Floats
    spread_matrix: Floats
    spread_shift: Floats
    spread_form: Floats
    spread_noise: Floats
    tilts: Tilts | None
    """What factors add, every array ``(outcomes, factors, ...)``."""
    uplink_bits: Floats
    downlink_bits: Floats
    memories: list[dict[str, Floats]]
    """The distinct values of the memory after the round."""
    arrives: NDArray[np.int64]
    """Which of them an outcome leads to."""

    @classmethod
    def of(cls, steps: Sequence[RoundMap], average: Average | None) -> StackedMaps:
        """Stack the maps of the outcomes of one round."""
        parts = [_with_average(step, average) if average is not None else step for step in steps]
        spread = np.stack([part.spread_matrix for part in parts])
        memories: dict[bytes, int] = {}
        arrives = [memories.setdefault(memory_key(step.memory), len(memories)) for step in steps]
        return cls(
            matrix=np.stack([part.matrix for part in parts]),
            shift=np.stack([part.shift for part in parts]),
            noise_covariance=np.stack([np.matmul(part.noise, part.noise.swapaxes(1, 2)) for part in parts]),
            spread_matrix=spread,
            spread_shift=np.stack([part.spread_shift for part in parts]),
            spread_form=np.matmul(spread.swapaxes(-1, -2), spread),
            spread_noise=np.array([np.sum(step.spread_noise**2) for step in steps]),
            tilts=_stacked_tilts([part.tilts for part in parts]),
            uplink_bits=np.array([step.uplink_bits for step in steps]),
            downlink_bits=np.array([step.downlink_bits for step in steps]),
            memories=[steps[arrives.index(which)].memory for which in range(len(memories))],
            arrives=np.array(arrives),
        )

    def moved(self, mean: Floats | None, covariance: Floats | None) -> tuple[Floats, Floats]:
        """Return mean and covariance after the round, for every outcome; ``None`` stands for the start."""
        if mean is None or covariance is None:
            moved, carried = self.shift, self.noise_covariance
        else:
            moved = self.shift + np.matmul(self.matrix, mean[..., None])[..., 0]
            carried = _around(self.matrix, covariance) + self.noise_covariance
        if self.tilts is not None:
            tilted = self.tilts.shift
            if mean is not None and covariance is not None:
                tilted = tilted + np.matmul(self.tilts.matrix, mean[..., None])[..., 0]
                carried = carried + _around(self.tilts.matrix, covariance).sum(axis=1)
            carried = carried + np.einsum("ofgn,ofgm->ognm", tilted, tilted)
        return moved, carried

    def consensus(self, mean: Floats | None, covariance: Floats | None) -> Floats:
        """Return the expected spread of the local models, for every outcome; 0 if it was not asked for."""
        if not self.spread_shift.size:
            return np.zeros(len(self.arrives))
        total = self.spread_noise + _spread_of(
            self.spread_matrix, self.spread_shift, self.spread_form, mean, covariance
        )
        if self.tilts is not None:
            matrix = self.tilts.spread_matrix
            form = np.matmul(matrix.swapaxes(-1, -2), matrix)
            total = total + _spread_of(matrix, self.tilts.spread_shift, form, mean, covariance).sum(axis=1)
        return np.asarray(total)


def _around(matrices: Floats, covariance: Floats) -> Floats:
    return np.asarray(np.matmul(np.matmul(matrices, covariance), matrices.swapaxes(-1, -2)))


def _spread_of(matrix: Floats, shift: Floats, form: Floats, mean: Floats | None, covariance: Floats | None) -> Floats:
    """Return the expected squared norm of ``matrix z + shift``, where ``form`` is the square of the matrix."""
    if mean is None or covariance is None:
        return np.asarray(np.sum(shift**2, axis=(-2, -1)))
    away = shift + np.matmul(matrix, mean[..., None])[..., 0]
    return np.asarray(np.sum(away**2, axis=(-2, -1)) + np.sum(form * covariance, axis=(-3, -2, -1)))


def _stacked_tilts(parts: Sequence[Tilts | None]) -> Tilts | None:
    """Stack the factors of outcomes; where fewer factors have an effect, zeros stand for the others."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    most = max(len(part.matrix) for part in found)

    def padded(array: Floats, count: int) -> Floats:
        return np.concatenate([array[:count], np.zeros((most - count, *array.shape[1:]))])

    counted = [(found[0], 0) if part is None else (part, len(part.matrix)) for part in parts]
    fields = [[padded(array, count) for array in part] for part, count in counted]
    return Tilts(*(np.stack(arrays) for arrays in zip(*fields, strict=True)))


def memory_key(memory: dict[str, Floats]) -> bytes:
    """Return what two memories share if they agree to 12 digits: sums in another order are the same memory."""
    parts = []
    for value in memory.values():
        mantissa, exponent = np.frexp(value)
        parts += [np.rint(mantissa * _DIGITS).astype(np.int64).tobytes(), exponent.tobytes()]
    return b"|".join(parts)


def _with_average(step: RoundMap, average: Average) -> RoundMap:
    """Append the averaged iterate to the state: ``a' = a + share (model(z') - a)``."""
    groups, size, _ = step.matrix.shape
    pick, share = average.combine, average.share
    extra = len(pick)
    matrix = np.zeros((groups, size + extra, size + extra))
    matrix[:, :size, :size] = step.matrix
    matrix[:, size:, :size] = share * np.matmul(pick, step.matrix)
    matrix[:, size:, size:] = (1.0 - share) * np.eye(extra)
    extra_shift = share * step.shift @ pick.T
    if average.start is not None:
        extra_shift = extra_shift + (1.0 - share) * average.start.reshape(groups, extra)
    tilts = step.tilts
    if tilts is not None:
        wide = np.zeros((len(tilts.matrix), *matrix.shape))
        wide[..., :size, :size] = tilts.matrix
        wide[..., size:, :size] = share * np.matmul(pick, tilts.matrix)
        tilts = Tilts(
            matrix=wide,
            shift=np.concatenate([tilts.shift, share * tilts.shift @ pick.T], axis=2),
            spread_matrix=_widened(tilts.spread_matrix, extra),
            spread_shift=tilts.spread_shift,
        )
    return step._replace(
        tilts=tilts,
        matrix=matrix,
        shift=np.concatenate([step.shift, extra_shift], axis=1),
        noise=np.concatenate([step.noise, share * np.matmul(pick, step.noise)], axis=1),
        spread_matrix=_widened(step.spread_matrix, extra),
    )


def _widened(matrix: Floats, extra: int) -> Floats:
    """Append columns of zeros."""
    return np.concatenate([matrix, np.zeros((*matrix.shape[:-1], extra))], axis=-1)
