"""What an algorithm is: a state, a start, and a round in array code.

An algorithm file defines a frozen dataclass derived from :class:`Algorithm` whose fields are its parameters,
and a ``NamedTuple`` with the arrays it carries from round to round, each of shape ``(replicates, dim)`` or
``(replicates, clients, dim)``. It sees the problem only through an :class:`~fltheory.oracle.Oracle`; noise,
data, compilation and recording are the engine's business. The same code runs on every engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fltheory.checks import Floats
from fltheory.communication import Message
from fltheory.oracle import Oracle, Round


class Outcome(NamedTuple):
    """What one round leaves behind."""

    state: Any
    local: Floats
    """Models of the clients at the end of the round, shape ``(replicates, clients, dim)``."""
    uplink: tuple[Message, ...]
    """Messages of each active client to the server."""
    downlink: tuple[Message, ...]
    """Messages of the server to each active client."""


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

    @property
    def rotation_equivariant(self) -> bool:
        """Whether rotating the problem rotates the iterates: no operation singles out coordinates."""
        return True

    @property
    def not_affine(self) -> str:
        """The part of the round that is not an affine map on quadratics; empty if there is none."""
        return ""

    @abstractmethod
    def init(self, start: Floats, oracle: Oracle, p: Floats) -> Any:
        """Return the state before round 0.

        ``start`` has shape ``(replicates, dim)``; ``p`` are the objective weights of round 0, shape ``(clients,)``.
        """

    @abstractmethod
    def round(self, state: Any, oracle: Oracle, work: Round) -> Outcome:
        """Return the state after one round, and what was sent."""

    def model(self, state: Any) -> Floats:
        """Return the model to be judged, shape ``(replicates, dim)``."""
        model: Floats = state.w
        return model

    def personal(self, state: Any) -> Floats | None:
        """Return the clients' own models, shape ``(replicates, clients, dim)``, if there are any."""
        return None


def aggregate(weights: Floats, vectors: Floats) -> Floats:
    """Return the weighted sum over clients, shape ``(replicates, dim)``."""
    total: Floats = np.matmul(np.atleast_2d(weights)[:, None, :], vectors)[:, 0]
    return total


def no_curvature(oracle: Oracle, start: Floats, kind: str) -> Floats:
    """Return a curvature that is 0, in the form in which the oracle gives those of this kind."""
    nobody = np.zeros((1, oracle.num_clients), dtype=np.bool_)
    return 0.0 * oracle.curvature(start[:, None], kind, active=nobody)


def keep_absent(active: Any, new: Floats, old: Floats) -> Floats:
    """Return ``new`` for the clients that took part and ``old`` for the others."""
    if np.all(active):
        return new
    return np.where(active.reshape(*active.shape, *(1,) * (new.ndim - 2)), new, old)
