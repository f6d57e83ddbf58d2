r"""Mean and covariance of an algorithm's state, round by round, averaged over who takes part.

Who takes part in a round is independent of everything before it, so both moments of the state after the round are
means over the outcomes of that one round; histories are never listed:

.. math:: m' = \sum_o q_o\,(M_o m + b_o), \qquad
          C' = \sum_o q_o\,\bigl(M_o C M_o^\top + N_o + (m_o - m')(m_o - m')^\top\bigr), \quad m_o = M_o m + b_o,

where :math:`N_o` is the covariance of the noise. Some algorithms remember curvature (the Fisher diagonals of EFL, those
of clients that have not come yet being zero), and the maps depend on it. What is remembered then depends on who came
so far, and the state depends on that, too. So the moments are kept apart for every value that the memory can have, with
its probability: given the memory, an outcome leads to one map and one new memory, and states that arrive at the same
memory are merged. This is exact as long as the memory has few values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import Round
from fltheory.simulation.engines.affine import Prober, RoundMap
from fltheory.simulation.engines.expected import expected_curves, shares_of
from fltheory.simulation.engines.inside import InsideMoments
from fltheory.simulation.engines.stacked import Average, StackedMaps, memory_key
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.under_way import Count

OUTCOMES = 1024
"""Most outcomes of one round that are enumerated."""

PAIRS = 4096
"""Most pairs of a value of the memory and an outcome."""

_HELD = 2**25
"""Most numbers in the matrices of all maps of a round."""

_AHEAD = 256
"""Maps of later rounds that are read at once."""

Memory = dict[str, Floats]


class NotEnumerable(Exception):
    """Expectations over participation cannot be listed, for the reason given; participation has to be sampled."""


class PossibleRounds(NamedTuple):
    """The possible rounds at one index."""

    chances: Floats
    works: Sequence[Round]
    token: bytes
    """Two laws with the same token have the same outcomes, numbers and rates of the rounds aside."""


class ConditionalMoments(NamedTuple):
    """Probability of a value of the memory, and the moments of the state given it."""

    chance: float
    mean: Floats
    """``(groups, size)``"""
    covariance: Floats
    """``(groups, size, size)``"""
    memory: Memory


class Propagation:
    """Moments of one experiment; ``inside`` makes what collects those of single local steps."""

    def __init__(
        self, experiment: Experiment, prober: Prober, inside: Callable[[], InsideMoments] | None = None
    ) -> None:
        self._experiment = experiment
        self._inside = inside
        self.count = Count(experiment.rounds)
        self.prober = prober
        self._terms = Terms(experiment)
        self._stacked: dict[tuple[object, ...], StackedMaps] = {}
        self._entries = 0
        self._ahead: dict[tuple[object, ...], list[RoundMap]] = {}
        self._shares = shares_of(experiment)
        self._separable = prober.oracle.separable

    @functools.cached_property
    def _weights(self) -> Floats:
        return self.prober.model_weights()

    def enumerated(self) -> list[PossibleRounds]:
        """Return all outcomes of every round; raises if they are too many."""
        return [self.law(index) for index in range(self._experiment.rounds)]

    def law(self, index: int) -> PossibleRounds:
        """Return all outcomes of one round; raises if they are too many."""
        try:
            outcomes = self._terms.outcomes(index, limit=OUTCOMES)
        except NotApplicable:
            raise NotEnumerable(f"round {index} has more than {OUTCOMES} outcomes of participation") from None
        token = b"" if self._terms.stationary else self._experiment.participation.law_key(index)
        return PossibleRounds(np.array([chance for chance, _ in outcomes]), [work for _, work in outcomes], token)

    def sampled(self, seed: int, replicate: int) -> list[PossibleRounds]:
        """Return one sampled outcome per round."""
        block = range(replicate, replicate + 1)
        works = [self._terms.sample(index, seed=seed, replicates=block) for index in range(self._experiment.rounds)]
        return [PossibleRounds(np.ones(1), [work], _token(work)) for work in works]

    def run(self, laws: Sequence[PossibleRounds]) -> dict[str, Floats]:
        """Propagate the moments through the given rounds and return the curves."""
        experiment, oracle = self._experiment, self.prober.oracle
        assert experiment.start is not None  # Experiment fills it in
        start = oracle.enter(experiment.start)
        rounds, dim = experiment.rounds, oracle.dim
        means = np.zeros((2, rounds + 1, dim))
        spreads = np.zeros((2, rounds + 1, dim) if self._separable else (2, rounds + 1, dim, dim))
        means[:, 0] = start
        scalars = np.zeros((3, rounds + 1))
        parts: list[ConditionalMoments] | None = None
        inside = None if self._inside is None else self._inside()
        for index in range(rounds):
            parts, scalars[:, index + 1] = self._advance(laws, index, parts, start)
            merged = _merged(parts)
            self._look(merged, means, spreads, index + 1)
            if inside is not None:
                inside.take(merged.mean, merged.covariance, index + 1)
            self.count()
        scalars[1:] = np.cumsum(scalars[1:], axis=1)
        weights = [laws[0].works[0].p] + [law.works[0].p for law in laws]
        curves = expected_curves(experiment, oracle, means, spreads, weights)
        curves |= {"consensus_sq": scalars[0], "uplink_bits": scalars[1], "downlink_bits": scalars[2]}
        return curves if inside is None else curves | inside.curves(weights)

    def _advance(
        self, laws: Sequence[PossibleRounds], index: int, parts: list[ConditionalMoments] | None, start: Floats
    ) -> tuple[list[ConditionalMoments], Floats]:
        """Return the moments after a round, one entry per value of the memory, and consensus and bits of the round."""
        law = laws[index]
        scalars = np.zeros(3)
        arrived: dict[bytes, list[ConditionalMoments]] = {}
        for chance, mean, covariance, maps in self._steps(laws, index, parts, start):
            chances = chance * law.chances
            scalars += (
                chances @ maps.consensus(mean, covariance),
                chances @ maps.uplink_bits,
                chances @ maps.downlink_bits,
            )
            moved_mean, moved_covariance = maps.moved(mean, covariance)
            for which, memory in enumerate(maps.memories):
                here = maps.arrives == which
                found = _mixed(chances[here], moved_mean[here], moved_covariance[here], memory)
                arrived.setdefault(memory_key(memory), []).append(found)
        return [_merged(group) for group in arrived.values()], scalars

    def _steps(
        self, laws: Sequence[PossibleRounds], index: int, parts: list[ConditionalMoments] | None, start: Floats
    ) -> Iterator[tuple[float, Floats | None, Floats | None, StackedMaps]]:
        """Yield probability and moments of every value of the memory, with the maps of the round from there."""
        law, share = laws[index], self._shares[index]
        self._require_room(len(parts or (None,)), law, index)
        if parts is None:
            found = self.prober.first_outcomes(start, law.works)
            yield 1.0, None, None, StackedMaps.of(found, self._average_of(start, share))
            return
        for part in parts:
            yield part.chance, part.mean, part.covariance, self._maps(laws, index, part.memory)

    def _require_room(self, memories: int, law: PossibleRounds, index: int) -> None:
        pairs = memories * len(law.works)
        if memories > 1 and pairs > PAIRS:
            raise NotEnumerable(
                f"what {self.prober.algorithm.title} remembers of the clients has {memories} possible values before "
                f"round {index}, and with {len(law.works)} outcomes each that is more than {PAIRS}"
            )
        size = self.prober.layout.total * (1 if self._separable else self.prober.oracle.dim)
        groups = self.prober.oracle.dim if self._separable else 1
        if pairs > 1 and pairs * self.prober.matrices_per_map * groups * size**2 > _HELD:
            raise NotEnumerable(
                f"the maps of the {pairs} possible courses of round {index} have more than {_HELD} entries"
            )

    def _maps(self, laws: Sequence[PossibleRounds], index: int, memory: Memory) -> StackedMaps:
        """Return the maps of all outcomes of a round; those not met before are probed together."""
        key = self._law_key(laws[index], index, memory)
        if key not in self._stacked:
            if self._entries * self.prober.matrices_per_map > _HELD:
                self._stacked.clear()
                self._entries = 0
            if key not in self._ahead:
                wanted = {key: laws[index].works}
                if self.prober.foresees:
                    wanted = self._foreseen(laws, index)
                together = [work for works in wanted.values() for work in works]
                found = iter(self.prober.later_outcomes(memory, together))
                self._ahead = {name: [next(found) for _ in works] for name, works in wanted.items()}
            self._stacked[key] = StackedMaps.of(self._ahead.pop(key), self._average_of(None, self._shares[index]))
            self._entries += self._stacked[key].matrix.size
        return self._stacked[key]

    def _law_key(self, law: PossibleRounds, index: int, memory: Memory) -> tuple[object, ...]:
        number = -1 if self.prober.algorithm.autonomous else index
        return (law.token, law.works[0].rates, self._shares[index], number, memory_key(memory))

    def _foreseen(self, laws: Sequence[PossibleRounds], index: int) -> dict[tuple[object, ...], Sequence[Round]]:
        """Return the rounds to read now: those of an index, and such as follow with the same weights."""
        wanted: dict[tuple[object, ...], Sequence[Round]] = {}
        count, first = 0, laws[index].works[0]
        for later in range(index, len(laws)):
            law = laws[later]
            key = self._law_key(law, later, {})
            if key in self._stacked or key in wanted:
                continue
            alike = all(
                np.array_equal(work.p, first.p) and np.array_equal(work.boost, first.boost) for work in law.works
            )
            if wanted and (not alike or count + len(law.works) > _AHEAD):
                break
            wanted[key] = law.works
            count += len(law.works)
        return wanted

    def _average_of(self, start: Floats | None, share: float) -> Average | None:
        if self._experiment.averaging is None:
            return None
        size = self.prober.oracle.dim
        combine = self._weights[None] if self._separable else np.kron(self._weights, np.eye(size))
        return Average(np.asarray(combine, dtype=np.float64), share, start)

    def _look(self, moments: ConditionalMoments, means: Floats, spreads: Floats, column: int) -> None:
        """Store mean and (co)variance of the model, and of the averaged iterate, after a round."""
        rows, dim = self.prober.layout.total, self.prober.oracle.dim
        if self._separable:
            c = self._weights
            means[0, column] = moments.mean[:, :rows] @ c
            spreads[0, column] = np.einsum("a,gab,b->g", c, moments.covariance[:, :rows, :rows], c)
            if self._experiment.averaging is not None:
                means[1, column] = moments.mean[:, rows]
                spreads[1, column] = moments.covariance[:, rows, rows]
            return
        size = rows * dim
        combine = np.kron(self._weights, np.eye(dim))
        means[0, column] = combine @ moments.mean[0, :size]
        spreads[0, column] = combine @ moments.covariance[0, :size, :size] @ combine.T
        if self._experiment.averaging is not None:
            means[1, column] = moments.mean[0, size:]
            spreads[1, column] = moments.covariance[0, size:, size:]


def _token(work: Round) -> bytes:
    parts = (work.steps, work.weights, work.p, work.boost, *work.draws.values())
    return b"|".join(part.tobytes() for part in parts)


def _mixed(chances: Floats, means: Floats, covariances: Floats, memory: Memory) -> ConditionalMoments:
    """Return the moments of a mixture; the probabilities need not sum to one."""
    total = float(chances.sum())
    if len(chances) == 1:
        return ConditionalMoments(total, means[0], covariances[0], memory)
    share = chances / total if total > 0 else np.full(len(chances), 1.0 / len(chances))
    mean = np.tensordot(share, means, axes=1)
    away = means - mean
    weighted = share[:, None, None] * away
    covariance = np.tensordot(share, covariances, axes=1)
    covariance += np.einsum("ogn,ogm->gnm", weighted, away)
    return ConditionalMoments(total, mean, covariance, memory)


def _merged(parts: Sequence[ConditionalMoments]) -> ConditionalMoments:
    if len(parts) == 1:
        return parts[0]
    chances, means, covariances, _ = zip(*parts, strict=True)
    return _mixed(np.array(chances), np.stack(means), np.stack(covariances), parts[0].memory)
