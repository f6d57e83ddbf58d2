r"""Exact moments when clients are exchangeable: the cost does not grow with their number.

If all clients have the same Hessian, noise and participation, a round treats them alike: its map commutes with
permutations of the clients. It then acts separately on the *common* part of the state (server rows and client
means, :math:`k` rows) and on every client's deviation from the mean, the part *apart* (:math:`c` rows, the same
matrix for all):

.. math:: u' = A u + a + N_u \epsilon, \qquad v_i' = D v_i + d_i + N_v \epsilon_i, \quad \textstyle\sum_i v_i = 0 .

The two are uncorrelated, and the covariance of the :math:`v_i` is one small matrix times the projection that
subtracts the mean. Linear terms and drifts of the clients may differ: they enter through :math:`d_i` only.
Where coordinates do not interact, each has its own small maps (``groups`` is ``dim``, and a row is one number);
otherwise there is one map for all (``groups`` is 1, and a row is ``lines = dim`` numbers).
The probes are the zero state, the unit states of both parts, and the noises of both parts; in the first round, the
second, the fourth and so on, random probes check that the map is affine and symmetric.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.communication.messages import total_bits
from fltheory.problems.oracle import Round
from fltheory.quadratic.closed_form import ClosedFormOracle, NoiseCall
from fltheory.simulation.engines.affine import Layout, Prober

_CHECKS = 2
_TOLERANCE = 1e-7


class Asymmetric(Exception):
    """The round does not treat clients alike; its map has to be read off client by client."""


class Parts(NamedTuple):
    """Rows of states, split into ``common``, ``(probes, k, dim)``, and ``apart``, ``(probes, c, clients, dim)``."""

    common: Floats
    apart: Floats


class SymmetricMap(NamedTuple):
    """The map of one round; every array starts with the groups, and a row of the state is ``lines`` rows here."""

    common: Floats
    common_shift: Floats
    common_noise: Floats
    apart: Floats
    apart_shift: Floats
    """``(groups, c, clients)``"""
    apart_noise: Floats
    spread: Floats
    """Deviation of a client's local model, as rows on its part apart: ``(groups, lines, c)``."""
    spread_shift: Floats
    """``(groups, lines, clients)``"""
    spread_noise: Floats
    memory: dict[str, Floats]
    uplink_bits: float
    downlink_bits: float


@dataclass(frozen=True, kw_only=True)
class _Batch:
    points: Floats
    drift: Floats | None
    units: dict[NoiseCall, Floats]
    widths: tuple[int, int, int, int]
    """Number of probes for common states, apart states, common noises and apart noises, all lines."""
    noise_scales: tuple[Floats, Floats]
    mixtures: tuple[Parts, Parts]
    """States and noises (in units of their scales) of the random probes, which are the last ones."""

    @functools.cached_property
    def without_checks(self) -> _Batch:
        """The same without the random probes."""
        kept = slice(-_CHECKS)
        units = {source: values[kept] for source, values in self.units.items()}
        return replace(
            self, points=self.points[kept], drift=None if self.drift is None else self.drift[kept], units=units
        )


def is_exchangeable(oracle: ClosedFormOracle, works: Sequence[Round]) -> bool:
    """Return whether problem and participation treat all clients alike."""

    def alike(work: Round) -> bool:
        rows = (work.steps, work.weights, work.p[None], work.boost[None])
        return all(len(row) == 1 and np.ptp(row) == 0 for row in rows)

    distinct = {(id(work.steps), id(work.weights), id(work.p), id(work.boost)): work for work in works}
    return oracle.exchangeable and all(alike(work) for work in distinct.values())


class ExchangeableProber:
    """Reads symmetric round maps off an algorithm.

    Recorded models depend on the common part only; without ``spread`` the part apart is left out (its arrays have no
    rows), and local models are not looked at. A client may stand for several, with the mean of their noises.
    """

    def __init__(self, algorithm_prober: Prober, *, spread: bool, stands_for: int = 1) -> None:
        self.spread = spread
        self._stands_for = stands_for
        self._general = algorithm_prober
        self.algorithm = algorithm_prober.algorithm
        self.oracle = algorithm_prober.oracle
        self.layout: Layout = algorithm_prober.layout
        self.lines = 1 if self.oracle.separable else self.oracle.dim
        self.groups = self.oracle.dim // self.lines
        shapes = self.layout.shapes
        clients, dim = self.oracle.num_clients, self.oracle.dim
        if any(shapes[name] not in ((dim,), (clients, dim)) for name in self.layout.moving):
            raise Asymmetric
        self.server = [name for name in self.layout.moving if len(shapes[name]) == 1]
        self.client = [name for name in self.layout.moving if len(shapes[name]) == 2]
        self._sources: tuple[NoiseCall, ...] = ()
        self._batches: dict[tuple[bool, tuple[NoiseCall, ...]], _Batch] = {}
        self._rng = np.random.Generator(np.random.PCG64(21))
        self._count = 0

    def repeated(self, times: int, *, averaged: bool) -> ExchangeableProber:
        """Return the prober of the problem with so many copies of every coordinate, or of its mean client."""
        general = Prober(self.algorithm, self.oracle.repeated(times, averaged=averaged), spread=False)
        stands_for = self.oracle.num_clients if averaged else 1
        wide = ExchangeableProber(general, spread=self.spread, stands_for=stands_for)
        wide._sources = self._sources
        return wide

    @property
    def rows(self) -> int:
        """Rows of the common part."""
        return len(self.server) + len(self.client)

    def model_weights(self) -> Floats:
        """Return how the recorded model combines the common rows."""
        states = self._join(np.repeat(np.eye(self.rows)[:, :, None], self.oracle.dim, axis=2), None)
        memory = {name: np.zeros((1, *self.layout.shapes[name])) for name in self.layout.memory}
        return np.asarray(self.algorithm.model(self.layout.unpack(states, memory))[:, 0])

    def first(self, start: Floats, work: Round) -> SymmetricMap:
        """Return the map of round 0, initialisation included."""
        return self._probe(lambda states: self._general.initial(start, len(states), work), work, states=False)

    def later(self, memory: dict[str, Floats], work: Round) -> SymmetricMap:
        """Return the map of a later round, given the memory before it."""
        return self._probe(lambda states: self.layout.unpack(states, memory), work, states=True)

    def key(self, work: Round, memory: dict[str, Floats]) -> bytes:
        """Return what a later round's map depends on."""
        return self._general.key(work, memory)

    def _probe(self, begin: Callable[[Floats], Any], work: Round, *, states: bool) -> SymmetricMap:
        checked = (self._count + 1) & self._count == 0
        batch = self._batch(states)
        if not checked:
            batch = batch.without_checks
        self.oracle.arm(len(batch.points), batch.drift, batch.units)
        result = self.algorithm.round(begin(batch.points), self.oracle, work)
        if tuple(self.oracle.sources) != self._sources:
            self._sources = tuple(self.oracle.sources)
            return self._probe(begin, work, states=states)
        parts = self._split(result.state)
        k, c, noises, _ = batch.widths
        a, b = k + c, k + c + noises
        read = slice(1, 1 + sum(batch.widths))
        common = self._columns(parts.common[read] - parts.common[0])
        memory = self._general.schedule(result.state)
        if any(np.any(value[:, 1:] != value[:, :-1]) for value in memory.values() if value.ndim > 2):
            raise Asymmetric
        local = np.zeros((len(batch.points), 0, self.oracle.dim))
        if self.spread:
            local = result.local - result.local.mean(axis=1, keepdims=True)
        # A state apart is +1 at client 0 and -1 at client 1, so client 0 shows the column of the matrix.
        single = np.concatenate([parts.apart[:, :, 0], local[:, :1]], axis=1)
        apart = self._columns(single[read] - single[0])
        rows, size = parts.apart.shape[1] * self.lines, self.rows * self.lines
        step = SymmetricMap(
            common=common[:, :, :k] if states else np.zeros((self.groups, size, size)),
            common_shift=self._columns(parts.common[:1])[:, :, 0],
            common_noise=common[:, :, a:b] * batch.noise_scales[0],
            apart=apart[:, :rows, k:a] if states else np.zeros((self.groups, rows, rows)),
            apart_shift=self._columns(parts.apart[0].swapaxes(0, 1)),
            apart_noise=apart[:, :rows, b:] * batch.noise_scales[1],
            spread=apart[:, rows:, k:a] if states else np.zeros((self.groups, apart.shape[1] - rows, rows)),
            spread_shift=self._columns(local[0][:, None]),
            spread_noise=apart[:, rows:, b:] * batch.noise_scales[1],
            memory=memory,
            uplink_bits=float(total_bits(result.uplink, work.active)[0]),
            downlink_bits=float(total_bits(result.downlink, work.active)[0]),
        )
        self._count += 1
        if checked:
            self._verify(step, batch, parts, local)
        return step

    def _verify(self, step: SymmetricMap, batch: _Batch, parts: Parts, local: Floats) -> None:
        states, noises = batch.mixtures
        if not self.spread:
            states, noises = (part._replace(apart=part.apart[:, :0]) for part in (states, noises))
        common = np.matmul(step.common, self._columns(states.common))
        common += np.matmul(step.common_noise, self._columns(noises.common)) + step.common_shift[:, :, None]
        pairs = [(common, self._columns(parts.common[-_CHECKS:]), parts.common)]
        for check in range(_CHECKS):
            # The clients take the place of the probes.
            own, drawn = (self._columns(part.apart[check].swapaxes(0, 1)) for part in (states, noises))
            apart = np.matmul(step.apart, own) + np.matmul(step.apart_noise, drawn) + step.apart_shift
            place = check - _CHECKS
            pairs.append((apart, self._columns(parts.apart[place].swapaxes(0, 1)), parts.apart))
            if self.spread:
                spread = np.matmul(step.spread, own) + np.matmul(step.spread_noise, drawn) + step.spread_shift
                pairs.append((spread, self._columns(local[place][:, None]), local))
        for predicted, seen, response in pairs:
            size = 1.0 + np.abs(seen).max(initial=0.0) + np.abs(response[0]).max(initial=0.0)
            if np.all(np.isfinite(response)) and np.abs(seen - predicted).max(initial=0.0) > _TOLERANCE * size:
                raise Asymmetric

    def _columns(self, rows: Floats) -> Floats:
        """Return rows ``(probes, rows, dim)`` as columns ``(groups, rows * lines, probes)``."""
        if self.lines == 1:
            return rows.transpose(2, 1, 0)
        return rows.reshape(1, len(rows), rows.shape[1] * self.lines).swapaxes(1, 2)

    def _units(self, count: int) -> Floats:
        """Return the unit probes of so many rows, ``(count * lines, count, dim)``."""
        eye = np.eye(count)
        if self.lines == 1:
            return np.repeat(eye[:, :, None], self.oracle.dim, axis=2)
        units = np.einsum("ki,lj->klij", eye, np.eye(self.lines))
        return np.asarray(units.reshape(count * self.lines, count, self.oracle.dim))

    def _batch(self, states: bool) -> _Batch:
        if (states, self._sources) in self._batches:
            return self._batches[states, self._sources]
        clients, dim = self.oracle.num_clients, self.oracle.dim
        pair = np.zeros((clients, 1))
        # With one client there is nothing apart; the column of zeros keeps the shapes.
        pair[:2, 0] = (1.0, -1.0) if clients > 1 else 0.0
        fields = len(self.client)
        lines = self.lines
        k, c = (self.rows * lines, fields * lines if self.spread else 0) if states else (0, 0)
        mean_variance, apart_variance = self.oracle.drift_variances()
        drifts = int(mean_variance + apart_variance > 0)
        noises = drifts + len(self._sources)
        drawn = noises * lines
        widths = (k, c, drawn, drawn if self.spread else 0)
        probes = 1 + sum(widths) + _CHECKS
        common, apart = np.zeros((probes, self.rows, dim)), np.zeros((probes, fields, clients, dim))
        if states:
            common[1 : 1 + k] = self._units(self.rows)
            if self.spread:
                apart[1 + k : 1 + k + c] = self._units(fields)[:, :, None] * pair
            common[-_CHECKS:] = self._random(self.rows)
            apart[-_CHECKS:] = self._centred(fields)
        values = np.zeros((noises, probes, clients, dim))
        mixture = Parts(self._random(noises), self._centred(noises))
        if noises:
            units = self._units(noises).swapaxes(0, 1)[:, :, None]
            values[:, 1 + k + c : 1 + k + c + drawn] = units
            if self.spread:
                values[:, 1 + k + c + drawn : 1 + k + c + 2 * drawn] = units * pair
        root = np.sqrt(clients * self._stands_for)
        scales = (
            np.array([np.sqrt(mean_variance)] * drifts + [1.0 / root] * len(self._sources)),
            np.array([np.sqrt(apart_variance)] * drifts + [1.0] * len(self._sources)),
        )
        for n in range(noises):
            values[n, -_CHECKS:] = scales[0][n] * mixture.common[:, n, None] + scales[1][n] * mixture.apart[:, n]
        batch = _Batch(
            points=self._join(common, apart),
            drift=values[0] if drifts else None,
            units=dict(zip(self._sources, values[drifts:], strict=True)),
            widths=widths,
            noise_scales=(np.repeat(scales[0], lines), np.repeat(scales[1], lines if self.spread else 0)),
            mixtures=(Parts(common[-_CHECKS:], apart[-_CHECKS:]), mixture),
        )
        return self._batches.setdefault((states, self._sources), batch)

    def _random(self, count: int) -> Floats:
        return self._rng.standard_normal((_CHECKS, count, self.oracle.dim))

    def _centred(self, count: int) -> Floats:
        x = self._rng.standard_normal((_CHECKS, count, self.oracle.num_clients, self.oracle.dim))
        return np.asarray(x - x.mean(axis=2, keepdims=True))

    def _join(self, common: Floats, apart: Floats | None) -> Floats:
        """Return the rows of states whose parts are given, in the order of the layout."""
        clients, pieces = self.oracle.num_clients, []
        for name in self.layout.moving:
            if name in self.server:
                pieces.append(common[:, [self.server.index(name)]])
                continue
            field = self.client.index(name)
            mean = np.repeat(common[:, [len(self.server) + field]], clients, axis=1)
            pieces.append(mean if apart is None else mean + apart[:, field])
        return np.concatenate(pieces, axis=1)

    def _split(self, state: Any) -> Parts:
        """Return the parts of a batch of states."""
        fields = [getattr(state, name) for name in self.client]
        means = [field.mean(axis=1, keepdims=True) for field in fields]
        common = np.concatenate([*(getattr(state, name)[:, None] for name in self.server), *means], axis=1)
        if not self.spread or not fields:
            return Parts(common, np.zeros((len(common), 0, self.oracle.num_clients, self.oracle.dim)))
        return Parts(common, np.stack([field - mean for field, mean in zip(fields, means, strict=True)], axis=1))
