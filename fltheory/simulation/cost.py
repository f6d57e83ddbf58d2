"""What a run will take, before it is begun: memory, and time within a factor of ten or so.

The constants behind the time are rounded, after one measurement on one core; the slopes are in
``docs/explanation/scaling.md``. They are meant to tell a minute from a day. What cannot end well is refused, with the
number to lower.
"""

from __future__ import annotations

from dataclasses import dataclass

from fltheory._internal import arguments, memory
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

BLOCK = 128
"""Replicates that share a round's overhead."""

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


def estimate(experiment: Experiment, *, replicates: int, record: Record, every_step: bool) -> Cost:
    """Return what a run takes by estimate.

    Parameters
    ----------
    experiment, replicates, record
        As for :func:`fltheory.simulate`.
    every_step
        Whether local steps are run one by one.

    Examples
    --------
    >>> from fltheory import Experiment, FedAvg, Participation, noisy_quadratic
    >>> experiment = Experiment(problem=noisy_quadratic(), algorithm=FedAvg(), rounds=1000, rate=0.1,
    ...                         participation=Participation(num_clients=10, local_steps=5))
    >>> estimate(experiment, replicates=64, record=Record(), every_step=True).in_words()
    'about 0.26 s on one core and 9.23 MB of memory'
    """
    clients, dim = experiment.problem.num_clients, experiment.problem.dim
    steps = experiment.participation.local_steps
    per_round = CURVES + record.numbers(clients=clients, dim=dim, local_steps=steps)
    curves = replicates * (experiment.rounds + 1) * per_round
    # Blocks are put together at the end, so there are two copies for a moment.
    size = 8 * (2 * curves + 4 * clients * dim + 4 * steps)
    rounds = experiment.rounds * PER_ROUND * -(-replicates // BLOCK)
    models = replicates * experiment.rounds * dim * (clients if every_step else 1)
    seconds = rounds + models * (PER_MODEL + (PER_STEP * steps if every_step else 0.0))
    return Cost(memory=size, seconds=seconds)


def require_memory(owner: str, experiment: Experiment, *, replicates: int, record: Record) -> None:
    """Raise if a run needs more memory than it may take, naming the number to lower."""
    needed = estimate(experiment, replicates=replicates, record=record, every_step=False).memory
    steps = experiment.participation.local_steps
    numbers = {"replicates": replicates, "rounds": experiment.rounds, "local_steps": steps}
    field = max(numbers, key=lambda name: numbers[name])
    memory.require(
        owner,
        field,
        numbers[field],
        needed,
        f"replicates={replicates} of rounds={experiment.rounds} with local_steps={steps}",
        remedy="lower replicates, rounds or local_steps, or record less",
    )


def require_time(owner: str, experiment: Experiment, *, replicates: int, record: Record, every_step: bool) -> None:
    """Raise if a run would take more than a month, naming the number to lower."""
    cost = estimate(experiment, replicates=replicates, record=record, every_step=every_step)
    most = MAX_DAYS * _DAY
    if cost.seconds <= most:
        return
    numbers = {"replicates": replicates, "rounds": experiment.rounds}
    if every_step:
        numbers["local_steps"] = experiment.participation.local_steps
    field = max(numbers, key=lambda name: numbers[name])
    largest = memory.round_down(numbers[field] * most / cost.seconds)
    raise arguments.fail(
        owner,
        field,
        f"at most about {largest}, since the run takes {cost.in_words()}",
        numbers[field],
        "lower replicates, rounds or local_steps; a run may take a month",
    )
