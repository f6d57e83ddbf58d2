"""Where tasks run if not in processes of this computer: any executor of :mod:`concurrent.futures`, or Dask.

Everything that this package runs in parallel goes through :func:`fltheory._internal.processes.in_processes`, which asks
here whether the caller has named an executor.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextvars import ContextVar
from typing import Any

from fltheory._internal import arguments, dask_clusters
from fltheory._internal.remote_logs import heard, here, repeat
from fltheory.errors import ExecutorBroken, InvalidParameter, WorkerLost

AT_ONCE = 1024
"""Tasks that an executor holds at a time: enough for a thousand workers, few enough to keep memory flat."""

PATIENCE = 20.0
"""Seconds without a result before somebody looks whether there are workers at all."""

BACKENDS = ("processes", "dask")

_current: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextlib.contextmanager
def running_on(executor: Executor | None) -> Iterator[None]:
    """Let all tasks that are started meanwhile run on an executor; ``None`` changes nothing."""
    if executor is None:
        yield
        return
    if not isinstance(executor, Executor):
        raise InvalidParameter(
            f"executor must be a concurrent.futures.Executor, got {type(executor).__name__}; "
            "for a Dask client give client.get_executor()"
        )
    before = _current.set(executor)
    try:
        yield
    finally:
        _current.reset(before)


def current() -> Executor | None:
    """Return the executor that the caller has named, if any."""
    return _current.get()


def submitted(
    executor: Executor, tasks: Sequence[tuple[Any, ...]], work: Callable[..., Any], lost: Callable[..., Any] | None
) -> Iterator[Any]:
    """Yield ``work(*task)`` for every task, in the order in which an executor finishes them.

    A task whose worker died, as often as the executor has tried it, is tried once more alone, when all others are done:
    an executor also gives up tasks that only waited on the worker that another one ended. If that fails too, it gives
    ``lost(*task)``. If the executor itself breaks, what is finished is yielded first, and then
    :class:`~fltheory.errors.ExecutorBroken` is raised. What a task logs elsewhere, and its warnings, are logged here.
    """
    left = iter(tasks)
    driver = here()
    running: dict[Future[Any], tuple[Any, ...]] = {}
    suspects: deque[tuple[Any, ...]] = deque()
    alone = False
    broken: BaseException | None = None
    told = False
    dask_clusters.require_code(executor)
    try:
        while True:
            try:
                for task in itertools.islice(left, 0 if broken else AT_ONCE - len(running)):
                    running[executor.submit(heard, driver, work, *task)] = task
                if not running and suspects and not broken:
                    alone = True
                    task = suspects.popleft()
                    running[executor.submit(heard, driver, work, *task)] = task
            except RuntimeError as error:  # broken executors raise one, and so do those that were shut down
                broken = error
            if not running:
                break
            done, _ = wait(running, timeout=None if told else PATIENCE, return_when=FIRST_COMPLETED)
            told = told or (not done and dask_clusters.tell_if_nobody_works(executor))
            for future in done:
                task = running.pop(future)
                try:
                    result, records = future.result()
                    repeat(records)
                except (BrokenExecutor, CancelledError) as error:
                    broken = error
                    continue
                except Exception as error:
                    if not dask_clusters.worker_died(error):
                        raise
                    if not alone:
                        suspects.append(task)
                        continue
                    if lost is None:
                        raise WorkerLost from None
                    result = lost(*task)
                yield result
    finally:
        for future in running:
            future.cancel()
    if broken is not None:
        raise ExecutorBroken(broken) from None


@contextlib.contextmanager
def chosen(backend: str, *, address: str | None = None, jobs: int = 1) -> Iterator[Executor | None]:
    """Yield the executor that the options of a command ask for; ``None`` stands for processes of this computer.

    Parameters
    ----------
    backend
        ``processes`` or ``dask``.
    address
        Where the scheduler of Dask listens; without one, a scheduler and ``jobs`` workers are started here, and end
        with the block.
    """
    backend = arguments.choice("options", "backend", backend, BACKENDS)
    if backend == "processes":
        if address is not None:
            raise arguments.fail("options", "address", "left out without a cluster", address, "add --backend dask")
        yield None
        return
    with dask_clusters.connected(address, jobs) as executor:
        yield executor
