"""Every way in which the package refuses to go on.

All of them derive from :class:`FltheoryError`, so that a caller (the command line, a notebook) can
catch one type and print one line. Each message names the field, its value, what is allowed and, where
there is one, the remedy.
"""

from __future__ import annotations


class FltheoryError(Exception):
    """Base class of all errors raised on purpose by this package."""


class InvalidParameter(FltheoryError, ValueError):
    """A value handed in by the caller is outside what is allowed."""


class NotApplicable(FltheoryError):
    """The request is well formed, but this combination of parts cannot answer it."""


class NotAffine(NotApplicable):
    """Exact moments were asked for, but one round is not an affine map of the state."""


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
