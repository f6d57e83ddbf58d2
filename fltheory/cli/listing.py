"""``fltheory list``: the claims, and what can be named in a configuration file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fltheory.cli.options import AsJson, Claims, matching_ids
from fltheory.cli.terminal import table


def list_catalogue(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID...]", help="Ids or globs such as 'ruan.*'.", show_default=False, autocompletion=matching_ids
        ),
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
        table(heading, entries, ("name", "title", "summary"))


def _list_claims(patterns: list[str], folders: list[Path], *, as_json: bool) -> None:
    from fltheory.bounds import catalogue

    entries = [entry.as_json() for entry in catalogue.select(patterns, folders)]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    table("claims", entries, ("id", "kind", "title", "reference"))


def _algorithms() -> list[dict[str, Any]]:
    from fltheory.configuration import registry

    return [
        {"name": name, "title": kind.title, "summary": registry.summary(kind), "parameters": _parameters(kind)}
        for name, kind in registry.algorithms().items()
    ]


def _problems(*, with_parameters: bool) -> list[dict[str, Any]]:
    from fltheory.configuration import registry

    # Parameters are read off the generators, whose modules take time to load: only if they are shown.
    return [
        {"name": name, "summary": generator.title}
        | ({"parameters": _parameters(generator.load())} if with_parameters else {})
        for name, generator in registry.PROBLEMS.items()
    ]


def _parameters(make: Callable[..., Any]) -> list[dict[str, Any]]:
    from fltheory.configuration import registry

    return [
        {"name": name, "required": p.default is p.empty} | ({} if p.default is p.empty else {"default": p.default})
        for name, p in registry.parameters(make).items()
    ]
