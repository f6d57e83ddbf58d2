"""How far a run is, told to whoever wants to know, without the engines knowing who that is."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

PAUSE = 0.2
"""Seconds between two words about one run, at least."""

_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def telling(listener: Callable[[float], None]) -> Iterator[None]:
    """Let every run that is started meanwhile tell which share of it is done, now and then.

    >>> from fltheory import Experiment, FedAvg, Participation, noisy_quadratic, simulate
    >>> experiment = Experiment(problem=noisy_quadratic(), algorithm=FedAvg(), rounds=9, rate=0.1,
    ...                         participation=Participation(num_clients=10, local_steps=5))
    >>> with telling(print):
    ...     run = simulate(experiment, replicates=2)  # too short to say anything
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


class Count:
    """Counts the rounds of a run, in whatever threads they are run.

    Parameters
    ----------
    total
        How many there are.
    """

    def __init__(self, total: int) -> None:
        self._listener = _listener.get()
        self._total = total
        self._done = 0
        self._last = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, rounds: int = 1) -> None:
        """Take note that so many more rounds are done."""
        if self._listener is None:
            return
        with self._lock:
            self._done += rounds
            if time.monotonic() - self._last >= PAUSE:
                self._last = time.monotonic()
                self._listener(self._done / self._total)
