"""What becomes of one run: final values with their bands, or a word for why there are none."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from fltheory.errors import Diverged, FltheoryError, NotAffine

if TYPE_CHECKING:
    from fltheory.experiment import Experiment
    from fltheory.trajectories import Trajectories

LEVEL = 0.99
"""Simultaneous level of the bands."""

DONE, NOT_RUN, TOO_LARGE = "done", "not run", "too large"
"""Status of a run that has curves, of one that nobody has begun, and of one that may go well on another computer."""

Final = dict[str, dict[str, float | None]]
"""Last value of every curve: its mean and the half-width of its band."""


class Result(NamedTuple):
    """What became of one experiment: curves, or the reason why there are none."""

    label: str
    seconds: float
    trajectories: Trajectories | None = None
    error: str = ""
    status: str = DONE


def attempt(label: str, experiment: Experiment, **options: Any) -> Result:
    """Run an experiment with the options of :func:`fltheory.simulate`; a failure is a result like any other."""
    from fltheory.engines import simulate

    begin = time.perf_counter()
    try:
        trajectories = simulate(experiment, **options)
    except FltheoryError as error:
        return Result(label, time.perf_counter() - begin, error=str(error), status=_status(error))
    except (MemoryError, OverflowError):
        remedy = "too large for this computer; lower replicates, rounds or the size of the problem"
        return Result(label, time.perf_counter() - begin, error=remedy, status=TOO_LARGE)
    return Result(label, time.perf_counter() - begin, trajectories)


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
    return "not affine" if isinstance(error, NotAffine) else "not applicable"
