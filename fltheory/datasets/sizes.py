r"""How many samples every client gets.

=============  =====================================================================  =================================
law            samples of a client                                                    total
=============  =====================================================================  =================================
``equal``      ``size``, or an equal share of all samples (up to one)                 ``size`` per client, or all
``lognormal``  a share proportional to :math:`\mathrm{LogNormal}(0, \sigma)`          ``size`` per client, or all
``pareto``     :math:`\lfloor \mathrm{min\_size}\; U^{-2}\rfloor`, at most            random
               ``max_size``: Type I with index 0.5
=============  =====================================================================  =================================

Sources: lognormal as in the public code of Acar et al., *Federated learning based on dynamic regularization*, ICLR
2021; Pareto as in Ruan et al., *Towards flexible device participation in federated learning*, AISTATS 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory.errors import InvalidParameter

PARETO_INDEX = 0.5


@runtime_checkable
class SizeLaw(Protocol):
    """A law of the numbers of samples."""

    @property
    def name(self) -> str:
        """Name in configuration files."""
        ...

    def draw(self, rng: np.random.Generator, num_clients: int, available: int) -> Ints:
        """Return how many of the available samples every client gets, at least one each; raise if there are too few."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Equal:
    """As many for one client as for any other.

    Parameters
    ----------
    size
        Samples of a client; ``None`` shares all of them out, so that sizes differ by at most one.
    """

    name: ClassVar[str] = "equal"

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            arguments.integer("Equal", "size", self.size, low=1)

    def draw(self, rng: np.random.Generator, num_clients: int, available: int) -> Ints:
        return shares(np.ones(num_clients), _total("Equal", self.size, num_clients, available))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lognormal:
    """Shares proportional to lognormal numbers.

    Parameters
    ----------
    spread
        Standard deviation of the logarithm; 0 makes the sizes equal (up to one sample).
    size
        Mean over the clients; ``None`` shares all samples out.
    """

    name: ClassVar[str] = "lognormal"

    spread: float
    size: int | None = None

    def __post_init__(self) -> None:
        arguments.real("Lognormal", "spread", self.spread, low=0)
        if self.size is not None:
            arguments.integer("Lognormal", "size", self.size, low=1)

    def draw(self, rng: np.random.Generator, num_clients: int, available: int) -> Ints:
        total = _total("Lognormal", self.size, num_clients, available)
        return shares(rng.lognormal(0.0, self.spread, num_clients), total)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pareto:
    """Type-I Pareto numbers with index 0.5, cut off since they have no mean.

    Parameters
    ----------
    min_size, max_size
        Fewest and most samples of a client.
    """

    name: ClassVar[str] = "pareto"

    min_size: int
    max_size: int

    def __post_init__(self) -> None:
        arguments.integer("Pareto", "min_size", self.min_size, low=1)
        arguments.integer("Pareto", "max_size", self.max_size, low=self.min_size)

    def draw(self, rng: np.random.Generator, num_clients: int, available: int) -> Ints:
        drawn = pareto(rng, num_clients, self.min_size, self.max_size)
        if drawn.sum() > available:
            raise InvalidParameter(
                f"Pareto.max_size must leave enough samples for {num_clients} clients, got max_size={self.max_size} "
                f"and sizes that add up to {drawn.sum()} of {available}; lower max_size or min_size"
            )
        return drawn


def pareto(rng: np.random.Generator, num_clients: int, min_size: int, max_size: int) -> Ints:
    """Return Type-I Pareto numbers with index 0.5, rounded down and cut off."""
    # One minus a uniform on [0, 1) is never zero.
    drawn = np.floor(min_size * (1.0 - rng.random(num_clients)) ** (-1.0 / PARETO_INDEX))
    return np.asarray(np.minimum(drawn, max_size), dtype=np.int64)


def shares(raw: Floats, total: int) -> Ints:
    """Return positive integers proportional to ``raw`` that sum to ``total``.

    >>> shares(np.array([1.0, 1.0, 2.0]), 9).tolist()
    [2, 2, 5]
    """
    sizes = np.maximum(1, np.floor(raw / raw.sum() * total)).astype(np.int64)
    gaps = raw / raw.sum() * total - sizes
    while (missing := total - int(sizes.sum())) != 0:
        if missing > 0:
            chosen = int(np.argmax(gaps))
            sizes[chosen] += 1
            gaps[chosen] -= 1.0
        else:
            sizes[int(np.argmax(sizes))] -= 1
    return np.asarray(sizes, dtype=np.int64)


def _total(owner: str, size: int | None, num_clients: int, available: int) -> int:
    if size is not None and size * num_clients > available:
        raise arguments.fail(
            owner, "size", f"at most {available // num_clients} for {num_clients} clients and {available} samples", size
        )
    return available if size is None else size * num_clients
