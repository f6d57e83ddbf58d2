"""What a tool's module offers, and what it returns: the only thing that both ends of the pipe import.

A module under ``peers`` or ``ours`` has a function ``prepare(**settings)`` that loads data, compiles what is compiled
and returns the job: a function of a seed (and of further words of the request) that does the whole job once and
returns a :class:`Result`. Only the job is timed; imports and preparation are reported beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Result(NamedTuple):
    """One run of a job.

    Parameters
    ----------
    curve
        What was recorded, shape ``(replicates, rounds + 1)``; the exact engine returns one row without error.
    seconds
        Time of the part that counts, where the tool cannot be timed from outside.
    peak_bytes
        Peak of traced memory, where it was asked for.
    note
        What a reader of the table has to know.
    """

    curve: Floats
    seconds: float | None = None
    peak_bytes: int | None = None
    note: str = ""


Job = Callable[..., Result]
