"""What an algorithm is: a state, a start, and a round in array code.

An algorithm file defines a frozen dataclass derived from :class:`Algorithm` whose fields are its parameters,
and a ``NamedTuple`` with the arrays it carries from round to round, each of shape ``(replicates, dim)`` or
``(replicates, clients, dim)``. It sees the problem only through an :class:`~fltheory.problems.oracle.Oracle`; noise,
data, compilation and recording are the engine's business. The same code runs on every engine.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.communication.messages import Message
from fltheory.problems.oracle import Oracle, Round


class LocalWork(Enum):
    """What clients do with the local steps that they are assigned."""

    STEPS = "steps"
    """One step after the other on their copy of the model."""
    OWN_LOOP = "own loop"
    """Steps of a loop of the algorithm's own: there is no mean iterate of every step."""
    MEAN_GRADIENT = "mean gradient"
    """One gradient per step, all at the model of the server: a round has one learning rate and no mean iterates."""
    ONE_GRADIENT = "one gradient"
    """One gradient, however many steps there are: likewise."""

    @property
    def rates_may_change(self) -> bool:
        """Whether steps of one round may have different learning rates."""
        return self in (LocalWork.STEPS, LocalWork.OWN_LOOP)

    @property
    def has_mean_iterates(self) -> bool:
        """Whether a mean iterate can be recorded after every step."""
        return self is LocalWork.STEPS


class RoundResult(NamedTuple):
    """What one round leaves behind.

    Parameters
    ----------
    state
        The state after the round, of the type that ``init`` returns.
    local
        Models of the clients at the end of the round, shape ``(replicates, clients, dim)``.
    uplink
        Messages of each active client to the server.
    downlink
        Messages of the server to each active client.
    """

    state: Any
    local: Floats
    uplink: tuple[Message, ...]
    downlink: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance:
    """Independent draws from a finite law that an algorithm asks for in every round.

    The engines that simulate draw them, with random numbers of their own kind: they disturb neither noise nor
    participation. The exact engine goes through all outcomes.

    Parameters
    ----------
    values, probabilities
        The law of one draw.
    count
        Number of draws in a round.

    Examples
    --------
    >>> [(round(chance, 2), values) for chance, values in Chance.coin(0.2, count=2).outcomes()]
    [(0.64, (0.0, 0.0)), (0.16, (0.0, 1.0)), (0.16, (1.0, 0.0)), (0.04, (1.0, 1.0))]
    """

    values: tuple[float, ...]
    probabilities: tuple[float, ...]
    count: int = 1

    def __post_init__(self) -> None:
        size = len(self.values)
        arguments.probabilities("Chance", "probabilities", np.asarray(self.probabilities, dtype=float), shape=(size,))
        arguments.integer("Chance", "count", self.count, low=1)

    @classmethod
    def coin(cls, probability: float, *, count: int = 1) -> Chance:
        """Return coins that show 1 with the given probability, otherwise 0."""
        return cls(values=(0.0, 1.0), probabilities=(1.0 - probability, probability), count=count)

    @property
    def num_outcomes(self) -> int:
        """Number of possible results of all draws of a round."""
        return int(sum(chance > 0 for chance in self.probabilities) ** self.count)

    def outcomes(self) -> list[tuple[float, tuple[float, ...]]]:
        """Return every possible result of the draws of a round with its probability."""
        law = [pair for pair in zip(self.probabilities, self.values, strict=True) if pair[0] > 0]
        every = itertools.product(law, repeat=self.count)
        return [(math.prod(chance for chance, _ in drawn), tuple(value for _, value in drawn)) for drawn in every]

    def sample(self, uniforms: Floats) -> Floats:
        """Return draws made from numbers that are uniform on ``[0, 1)``, of the same shape."""
        reached = np.cumsum(self.probabilities)[:-1]
        return np.asarray(self.values, dtype=np.float64)[np.searchsorted(reached, uniforms, side="right")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Uniform:
    """Independent numbers, uniform on ``[0, 1)``, one per client and coordinate, that an algorithm asks for in a round.

    They have no list of outcomes, so that the exact engine refuses the algorithm.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Algorithm(ABC):
    """Base of all algorithms; concrete ones are final."""

    name: ClassVar[str]
    """Name in the catalogue and on the command line."""

    title: ClassVar[str]
    """Name in figures and tables."""

    memory: ClassVar[tuple[str, ...]] = ()
    """State fields that carry curvature; on quadratics they follow a fixed schedule, whatever the iterates."""

    autonomous: ClassVar[bool] = True
    """Whether the round map ignores the round number (all else equal)."""

    local_work: ClassVar[LocalWork] = LocalWork.STEPS
    """What clients do with their local steps."""

    @property
    def rotation_equivariant(self) -> bool:
        """Whether rotating the problem rotates the iterates: no operation singles out coordinates."""
        return True

    @property
    def not_affine(self) -> str:
        """The part of the round that is not an affine map on quadratics; empty if there is none."""
        return ""

    def chances(self, local_steps: int) -> Mapping[str, Chance | Uniform]:
        """Return the random draws of its own that a round needs, by name; :attr:`Round.draws` has their results.

        Parameters
        ----------
        local_steps
            Local steps that are assigned per round.
        """
        return {}

    @abstractmethod
    def init(self, start: Floats, oracle: Oracle, p: Floats) -> Any:
        """Return the state before round 0.

        Parameters
        ----------
        start
            The model before round 0, shape ``(replicates, dim)``.
        oracle
            Access to the clients' objectives.
        p
            Objective weights of round 0, shape ``(clients,)``.
        """

    @abstractmethod
    def round(self, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        """Return the state after one round, and what was sent.

        Parameters
        ----------
        state
            The state before the round.
        oracle
            Access to the clients' objectives.
        work
            Who takes part, with which weights, rates and numbers of steps.
        """

    def model(self, state: Any) -> Floats:
        """Return the model that is recorded and compared, shape ``(replicates, dim)``.

        Parameters
        ----------
        state
            A state.
        """
        model: Floats = state.w
        return model

    def personal(self, state: Any) -> Floats | None:
        """Return the clients' own models, shape ``(replicates, clients, dim)``, if there are any.

        Parameters
        ----------
        state
            A state.
        """
        return None


def aggregate(weights: Floats, vectors: Floats) -> Floats:
    """Return the weighted sum over clients.

    Parameters
    ----------
    weights
        Shape ``(replicates | 1, clients)``.
    vectors
        Shape ``(replicates, clients, dim)``.

    Returns
    -------
    numpy.ndarray
        The sum, shape ``(replicates, dim)``.

    Examples
    --------
    >>> aggregate(np.array([[0.25, 0.75]]), np.array([[[0.0, 4.0], [4.0, 0.0]]])).tolist()
    [[3.0, 1.0]]
    """
    total: Floats = np.matmul(np.atleast_2d(weights)[:, None, :], vectors)[:, 0]
    return total


def no_curvature(oracle: Oracle, start: Floats, kind: str) -> Floats:
    """Return a curvature that is 0, in the form in which the oracle returns those of this kind.

    Parameters
    ----------
    oracle
        Access to the clients' objectives.
    start
        The model before the first round, shape ``(replicates, dim)``.
    kind
        Kind of curvature, as for :meth:`Oracle.curvature`.

    Returns
    -------
    numpy.ndarray
        Zeros of the right shape.
    """
    nobody = np.zeros((1, oracle.num_clients), dtype=np.bool_)
    return 0.0 * oracle.curvature(start[:, None], kind, active=nobody)


def keep_absent(active: Any, new: Floats, old: Floats) -> Floats:
    """Return new values for the clients that took part, and the old ones for the others.

    Parameters
    ----------
    active
        Who took part, shape ``(replicates | 1, clients)``.
    new, old
        Values of all clients, shape ``(replicates, clients, ...)``.

    Returns
    -------
    numpy.ndarray
        The values that clients keep.

    Examples
    --------
    >>> keep_absent(np.array([[True, False]]), np.array([[[1.0], [1.0]]]), np.array([[[5.0], [5.0]]])).tolist()
    [[[1.0], [5.0]]]
    """
    if np.all(active):
        return new
    return np.where(active.reshape(*active.shape, *(1,) * (new.ndim - 2)), new, old)
