"""The process around a command: standard streams that may be closed or narrow, and signals that ask it to end."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

_ENDING = ("SIGTERM", "SIGHUP")
"""Signals that end a command as Ctrl-C does: what is finished is kept."""


def open_streams() -> None:
    """Make sure that there are standard streams, and that no character is too much for them.

    A stream that the caller has closed is replaced by one that goes nowhere; otherwise the next file that is opened
    would get its number, and messages would be written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a label that the terminal cannot write is no reason to fail


def close_streams(code: int) -> int:
    """Write what is left and return the exit code: 1 instead of 0 if results could not be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or int(stream is sys.stdout)
            with contextlib.suppress(OSError, ValueError):  # so that Python does not try, and complain, once more
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


class Endings:
    """Signals that have asked the process to end."""

    received: int | None = None

    def code(self, code: int) -> int:
        """Return the exit code of an interrupted command: that of the signal, if it was not Ctrl-C."""
        return 128 + self.received if code == 130 and self.received is not None else code


@contextlib.contextmanager
def ended_as_interrupted() -> Iterator[Endings]:
    """Let signals that would end the process at once end it as Ctrl-C does; those that are ignored stay so."""
    endings = Endings()

    def end(number: int, _: Any) -> None:
        endings.received = number
        signal.signal(number, signal.SIG_IGN)  # a second one must not disturb what the first has begun
        raise KeyboardInterrupt

    before: dict[int, Any] = {}
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield endings
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
