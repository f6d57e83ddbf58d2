"""What is run: a problem, an algorithm, the clients' participation, a number of rounds, a learning rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm
from fltheory.errors import InvalidParameter
from fltheory.participation import Participation
from fltheory.problems.oracle import Rates
from fltheory.problems.problem import Problem, require_problem
from fltheory.simulation.schedules import Schedule, as_rate, rates_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiment:
    """One experiment; engines turn it into :class:`~fltheory.simulation.trajectories.Trajectories`.

    Parameters
    ----------
    problem, algorithm, participation
        What is minimised, how, and by whom.
    rounds
        Number of communication rounds.
    rate
        Local learning rate: a number or a schedule of :mod:`fltheory.simulation.schedules`.
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
    rate: Schedule | float
    start: Floats | None = None
    averaging: Floats | None = field(default=None)

    def __post_init__(self) -> None:
        require_parts("Experiment", self.problem, self.algorithm, self.participation)
        arguments.integer("Experiment", "rounds", self.rounds, low=1)
        object.__setattr__(self, "rate", as_rate(self.rate))
        start = self.problem.start if self.start is None else self.start
        object.__setattr__(self, "start", arguments.array("Experiment", "start", start, shape=(self.problem.dim,)))
        if self.averaging is not None:
            weights = arguments.array("Experiment", "averaging", self.averaging, shape=(self.rounds + 1,), low=0.0)
            if weights[0] <= 0:
                raise InvalidParameter("Experiment.averaging must start with a positive weight, got averaging[0]=0")
            object.__setattr__(self, "averaging", weights)

    def rate_at(self, index: int) -> float:
        """Return the local learning rate of round ``index``, counted from the latest restart (of its first step)."""
        return self.rates_at(index)[0]

    def rates_at(self, index: int) -> Rates:
        """Return the local learning rates of round ``index``: one for all steps, or one per assigned step."""
        return rates_of(
            as_rate(self.rate), index - self.participation.restart_before(index), self.participation.local_steps
        )

    def uniform_average(self) -> Floats:
        """Return equal averaging weights for all rounds."""
        return np.ones(self.rounds + 1)


def require_parts(owner: str, problem: Any, algorithm: Any, participation: Any) -> None:
    """Refuse what is no problem, algorithm or participation, and numbers of clients that differ."""
    require_problem(owner, problem)
    arguments.has(owner, "algorithm", algorithm, ("init", "round"), "an algorithm, such as fl.FedAvg()")
    if not isinstance(participation, Participation):
        example = f"fl.Participation(num_clients={problem.num_clients}, local_steps=5)"
        raise arguments.fail(owner, "participation", f"a participation, such as {example}", participation)
    if participation.num_clients != problem.num_clients:
        raise InvalidParameter(
            f"{owner}.participation must be for {problem.num_clients} clients like the problem, "
            f"got num_clients={participation.num_clients}"
        )


def require_experiment(owner: str, experiment: Any) -> None:
    """Refuse what is no experiment."""
    arguments.of_type(owner, "experiment", experiment, Experiment, "an fl.Experiment")


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
