"""Independent tasks on all cores: results as they come, stopped at once when the user loses patience.

Where the system can, processes are copies of one that has imported what they need and done nothing else: importing
takes seconds, and is done once. Elsewhere each of them starts from nothing.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import forkserver, get_context
from typing import Any

_COPIED = sys.platform == "linux"
_expected: dict[str, None] = {}
_shared: list[dict[int, ProcessPoolExecutor]] = []

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def expect(modules: Iterable[str]) -> None:
    """Name modules that tasks will import.

    They are imported before the first task of the session is started; to name them later does no harm and is of no use.
    """
    _expected.update(dict.fromkeys(modules))


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
    kept = _shared[-1] if _shared else {}
    if jobs not in kept:
        kept[jobs] = _pool(jobs)
    pool = kept[jobs]
    try:
        with _ctrl_c_waits():
            futures = [pool.submit(work, *task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        del kept[jobs]
        for process in list((pool._processes or {}).values()):  # the pool offers no way to stop a running task
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    if not _shared:
        pool.shutdown()


@contextlib.contextmanager
def same_processes() -> Iterator[None]:
    """Let all tasks that are started meanwhile share their processes, which then start once and know what they did."""
    _shared.append({})
    try:
        yield
    finally:
        for pool in _shared.pop().values():
            pool.shutdown()


def _pool(jobs: int) -> ProcessPoolExecutor:
    with one_thread_each():
        return ProcessPoolExecutor(jobs, mp_context=_context(), initializer=_begin, initargs=(dict(os.environ),))


def _context() -> Any:
    """Return how processes are started; where they are copied, the original runs from here on."""
    if not _COPIED:
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["__main__", *_expected])
    main = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None  # inherited: Ctrl-C is for the parent
    try:
        forkserver.ensure_running()
    finally:
        if main:
            signal.signal(signal.SIGINT, previous)
    return context


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


@contextlib.contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Let Ctrl-C wait while processes are started: one that is left without its instructions would complain."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed:
        signal.raise_signal(signal.SIGINT)


def _begin(environment: dict[str, str]) -> None:
    """Take over the environment of the parent, and leave Ctrl-C to it: it stops the workers.

    What has been imported stays, and most of what tasks make goes without help, so the search for unused cycles leaves
    the former alone (and its pages shared) and looks at the latter less often.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
