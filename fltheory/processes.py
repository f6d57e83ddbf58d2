"""Independent tasks on all cores: results as they come, stopped at once when the user loses patience."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def in_processes(tasks: Sequence[tuple[Any, ...]], work: Callable[..., Any], jobs: int) -> Iterator[Any]:
    """Yield ``work(*task)`` for every task, in the order in which they are finished.

    ``work`` must be importable. An exception of a task, or an interrupt, ends all processes and is passed on. Each
    process does its linear algebra with one thread, unless the environment says otherwise: more would only wait for
    each other.
    """
    if jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield work(*task)
        return
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    try:
        with one_thread_each():
            futures = [pool.submit(work, *task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
        pool.shutdown()
    except BaseException:
        for process in list((pool._processes or {}).values()):  # the pool offers no way to stop a running task
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Let linear algebra that is loaded meanwhile, here or in a new process, use one thread.

    What the environment says already is left as it is. Several threads add up large matrices in another order, which
    shows in the last digits.
    """
    more = {name: "1" for name in _THREADS if name not in os.environ}
    os.environ.update(more)
    try:
        yield
    finally:
        for name in more:
            del os.environ[name]


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which stops the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
