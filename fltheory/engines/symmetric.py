r"""Moments of exchangeable clients, round by round or many rounds at once.

While the map of a round stays the same, the moments after 1, 2, 4, ... rounds follow from the maps of as many
rounds, so that a stretch of :math:`T` equal rounds takes :math:`\log_2 T` array operations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fltheory.checks import Floats
from fltheory.engines.exchangeable import SymmetricMap, SymmetricProber
from fltheory.engines.expected import judge, shares_of
from fltheory.engines.stretches import Stretch, stretches
from fltheory.experiment import Experiment
from fltheory.oracle import Round


class _Moments(NamedTuple):
    """Means ``(..., dim, rows, columns)`` and covariances ``(..., dim, rows, rows)`` of one part of the state."""

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

    def twice(self) -> _Step:
        after = self.of(_Moments(self.shift, self.noise))
        return _Step(np.matmul(self.matrix, self.matrix), after.mean, after.covariance)


def symmetric_curves(experiment: Experiment, prober: SymmetricProber, works: list[Round]) -> dict[str, Floats]:
    """Propagate the moments of exchangeable clients and return the curves."""
    oracle, rounds = prober.oracle, experiment.rounds
    start = oracle.enter(np.asarray(experiment.start))
    weights = prober.model_weights()
    shares = shares_of(experiment)
    means, spreads = np.zeros((2, rounds + 1, oracle.dim)), np.zeros((2, rounds + 1, oracle.dim))
    means[:, 0] = start
    scalars = np.zeros((3, rounds + 1))
    clients = oracle.num_clients
    average = _Average(start, np.zeros(oracle.dim), np.zeros((oracle.dim, prober.rows)))
    common = _Moments(np.zeros((oracle.dim, prober.rows, 1)), np.zeros((oracle.dim, prober.rows, prober.rows)))
    fields = len(prober.client) if prober.spread else 0
    apart = _Moments(np.zeros((oracle.dim, fields, clients)), np.zeros((oracle.dim, fields, fields)))
    for stretch in stretches(prober, start, works):
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
        toward = after.covariance @ weights
        means[0, columns] = after.mean[..., 0] @ weights
        spreads[0, columns] = toward @ weights
        if experiment.averaging is not None:
            matrices = np.broadcast_to(common_step.matrix, after.covariance.shape)
            for k in range(count):
                average = average.after(matrices[k], means[0, index + 1 + k], toward[k], weights, shares[index + k])
                means[1, index + 1 + k], spreads[1, index + 1 + k] = average.mean, average.variance
        common = _Moments(after.mean[-1], after.covariance[-1])
    scalars[1:] = np.cumsum(scalars[1:], axis=1)
    curves = judge(experiment, oracle, means, spreads, [works[0].p] + [work.p for work in works])
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
    mean = np.matmul(step.spread, apart.mean) + step.spread_shift[..., None, :]
    carried = np.matmul(np.matmul(step.spread, apart.covariance), step.spread.swapaxes(-1, -2))
    unit = carried.sum(axis=(1, 2, 3)) + np.sum(step.spread_noise**2, axis=(-3, -2, -1))
    return np.asarray((mean**2).sum(axis=(1, 2, 3)) / clients + (1.0 - 1.0 / clients) * unit)


class _Average(NamedTuple):
    """Mean and variance of the averaged iterate, ``(dim,)``, and its covariance with the common rows."""

    mean: Floats
    variance: Floats
    crossed: Floats

    def after(self, matrix: Floats, model: Floats, toward: Floats, weights: Floats, share: float) -> _Average:
        """Return ``a' = (1 - share) a + share w'`` for a new model with the given mean.

        ``toward`` is the covariance of the new rows with the new model.
        """
        crossed = np.matmul(matrix, self.crossed[..., None])[..., 0]
        keep = 1.0 - share
        return _Average(
            mean=keep * self.mean + share * model,
            variance=keep**2 * self.variance + 2.0 * share * keep * (crossed @ weights) + share**2 * (toward @ weights),
            crossed=share * toward + keep * crossed,
        )
