r"""One round of an algorithm as an affine map, read off the algorithm's own code.

The state is a list of *rows*, each a vector of length ``dim``: one per array of shape ``(replicates, dim)``, one
per client for an array of shape ``(replicates, clients, dim)``. A single run of the round on a batch of probes
(the zero state, each unit state, each unit of drift and noise) returns

.. math:: z' = M z + b + B\,\epsilon, \qquad \epsilon \text{ of mean } 0 \text{ and covariance } I.

Two further probes at random points check that the round really is affine. On problems with a common
eigenbasis coordinates do not interact: the map is a batch of small ones, one per coordinate, and one probe
serves all coordinates.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.communication.messages import total_bits
from fltheory.errors import FltheoryError, NotAffine
from fltheory.problems.oracle import Round
from fltheory.quadratic.closed_form import ClosedFormOracle, NoiseCall

_TOLERANCE = 1e-7
_AGREEMENT = 1e-9
_CHECKS = 2

_JOINT = 2**15
"""Numbers that the clients' models may have if several outcomes of a round are probed together."""


def _joint(works: Sequence[Round], probes: int) -> Round:
    """Return one round in which every outcome has a block of replicates, with a rate of its own if they differ."""
    steps, weights = (np.concatenate([getattr(work, name) for work in works]) for name in ("steps", "weights"))
    terms: dict[str, Any] = {"steps": np.repeat(steps, probes, axis=0), "weights": np.repeat(weights, probes, axis=0)}
    if works[0].draws:
        names = list(works[0].draws)
        drawn = {name: np.concatenate([work.draws[name] for work in works]) for name in names}
        terms["draws"] = {name: np.repeat(values, probes, axis=0) for name, values in drawn.items()}
    if _several_rates(works):
        steps_rates = zip(*(work.rates for work in works), strict=True)
        terms["rates"] = tuple(np.repeat(rates, probes)[:, None, None] for rates in steps_rates)
    return replace(works[0], **terms)


def _several_rates(works: Sequence[Round]) -> bool:
    return any(work.rates != works[0].rates for work in works)


def _tiled(array: Floats, count: int) -> Floats:
    return array if count == 1 else np.concatenate([array] * count)


class RoundMap(NamedTuple):
    """The map of one round; ``groups`` is ``dim`` if coordinates do not interact, else 1."""

    matrix: Floats
    """``M``, shape ``(groups, size, size)``."""
    shift: Floats
    """``b``, shape ``(groups, size)``."""
    noise: Floats
    """``B``, shape ``(groups, size, sources)``."""
    spread_matrix: Floats
    """The same three for the weighted deviations of local models from their mean."""
    spread_shift: Floats
    spread_noise: Floats
    memory: dict[str, Floats]
    """Values of the memory fields after the round."""
    uplink_bits: float
    downlink_bits: float
    tilts: Tilts | None = None
    """What uncorrelated factors of mean 0 and variance 1 add to matrix and shift; ``None`` if there are none."""


class Tilts(NamedTuple):
    """How noise that multiplies the state changes a map; every array starts with the factors."""

    matrix: Floats
    """``(factors, groups, size, size)``"""
    shift: Floats
    """``(factors, groups, size)``"""
    spread_matrix: Floats
    spread_shift: Floats


class Batch(NamedTuple):
    """The probes of one run, in this order: zero, unit states, unit drifts, unit sources, random mixtures."""

    points: Floats
    """States, shape ``(probes, rows, dim)``."""
    unit_states: int
    drift: Floats | None
    units: dict[NoiseCall, Floats]
    mixture: Floats
    """What the random probes are made of: coefficients of states, drifts and sources, ``(checks, entries, dim)``."""


class Layout:
    """How the arrays of a state become rows, and which of them follow a fixed schedule.

    Parameters
    ----------
    algorithm
        Names the memory fields.
    state
        An example with one replicate.
    """

    def __init__(self, algorithm: Algorithm, state: Any, dim: int) -> None:
        self.kind = type(state)
        self.dim = dim
        self.shapes = {name: np.shape(value)[1:] for name, value in state._asdict().items()}
        self.memory = [
            name for name, shape in self.shapes.items() if name in algorithm.memory or not shape or shape[-1] != dim
        ]
        self.moving = [name for name in self.shapes if name not in self.memory]
        self.rows = {name: int(np.prod(self.shapes[name][:-1], dtype=int)) for name in self.moving}
        self.total = sum(self.rows.values())

    def pack(self, state: Any) -> Floats:
        """Return the rows, shape ``(probes, rows, dim)``."""
        parts = [getattr(state, name) for name in self.moving]
        return np.concatenate([part.reshape(len(part), -1, self.dim) for part in parts], axis=1)

    def unpack(self, rows: Floats, memory: dict[str, Floats]) -> Any:
        """Return a state with the given rows and memory."""
        values, first = dict(memory), 0
        for name in self.moving:
            last = first + self.rows[name]
            values[name] = np.ascontiguousarray(rows[:, first:last]).reshape(len(rows), *self.shapes[name])
            first = last
        return self.kind(**values)

    def row_names(self) -> list[str]:
        """Return the field that each row belongs to."""
        return [name for name in self.moving for _ in range(self.rows[name])]


def _agree(one: RoundMap, other: RoundMap) -> bool:
    """Return whether two maps are the same up to rounding; noise may be written in more columns or fewer."""
    pairs = [(one.matrix, other.matrix), (one.shift, other.shift)]
    pairs += [(one.spread_matrix, other.spread_matrix), (one.spread_shift, other.spread_shift)]
    for x, y in ((one.noise, other.noise), (one.spread_noise, other.spread_noise)):
        pairs.append((np.matmul(x, x.swapaxes(1, 2)), np.matmul(y, y.swapaxes(1, 2))))
    return (one.uplink_bits, one.downlink_bits) == (other.uplink_bits, other.downlink_bits) and all(
        x.shape == y.shape and np.abs(x - y).max(initial=0.0) <= _AGREEMENT * np.abs(y).max(initial=0.0)
        for x, y in pairs
    )


class Prober:
    """Reads round maps off an algorithm; ``spread`` asks for the rows about local models too.

    The check that a round is affine is made on the first map, the second, the fourth and so on: later rounds run
    the same code, and whatever follows a schedule is compared between probes every time.
    """

    def __init__(self, algorithm: Algorithm, oracle: ClosedFormOracle, *, spread: bool) -> None:
        self.algorithm = algorithm
        self.oracle = oracle
        self._spread = spread
        self._count = 0
        self._mixed = 0
        self._mixes_rates = True
        oracle.arm(1, None, {})
        uniform = np.full(oracle.num_clients, 1.0 / oracle.num_clients)
        self.layout = Layout(algorithm, algorithm.init(np.zeros((1, oracle.dim)), oracle, uniform), oracle.dim)
        self._sources: tuple[NoiseCall, ...] = ()
        self._batches: dict[tuple[bool, tuple[NoiseCall, ...]], Batch] = {}
        self._rng = np.random.Generator(np.random.PCG64(20))

    @functools.cached_property
    def _factor(self) -> Floats:
        """Drifts client by client: a square matrix of clients, needed only where their maps are as large."""
        return self.oracle.drift_factor()

    def model_weights(self) -> Floats:
        """Return how the recorded model combines the rows, shape ``(rows,)``."""
        eye = np.repeat(np.eye(self.layout.total)[:, :, None], self.oracle.dim, axis=2)
        memory = {name: np.zeros((1, *self.layout.shapes[name])) for name in self.layout.memory}
        return np.asarray(self.algorithm.model(self.layout.unpack(eye, memory))[:, 0])

    def first(self, start: Floats, work: Round) -> RoundMap:
        """Return the map of round 0, initialisation included: the state before it is not random."""
        return self.first_outcomes(start, [work])[0]

    def first_outcomes(self, start: Floats, works: Sequence[Round]) -> list[RoundMap]:
        """Return the maps of several outcomes of round 0."""
        return self._in_portions(lambda points: self.initial(start, len(points), works[0]), works, states=False)

    def initial(self, start: Floats, probes: int, work: Round) -> Any:
        """Return the state before round 0, for a batch of probes."""
        return self.algorithm.init(np.repeat(start[None], probes, axis=0), self.oracle, work.p)

    def later(self, memory: dict[str, Floats], work: Round) -> RoundMap:
        """Return the map of a later round, given the memory before it."""
        return self._probe(lambda states: self.layout.unpack(states, memory), [work], states=True)[0]

    @property
    def foresees(self) -> bool:
        """Whether the maps of all rounds can be read at any time: nothing in them follows from earlier rounds."""
        return self.algorithm.autonomous and not self.layout.memory

    @property
    def matrices_per_map(self) -> int:
        """How many matrices of the size of the state a map has."""
        return 1

    def later_outcomes(self, memory: dict[str, Floats], works: Sequence[Round]) -> list[RoundMap]:
        """Return the maps of several outcomes of later rounds: they differ in steps, weights and rate only.

        The outcomes stand one after the other on the axis of the replicates, as in a simulation. A rate per replicate
        is something that the code of an algorithm need not be prepared for; so a single map is read for comparison
        the first time, the second, the fourth and so on, and one rate at a time from where they disagree.
        """
        return self._in_portions(lambda points: self.layout.unpack(points, memory), works, states=True)

    def _in_portions(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        """Probe so many outcomes together as stay in cache."""
        probes = 1 if not self._sources and self._count == 0 else len(self._batch(states, self._sources).points)
        together = max(1, _JOINT // (probes * self.oracle.num_clients * self.oracle.dim))
        maps: list[RoundMap] = []
        for first in range(0, len(works), together):
            maps += self._outcomes(begin, works[first : first + together], states=states)
        return maps

    def _outcomes(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        if _several_rates(works):
            return self._of_several_rates(begin, works)
        try:
            return self._probe(begin, works, states=states)
        except NotAffine:
            if len(works) == 1:
                raise
            # Each may be affine although what multiplies the state depends on who takes part.
            return [self._probe(begin, [work], states=states)[0] for work in works]

    def _of_several_rates(self, begin: Callable[[Floats], Any], works: Sequence[Round]) -> list[RoundMap]:
        if self._mixes_rates:
            try:
                found = self._probe(begin, works, states=True)
                self._mixed += 1
                compare = self._mixed & (self._mixed - 1) == 0
                if not compare or _agree(found[-1], self._probe(begin, [works[-1]], states=True)[0]):
                    return found
            except (ArithmeticError, IndexError, TypeError, ValueError, FltheoryError):
                pass  # should something else be wrong, a single round will show it
            self._mixes_rates = False
        groups = itertools.groupby(works, key=lambda work: work.rates)
        return [found for _, group in groups for found in self._outcomes(begin, list(group), states=True)]

    def key(self, work: Round, memory: dict[str, Floats]) -> bytes:
        """Return what a later round's map depends on, so that equal rounds are probed once."""
        autonomous = self.algorithm.autonomous
        parts = [
            np.array([*work.rates, -1 if autonomous else work.index]),
            work.steps,
            work.weights,
            work.p,
            work.boost,
        ]
        return b"|".join(part.tobytes() for part in (*parts, *work.draws.values(), *memory.values()))

    def _probe(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        result, response, work = self._respond(begin, works, states=states)
        batch = self._batch(states, self._sources)
        probes, count = len(batch.points), len(works)
        bits = [
            np.broadcast_to(total_bits(sent, work.active), len(response)) for sent in (result.uplink, result.downlink)
        ]
        self._count += 1
        verify = self._count & (self._count - 1) == 0
        size = self.layout.total * (1 if self.oracle.separable else self.oracle.dim)
        maps = []
        for first in range(0, count * probes, probes):
            own = response[first : first + probes]
            matrix, shift, noise = self._read(own, batch.unit_states)
            if verify:
                self._verify(own, matrix, shift, noise, batch)
            if not states:
                matrix = np.zeros((*matrix.shape[:2], size))
            maps.append(
                RoundMap(
                    matrix=matrix[:, :size],
                    shift=shift[:, :size],
                    noise=noise[:, :size],
                    spread_matrix=matrix[:, size:],
                    spread_shift=shift[:, size:],
                    spread_noise=noise[:, size:],
                    memory=self.schedule(result.state, first, first + probes),
                    uplink_bits=float(bits[0][first]),
                    downlink_bits=float(bits[1][first]),
                )
            )
        return maps

    def _respond(
        self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool
    ) -> tuple[RoundResult, Floats, Round]:
        """Run a round on all probes; return its result, the rows after it and the round that was run."""
        batch, count = self._batch(states, self._sources), len(works)
        probes = len(batch.points)
        work = works[0] if count == 1 else _joint(works, probes)
        drift = None if batch.drift is None else _tiled(batch.drift, count)
        self.oracle.arm(count * probes, drift, {source: _tiled(unit, count) for source, unit in batch.units.items()})
        self._before_round()
        result = self.algorithm.round(begin(_tiled(batch.points, count)), self.oracle, work)
        if tuple(self.oracle.sources) != self._sources:
            self._sources = tuple(self.oracle.sources)
            return self._respond(begin, works, states=states)
        response = self.layout.pack(result.state)
        if self._spread:
            uniform = np.broadcast_to(work.uniform, result.local.shape[:2])[:, :, None]
            away = result.local - np.matmul(uniform.swapaxes(1, 2), result.local)
            response = np.concatenate([response, np.sqrt(uniform) * away], axis=1)
        return result, response, work

    def _before_round(self) -> None:
        """Do what the oracle needs besides being armed."""

    def _batch(self, states: bool, sources: tuple[NoiseCall, ...]) -> Batch:
        """Lay out the probes: zero, unit states, drifts, sources, random points."""
        if (states, sources) in self._batches:
            return self._batches[states, sources]
        rows, clients, dim = self.layout.total, self.oracle.num_clients, self.oracle.dim
        copies = 1 if self.oracle.separable else dim
        unit_states = rows * copies if states else 0
        ranks = self._factor.shape[1]
        probes = 1 + unit_states + (ranks + clients * len(sources)) * copies + _CHECKS
        points = np.zeros((probes, rows, dim))
        if states:
            self._place(points, 1, np.eye(rows))
            points[-_CHECKS:] = self._random(rows) * np.array([1.0, 30.0])[:, None, None]
        made_of = [points[-_CHECKS:]] if states else []
        first = 1 + unit_states
        drift = np.zeros((probes, clients, dim)) if ranks else None
        if drift is not None:
            first = self._place(drift, first, self._factor.T)
            made_of.append(self._random(ranks))
            drift[-_CHECKS:] = np.einsum("nk,ckd->cnd", self._factor, made_of[-1])
        units = {}
        for source in sources:
            units[source] = np.zeros((probes, clients, dim))
            first = self._place(units[source], first, np.eye(clients))
            made_of.append(self._random(clients))
            units[source][-_CHECKS:] = made_of[-1]
        mixture = np.concatenate([*made_of, np.zeros((_CHECKS, 0, dim))], axis=1)
        batch = Batch(points, unit_states, drift, units, mixture)
        return self._batches.setdefault((states, sources), batch)

    def _random(self, count: int) -> Floats:
        return self._rng.standard_normal((_CHECKS, count, self.oracle.dim))

    def _place(self, array: Floats, first: int, directions: Floats) -> int:
        """Write unit probes for every direction over clients (and coordinate); return the next free probe."""
        dim = self.oracle.dim
        if self.oracle.separable:
            last = first + len(directions)
            array[first:last] = directions[:, :, None]
            return last
        last = first + len(directions) * dim
        array[first:last] = np.einsum("kn,ij->kinj", directions, np.eye(dim)).reshape(-1, *array.shape[1:])
        return last

    def _read(self, response: Floats, unit_states: int) -> tuple[Floats, Floats, Floats]:
        """Split responses into matrix, shift and noise with the group axis first."""
        base = response[0]
        change = response[1:-_CHECKS] - base
        if self.oracle.separable:
            shift = base.T
            columns = change.transpose(2, 1, 0)
        else:
            shift = base.reshape(1, -1)
            columns = change.reshape(len(change), base.size).T[None]
        return columns[:, :, :unit_states], shift, columns[:, :, unit_states:]

    def _verify(self, response: Floats, matrix: Floats, shift: Floats, noise: Floats, batch: Batch) -> None:
        seen = response[-_CHECKS:]
        columns = np.concatenate([matrix, noise], axis=2)
        if self.oracle.separable:
            predicted = np.matmul(columns, batch.mixture.transpose(2, 1, 0)).transpose(2, 1, 0) + shift.T
        else:
            predicted = (batch.mixture.reshape(_CHECKS, -1) @ columns[0].T + shift).reshape(seen.shape)
        size = 1.0 + np.abs(seen).max(axis=(1, 2), keepdims=True) + np.abs(shift).max(initial=0.0)
        if not np.all(np.isfinite(response)):
            return  # the round overflows: its moments will, and are reported as divergence
        error = np.abs(seen - predicted) / size
        if not np.all(error <= _TOLERANCE):
            worst = np.argmax(error.max(axis=(0, 2)))
            names = self.layout.row_names() + ["local models"] * self.oracle.num_clients
            self._refuse(names[int(worst)])

    def schedule(self, state: Any, first: int = 0, last: int | None = None) -> dict[str, Floats]:
        """Return the memory fields after a round; all probes, or those in a range, must agree on them."""
        values = {}
        for name in self.layout.memory:
            value = getattr(state, name)
            if len(value) > 1:
                value = value[first:last]
            if len(value) > 1 and not np.allclose(value, value[:1], rtol=1e-9, atol=1e-12):
                self._refuse(name)
            values[name] = value[:1]
        return values

    def _refuse(self, field: str) -> None:
        reason = self.algorithm.not_affine or f"state field {field!r} does not respond affinely"
        raise NotAffine(
            f"{self.algorithm.title} has no exact moments: {reason} (seen in {field!r}); use the monte_carlo engine"
        )
