r"""Moments of exchangeable clients, round by round or many rounds at once.

While the map of a round stays the same, the moments after 1, 2, 4, ... rounds follow from the maps of as many
rounds, so that a stretch of :math:`T` equal rounds takes :math:`\log_2 T` array operations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats
from fltheory.problems.oracle import Round
from fltheory.simulation.engines.exchangeable import ExchangeableProber, SymmetricMap
from fltheory.simulation.engines.expected import expected_curves, shares_of
from fltheory.simulation.engines.stretches import Stretch, stretches
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.under_way import Count


class _Moments(NamedTuple):
    """Means ``(..., groups, rows, columns)`` and covariances ``(..., groups, rows, rows)`` of one part of the state."""

    mean: Floats
    covariance: Floats


class _Step(NamedTuple):
    """An affine map of one part of the state, with the covariance of its noise."""

    matrix: Floats
    shift: Floats
    noise: Floats

    def of(self, moments: _Moments) -> _Moments:
        mean = np.matmul(self.matrix, moments.mean) + self.shift
        carried = np.matmul(self.matrix, moments.covariance)
        return _Moments(mean, np.matmul(carried, self.matrix.swapaxes(-1, -2)) + self.noise)

    def live(self, start: _Moments) -> NDArray[np.bool_]:
        """Return which rows are ever other than zero if this step is repeated from given moments on."""
        found = np.zeros(start.mean.shape[1], dtype=bool)
        for part in (*self, *start):
            found |= np.any(part != 0.0, axis=(0, 2))
        return found

    def among(self, rows: NDArray[np.bool_]) -> _Step:
        """Return the step of some rows that no other row has a part in."""
        return _Step(self.matrix[:, rows][:, :, rows], self.shift[:, rows], self.noise[:, rows][:, :, rows])

    def twice(self) -> _Step:
        after = self.of(_Moments(self.shift, self.noise))
        return _Step(np.matmul(self.matrix, self.matrix), after.mean, after.covariance)


def symmetric_curves(experiment: Experiment, prober: ExchangeableProber, works: list[Round]) -> dict[str, Floats]:
    """Propagate the moments of exchangeable clients and return the curves."""
    oracle, rounds = prober.oracle, experiment.rounds
    start = oracle.enter(np.asarray(experiment.start))
    weights = prober.model_weights()
    shares = shares_of(experiment)
    groups, lines = prober.groups, prober.lines
    inner = (oracle.dim,) if lines == 1 else (lines, lines)
    means, spreads = np.zeros((2, rounds + 1, oracle.dim)), np.zeros((2, rounds + 1, *inner))
    means[:, 0] = start
    scalars = np.zeros((3, rounds + 1))
    clients = oracle.num_clients
    rows, fields = prober.rows * lines, len(prober.client) * lines if prober.spread else 0
    average = _Average(start, np.zeros((groups, lines, lines)), np.zeros((groups, rows, lines)))
    common = _Moments(np.zeros((groups, rows, 1)), np.zeros((groups, rows, rows)))
    apart = _Moments(np.zeros((groups, fields, clients)), np.zeros((groups, fields, fields)))
    combine = np.asarray(np.kron(weights, np.eye(lines)), dtype=np.float64)
    count_rounds = Count(rounds)
    for stretch in stretches(prober, start, works):
        count_rounds(stretch.length)
        index, count, step = stretch.first, stretch.length, stretch.step
        columns = slice(index + 1, index + 1 + count)
        common_step = _Step(step.common, step.common_shift[..., None], _squared(step.common_noise))
        after = _orbit(common_step, common, stretch)
        if prober.spread:
            aparts = _orbit(_Step(step.apart, step.apart_shift, _squared(step.apart_noise)), apart, stretch)
            before = _Moments(*(np.concatenate([old[None], new[:-1]]) for old, new in zip(apart, aparts, strict=True)))
            scalars[0, columns] = _consensus(step, before, clients)
            apart = _Moments(aparts.mean[-1], aparts.covariance[-1])
        scalars[1, columns], scalars[2, columns] = step.uplink_bits, step.downlink_bits
        # A product with a vector takes less time than one with a matrix of a single row.
        toward = (after.covariance @ weights)[..., None] if lines == 1 else after.covariance @ combine.T
        means[0, columns] = (after.mean[..., 0] @ combine.T).reshape(count, -1)
        spreads[0, columns] = toward[..., 0] @ weights if lines == 1 else (combine @ toward)[:, 0]
        if experiment.averaging is not None:
            matrices = np.broadcast_to(common_step.matrix, after.covariance.shape)
            for k in range(count):
                average = average.after(matrices[k], means[0, index + 1 + k], toward[k], combine, shares[index + k])
                means[1, index + 1 + k], spreads[1, index + 1 + k] = average.mean, average.covariance.reshape(inner)
        common = _Moments(after.mean[-1], after.covariance[-1])
    scalars[1:] = np.cumsum(scalars[1:], axis=1)
    curves = expected_curves(experiment, oracle, means, spreads, [works[0].p] + [work.p for work in works])
    return curves | {"consensus_sq": scalars[0], "uplink_bits": scalars[1], "downlink_bits": scalars[2]}


def _squared(noise: Floats) -> Floats:
    return np.asarray(np.matmul(noise, noise.swapaxes(-1, -2)))


def _orbit(step: _Step, start: _Moments, stretch: Stretch) -> _Moments:
    """Return the moments after every round of a stretch, stacked along a new first axis."""
    count = stretch.length
    means, covariances = (np.empty((count, *part.shape)) for part in start)
    if not stretch.equal:
        for k, parts in enumerate(zip(*step, strict=True)):
            means[k], covariances[k] = start = _Step(*parts).of(start)
        return _Moments(means, covariances)
    live = step.live(start) if len(start.mean) == 1 else np.ones(start.mean.shape[1], dtype=bool)
    if not live.all():
        # Where all coordinates interact the matrices are large, and rows that stay zero are worth leaving out.
        means[:], covariances[:] = 0.0, 0.0
        few = _Moments(start.mean[:, live], start.covariance[:, live][:, :, live])
        moved = _orbit(step.among(live), few, stretch)
        means[:, :, live] = moved.mean
        covariances[:, :, np.outer(live, live)] = moved.covariance.reshape(count, 1, -1)
        return _Moments(means, covariances)
    means[0], covariances[0] = step.of(start)
    done = 1
    while done < count:
        more = min(done, count - done)
        span = slice(done, done + more)
        means[span], covariances[span] = step.of(_Moments(means[:more], covariances[:more]))
        step = step.twice()
        done += more
    return _Moments(means, covariances)


def _consensus(step: SymmetricMap, apart: _Moments, clients: int) -> Floats:
    """Return the expected spread of the local models, for every state before a round."""
    mean = np.matmul(step.spread, apart.mean) + step.spread_shift
    carried = np.matmul(step.spread, apart.covariance) * step.spread  # the trace of what the spread makes of it
    unit = carried.sum(axis=(1, 2, 3)) + np.sum(step.spread_noise**2, axis=(-3, -2, -1))
    return np.asarray((mean**2).sum(axis=(1, 2, 3)) / clients + (1.0 - 1.0 / clients) * unit)


class _Average(NamedTuple):
    """Mean and covariance of the averaged iterate, and the covariance of the common rows with it."""

    mean: Floats
    covariance: Floats
    """``(groups, lines, lines)``"""
    crossed: Floats
    """``(groups, rows, lines)``"""

    def after(self, matrix: Floats, model: Floats, toward: Floats, combine: Floats, share: float) -> _Average:
        """Return ``a' = (1 - share) a + share w'`` for a new model with the given mean.

        ``toward`` is the covariance of the new rows with the new model.
        """
        crossed = np.matmul(matrix, self.crossed)
        keep = 1.0 - share
        both = np.matmul(combine, crossed)
        return _Average(
            mean=keep * self.mean + share * model,
            covariance=keep**2 * self.covariance
            + share * keep * (both + both.swapaxes(1, 2))
            + share**2 * np.matmul(combine, toward),
            crossed=share * toward + keep * crossed,
        )
