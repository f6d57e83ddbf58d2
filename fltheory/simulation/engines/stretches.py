r"""The maps of all rounds, in stretches: equal rounds share one map, changing rounds are read several at once.

Rounds that differ in their number and rate only are the same formulas with other numbers in them. Where coordinates
do not interact, ``R`` such rounds of dimension ``d`` are one round of dimension ``R d`` whose number and rate are
arrays, one entry per coordinate, so one run of the algorithm's code returns all of their maps. What a round finds in
the memory fields has to be foreseen: they are taken to change as they did in the last round, and the stretch ends
where that turns out wrong. If only means over the clients matter, one client with the mean of their objectives stands
for all of them. Code that branches on the number of the round, mixes coordinates or counts clients cannot be read like
this; a single round is read for comparison in the first stretch, the second, the fourth and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import FltheoryError
from fltheory.problems.oracle import Round
from fltheory.simulation.engines.affine import Prober, RoundMap
from fltheory.simulation.engines.exchangeable import Asymmetric, ExchangeableProber, SymmetricMap

_LONGEST = 4096
"""Most equal rounds in a stretch, since the moments after each of them are held in memory."""

_HELD = 2**22
"""Most entries of their covariances."""

_OWN = 2**24
"""Most means of local models and of what the clients keep for themselves."""

_ENTRIES = 2**11
"""Numbers that the clients' models of one probe may have: few enough that all probes stay in cache."""

_MOST = 64
"""Most changing rounds in a stretch."""

_FORESEEN = 1e-12
_AGREEMENT = 1e-9

Memory = dict[str, Floats]


class Stretch(NamedTuple):
    """Rounds that follow each other, and their maps."""

    first: int
    length: int
    step: Any
    """One map for all rounds; if not ``equal``, the arrays of a map with rounds as first axis."""
    equal: bool

    def maps(self) -> list[Any]:
        """Return the distinct maps: one if rounds are equal, otherwise one per round."""
        return [self.step] if self.equal else [_one_of(self.step, k) for k in range(self.length)]


def stretches(prober: Prober | ExchangeableProber, start: Floats, works: list[Round]) -> Iterator[Stretch]:
    """Yield the maps of all rounds, in order; changing rounds are read at once for exchangeable clients only."""
    autonomous = prober.algorithm.autonomous
    several = _Several(prober) if isinstance(prober, ExchangeableProber) else None
    known: dict[bytes, RoundMap | SymmetricMap] = {}
    longest = _LONGEST
    if isinstance(prober, ExchangeableProber):
        longest = min(longest, max(1, _HELD // (prober.groups * (prober.rows * prober.lines) ** 2)))
        if prober.spread:
            own = prober.groups * (len(prober.client) + 1) * prober.lines * prober.oracle.num_clients
            longest = min(longest, max(1, _OWN // own))
    step: Any = prober.first(start, works[0])
    yield Stretch(0, 1, step, True)
    index, change = 1, None
    while index < len(works):
        work, memory = works[index], step.memory
        stretch = None
        if several is not None and change is not None:
            stretch = several.read(step, change, works, index)
        if stretch is None:
            key = prober.key(work, memory)
            if key not in known:
                if not autonomous:
                    known.clear()
                known[key] = prober.later(memory, work)
            equal = 1
            if autonomous and prober.key(work, known[key].memory) == key:
                last = min(len(works), index + longest)
                while index + equal < last and (
                    _same(work, works[index + equal]) or prober.key(works[index + equal], memory) == key
                ):
                    equal += 1
            stretch = Stretch(index, equal, known[key], True)
            change = {name: value - memory[name] for name, value in stretch.step.memory.items()}
        yield stretch
        step = stretch.step
        index += stretch.length


def _same(one: Round, other: Round) -> bool:
    return one.rates == other.rates and _alike(one, other)


def _alike(one: Round, other: Round) -> bool:
    """Return whether two rounds differ in number and rate at most."""
    return one.steps is other.steps and one.weights is other.weights and one.p is other.p and one.boost is other.boost


class _Several:
    """Reads the maps of changing rounds for as long as the algorithm's code allows it."""

    def __init__(self, prober: ExchangeableProber) -> None:
        self._prober = prober
        oracle, layout = prober.oracle, prober.layout
        # Where client means are all that is asked for, the mean client does.
        self._averaged = not prober.spread
        clients = 1 if self._averaged else oracle.num_clients
        self._size = min(_ENTRIES // (clients * oracle.dim), _MOST)
        self._possible = prober.lines == 1 and all(layout.shapes[name][-1:] == (oracle.dim,) for name in layout.memory)
        self._wide: ExchangeableProber | None = None
        self._count = 0

    def read(self, before: SymmetricMap, change: Memory, works: list[Round], index: int) -> Stretch | None:
        """Return a stretch of changing rounds from ``index`` on, or ``None`` if they have to be read one at a time.

        ``before`` is the map of the round before, ``change`` what the memory fields are taken to change by in a round.
        """
        ahead = self._ahead(works, index) if self._possible else []
        if len(ahead) < 2:
            return None
        passed = np.arange(self._size)[:, None]
        foreseen = {
            name: old[..., None, :] + passed * change[name][..., None, :] for name, old in before.memory.items()
        }
        try:
            step, after = self._probed(foreseen, ahead)
        except (ArithmeticError, IndexError, TypeError, ValueError, FltheoryError, Asymmetric):
            # These formulas do not take arrays. Should something else be wrong, a single round will show it.
            self._possible = False
            return None
        count = _foreseen_rounds(foreseen, after, len(ahead))
        parts: dict[str, Any] = {name: value[:count] for name, value in step.items()}
        parts["memory"] = {name: value[..., count - 1, :] for name, value in after.items()}
        maps = before._replace(**parts)
        self._count += 1
        self._possible = count > 1
        if self._possible and self._count & (self._count - 1) == 0:
            found = {name: value[..., count - 1, :] for name, value in foreseen.items()}
            self._possible = _agree(self._prober.later(found, ahead[count - 1]), _one_of(maps, count - 1))
        return Stretch(index, count, maps, False) if self._possible else None

    def _ahead(self, works: list[Round], index: int) -> list[Round]:
        """Return the next rounds that differ in number and rate, each from the one before it."""
        every = not self._prober.algorithm.autonomous
        last = index + 1
        while (
            last < min(len(works), index + self._size)
            and _alike(works[last], works[index])
            and (every or works[last].rates != works[last - 1].rates)
        ):
            last += 1
        return works[index:last]

    def _probed(self, memory: Memory, works: Sequence[Round]) -> tuple[dict[str, Floats], Memory]:
        """Return the arrays of the maps, rounds first, and the memory after every round, ``(..., rounds, dim)``."""
        size, dim = self._size, self._prober.oracle.dim
        works = [*works, *[works[-1]] * (size - len(works))]
        terms: dict[str, Any] = {
            "index": np.repeat([work.index for work in works], dim),
            "rates": tuple(np.repeat(rates, dim) for rates in zip(*(work.rates for work in works), strict=True)),
        }
        before = memory
        if self._averaged:
            one = works[0]
            terms |= {"p": np.ones(1), "weights": one.weights.sum(axis=1, keepdims=True)}
            terms |= {"steps": one.steps[:, :1], "boost": one.boost[:1]}
            before = {name: value[:, :1] if value.ndim == 4 else value for name, value in memory.items()}
        if self._wide is None:
            self._wide = self._prober.repeated(size, averaged=self._averaged)
        joined = {name: value.reshape(*value.shape[:-2], -1) for name, value in before.items()}
        wide = self._wide.later(joined, replace(works[0], **terms))
        after = {
            name: np.broadcast_to(wide.memory[name].reshape(before[name].shape), value.shape)
            for name, value in memory.items()
        }
        return {name: value.reshape(size, dim, *value.shape[1:]) for name, value in _arrays(wide)}, after


def _arrays(step: SymmetricMap) -> list[tuple[str, Floats]]:
    return [(name, value) for name, value in step._asdict().items() if isinstance(value, np.ndarray)]


def _one_of(step: SymmetricMap, index: int) -> SymmetricMap:
    """Return one of several maps; its memory is that after the last of them."""
    return step._replace(**{name: value[index] for name, value in _arrays(step)})


def _foreseen_rounds(foreseen: Memory, after: Memory, most: int) -> int:
    """Return how many rounds, of shape ``(..., rounds, dim)``, found the memory that the round before had left."""
    right = np.ones(most, dtype=bool)
    for name, value in after.items():
        error = np.abs(value[..., : most - 1, :] - foreseen[name][..., 1:most, :])
        others = (*range(error.ndim - 2), error.ndim - 1)
        right[1:] &= error.max(axis=others) <= _FORESEEN * np.abs(foreseen[name]).max()
    return most if right.all() else int(np.argmin(right))


def _agree(one: SymmetricMap, other: SymmetricMap) -> bool:
    pairs = [(value, getattr(other, name)) for name, value in _arrays(one)]
    pairs += [(value, other.memory[name]) for name, value in one.memory.items()]
    return (one.uplink_bits, one.downlink_bits) == (other.uplink_bits, other.downlink_bits) and all(
        np.abs(x - y).max(initial=0.0) <= _AGREEMENT * np.abs(x).max(initial=0.0) for x, y in pairs
    )
