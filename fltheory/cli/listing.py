"""``fltheory list``: what can be named in a configuration file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from fltheory.cli.terminal import PIPE_WIDTH


def list_catalogue(
    algorithms: Annotated[bool, typer.Option("--algorithms", help="List the algorithms only.")] = False,
    problems: Annotated[bool, typer.Option("--problems", help="List the problems only.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write one JSON document, with all parameters and their defaults.")
    ] = False,
) -> None:
    """List the algorithms and the problems."""
    everything = algorithms == problems
    found: dict[str, list[dict[str, Any]]] = {}
    if algorithms or everything:
        found["algorithms"] = _algorithms()
    if problems or everything:
        found["problems"] = _problems(with_parameters=as_json)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for heading, entries in found.items():
        _print(heading, entries)


def _algorithms() -> list[dict[str, Any]]:
    from fltheory import catalogue

    return [
        {"name": name, "title": kind.title, "summary": catalogue.summary(kind), "parameters": _parameters(kind)}
        for name, kind in catalogue.algorithms().items()
    ]


def _problems(*, with_parameters: bool) -> list[dict[str, Any]]:
    from fltheory import catalogue

    # Parameters are read off the generators, whose modules take time to load: only if they are shown.
    return [
        {"name": name, "summary": generator.title}
        | ({"parameters": _parameters(generator.load())} if with_parameters else {})
        for name, generator in catalogue.PROBLEMS.items()
    ]


def _parameters(make: Callable[..., Any]) -> list[dict[str, Any]]:
    from fltheory import catalogue

    return [
        {"name": name, "required": p.default is p.empty} | ({} if p.default is p.empty else {"default": p.default})
        for name, p in catalogue.parameters(make).items()
    ]


def _print(heading: str, entries: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=heading.capitalize(), title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in ("name", "title", "summary"):
        if column in entries[0]:
            table.add_column(column, no_wrap=column != "summary")
    for entry in entries:
        table.add_row(*(Text(entry[column.header]) for column in table.columns))  # type: ignore[index]
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(table)
    console.print()
