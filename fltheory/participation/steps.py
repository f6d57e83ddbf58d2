r"""How many of the ``E`` assigned local steps an asked client completes.

A step law gives, for every round, one distribution over :math:`\{0, \dots, E\}` per client; the counts of
different clients, and of different rounds, are independent. A client that completes no step is absent.

The shapes are only known once the law is part of a :class:`~fltheory.participation.Participation`, which calls
:meth:`StepLaw.check` when it is built: a law that could exceed the assigned steps is refused there.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory.errors import InvalidParameter


@runtime_checkable
class StepLaw(Protocol):
    """One distribution of completed steps per round and client."""

    @property
    def name(self) -> str:
        """Name in configuration files."""
        ...

    @property
    def stationary(self) -> bool:
        """Whether all rounds have the same law."""
        ...

    def check(self, num_clients: int, local_steps: int) -> None:
        """Raise unless the law fits this many clients and assigned steps."""
        ...

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        """Return the probabilities of 0, 1, ..., E steps in round ``index``, shape ``(clients, E + 1)``."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FullSteps:
    """Every asked client completes all steps."""

    name: ClassVar[str] = "full"
    stationary: ClassVar[bool] = True

    def check(self, num_clients: int, local_steps: int) -> None:
        """Accept any numbers of clients and steps."""

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        return _point_masses(np.full(num_clients, local_steps, dtype=np.int64), local_steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class StepCounts:
    """Any distribution per client.

    Parameters
    ----------
    pmf
        Probabilities of 0, 1, ..., E steps, shape ``(clients, E + 1)``; one row stands for all clients.
    """

    name: ClassVar[str] = "counts"
    stationary: ClassVar[bool] = True

    pmf: ArrayLike

    def __post_init__(self) -> None:
        rows = self.pmf if np.ndim(self.pmf) != 1 else [self.pmf]
        table = arguments.probabilities("StepCounts", "pmf", cast(ArrayLike, rows), shape=(None, None))
        object.__setattr__(self, "pmf", table)

    def check(self, num_clients: int, local_steps: int) -> None:
        rows, columns = np.shape(self.pmf)
        if rows not in (1, num_clients) or columns != local_steps + 1:
            raise InvalidParameter(
                f"StepCounts.pmf must have shape ({num_clients}, {local_steps + 1}), or one row, got shape "
                f"({rows}, {columns}); give a probability for each of 0 to {local_steps} steps"
            )

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        return np.broadcast_to(np.asarray(self.pmf), (num_clients, local_steps + 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class UniformSteps:
    """Uniform on ``{low, ..., E}``, the same for all clients.

    Parameters
    ----------
    low
        Fewest steps.
    """

    name: ClassVar[str] = "uniform"
    stationary: ClassVar[bool] = True

    low: int

    def __post_init__(self) -> None:
        arguments.integer("UniformSteps", "low", self.low, low=0)

    def check(self, num_clients: int, local_steps: int) -> None:
        arguments.integer(
            "UniformSteps", "low", self.low, high=local_steps, low=0, remedy="clients cannot exceed the assigned steps"
        )

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        row = (np.arange(local_steps + 1) >= self.low) / (local_steps + 1 - self.low)
        return np.broadcast_to(row, (num_clients, local_steps + 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class BernoulliSteps:
    """All ``E`` steps with probability ``q``, none otherwise.

    Parameters
    ----------
    probability
        ``q``: a number, or one per client, shape ``(clients,)``.
    """

    name: ClassVar[str] = "bernoulli"
    stationary: ClassVar[bool] = True

    probability: float | Floats

    def __post_init__(self) -> None:
        if np.ndim(self.probability) == 0:
            arguments.real("BernoulliSteps", "probability", self.probability, low=0, high=1)
            return
        each = arguments.array("BernoulliSteps", "probability", self.probability, shape=(None,), low=0.0)
        if each.size and each.max() > 1:
            raise InvalidParameter(
                f"BernoulliSteps.probability must be in [0, 1], got {each.max():g} at index ({int(each.argmax())},)"
            )
        object.__setattr__(self, "probability", each)

    def check(self, num_clients: int, local_steps: int) -> None:
        if np.ndim(self.probability) == 1:
            arguments.array("BernoulliSteps", "probability", self.probability, shape=(num_clients,))

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        table = np.zeros((num_clients, local_steps + 1))
        table[:, local_steps] = self.probability
        table[:, 0] = 1.0 - table[:, local_steps]
        return table


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """Recorded step counts, played back and repeated from the start when they run out.

    Parameters
    ----------
    steps
        Integers in ``0..E``, shape ``(recorded rounds, clients)``.
    """

    name: ClassVar[str] = "trace"
    stationary: ClassVar[bool] = False

    steps: ArrayLike

    def __post_init__(self) -> None:
        table = arguments.array("Trace", "steps", self.steps, shape=(None, None), low=0.0)
        if table.size == 0:
            raise InvalidParameter(f"Trace.steps must hold at least one round and client, got shape {table.shape}")
        whole = table.astype(np.int64)
        if np.any(whole != table):
            where = tuple(int(i) for i in np.argwhere(whole != table)[0])
            raise InvalidParameter(f"Trace.steps must be integers, got {table[where]:g} at index {where}")
        whole.setflags(write=False)
        object.__setattr__(self, "steps", whole)

    def check(self, num_clients: int, local_steps: int) -> None:
        table = arguments.array("Trace", "steps", self.steps, shape=(None, num_clients))
        if table.max() > local_steps:
            where = tuple(int(i) for i in np.argwhere(table > local_steps)[0])
            raise InvalidParameter(
                f"Trace.steps must be in [0, {local_steps}], got {table[where]:g} at index {where}; "
                "raise Participation.local_steps or cut the trace"
            )

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        table = np.asarray(self.steps)
        return _point_masses(table[index % len(table)], local_steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeVarying:
    """One law after another.

    Parameters
    ----------
    laws
        The laws in order.
    starts
        Round in which each takes over, increasing from 0. Every law counts its rounds from its own start.
    """

    name: ClassVar[str] = "time-varying"
    stationary: ClassVar[bool] = False

    laws: tuple[StepLaw, ...]
    starts: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("laws", "starts"):
            if not isinstance(getattr(self, name), tuple | list):
                raise arguments.fail("TimeVarying", name, "a list", getattr(self, name))
        laws, starts = tuple(self.laws), tuple(self.starts)
        for law in laws:
            if isinstance(law, type) or not isinstance(law, StepLaw):
                raise arguments.fail("TimeVarying", "laws", "step laws", law, "use the classes of participation.steps")
        for start in starts:
            arguments.integer("TimeVarying", "starts", start, low=0)
        rising = all(a < b for a, b in itertools.pairwise(starts))
        if not starts or starts[0] != 0 or not rising or len(starts) != len(laws):
            raise arguments.fail("TimeVarying", "starts", f"{len(laws)} rounds, increasing from 0", starts)
        object.__setattr__(self, "laws", laws)
        object.__setattr__(self, "starts", starts)

    def check(self, num_clients: int, local_steps: int) -> None:
        for law in self.laws:
            law.check(num_clients, local_steps)

    def probabilities(self, index: int, *, num_clients: int, local_steps: int) -> Floats:
        phase = int(np.searchsorted(self.starts, index, side="right")) - 1
        return self.laws[phase].probabilities(
            index - self.starts[phase], num_clients=num_clients, local_steps=local_steps
        )


def step_counts(pmf: Floats, uniforms: Floats) -> Ints:
    """Return counts by inversion: ``pmf`` is ``(clients, E + 1)``, ``uniforms`` on [0, 1) is ``(..., clients)``."""
    if np.all(pmf.max(axis=1) == 1.0):
        return np.broadcast_to(pmf.argmax(axis=1), uniforms.shape).astype(np.int64)
    # Rounding may leave the last sum below 1; from the largest possible count on it has to be exactly 1.
    largest = pmf.shape[1] - 1 - np.argmax(pmf[:, ::-1] > 0, axis=1)
    cdf = np.where(np.arange(pmf.shape[1]) >= largest[:, None], 1.0, np.cumsum(pmf, axis=1))
    counts = np.zeros(uniforms.shape, dtype=np.int64)
    for column in cdf.T[:-1]:
        counts += uniforms >= column
    return counts


def _point_masses(counts: Ints, local_steps: int) -> Floats:
    return np.asarray(np.arange(local_steps + 1) == counts[:, None], dtype=np.float64)
