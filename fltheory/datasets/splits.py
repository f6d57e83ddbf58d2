r"""How samples are split among clients.

======================  ==============================================================================================
split                   who gets what
======================  ==============================================================================================
``iid``                 every client a random part of all samples
``dirichlet``           class proportions of a client :math:`\sim\mathrm{Dir}(a, \dots, a)`
``classes-per-client``  every client samples of exactly so many classes
``natural``             every client the samples of one natural owner, such as a role of a play
======================  ==============================================================================================

No sample is given out twice. The laws in :mod:`fltheory.datasets.sizes` say how many each client gets.

Sources: Dirichlet as in the public code of Acar et al., *Federated learning based on dynamic regularization*, ICLR
2021, also the stretches of natural clients; classes per client as in EFL (:math:`m`, with equal sizes) and in Ruan et
al., *Towards flexible device participation in federated learning*, AISTATS 2021 (one).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Ints
from fltheory._internal.seeding import Purpose
from fltheory.datasets.sizes import Equal, SizeLaw
from fltheory.errors import InvalidParameter


@runtime_checkable
class Split(Protocol):
    """A law of who gets which samples."""

    @property
    def name(self) -> str:
        """Name in configuration files."""
        ...

    def deal(
        self, labels: ArrayLike, num_clients: int, *, owners: ArrayLike | None = None, seed: int
    ) -> tuple[Ints, ...]:
        """Return the sample numbers of every client, in ascending order and read-only.

        Parameters
        ----------
        labels
            Classes counted from 0, shape ``(samples,)``.
        num_clients
            Number of clients.
        owners
            The natural owner of every sample, shape ``(samples,)``, where there is one.
        seed
            Seed of the split.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Iid:
    """Every client gets a random part of all samples.

    Parameters
    ----------
    sizes
        How many each gets.
    """

    name: ClassVar[str] = "iid"

    sizes: SizeLaw = field(default_factory=Equal)

    def deal(
        self, labels: ArrayLike, num_clients: int, *, owners: ArrayLike | None = None, seed: int
    ) -> tuple[Ints, ...]:
        given = _labels("Iid", labels, num_clients)
        rng = seeding.generator(seed, Purpose.INSTANCE)
        room = self.sizes.draw(rng, num_clients, len(given))
        order = rng.permutation(len(given))
        ends = np.cumsum(room)
        return _hands([order[end - size : end] for end, size in zip(ends, room, strict=True)])


@dataclass(frozen=True, kw_only=True, slots=True)
class Dirichlet:
    r"""Every client draws its classes with proportions :math:`\sim \mathrm{Dir}(a, \dots, a)`.

    Again and again a random client that is not full draws a class from its proportions and gets one unused sample of
    it. A class that is used up is drawn no more (which has the law of drawing again); a client whose classes are all
    used up takes any other.

    Parameters
    ----------
    concentration
        :math:`a`: near 0 each client has one class, for large values all have the same mixture.
    sizes
        How many samples each gets.
    """

    name: ClassVar[str] = "dirichlet"

    concentration: float
    sizes: SizeLaw = field(default_factory=Equal)

    def __post_init__(self) -> None:
        arguments.real("Dirichlet", "concentration", self.concentration, low=0, open_low=True)

    def deal(
        self, labels: ArrayLike, num_clients: int, *, owners: ArrayLike | None = None, seed: int
    ) -> tuple[Ints, ...]:
        given = _labels("Dirichlet", labels, num_clients)
        rng = seeding.generator(seed, Purpose.INSTANCE)
        room = self.sizes.draw(rng, num_clients, len(given))
        classes = int(given.max()) + 1
        mixtures = rng.dirichlet(np.full(classes, self.concentration), num_clients)
        unused = [list(rng.permutation(np.flatnonzero(given == c))) for c in range(classes)]
        left = np.array([len(stack) for stack in unused])
        held: list[list[int]] = [[] for _ in range(num_clients)]
        open_clients = list(range(num_clients))
        for _ in range(int(room.sum())):
            place = int(rng.integers(len(open_clients)))
            client = open_clients[place]
            mixture = np.where(left > 0, mixtures[client], 0.0)
            if mixture.sum() == 0.0:
                mixture = np.where(left > 0, 1.0, 0.0)
            cumulative = np.cumsum(mixture)
            drawn = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
            held[client].append(int(unused[drawn].pop()))
            left[drawn] -= 1
            if len(held[client]) == room[client]:
                open_clients[place] = open_clients[-1]
                open_clients.pop()
        return _hands([np.array(own, dtype=np.int64) for own in held])


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassesPerClient:
    """Every client gets samples of exactly so many classes.

    Without ``sizes`` the classes are handed out so that each has the same number of clients (up to one), and all its
    samples are shared out among them equally (up to one): nothing is left over, unless there are more classes than the
    clients can hold. With ``sizes`` the clients, the largest first, take equal parts of the classes of which most is
    left.

    Parameters
    ----------
    classes
        Number of classes of a client.
    sizes
        How many samples each gets; ``None`` shares every class out.
    """

    name: ClassVar[str] = "classes-per-client"

    classes: int
    sizes: SizeLaw | None = None

    def __post_init__(self) -> None:
        arguments.integer("ClassesPerClient", "classes", self.classes, low=1)

    def deal(
        self, labels: ArrayLike, num_clients: int, *, owners: ArrayLike | None = None, seed: int
    ) -> tuple[Ints, ...]:
        given = _labels("ClassesPerClient", labels, num_clients)
        rng = seeding.generator(seed, Purpose.INSTANCE)
        present = np.unique(given)
        if self.classes > len(present):
            raise arguments.fail(
                "ClassesPerClient", "classes", f"at most the number of classes, {len(present)}", self.classes
            )
        stacks = [rng.permutation(np.flatnonzero(given == c)) for c in present]
        supply = np.array([len(stack) for stack in stacks])
        if self.sizes is None:
            counts = self._shared_out(rng, supply, num_clients)
        else:
            counts = self._sized(rng, supply, self.sizes.draw(rng, num_clients, len(given)))
        starts = np.cumsum(counts, axis=0) - counts
        return _hands(
            [
                np.concatenate([stack[at : at + count] for stack, at, count in zip(stacks, first, row, strict=True)])
                for first, row in zip(starts, counts, strict=True)
            ]
        )

    def _shared_out(self, rng: np.random.Generator, supply: Ints, num_clients: int) -> Ints:
        """Return how many samples of every class each client gets, ``(clients, classes)``."""
        held = np.zeros((num_clients, len(supply)), dtype=np.int64)
        for client in range(num_clients):
            held[client, _foremost(rng, -held.sum(axis=0), self.classes)] = 1
        holders = held.sum(axis=0)
        if np.any(holders > supply):
            scarce = int(np.argmax(holders - supply))
            raise arguments.fail(
                "ClassesPerClient",
                "classes",
                f"so few that {num_clients} clients find samples",
                self.classes,
                f"a class with {supply[scarce]} samples would have {holders[scarce]} clients",
            )
        rank = np.cumsum(held, axis=0) - held
        share, over = supply // np.maximum(holders, 1), supply % np.maximum(holders, 1)
        return np.asarray(held * (share + (rank < over)), dtype=np.int64)

    def _sized(self, rng: np.random.Generator, supply: Ints, room: Ints) -> Ints:
        """Return the same for given sizes."""
        left = supply.copy()
        counts = np.zeros((len(room), len(supply)), dtype=np.int64)
        for client in np.argsort(-room, kind="stable"):
            size = int(room[client])
            chosen = _foremost(rng, left, self.classes)
            if size < self.classes or left[chosen].min() == 0 or left[chosen].sum() < size:
                raise InvalidParameter(
                    f"ClassesPerClient.sizes must leave every client samples of {self.classes} classes, got a client "
                    f"of size {size} when {left[chosen].sum()} are left in the largest {self.classes}; ask for other "
                    "sizes, or for none to share every class out"
                )
            counts[client, chosen] = _poured(left[chosen], size)
            left -= counts[client]
        return counts


@dataclass(frozen=True, kw_only=True, slots=True)
class Natural:
    """Every client gets the samples of one natural owner, drawn at random if there are more owners than clients.

    Parameters
    ----------
    min_size
        Owners with fewer samples are left out.
    max_size
        Of an owner with more samples a random stretch of so many successive ones is taken.
    """

    name: ClassVar[str] = "natural"

    min_size: int = 1
    max_size: int | None = None

    def __post_init__(self) -> None:
        arguments.integer("Natural", "min_size", self.min_size, low=1)
        if self.max_size is not None:
            arguments.integer("Natural", "max_size", self.max_size, low=self.min_size)

    def deal(
        self, labels: ArrayLike, num_clients: int, *, owners: ArrayLike | None = None, seed: int
    ) -> tuple[Ints, ...]:
        given = _labels("Natural", labels, num_clients)
        if owners is None:
            raise InvalidParameter("Natural.owners must be given, got none; these data have no natural clients")
        whose = np.asarray(owners)
        if whose.shape != given.shape or whose.dtype.kind not in "iu":
            raise arguments.fail("Natural", "owners", f"a vector of {len(given)} integers, one per sample", owners)
        names, counts = np.unique(whose, return_counts=True)
        eligible = names[counts >= self.min_size]
        if num_clients > len(eligible):
            raise arguments.fail(
                "Natural",
                "num_clients",
                f"at most {len(eligible)}, the number of owners with {self.min_size} samples or more",
                num_clients,
            )
        rng = seeding.generator(seed, Purpose.INSTANCE)
        chosen = np.sort(rng.choice(eligible, num_clients, replace=False))
        order = np.argsort(whose, kind="stable")
        starts = np.searchsorted(whose[order], chosen, side="left")
        ends = np.searchsorted(whose[order], chosen, side="right")
        room = np.minimum(ends - starts, len(order) if self.max_size is None else self.max_size)
        starts = rng.integers(starts, ends - room, endpoint=True)
        return _hands([order[start : start + size] for start, size in zip(starts, room, strict=True)])


def _labels(owner: str, labels: ArrayLike, num_clients: int) -> Ints:
    given = np.asarray(labels)
    if given.ndim != 1 or given.dtype.kind not in "iu" or (given.size and given.min() < 0):
        raise arguments.fail(owner, "labels", "a vector of integers >= 0", labels)
    arguments.integer(owner, "num_clients", num_clients, low=1, high=len(given), remedy="give every client a sample")
    return given.astype(np.int64, copy=False)


def _hands(held: list[Ints]) -> tuple[Ints, ...]:
    hands = tuple(np.sort(own) for own in held)
    for hand in hands:
        hand.setflags(write=False)
    return hands


def _foremost(rng: np.random.Generator, values: Ints, count: int) -> Ints:
    """Return the places of the largest values, ties in random order."""
    return np.lexsort((rng.random(len(values)), -values))[:count]


def _poured(vessels: Ints, amount: int) -> Ints:
    """Return ``amount`` as equal parts (up to one), except that a part is at most its vessel.

    >>> _poured(np.array([9, 2, 9]), 11).tolist()
    [4, 2, 5]
    """
    parts = np.zeros_like(vessels)
    for rank, place in enumerate(np.argsort(vessels, kind="stable")):
        parts[place] = min(vessels[place], (amount - parts.sum()) // (len(vessels) - rank))
    return parts
