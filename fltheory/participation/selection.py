r"""Who is asked to work in a round, and the aggregation weight of each who is.

A selection draws a multiplicity :math:`m_i` per client (0 = not asked) among the *members*, the clients in the
objective, and turns it into an aggregation weight :math:`\omega_i`:

=======================  ==========================================  ================================================
selection                law                                         :math:`\omega_i` of a selected client
=======================  ==========================================  ================================================
``everyone``             all members                                 :math:`p_i`
``with-replacement``     ``size`` draws with probability             :math:`m_i/\mathrm{size}` (unbiased)
                         :math:`p_i`
``without-replacement``  uniform subset of ``size`` members          :math:`p_i\,N/\mathrm{size}` (unbiased), or
                                                                     :math:`p_i/\sum_{j\in S}p_j` if renormalised
``bernoulli``            coin flips, redrawn if all are tails        :math:`1/|S|`
``by-size``              ``size`` draws without replacement, each    :math:`p_i/\sum_{j\in S}p_j`
                         proportional to :math:`p_i` among the rest
=======================  ==========================================  ================================================

:math:`N` counts the members and :math:`p` is the objective in force, which is proportional to the sample counts;
so ``by-size`` selects by sample count. The renormalised and the plain mean are biased unless all :math:`p_i` agree.
The unbiased weights without replacement do not sum to one: average displacements with them, never models.

Sources: Li et al., *On the convergence of FedAvg on non-IID data*, ICLR 2020 (with and without replacement);
Acar et al., *Federated learning based on dynamic regularization*, ICLR 2021, whose code redraws empty coin flips;
Efraimidis and Spirakis, *Weighted random sampling with a reservoir*, 2006 (exponential keys).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Words
from fltheory.errors import InvalidParameter

Mask = NDArray[np.bool_]


class SelectionLaw(NamedTuple):
    """All cases of a selection: probabilities ``(cases,)``, multiplicities ``(cases, clients)``."""

    probability: Floats
    multiplicity: Ints


class Independent(NamedTuple):
    """A selection written as independent coin flips, given that they are not all tails.

    ``probability`` has shape ``(clients,)``; ``normaliser`` is the probability of the condition.
    """

    probability: Floats
    normaliser: float


@runtime_checkable
class Selection(Protocol):
    """A law of multiplicities among the members, and the weights that go with them.

    ``members`` is a mask ``(clients,)``, ``p`` the objective weights in force, zero outside the members.
    """

    @property
    def name(self) -> str:
        """Name in configuration files."""
        ...

    def check(self, num_members: int) -> None:
        """Raise unless the selection is possible among this many members."""
        ...

    def asks_all(self, num_members: int) -> bool:
        """Return whether every member is surely asked, exactly once."""
        ...

    def cases(self, num_members: int) -> int:
        """Return how many cases :meth:`outcomes` has to visit at most."""
        ...

    def sample(self, p: Floats, members: Mask, keys: Words) -> Ints:
        """Return multiplicities ``(replicates, clients)``, one row per key ``(replicates,)``."""
        ...

    def outcomes(self, p: Floats, members: Mask) -> SelectionLaw:
        """Return the law of the multiplicities."""
        ...

    def weights(self, multiplicity: Ints, p: Floats, members: Mask) -> Floats:
        """Return the aggregation weights that belong to multiplicities ``(..., clients)``."""
        ...

    def inclusion(self, p: Floats, members: Mask) -> Floats | None:
        """Return each client's probability of being selected, or ``None`` if only enumeration gives it."""
        ...

    def independent(self, members: Mask) -> Independent | None:
        """Return the form by independent coin flips, or ``None`` if there is none."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Everyone:
    """All members are asked."""

    name: ClassVar[str] = "everyone"

    def check(self, num_members: int) -> None:
        """Accept any members."""

    def asks_all(self, num_members: int) -> bool:
        return True

    def cases(self, num_members: int) -> int:
        return 1

    def sample(self, p: Floats, members: Mask, keys: Words) -> Ints:
        return np.tile(members.astype(np.int64), (len(keys), 1))

    def outcomes(self, p: Floats, members: Mask) -> SelectionLaw:
        return SelectionLaw(np.ones(1), members.astype(np.int64)[None])

    def weights(self, multiplicity: Ints, p: Floats, members: Mask) -> Floats:
        return multiplicity * p

    def inclusion(self, p: Floats, members: Mask) -> Floats:
        return members.astype(np.float64)

    def independent(self, members: Mask) -> Independent:
        return Independent(members.astype(np.float64), 1.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class WithReplacement:
    """Independent draws of clients, each with probability ``p_i``.

    Parameters
    ----------
    size
        Number of draws.
    """

    name: ClassVar[str] = "with-replacement"

    size: int

    def __post_init__(self) -> None:
        arguments.integer("WithReplacement", "size", self.size, low=1)

    def check(self, num_members: int) -> None:
        """Accept any members; draws may repeat them."""

    def asks_all(self, num_members: int) -> bool:
        return False

    def cases(self, num_members: int) -> int:
        return math.comb(num_members + self.size - 1, self.size)

    def sample(self, p: Floats, members: Mask, keys: Words) -> Ints:
        cumulative = np.cumsum(p)
        # Dividing by the last sum makes it exactly 1, so that a uniform below 1 never falls off the end.
        drawn = np.searchsorted(cumulative / cumulative[-1], seeding.uniforms(keys, self.size), side="right")
        cells = drawn + len(p) * np.arange(len(keys))[:, None]
        return np.bincount(cells.ravel(), minlength=len(keys) * len(p)).reshape(len(keys), len(p)).astype(np.int64)

    def outcomes(self, p: Floats, members: Mask) -> SelectionLaw:
        urns = np.flatnonzero(members).tolist()
        multiplicity = _counts(itertools.combinations_with_replacement(urns, self.size), len(p))
        orders = np.array(
            [math.factorial(self.size) / math.prod(math.factorial(int(m)) for m in row) for row in multiplicity]
        )
        return SelectionLaw(orders * np.prod(p**multiplicity, axis=1), multiplicity)

    def weights(self, multiplicity: Ints, p: Floats, members: Mask) -> Floats:
        return multiplicity / self.size

    def inclusion(self, p: Floats, members: Mask) -> Floats:
        return np.asarray(1.0 - (1.0 - p) ** self.size, dtype=np.float64)

    def independent(self, members: Mask) -> Independent | None:
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutReplacement:
    """A uniformly random subset of ``size`` members.

    Parameters
    ----------
    size
        Number of clients selected.
    renormalise
        Divide the weights by their sum over the subset; otherwise scale them by ``N / size``.
    """

    name: ClassVar[str] = "without-replacement"

    size: int
    renormalise: bool

    def __post_init__(self) -> None:
        arguments.integer("WithoutReplacement", "size", self.size, low=1)
        arguments.boolean("WithoutReplacement", "renormalise", self.renormalise)

    def check(self, num_members: int) -> None:
        _check_size("WithoutReplacement", self.size, num_members)

    def asks_all(self, num_members: int) -> bool:
        return self.size == num_members

    def cases(self, num_members: int) -> int:
        return math.comb(num_members, self.size)

    def sample(self, p: Floats, members: Mask, keys: Words) -> Ints:
        return _smallest(np.where(members, seeding.uniforms(keys, len(p)), np.inf), self.size)

    def outcomes(self, p: Floats, members: Mask) -> SelectionLaw:
        multiplicity = _counts(itertools.combinations(np.flatnonzero(members).tolist(), self.size), len(p))
        return SelectionLaw(np.full(len(multiplicity), 1.0 / len(multiplicity)), multiplicity)

    def weights(self, multiplicity: Ints, p: Floats, members: Mask) -> Floats:
        if self.renormalise:
            return _renormalised(multiplicity, p)
        return multiplicity * p * (np.count_nonzero(members) / self.size)

    def inclusion(self, p: Floats, members: Mask) -> Floats:
        return np.asarray(members * (self.size / np.count_nonzero(members)), dtype=np.float64)

    def independent(self, members: Mask) -> Independent | None:
        return Independent(members.astype(np.float64), 1.0) if np.count_nonzero(members) == self.size else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Bernoulli:
    """One coin flip per member, all redrawn while nobody is selected; the plain mean over the selected.

    Parameters
    ----------
    probability
        Of each coin, before the redraws.
    """

    name: ClassVar[str] = "bernoulli"

    probability: float

    def __post_init__(self) -> None:
        arguments.real("Bernoulli", "probability", self.probability, low=0, high=1, open_low=True)

    def check(self, num_members: int) -> None:
        """Accept any members; draws with nobody selected are repeated."""

    def asks_all(self, num_members: int) -> bool:
        return self.probability == 1 or num_members == 1

    def cases(self, num_members: int) -> int:
        return int(2**num_members - 1)

    def sample(self, p: Floats, members: Mask, keys: Words) -> Ints:
        present = np.flatnonzero(members)
        drawn = seeding.uniforms(keys, len(p) + 1)
        # The first selected member is geometric, cut at the number of members; behind it the coins are free.
        up_to = np.array([self._nonempty(rank + 1) for rank in range(len(present))])
        first = present[np.searchsorted(up_to / up_to[-1], drawn[:, 0], side="right")][:, None]
        client = np.arange(len(p))
        selected = (client == first) | ((client > first) & (drawn[:, 1:] < self.probability))
        return np.asarray(selected & members, dtype=np.int64)

    def outcomes(self, p: Floats, members: Mask) -> SelectionLaw:
        present = np.flatnonzero(members).tolist()
        subsets = itertools.chain.from_iterable(
            itertools.combinations(present, size) for size in range(1, len(present) + 1)
        )
        multiplicity = _counts(subsets, len(p))
        size = multiplicity.sum(axis=1)
        flips = self.probability**size * (1.0 - self.probability) ** (len(present) - size)
        return SelectionLaw(flips / self._nonempty(len(present)), multiplicity)

    def weights(self, multiplicity: Ints, p: Floats, members: Mask) -> Floats:
        return np.asarray(multiplicity / multiplicity.sum(axis=-1, keepdims=True), dtype=np.float64)

    def inclusion(self, p: Floats, members: Mask) -> Floats:
        flips = self.independent(members)
        return flips.probability / flips.normaliser

    def independent(self, members: Mask) -> Independent:
        return Independent(
            members.astype(np.float64) * self.probability, self._nonempty(int(np.count_nonzero(members)))
        )

    def _nonempty(self, coins: int) -> float:
        """Return ``1 - (1 - q)^coins`` without cancellation for small ``q``."""
        return 1.0 if self.probability == 1 else -math.expm1(coins * math.log1p(-self.probability))


@dataclass(frozen=True, kw_only=True, slots=True)
class BySize:
    """Successive draws without replacement, each proportional to the sample counts of the clients left.

    Parameters
    ----------
    size
        Number of clients selected.
    """

    name: ClassVar[str] = "by-size"

    size: int

    def __post_init__(self) -> None:
        arguments.integer("BySize", "size", self.size, low=1)

    def check(self, num_members: int) -> None:
        _check_size("BySize", self.size, num_members)

    def asks_all(self, num_members: int) -> bool:
        return self.size == num_members

    def cases(self, num_members: int) -> int:
        return max(math.comb(num_members, drawn) for drawn in range(self.size + 1))

    def sample(self, p: Floats, members: Mask, keys: Words) -> Ints:
        self._check_weights(p)
        # Exponential clocks of rate p_i: the order in which they ring is the order of successive draws.
        rings = -np.log1p(-seeding.uniforms(keys, len(p))) / np.where(p > 0, p, 1.0)
        return _smallest(np.where(p > 0, rings, np.inf), self.size)

    def outcomes(self, p: Floats, members: Mask) -> SelectionLaw:
        self._check_weights(p)
        urns = [int(i) for i in np.flatnonzero(p)]
        law: dict[frozenset[int], float] = {frozenset(): 1.0}
        for _ in range(self.size):
            longer: dict[frozenset[int], float] = {}
            for drawn, probability in law.items():
                left = [i for i in urns if i not in drawn]
                total = math.fsum(p[i] for i in left)
                for i in left:
                    subset = drawn | {i}
                    longer[subset] = longer.get(subset, 0.0) + probability * float(p[i]) / total
            law = longer
        return SelectionLaw(np.array(list(law.values())), _counts((sorted(subset) for subset in law), len(p)))

    def weights(self, multiplicity: Ints, p: Floats, members: Mask) -> Floats:
        return _renormalised(multiplicity, p)

    def inclusion(self, p: Floats, members: Mask) -> Floats | None:
        return members.astype(np.float64) if np.count_nonzero(members) == self.size else None

    def independent(self, members: Mask) -> Independent | None:
        return Independent(members.astype(np.float64), 1.0) if np.count_nonzero(members) == self.size else None

    def _check_weights(self, p: Floats) -> None:
        eligible = int(np.count_nonzero(p))
        if eligible < self.size:
            raise InvalidParameter(
                f"BySize.size must be at most the number of clients with positive weight, {eligible}, "
                f"got size={self.size}; a client without samples is never drawn"
            )


def _check_size(owner: str, size: int, num_members: int) -> None:
    if size > num_members:
        raise InvalidParameter(
            f"{owner}.size must be at most the number of clients in the objective, {num_members} at the fewest, "
            f"got size={size}; select fewer clients"
        )


def _counts(draws: Iterable[Sequence[int]], num_clients: int) -> Ints:
    """Return one row of multiplicities per draw."""
    return np.array([np.bincount(drawn, minlength=num_clients) for drawn in draws], dtype=np.int64)


def _smallest(values: Floats, size: int) -> Ints:
    """Return 1 at the ``size`` smallest entries of each row and 0 elsewhere."""
    chosen = np.argpartition(values, size - 1, axis=1)[:, :size]
    multiplicity = np.zeros(values.shape, dtype=np.int64)
    np.put_along_axis(multiplicity, chosen, 1, axis=1)
    return multiplicity


def _renormalised(multiplicity: Ints, p: Floats) -> Floats:
    """Return ``p`` over the selected, divided by its sum; all zero where only weightless clients are selected."""
    selected = np.where(multiplicity > 0, p, 0.0)
    total = selected.sum(axis=-1, keepdims=True)
    return np.asarray(selected / np.where(total > 0, total, 1.0), dtype=np.float64)
