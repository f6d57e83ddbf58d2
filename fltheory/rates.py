r"""Learning rates as functions of the rounds since the last restart.

A restart happens when the set of clients in the objective changes (see :mod:`fltheory.participation`), so a
schedule is asked for ``at(tau)`` with ``tau`` counted from the latest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fltheory import checks
from fltheory.checks import Floats
from fltheory.errors import InvalidParameter


class Rate(Protocol):
    """A local learning rate per round."""

    def at(self, tau: int) -> float:
        """Return the rate in the ``tau``-th round since the last restart (from 0)."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    """The same rate in every round."""

    value: float

    def __post_init__(self) -> None:
        checks.real("Constant", "value", self.value, low=0, open_low=True)

    def at(self, tau: int) -> float:
        return self.value


@dataclass(frozen=True, kw_only=True, slots=True)
class Inverse:
    r""":math:`\eta_\tau = \mathrm{scale} / (\tau + \mathrm{shift})`, a staircase that is constant inside a round.

    ``shift=1`` is the experiments' :math:`\eta_0/\tau` counted from 1. The theorems'
    :math:`16E / \bigl(\mu\,\mathbb E[\sum_i p_i s_i]\,(\tau E + \gamma)\bigr)` is
    ``scale = 16 / (mu * moment)`` and ``shift = gamma / E``.
    """

    scale: float
    shift: float = 1.0

    def __post_init__(self) -> None:
        checks.real("Inverse", "scale", self.scale, low=0, open_low=True)
        checks.real("Inverse", "shift", self.shift, low=0, open_low=True)

    def at(self, tau: int) -> float:
        return self.scale / (tau + self.shift)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rates listed one by one; the last one stays in force."""

    values: Floats

    def __post_init__(self) -> None:
        values = checks.array("Table", "values", self.values, shape=(None,))
        if values.size == 0 or values.min() <= 0:
            raise InvalidParameter("Table.values must be a non-empty list of positive rates")
        object.__setattr__(self, "values", values)

    def at(self, tau: int) -> float:
        return float(self.values[min(tau, len(self.values) - 1)])


def as_rate(value: Rate | float) -> Rate:
    """Return ``value`` itself, or a constant rate for a number."""
    if isinstance(value, int | float | np.number):
        return Constant(value=checks.real("Experiment", "rate", value, low=0, open_low=True))
    if isinstance(value, type) or not callable(getattr(value, "at", None)):
        raise checks.fail("Experiment", "rate", "a positive number or a schedule of fltheory.rates", value)
    return value
