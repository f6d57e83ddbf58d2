"""What all commands say on the terminal: errors, tables, and how far a long computation has come."""

from __future__ import annotations

import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

import typer

if TYPE_CHECKING:
    from fltheory.validation.verdict import Checked

PATIENCE = 2.0
"""Seconds before a progress bar shows up."""

MINUTE = 60.0
"""Seconds between two lines about one part."""

PIPE_WIDTH = 120
"""Columns of a table that is written to a file or a pipe."""


_wanted = {"traceback": False}


def show_tracebacks(*, wanted: bool) -> None:
    """Say whether errors are shown with the whole way through the code that led to them."""
    _wanted["traceback"] = wanted


def trace(text: str) -> None:
    """Write a traceback to standard error, if tracebacks are wanted."""
    if _wanted["traceback"] and text:
        typer.echo(text.rstrip(), err=True)


def complain(message: str) -> None:
    """Write one error line to standard error."""
    _note("error: " + " ".join(message.split()))


def _note(line: str) -> None:
    """Write a line to standard error; that it cannot be written is no reason to lose results."""
    with suppress(OSError):
        typer.echo(line, err=True)


def complain_of(done: Sequence[Checked]) -> None:
    """Write a line for every claim that could not be evaluated, and one for those with a form that must hold."""
    for checked in done:
        if checked.error:
            trace(checked.traceback)
            complain(f"{checked.entry.id} could not be evaluated: {checked.error}")
    broken = [checked.entry.id for checked in done if checked.broken and not checked.error]
    if broken:
        complain(f"a form that must hold does not: {', '.join(broken)}")


def tell_reused(done: Sequence[Checked]) -> None:
    """Say how many claims were not checked again."""
    reused = sum(checked.reused for checked in done)
    if reused:
        typer.echo(f"{reused} of {len(done)} claims were checked before by the same code; --fresh checks them again")


def table(heading: str, entries: list[dict[str, Any]], titles: tuple[str, ...]) -> None:
    """Print a plain table whose last column is folded; loading rich for it would double the time of the command.

    No word is broken, so that a path can be copied, or cut out by a program.
    """
    *fixed, last = [title for title in titles if title in entries[0]]
    widths = {title: max(len(title), *(len(entry[title]) for entry in entries)) + 2 for title in fixed}
    indent = sum(widths.values())
    width = columns()
    head = "".join(title.ljust(size) for title, size in widths.items()) + last
    lines = [typer.style(heading.capitalize(), italic=True), typer.style(head, bold=True)]
    for entry in entries:
        start = "".join(entry[title].ljust(size) for title, size in widths.items())
        folded = textwrap.wrap(
            entry[last], max(width - indent, 20), break_long_words=False, break_on_hyphens=False
        ) or [""]
        lines.append(start + folded[0])
        lines += [" " * indent + line for line in folded[1:]]
    typer.echo("\n".join(lines) + "\n")


def columns() -> int:
    """Return how wide a line may be: as the terminal, as ``COLUMNS`` says, or as a pipe."""
    return shutil.get_terminal_size((PIPE_WIDTH, 0)).columns


def folded(text: str, *, indent: str = "    ") -> str:
    """Return text in lines that fit, none of which breaks a word."""
    return textwrap.fill(
        " ".join(text.split()),
        max(columns(), 40),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


@contextmanager
def progress(parts: int = 0, *, quiet: bool) -> Iterator[Shares]:
    """Report on ``parts`` parts of work: a bar on a terminal, once it takes long; one line each otherwise."""
    if quiet:
        yield _Silent()
    elif not sys.stderr.isatty():
        yield _Lines(parts)
    else:
        bar = _Bar(parts)
        try:
            yield bar
        finally:
            bar.close()


class Shares(Protocol):
    """A :class:`~fltheory.jobs.progress.Progress` that is told about shares of a part, too."""

    def expect(self, parts: int) -> None: ...

    def begin(self, label: str) -> None: ...

    def end(self, result: str) -> None: ...

    def share(self, done: float) -> None:
        """Take note of which share of the part is done, between 0 and 1."""
        ...


class _Silent:
    def expect(self, parts: int) -> None:
        pass

    def begin(self, label: str) -> None:
        pass

    def end(self, result: str) -> None:
        pass

    def share(self, done: float) -> None:
        pass


class _Lines:
    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._done = 0
        self._label = ""
        self._begun = self._last = time.monotonic()

    def expect(self, parts: int) -> None:
        self._parts = parts

    def begin(self, label: str) -> None:
        self._label = label
        self._begun = self._last = time.monotonic()

    def share(self, done: float) -> None:
        now = time.monotonic()
        if now - self._last >= MINUTE and done > 0:
            self._last = now
            left = (now - self._begun) * (1.0 / done - 1.0) / 60.0
            _note(f"[{self._done}/{self._parts}] {self._label}: {done:.0%}, about {left:.2g} min left")

    def end(self, result: str) -> None:
        self._done += 1
        _note(f"[{self._done}/{self._parts}] {self._label}: {result}")


class _Bar:
    def __init__(self, parts: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
        )
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=parts)
        self._done = 0
        self._timer = threading.Timer(PATIENCE, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def expect(self, parts: int) -> None:
        self._bar.update(self._task, total=parts)

    def begin(self, label: str) -> None:
        self._bar.update(self._task, description=label)

    def share(self, done: float) -> None:
        self._bar.update(self._task, completed=self._done + min(done, 1.0))

    def end(self, result: str) -> None:
        self._done += 1
        self._bar.update(self._task, completed=self._done)

    def close(self) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._bar.live.is_started:
            self._bar.stop()
