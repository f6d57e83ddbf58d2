"""Independent tasks on all cores: results as they come, stopped at once when the user loses patience."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any


def in_processes(tasks: Sequence[tuple[Any, ...]], work: Callable[..., Any], jobs: int) -> Iterator[Any]:
    """Yield ``work(*task)`` for every task, in the order in which they are finished.

    ``work`` must be importable. An exception of a task, or an interrupt, ends all processes and is passed on.
    """
    if jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield work(*task)
        return
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    try:
        futures = [pool.submit(work, *task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
        pool.shutdown()
    except BaseException:
        for process in list((pool._processes or {}).values()):  # the pool offers no way to stop a running task
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which stops the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
