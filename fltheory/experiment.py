"""What is run: a problem, an algorithm, the clients' participation, a number of rounds, a learning rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fltheory import checks
from fltheory.algorithms._algorithm import Algorithm
from fltheory.checks import Floats
from fltheory.errors import InvalidParameter
from fltheory.participation import Participation
from fltheory.problem import Problem
from fltheory.rates import Rate, as_rate


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiment:
    """One experiment; engines turn it into :class:`~fltheory.trajectories.Trajectories`.

    Parameters
    ----------
    problem, algorithm, participation
        What is minimised, how, and by whom.
    rounds
        Number of communication rounds.
    rate
        Local learning rate: a number or a schedule of :mod:`fltheory.rates`.
    start
        Model before round 0, shape ``(dim,)``; the problem's own if ``None``.
    averaging
        Weights of the averaged iterate, shape ``(rounds + 1,)``: record also the averages
        ``sum_{s<=t} a_s w_s / sum_{s<=t} a_s``. ``None`` records none.
    """

    problem: Problem
    algorithm: Algorithm
    participation: Participation
    rounds: int
    rate: Rate | float
    start: Floats | None = None
    averaging: Floats | None = field(default=None)

    def __post_init__(self) -> None:
        checks.integer("Experiment", "rounds", self.rounds, low=1)
        object.__setattr__(self, "rate", as_rate(self.rate))
        if self.participation.num_clients != self.problem.num_clients:
            raise InvalidParameter(
                f"Experiment.participation must be for {self.problem.num_clients} clients like the problem, "
                f"got num_clients={self.participation.num_clients}"
            )
        start = self.problem.start if self.start is None else self.start
        object.__setattr__(self, "start", checks.array("Experiment", "start", start, shape=(self.problem.dim,)))
        if self.averaging is not None:
            weights = checks.array("Experiment", "averaging", self.averaging, shape=(self.rounds + 1,), low=0.0)
            if weights[0] <= 0:
                raise InvalidParameter("Experiment.averaging must start with a positive weight, got averaging[0]=0")
            object.__setattr__(self, "averaging", weights)

    def rate_at(self, index: int) -> float:
        """Return the local learning rate of round ``index``, counted from the latest restart."""
        return as_rate(self.rate).at(index - self.participation.restart_before(index))

    def uniform_average(self) -> Floats:
        """Return equal averaging weights for all rounds."""
        return np.ones(self.rounds + 1)


def describe(value: Any) -> Any:
    """Return parameters as plain values for a provenance record: dataclasses become tagged dictionaries."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        record: dict[str, Any] = {"type": type(value).__name__}
        record.update({f.name: describe(getattr(value, f.name)) for f in fields(value) if f.repr})
        return record
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 64 else {"shape": list(value.shape), "sum": float(value.sum())}
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "value") and hasattr(value, "name"):
        return value.value
    return value if isinstance(value, int | float | str | bool | type(None)) else repr(value)
