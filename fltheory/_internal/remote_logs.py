"""What a task says through :mod:`logging` and :mod:`warnings`, brought from the worker that ran it to the driver."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

MOST = 100
"""Records of one task that are brought back; a task that says more says the same again and again."""

_lock = threading.Lock()
_listening = {"tasks": 0}


class Answer(NamedTuple):
    """What a task has returned, and what it has said meanwhile."""

    result: Any
    records: tuple[logging.LogRecord, ...]


def here() -> str:
    """Return a name for this process that no other has, on whatever computer."""
    return f"{socket.gethostname()} {os.getpid()}"


def heard(driver: str, work: Callable[..., Any], *task: Any) -> Answer:
    """Run a task; in another process than the driver, which hears what it says anyway, listen to it."""
    if driver == here():
        return Answer(work(*task), ())
    collector = _Collector()
    with _attached(collector):
        result = work(*task)
    return Answer(result, tuple(collector.records))


def repeat(records: Iterable[logging.LogRecord]) -> None:
    """Hand records to the loggers of this process that have their names."""
    for record in records:
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)


class _Collector(logging.Handler):
    """Keeps what one thread says, as text: arguments of a message may be of any size, and of any type."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread != self._thread or len(self.records) == MOST:
            return
        text = logging.Formatter("%(message)s").format(record)  # with the traceback, if there is one
        plain = (record.name, record.levelno, record.pathname, record.lineno, text, (), None, record.funcName)
        kept = logging.LogRecord(*plain)
        kept.created, kept.process, kept.processName = record.created, record.process, record.processName
        self.records.append(kept)


@contextlib.contextmanager
def _attached(collector: _Collector) -> Iterator[None]:
    """Let a collector hear all loggers, and warnings as if they were logged."""
    with _lock:
        _listening["tasks"] += 1
        logging.captureWarnings(capture=True)
    logging.getLogger().addHandler(collector)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(collector)
        with _lock:
            _listening["tasks"] -= 1
            if not _listening["tasks"]:
                logging.captureWarnings(capture=False)
