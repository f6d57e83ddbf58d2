"""What becomes of one run: final values with their bands, or a word for why there are none."""

from __future__ import annotations

import math
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from fltheory._internal.culprits import in_words
from fltheory.errors import Diverged, FltheoryError, NotAffine, TimeLimit

if TYPE_CHECKING:
    from fltheory.simulation.experiment import Experiment
    from fltheory.simulation.trajectories import Trajectories

LEVEL = 0.99
"""Simultaneous level of the bands."""

DONE, NOT_RUN, TOO_LARGE, TOO_SLOW, FAILED = "done", "not run", "too large", "too slow", "failed"
"""Status of a run that has curves, of one that nobody has begun, of those that may go well on another computer or with
another limit, and of one with an error that nobody has thought of."""

ACCIDENTAL = (TOO_LARGE, TOO_SLOW, FAILED)
"""What may go well when it is tried again."""

Final = dict[str, dict[str, float | None]]
"""Last value of every curve: its mean and the half-width of its band."""


class RunResult(NamedTuple):
    """What became of one experiment: curves, or the reason why there are none."""

    label: str
    seconds: float
    trajectories: Trajectories | None = None
    error: str = ""
    status: str = DONE


def run_experiment(label: str, experiment: Experiment, **options: Any) -> RunResult:
    """Run an experiment with the options of :func:`fltheory.simulate`; a failure is a result like any other."""
    from fltheory.simulation.engines import simulate

    begin = time.perf_counter()
    try:
        trajectories = simulate(experiment, **options)
    except FltheoryError as error:
        return RunResult(label, time.perf_counter() - begin, error=str(error), status=_status(error))
    except (MemoryError, OverflowError):
        remedy = "too large for this computer; lower replicates, rounds or the size of the problem"
        return RunResult(label, time.perf_counter() - begin, error=remedy, status=TOO_LARGE)
    except (Exception, SystemExit) as error:  # a user's algorithm must not cost the other runs
        return RunResult(label, time.perf_counter() - begin, error=unexpected(error), status=FAILED)
    return RunResult(label, time.perf_counter() - begin, trajectories)


def unexpected(error: BaseException) -> str:
    """Return the message of an error that nobody has thought of: a line with its place, then the traceback."""
    line = " ".join(in_words(error).split())
    return "\n".join([line, *"".join(traceback.format_exception(error)).rstrip().splitlines()])


def final(trajectories: Trajectories) -> Final:
    """Return the last value of every curve, with the half-width of its band.

    One replicate has no band, nor have values at the edge of floating point whose band would end beyond it.
    """
    found: Final = {}
    for name in trajectories.curves():
        if name.startswith("model"):
            continue
        half: float | None = None
        if trajectories.exact or trajectories.replicates > 1:
            band = trajectories.band(name, level=LEVEL)
            half = float(band.high[-1] - band.mean[-1])
            half = half if math.isfinite(half) else None
        found[name] = {"mean": float(trajectories.curve(name)[:, -1].mean()), "half_width": half}
    return found


def _status(error: FltheoryError) -> str:
    if isinstance(error, Diverged):
        return "diverged"
    if isinstance(error, TimeLimit):
        return TOO_SLOW
    return "not affine" if isinstance(error, NotAffine) else "not applicable"
