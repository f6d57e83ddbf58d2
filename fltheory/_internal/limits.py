"""A limit of time and memory for one part of the work, inside the process that does it."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from fltheory.errors import TimeLimit

try:
    import resource
except ImportError:  # pragma: no cover - Windows, where memory is not limited
    resource = None  # type: ignore[assignment]

MEGABYTE = 10**6


@contextlib.contextmanager
def within(seconds: float | None, megabytes: float | None) -> Iterator[None]:
    """Raise :class:`~fltheory.errors.TimeLimit` or ``MemoryError`` in what takes more than it may.

    Parameters
    ----------
    seconds
        Time by the clock. It is looked at between two instructions of Python, so a single compiled loop is finished
        first.
    megabytes
        Memory beyond what the process has when the block begins; on Linux only.
    """
    with _memory(megabytes), _time(seconds):
        yield


@contextlib.contextmanager
def _memory(megabytes: float | None) -> Iterator[None]:
    pages = Path("/proc/self/statm")
    if megabytes is None or resource is None or not pages.exists():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(pages.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    limits = [used + int(megabytes * MEGABYTE), *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def _time(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
    elif threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        with _alarm(seconds):
            yield
    else:
        with _timer(seconds):
            yield


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Limit the main thread; the signal wakes it up where it waits for others, too."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TimeLimit(seconds)

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _timer(seconds: float) -> Iterator[None]:
    """Limit another thread, such as that of a Dask worker, which gets no signals."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    thread = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    state = {"ended": False, "over": False}

    class Over(TimeLimit):
        def __init__(self) -> None:  # raised by its class alone
            super().__init__(seconds)

    def over() -> None:
        with lock:
            if not state["ended"]:
                state["over"] = True
                raise_in(thread, ctypes.py_object(Over))

    timer = threading.Timer(seconds, over)
    timer.daemon = True
    timer.start()
    try:
        try:
            yield
        finally:
            timer.cancel()
            with lock:
                state["ended"] = True
            if state["over"] and not isinstance(sys.exc_info()[1], Over):
                # Too late by a moment. The exception is awaited, not taken back: taking it back would leave the
                # interpreter looking for it for ever, and under a tracer (coverage, Hypothesis) it never comes back.
                with contextlib.suppress(Over):
                    for _ in range(1000):
                        time.sleep(0.001)
    except Over:
        raise TimeLimit(seconds) from None
