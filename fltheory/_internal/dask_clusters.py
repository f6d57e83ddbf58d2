"""What is special about Dask: how it is reached, what its workers lack, what it says when one has died."""

from __future__ import annotations

import contextlib
import logging
import pkgutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from fltheory._internal import arguments
from fltheory._internal.remote_logs import heard
from fltheory.errors import InvalidParameter, NotApplicable

PATIENCE = 10.0
"""Seconds in which workers say what they can import; one that is busy with a long compiled loop may take longer."""


@contextlib.contextmanager
def connected(address: str | None, jobs: int) -> Iterator[Executor]:
    """Yield the executor of a scheduler of Dask, or of one that is started here with ``jobs`` workers.

    The latter ends with the block, and its workers also if this process is killed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise NotApplicable(
            "the backend dask needs distributed; install the extra: pip install --editable '.[dask]'"
        ) from None
    with contextlib.ExitStack() as open_:
        if address is None:
            cluster = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # for this computer only, and whatever port is free
                scheduler_kwargs={"dashboard": False},
                preload=["fltheory._internal.original"],
            )
            where: Any = open_.enter_context(cluster)
        else:
            where = address
        try:
            client = open_.enter_context(Client(where, timeout="10s", set_as_default=False))
        except (OSError, ValueError, ImportError) as error:
            raise arguments.fail(
                "options", "address", "that of a Dask scheduler", address, f"it does not answer: {error}"
            ) from None
        yield client.get_executor(pure=False)


def require_code(executor: Executor) -> None:
    """Raise if workers of Dask cannot import what they would be given: they would end without a word."""
    client = _client(executor)
    if client is None:
        return
    answers: dict[str, Any] = {}

    def ask() -> None:
        with contextlib.suppress(Exception):  # a scheduler that is gone shows in the tasks
            name = f"{heard.__module__}:{heard.__name__}"
            answers.update(client.run(pkgutil.resolve_name, name, on_error="return"))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(PATIENCE)
    lacking = sorted(worker for worker, answer in dict(answers).items() if isinstance(answer, BaseException))
    if lacking:
        others = f" and {len(lacking) - 3} others" if len(lacking) > 3 else ""
        raise InvalidParameter(
            f"workers of Dask must have the same fltheory as this computer, got {', '.join(lacking[:3])}{others}, "
            f"which cannot import it: {answers[lacking[0]]}; install the same version everywhere"
        )


def tell_if_nobody_works(executor: Executor) -> bool:
    """Log a warning if a scheduler of Dask has no workers, and return whether that is so."""
    client = _client(executor)
    try:
        if client is None or client.scheduler_info()["workers"]:
            return False
    except Exception:  # a scheduler that is gone shows in the tasks
        return False
    logging.getLogger("fltheory").warning(
        "the scheduler of Dask has no workers; waiting for one (workers without the same fltheory end when they are "
        "given work)"
    )
    return True


def worker_died(error: Exception) -> bool:
    """Return whether Dask has given up a task, since every worker that had it died."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.KilledWorker)


def _client(executor: Executor) -> Any:
    """Return the client of an executor that is one of Dask's; ``None`` for others."""
    distributed = sys.modules.get("distributed")
    client = getattr(executor, "_client", None)
    if distributed is None or not isinstance(client, distributed.Client) or client.asynchronous:
        return None
    return client
