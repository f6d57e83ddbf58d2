r"""Moments of exchangeable clients, round by round or many rounds at once.

While the map of a round stays the same, the moments after 1, 2, 4, ... rounds follow from the maps of as many
rounds, so that a stretch of :math:`T` equal rounds takes :math:`\log_2 T` array operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fltheory.checks import Floats
from fltheory.engines.exchangeable import SymmetricMap, SymmetricProber
from fltheory.engines.expected import judge, shares_of
from fltheory.experiment import Experiment
from fltheory.oracle import Round

_STRETCH = 4096
"""Most rounds that are held in memory at once."""


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


class _Prepared(NamedTuple):
    step: SymmetricMap
    common: _Step
    apart: _Step


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
    for index, count, (step, common_step, apart_step) in _stretches(experiment, prober, start, works):
        columns = slice(index + 1, index + 1 + count)
        after = _orbit(common_step, common, count)
        if prober.spread:
            aparts = _orbit(apart_step, apart, count)
            before = _Moments(*(np.concatenate([old[None], new[:-1]]) for old, new in zip(apart, aparts, strict=True)))
            scalars[0, columns] = _consensus(step, before, clients)
            apart = _Moments(aparts.mean[-1], aparts.covariance[-1])
        scalars[1, columns], scalars[2, columns] = step.uplink_bits, step.downlink_bits
        toward = after.covariance @ weights
        means[0, columns] = after.mean[..., 0] @ weights
        spreads[0, columns] = toward @ weights
        if experiment.averaging is not None:
            average = average.after(common_step.matrix, means[0, index + 1], toward[0], weights, shares[index])
            means[1, index + 1], spreads[1, index + 1] = average.mean, average.variance
        common = _Moments(after.mean[-1], after.covariance[-1])
    scalars[1:] = np.cumsum(scalars[1:], axis=1)
    curves = judge(experiment, oracle, means, spreads, [works[0].p] + [work.p for work in works])
    return curves | {"consensus_sq": scalars[0], "uplink_bits": scalars[1], "downlink_bits": scalars[2]}


def _stretches(
    experiment: Experiment, prober: SymmetricProber, start: Floats, works: list[Round]
) -> Iterator[tuple[int, int, _Prepared]]:
    """Yield the first round, the number of rounds and the map of every stretch of equal rounds."""
    known: dict[bytes, _Prepared] = {}
    memory: dict[str, Floats] = {}
    index = 0
    while index < len(works):
        work = works[index]
        key = b"" if index == 0 else prober.key(work, memory)
        if key not in known:
            if not experiment.algorithm.autonomous:
                known.clear()
            known[key] = _prepared(prober.first(start, work) if index == 0 else prober.later(memory, work))
        prepared = known[key]
        memory = prepared.step.memory
        count = 1
        # The averaged iterate takes in each model by another share, so its rounds are never equal.
        if index > 0 and experiment.averaging is None and experiment.algorithm.autonomous:
            last = min(len(works), index + _STRETCH)
            while index + count < last and (
                _same(work, works[index + count]) or prober.key(works[index + count], memory) == key
            ):
                count += 1
            count = count if prober.key(work, memory) == key else 1
        yield index, count, prepared
        index += count


def _same(one: Round, other: Round) -> bool:
    return one.rate == other.rate and one.steps is other.steps and one.weights is other.weights and one.p is other.p


def _prepared(step: SymmetricMap) -> _Prepared:
    noise = np.matmul(step.common_noise, step.common_noise.swapaxes(1, 2))
    apart_noise = np.matmul(step.apart_noise, step.apart_noise.swapaxes(1, 2))
    return _Prepared(
        step,
        _Step(step.common, step.common_shift[..., None], noise),
        _Step(step.apart, step.apart_shift, apart_noise),
    )


def _orbit(step: _Step, start: _Moments, count: int) -> _Moments:
    """Return the moments after 1, 2, ..., ``count`` applications of a map, stacked along a new first axis."""
    first = step.of(start)
    if count == 1:
        return _Moments(first.mean[None], first.covariance[None])
    means, covariances = np.empty((count, *first.mean.shape)), np.empty((count, *first.covariance.shape))
    means[0], covariances[0] = first
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
    mean = np.matmul(step.spread, apart.mean) + step.spread_shift[:, None]
    carried = np.matmul(np.matmul(step.spread, apart.covariance), step.spread.swapaxes(1, 2))
    unit = carried.sum(axis=(1, 2, 3)) + np.sum(step.spread_noise**2)
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
