"""Every way in which the package refuses to go on.

All of them derive from :class:`FltheoryError`, so that a caller (the command line, a notebook) can
catch one type and print one line. Each message names the field, its value, what is allowed and, where
there is one, the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping


class FltheoryError(Exception):
    """Base class of all errors raised on purpose by this package."""


class InvalidParameter(FltheoryError, ValueError):
    """A value handed in by the caller is outside what is allowed."""


class BrokenClaim(FltheoryError):
    """The code of a claim raised an error; the message names file and line."""


class NotApplicable(FltheoryError):
    """The request is well formed, but this combination of parts cannot answer it."""


class NotRecorded(NotApplicable):
    """A curve was asked for that the run does not have."""


class MissingConstants(NotApplicable):
    """A statement needs constants that are not known; they have to be declared.

    Parameters
    ----------
    names
        What is missing: names and meanings.
    where
        What does not know them.
    """

    def __init__(self, names: Mapping[str, str], *, where: str) -> None:
        self.names = dict(names)
        listed = "; ".join(f"{name} ({meaning})" for name, meaning in self.names.items())
        example = ", ".join(f"{name}=..." for name in self.names)
        super().__init__(f"{where} does not know {listed}; declare what you know: compare(..., {example})")


class NotAffine(NotApplicable):
    """Exact moments were asked for, but one round is not an affine map of the state."""


class WorkerLost(FltheoryError):
    """A process that did part of the work was ended from outside, every time that the part was tried."""

    def __init__(self) -> None:
        super().__init__(
            "a process was ended from outside each time that this was tried, perhaps for lack of memory; try fewer "
            "--jobs, or a smaller problem"
        )


class NoProcesses(FltheoryError):
    """Processes end before they take up any work, mostly since they read a script that starts processes itself."""

    def __init__(self) -> None:
        super().__init__(
            "no process could be started; a script has to call this under if __name__ == '__main__':, since every "
            "process reads it first; or set jobs to 1"
        )


class ExecutorBroken(FltheoryError):
    """The executor on which the work ran takes no more of it.

    Parameters
    ----------
    reason
        What the executor has raised.
    """

    def __init__(self, reason: BaseException) -> None:
        said = " ".join(str(reason).split()) or "no reason given"
        super().__init__(
            f"the executor broke ({type(reason).__name__}: {said}); what was finished is kept, call again with a new "
            "executor"
        )


class TimeLimit(FltheoryError):
    """A part of the work took longer than the caller allows.

    Parameters
    ----------
    seconds
        What the caller allows.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it took longer than its time limit of {seconds:g} s; raise the limit, or lower rounds")


class RateChanges(NotApplicable):
    """An algorithm asked for the learning rate of a round whose local steps have rates of their own."""

    def __init__(self, who: str = "this algorithm") -> None:
        super().__init__(
            f"{who} uses one learning rate per round, but the schedule gives every local step its own; "
            "choose a schedule that is constant inside a round, such as Inverse"
        )


class Diverged(FltheoryError):
    """An iterate left the range of floating-point numbers.

    Parameters
    ----------
    algorithm
        Name of the algorithm that diverged.
    round_index
        Round after which a recorded quantity was no longer finite (counted from 1).
    replicate
        First replicate affected, or ``None`` for the exact engine.
    seed
        Seed of the run.
    rate
        Local learning rate in force.
    """

    def __init__(self, *, algorithm: str, round_index: int, replicate: int | None, seed: int, rate: float) -> None:
        self.algorithm = algorithm
        self.round_index = round_index
        self.replicate = replicate
        self.seed = seed
        self.rate = rate
        where = "" if replicate is None else f", replicate {replicate}"
        super().__init__(
            f"{algorithm} diverged in round {round_index}{where} (seed {seed}, learning rate {rate:g}); "
            "lower the learning rate, or the number of local steps"
        )
