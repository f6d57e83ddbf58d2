"""Linear algebra with one thread, so that no digit depends on how many threads the machine has.

Several threads add up the entries of large matrices in another order, which shows in the last digits. The number of
threads belongs to the library behind NumPy, which offers functions to read and to set it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Iterator

import numpy as np

_PAIRS = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
)
"""Names under which libraries offer to read and to set their number of threads."""

_lock = threading.Lock()
_inside = [0, 0]
"""How many blocks are being run, and the number of threads before the first of them."""


@functools.cache
def _controls() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return the functions that read and set the number of threads; ``None`` where the library has none."""
    path = getattr(getattr(np.linalg, "_umath_linalg", None), "__file__", None)
    if path is None:
        return None
    library = ctypes.CDLL(path)  # names are looked for in what it was linked with, too
    for read, write in _PAIRS:
        if hasattr(library, read) and hasattr(library, write):
            return getattr(library, read), getattr(library, write)
    return None


def num_threads() -> int | None:
    """Return how many threads linear algebra uses; ``None`` if the library does not tell."""
    controls = _controls()
    return None if controls is None else int(controls[0]())


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Do linear algebra with one thread meanwhile; works as a decorator, too.

    Where the library behind NumPy has no such control, nothing happens.
    """
    controls = _controls()
    if controls is None:
        yield
        return
    read, write = controls
    with _lock:
        if _inside[0] == 0:
            _inside[1] = int(read())
            write(1)
        _inside[0] += 1
    try:
        yield
    finally:
        with _lock:
            _inside[0] -= 1
            if _inside[0] == 0:
                write(_inside[1])
