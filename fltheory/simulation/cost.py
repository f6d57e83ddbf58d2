"""What a run will take, before it is begun: memory, and time within a factor of ten or so.

The constants behind the time are rounded, after one measurement on one core; the slopes are in
``docs/explanation/scaling.md``. They are meant to tell a minute from a day. What cannot end well is refused, with the
number to lower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from fltheory._internal import arguments, memory
from fltheory.errors import InvalidParameter
from fltheory.problems.closed_form import HasClosedForm
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record

MAX_DAYS = 30
"""Longest run that is begun."""

CURVES = 8
"""Curves of one number per round that are recorded in any case, or nearly so."""

PER_ROUND = 1e-4
"""Seconds for a round of a block of replicates, however small."""

PER_MODEL = 1e-8
"""Seconds per coordinate of a client's model and round, or of the model where rounds are drawn at once."""

PER_STEP = 5e-10
"""Seconds per coordinate of a client's model and local step."""

MOMENTS = 5
"""Copies of the moments of all rounds that expectations take while they are worked out, or nearly so."""

BLOCK = 128
"""Replicates that share a round's overhead."""

_WORTH = 0.99
_DAY = 86_400


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a run takes by estimate.

    Parameters
    ----------
    memory
        Bytes.
    seconds
        On one core.
    """

    memory: int
    seconds: float

    def in_words(self) -> str:
        """Return the estimate for a message.

        >>> Cost(memory=2_000_000, seconds=7000).in_words()
        'about 1.9 h on one core and 2 MB of memory'
        """
        for unit, size in (("days", _DAY), ("h", 3600), ("min", 60)):
            if self.seconds >= size:
                return f"about {self.seconds / size:.2g} {unit} on one core and {memory.shown(self.memory)} of memory"
        return f"about {self.seconds:.2g} s on one core and {memory.shown(self.memory)} of memory"


def estimate(experiment: Experiment, *, replicates: int, record: Record, every_step: bool, exact: bool = False) -> Cost:
    """Return what a run takes by estimate.

    Parameters
    ----------
    experiment, record
        As for :func:`fltheory.simulate`.
    replicates
        Rows of the result: 1 for expectations, unless participation has to be sampled.
    every_step
        Whether local steps are run one by one.
    exact
        Whether expectations are computed, which hold mean and (co)variance of the model after every round.

    Examples
    --------
    >>> from fltheory import Experiment, FedAvg, Participation, noisy_quadratic
    >>> experiment = Experiment(problem=noisy_quadratic(), algorithm=FedAvg(), rounds=1000, rate=0.1,
    ...                         participation=Participation(num_clients=10, local_steps=5))
    >>> estimate(experiment, replicates=64, record=Record(), every_step=True).in_words()
    'about 0.26 s on one core and 9.23 MB of memory'
    >>> estimate(experiment, replicates=1, record=Record(), every_step=False, exact=True).in_words()
    'about 0.1 s on one core and 1.75 MB of memory'
    """
    return _sizes(experiment, replicates, record, every_step=every_step, exact=exact).cost()


def require_memory(owner: str, experiment: Experiment, *, replicates: int, record: Record, exact: bool = False) -> None:
    """Raise if a run needs more memory than it may take, naming the number to lower."""
    run, most = _sizes(experiment, replicates, record, every_step=False, exact=exact), memory.allowed()
    if run.cost().memory > most:
        of = f"rounds={run.rounds} with local_steps={run.local_steps}"
        of = f"replicates={replicates} of {of}" if replicates > 1 or not exact else of
        why = f"{of} would take {memory.shown(run.cost().memory)} of memory"
        raise _refused(owner, run, lambda one: one.cost().memory, most, why, "or record less")


def require_time(
    owner: str, experiment: Experiment, *, replicates: int, record: Record, every_step: bool, exact: bool = False
) -> None:
    """Raise if a run would take more than a month, naming the number to lower."""
    run, most = _sizes(experiment, replicates, record, every_step=every_step, exact=exact), MAX_DAYS * _DAY
    if run.cost().seconds > most:
        why = f"the run takes {run.cost().in_words()}"
        raise _refused(owner, run, lambda one: one.cost().seconds, most, why, "a run may take a month")


class _Sizes(NamedTuple):
    """Everything that the estimate depends on."""

    replicates: int
    rounds: int
    local_steps: int
    clients: int
    dim: int
    record: Record
    every_step: bool
    exact: bool
    dense: bool
    """Whether expectations are followed with covariances between coordinates."""

    def cost(self) -> Cost:
        steps = self.local_steps
        per_round = CURVES + self.record.numbers(clients=self.clients, dim=self.dim, local_steps=steps)
        curves = self.replicates * (self.rounds + 1) * per_round
        # Blocks are put together at the end, so there are two copies for a moment.
        numbers = 2 * curves + 4 * self.clients * self.dim + 4 * steps
        if self.exact:
            moments = self.dim + self.dim ** (2 if self.dense else 1)
            numbers += (self.rounds + 1) * moments * (MOMENTS + 2 * (self.replicates - 1))
        blocks = self.replicates if self.exact else -(-self.replicates // BLOCK)
        models = self.replicates * self.rounds * self.dim ** (3 if self.dense else 1)
        models *= self.clients if self.every_step else 1
        per_model = PER_MODEL + (PER_STEP * steps if self.every_step else 0.0)
        return Cost(memory=8 * numbers, seconds=self.rounds * PER_ROUND * blocks + models * per_model)


def _sizes(experiment: Experiment, replicates: int, record: Record, *, every_step: bool, exact: bool) -> _Sizes:
    return _Sizes(
        replicates=replicates,
        rounds=experiment.rounds,
        local_steps=experiment.participation.local_steps,
        clients=experiment.problem.num_clients,
        dim=experiment.problem.dim,
        record=record,
        every_step=every_step,
        exact=exact,
        dense=exact and _has_covariances(experiment, record),
    )


def _has_covariances(experiment: Experiment, record: Record) -> bool:
    """Return whether the exact engine follows covariances between coordinates, not variances alone."""
    if not isinstance(experiment.problem, HasClosedForm):
        return False
    form = experiment.problem.closed_form()
    turned = form.basis is not None and not experiment.algorithm.rotation_equivariant
    return form.is_dense or turned or bool(record.moments)


def _refused(
    owner: str, run: _Sizes, needed: Callable[[_Sizes], float], most: float, why: str, more: str
) -> InvalidParameter:
    """Return the error that names the largest number that can be lowered far enough, with a value that is."""
    with_one = {
        "replicates": run._replace(replicates=1),
        "rounds": run._replace(rounds=1),
        "local_steps": run._replace(local_steps=1),
    }
    least = {name: needed(one) for name, one in with_one.items() if needed(one) < _WORTH * needed(run)}
    names = list(least)
    words = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    remedy = f"lower {words}; {more}"
    field = max(names, key=lambda name: (least[name] < most, getattr(run, name)))
    value = getattr(run, field)
    if least[field] >= most:
        others = "".join(f", and {name} as well" for name in names if name != field)
        return arguments.fail(owner, field, f"far lower{others}, since {why}", value, remedy)
    # What is estimated grows linearly with each of the numbers.
    largest = memory.round_down(1 + (most - least[field]) * (value - 1) / (needed(run) - least[field]))
    return arguments.fail(owner, field, f"at most about {largest}, since {why}", value, remedy)
