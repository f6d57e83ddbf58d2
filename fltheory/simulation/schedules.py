r"""Learning rates as functions of the rounds, or of the local steps, since the last restart.

A restart happens when the set of clients in the objective changes (see :mod:`fltheory.participation`). Most schedules
are constant inside a round: they are asked for ``at(tau)`` with ``tau`` the rounds since the latest restart. A schedule
that changes inside a round is asked for ``at_step(t)`` with :math:`t = \tau E + i`, the steps that were assigned since
then, whether or not a client completed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, cast

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter
from fltheory.problems.oracle import Rates

__all__ = [
    "Constant",
    "Inverse",
    "PerStep",
    "Rate",
    "Schedule",
    "StepRate",
    "StepTable",
    "Table",
    "as_rate",
    "rates_of",
]


class Rate(Protocol):
    """A learning rate per round."""

    def at(self, tau: int) -> float:
        """Return the rate in the ``tau``-th round since the last restart (from 0)."""
        ...


class StepRate(Protocol):
    """A learning rate per local step."""

    def at_step(self, t: int) -> float:
        """Return the rate of the ``t``-th local step that was assigned since the last restart (from 0)."""
        ...


Schedule = Rate | StepRate


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    """The same rate in every round.

    Parameters
    ----------
    value
        The rate.

    Examples
    --------
    >>> Constant(value=0.1).at(7)
    0.1
    """

    value: float

    def __post_init__(self) -> None:
        arguments.real("Constant", "value", self.value, low=0, open_low=True)

    def at(self, tau: int) -> float:
        return self.value


@dataclass(frozen=True, kw_only=True, slots=True)
class Inverse:
    r""":math:`\eta_\tau = \mathrm{scale} / (\tau + \mathrm{shift})`, a staircase that is constant inside a round.

    ``shift=1`` is the experiments' :math:`\eta_0/\tau` counted from 1. The theorems'
    :math:`16E / \bigl(\mu\,\mathbb E[\sum_i p_i s_i]\,(\tau E + \gamma)\bigr)` is
    ``scale = 16 / (mu * moment)`` and ``shift = gamma / E``.

    Parameters
    ----------
    scale, shift
        The two numbers of the formula, both positive.

    Examples
    --------
    >>> [Inverse(scale=1.0).at(tau) for tau in range(3)]
    [1.0, 0.5, 0.3333333333333333]
    """

    scale: float
    shift: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("Inverse", "scale", self.scale, low=0, open_low=True)
        arguments.real("Inverse", "shift", self.shift, low=0, open_low=True)

    def at(self, tau: int) -> float:
        return self.scale / (tau + self.shift)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rates of the rounds, listed one by one; the last one stays in force.

    Parameters
    ----------
    values
        Positive rates.

    Examples
    --------
    >>> [Table(values=[0.2, 0.1]).at(tau) for tau in range(3)]
    [0.2, 0.1, 0.1]
    """

    values: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _positive_list("Table", self.values))

    def at(self, tau: int) -> float:
        return float(self.values[min(tau, len(self.values) - 1)])


@dataclass(frozen=True, kw_only=True, slots=True)
class PerStep:
    r""":math:`\eta_t = \mathrm{scale} / (t + \mathrm{shift})` with :math:`t = \tau E + i`, decaying with every step.

    Theorems on local SGD often ask for it: Li et al., *On the convergence of FedAvg on non-IID data*, ICLR 2020, has
    ``scale = 2 / mu`` and ``shift = gamma``.

    Parameters
    ----------
    scale, shift
        The two numbers of the formula, both positive.

    Examples
    --------
    >>> [PerStep(scale=2.0, shift=4.0).at_step(t) for t in range(3)]
    [0.5, 0.4, 0.3333333333333333]
    """

    name: ClassVar[str] = "per-step"

    scale: float
    shift: float = 1.0

    def __post_init__(self) -> None:
        arguments.real("PerStep", "scale", self.scale, low=0, open_low=True)
        arguments.real("PerStep", "shift", self.shift, low=0, open_low=True)

    def at_step(self, t: int) -> float:
        return self.scale / (t + self.shift)


@dataclass(frozen=True, kw_only=True, slots=True)
class StepTable:
    """Rates of the local steps, listed one by one; the last one stays in force.

    Parameters
    ----------
    values
        Positive rates.

    Examples
    --------
    >>> [StepTable(values=[0.2, 0.1]).at_step(t) for t in range(3)]
    [0.2, 0.1, 0.1]
    """

    name: ClassVar[str] = "step-table"

    values: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _positive_list("StepTable", self.values))

    def at_step(self, t: int) -> float:
        return float(self.values[min(t, len(self.values) - 1)])


def rates_of(schedule: Schedule, tau: int, local_steps: int) -> Rates:
    """Return the rates of a round: one for all steps, or one per step.

    Parameters
    ----------
    schedule
        A schedule.
    tau
        Round, counted from 0 at the last restart.
    local_steps
        Local steps that are assigned per round.

    Returns
    -------
    tuple of float
        The rates.

    Examples
    --------
    >>> rates_of(Constant(value=0.1), 3, 2), rates_of(PerStep(scale=1.0), 0, 2)
    ((0.1,), (1.0, 0.5))
    """
    at_step = getattr(schedule, "at_step", None)  # asked for in every round, which isinstance would take too long for
    if at_step is None:
        return (cast(Rate, schedule).at(tau),)
    return tuple(at_step(tau * local_steps + i) for i in range(local_steps))


def _positive_list(owner: str, values: Floats) -> Floats:
    checked = arguments.array(owner, "values", values, shape=(None,))
    if checked.size == 0 or checked.min() <= 0:
        raise InvalidParameter(f"{owner}.values must be a non-empty list of positive rates")
    return checked


def as_rate(value: Schedule | float) -> Schedule:
    """Return a schedule as it is, or a constant one for a number.

    Parameters
    ----------
    value
        A positive number, or a schedule.

    Returns
    -------
    Rate or StepRate
        The schedule.

    Examples
    --------
    >>> as_rate(0.1)
    Constant(value=0.1)
    """
    if isinstance(value, int | float | np.number):
        return Constant(value=arguments.real("Experiment", "rate", value, low=0, open_low=True))
    if isinstance(value, type) or not any(callable(getattr(value, name, None)) for name in ("at", "at_step")):
        raise arguments.fail(
            "Experiment", "rate", "a positive number or a schedule of fltheory.simulation.schedules", value
        )
    return value
