"""Independent tasks on all cores: results as they come, stopped at once when the user loses patience.

This is the one place that decides where work runs: in processes of this computer, unless the caller has named an
executor with :func:`fltheory._internal.executors.running_on`.

A process that is ended from outside, for lack of memory say, costs one task at most: the tasks that it may have had are
run again, each alone, and only one that ends its process twice when alone is given up: which task ended the first
process is not known. Processes end when their parent does, however that ends.

Where the system can, processes are copies of one that has imported what they need and done nothing else: importing
takes seconds, and is done once. Elsewhere each of them starts from nothing.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, forkserver, get_context, parent_process
from typing import Any

from fltheory._internal import executors
from fltheory._internal.endings import end_with_starter, original_is_gone
from fltheory.errors import NoProcesses, WorkerLost

_COPIED = sys.platform == "linux"
_expected: dict[str, None] = {}
_shared: list[dict[int, _Pool]] = []

_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def expect(modules: Iterable[str]) -> None:
    """Name modules that tasks will import.

    They are imported before the first task of the session is started; to name them later does no harm and is of no use.
    """
    _expected.update(dict.fromkeys(modules))


def in_processes(
    tasks: Sequence[tuple[Any, ...]],
    work: Callable[..., Any],
    jobs: int,
    *,
    lost: Callable[..., Any] | None = None,
    apart: bool = False,
) -> Iterator[Any]:
    """Yield ``work(*task)`` for every task, in the order in which they are finished.

    Tasks run on the executor that the caller has named, or else in ``jobs`` processes. One job, or one task, needs no
    process of its own, unless it is to be kept ``apart`` from this one.

    ``work`` must be importable. An exception of a task, or an interrupt, ends all processes and is passed on. Each
    process does its linear algebra with one thread, unless the environment says otherwise: more would only wait for
    each other.

    For a task that ends its process twice when run alone, ``lost(*task)`` is yielded instead; without ``lost``,
    :class:`~fltheory.errors.WorkerLost` is raised. Where no process ever takes up work,
    :class:`~fltheory.errors.NoProcesses` is.
    """
    executor = executors.current()
    if executor is not None:
        yield from executors.submitted(executor, tasks, work, lost)
        return
    if (jobs == 1 or len(tasks) == 1) and not apart:
        for task in tasks:
            yield work(*task)
        return
    waiting = dict(enumerate(tasks))
    while waiting:
        suspects: list[int] = []
        for number, result in _finished(waiting, work, jobs, suspects):
            del waiting[number]
            yield result
        for number in suspects:
            yield _alone(waiting.pop(number), work, lost)


def _finished(
    waiting: dict[int, tuple[Any, ...]], work: Callable[..., Any], jobs: int, suspects: list[int]
) -> Iterator[tuple[int, Any]]:
    """Yield numbers and results of tasks until all are done, or until a process is ended from outside.

    Then ``suspects`` gets the tasks that were under way. As many tasks are handed out as processes can begin at once,
    so that there are few.
    """
    kept = _shared[-1] if _shared else {}
    if jobs not in kept:
        kept[jobs] = _pool(jobs)
    pool = kept[jobs]
    left = iter(list(waiting.items()))
    running: dict[Future[Any], int] = {}

    def hand_out(most: int) -> None:
        with _endings_wait():
            for number, task in itertools.islice(left, most):
                running[pool.submit(work, *task)] = number

    broken = False
    try:
        try:
            hand_out(jobs + 1)
        except BrokenProcessPool:
            broken = True
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                number = running.pop(future)
                try:
                    result = future.result()
                    if not broken:
                        hand_out(1)
                except BrokenProcessPool:
                    broken = True
                    if not future.exception():
                        yield number, result
                    else:
                        suspects.append(number)
                    continue
                yield number, result
    except BaseException:
        _stop(kept, jobs)
        raise
    if broken:
        _stop(kept, jobs)
    elif not _shared:
        pool.shutdown()


def _stop(kept: dict[int, _Pool], jobs: int) -> None:
    """End the processes of a pool, whatever they are doing."""
    pool = kept.pop(jobs)
    for process in list((pool._processes or {}).values()):  # the pool offers no way to stop a running task
        process.terminate()
    thread: Any = pool._executor_manager_thread
    pool.shutdown(wait=False, cancel_futures=True)
    if thread is not None:  # the interpreter would complain if it ended while the thread closes its pipes
        thread.join(timeout=5.0)


def _alone(task: tuple[Any, ...], work: Callable[..., Any], lost: Callable[..., Any] | None) -> Any:
    """Return the result of a task in a process of its own, or in a second one if the first is ended from outside."""
    begun = False
    for _ in range(2):
        kept = {1: _pool(1)}
        has_begun = kept[1].has_begun
        try:
            with _endings_wait():
                future = kept[1].submit(work, *task)
            return future.result()
        except BrokenProcessPool:
            begun = begun or bool(has_begun.value)
        finally:
            _stop(kept, 1)
    if not begun:
        raise NoProcesses
    if lost is None:
        raise WorkerLost
    return lost(*task)


@contextlib.contextmanager
def same_processes() -> Iterator[None]:
    """Let all tasks that are started meanwhile share their processes, which then start once and know what they did."""
    _shared.append({})
    try:
        yield
    finally:
        for pool in _shared.pop().values():
            pool.shutdown()


class _Pool(ProcessPoolExecutor):
    """Processes that say when the first of them takes up work; some end before, while they read the user's script."""

    def __init__(self, jobs: int) -> None:
        context = _context()
        self.has_begun = context.RawValue("b", 0)
        given = (dict(os.environ), self.has_begun)
        super().__init__(jobs, mp_context=context, initializer=_begin, initargs=given)


def _pool(jobs: int) -> _Pool:
    with one_thread_each():
        return _Pool(jobs)


def _context() -> Any:
    """Return how processes are started; where they are copied, the original runs from here on."""
    if not _COPIED:
        return get_context("spawn")
    context = get_context("forkserver")
    main = threading.current_thread() is threading.main_thread()
    # It would end with the thread that starts it; only that of the program lasts as long as the program.
    first = ["fltheory._internal.original"] if main else []
    context.set_forkserver_preload([*first, "__main__", *_expected])
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
def _endings_wait() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait while processes start: one without its instructions would complain."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    numbers = [getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)]
    before = {
        number: signal.signal(number, lambda number, frame: received.append(number))
        for number in numbers
        if signal.getsignal(number) is not None  # that of a program which embeds Python could not be put back
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in received:
        signal.raise_signal(number)


def _begin(environment: dict[str, str], has_begun: Any) -> None:
    """Take over the environment of the parent, leave Ctrl-C to it, and end when it ends.

    What has been imported stays, and most of what tasks make goes without help, so the search for unused cycles leaves
    the former alone (and its pages shared) and looks at the latter less often.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_starter()  # the original, which ends with the parent
    if original_is_gone():
        os._exit(1)
    threading.Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    has_begun.value = 1


def _end_with_parent() -> None:
    """End this process as soon as the one that has started it is gone; nobody would take its results."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
