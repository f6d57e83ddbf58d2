"""``fltheory list``: the claims, and what can be named in a configuration file."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fltheory.cli.options import AsJson, Claims
from fltheory.cli.terminal import PIPE_WIDTH


def list_catalogue(
    patterns: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="Ids or globs such as 'ruan.*'.", show_default=False)
    ] = None,
    algorithms: Annotated[bool, typer.Option("--algorithms", help="List the algorithms instead.")] = False,
    problems: Annotated[bool, typer.Option("--problems", help="List the problems instead.")] = False,
    folders: Claims = None,
    as_json: AsJson = False,
) -> None:
    """List the claims, or the algorithms and problems of configuration files."""
    if not (algorithms or problems):
        _list_claims(patterns or ["*"], folders or [], as_json=as_json)
        return
    found: dict[str, list[dict[str, Any]]] = {}
    if algorithms:
        found["algorithms"] = _algorithms()
    if problems:
        found["problems"] = _problems(with_parameters=as_json)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for heading, entries in found.items():
        _print(heading, entries, ("name", "title", "summary"))


def _list_claims(patterns: list[str], folders: list[Path], *, as_json: bool) -> None:
    from fltheory import claims

    entries = [entry.as_json() for entry in claims.select(patterns, folders)]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    _print("claims", entries, ("id", "kind", "title", "reference"))


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


def _print(heading: str, entries: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    """Print a plain table whose last column is folded; loading rich for it would double the time of the command."""
    *fixed, last = [column for column in columns if column in entries[0]]
    widths = {column: max(len(column), *(len(entry[column]) for entry in entries)) + 2 for column in fixed}
    indent = sum(widths.values())
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    head = "".join(column.ljust(size) for column, size in widths.items()) + last
    lines = [typer.style(heading.capitalize(), italic=True), typer.style(head, bold=True)]
    for entry in entries:
        start = "".join(entry[column].ljust(size) for column, size in widths.items())
        folded = textwrap.wrap(entry[last], max(width - indent, 20)) or [""]
        lines.append(start + folded[0])
        lines += [" " * indent + line for line in folded[1:]]
    typer.echo("\n".join(lines) + "\n")
