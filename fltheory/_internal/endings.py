"""A process that ends with the one that has started it, whatever it is doing.

Imported first by the process of which workers are copies (:mod:`fltheory._internal.processes`), which would otherwise
finish its imports before it notices that nobody is there any more.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG`` of Linux."""


def end_with_starter() -> None:
    """Have the system end this process as soon as the thread that has started it ends; on Linux only.

    A thread of this process that waits for that has its turn only between two instructions of Python, which may be a
    long compiled loop.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # a C library without prctl
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def original_is_gone() -> bool:
    """Return whether the process of which this one is a copy ended before this one could ask to end with it."""
    original = sys.modules.get("fltheory._internal.original")
    return original is not None and os.getppid() != original.NUMBER
