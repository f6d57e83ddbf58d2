"""``fltheory conform``: an answer to "is my implementation right?"."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from fltheory.cli.options import AsJson, Seed
from fltheory.cli.terminal import table
from fltheory.errors import InvalidParameter


def conform(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:FUNCTION]",
            help="Your code, such as my_module:run or path/to/file.py:run.",
            show_default=False,
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option("--algorithm", "-a", help="Name of the algorithm that your code should be.", show_default=False),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-P", metavar="NAME=VALUE", help="Parameter of the algorithm; may be repeated."),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE",
            help="What your code does not have: unequal-weights, absent-clients, unequal-steps, server-rate, "
            "rate-schedule; may be repeated.",
        ),
    ] = None,
    noisy: Annotated[bool, typer.Option("--noisy", help="Examine moments under gradient noise too.")] = False,
    replicates: Annotated[int, typer.Option(help="Repetitions under noise.")] = 1000,
    level: Annotated[float, typer.Option(help="Largest false-alarm rate under noise.")] = 1e-3,
    tolerance: Annotated[float, typer.Option(help="Relative difference up to which models are equal.")] = 1e-8,
    seed: Seed = 0,
    page: Annotated[Path | None, typer.Option("--html", help="Write a page with the answer to this file.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List readings and known mistakes instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare your own code with an algorithm; exit code 1 if it is neither that nor a legitimate reading of it."""
    if list_:
        _list(algorithm, as_json=as_json)
        return
    if code is None or algorithm is None:
        raise InvalidParameter(
            "conform needs your code and --algorithm, such as: fltheory conform my_module:run --algorithm scaffold; "
            "see the algorithms with: fltheory conform --list"
        )
    from fltheory.conformance import conform as examine

    found = examine(
        load(code),
        algorithm,
        skip=skip or (),
        noisy=noisy,
        replicates=replicates,
        level=level,
        tolerance=tolerance,
        seed=seed,
        **parsed(parameters or ()),
    )
    if page is not None:
        from fltheory.report.conformance import write

        write(found, page, code=code)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, allow_nan=False))
    else:
        typer.echo(str(found))
        if page is not None:
            typer.echo(f"page: {page}")
    if not found.ok:
        raise typer.Exit(1)


def load(code: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` or ``file.py:function`` names."""
    home, _, name = code.rpartition(":")
    if not home or not name:
        raise InvalidParameter(f"your code must be given as MODULE:FUNCTION or FILE.py:FUNCTION, got {code!r}")
    if home.endswith(".py"):
        path = Path(home).resolve()
        if not path.is_file():
            raise InvalidParameter(f"there is no file {home}")
        module = _imported(home, path.parent, functools.partial(_from_file, path))
    else:
        module = _imported(home, Path.cwd(), functools.partial(importlib.import_module, home))
    if not hasattr(module, name):
        names = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise InvalidParameter(f"{home} has no {name!r}; it has {', '.join(names) or 'no functions'}")
    function = getattr(module, name)
    if not callable(function):
        raise InvalidParameter(f"{code} must be a function of a federation, got {type(function).__name__}")
    run: Callable[..., Any] = function
    return run


def _imported(name: str, folder: Path, load_module: Callable[[], ModuleType]) -> ModuleType:
    """Import the user's code; what it imports itself, then or later, is looked for in its folder first."""
    from fltheory.conformance.user_code import blamed

    sys.path.insert(0, str(folder))
    try:
        return load_module()
    except Exception as error:
        line = blamed(error)
        raise InvalidParameter(
            f"{name} could not be imported: {type(error).__name__}: {error}" + (f" ({line})" if line else "")
        ) from None


def _from_file(path: Path) -> ModuleType:
    """Import a file under a name that no other module has."""
    name = f"_examined_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # the suffix .py has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def parsed(assignments: list[str] | tuple[()]) -> dict[str, Any]:
    """Return parameters from ``name=value``; numbers, true, false and text.

    >>> parsed(["alpha=0.5", "exact=true", "option=I"])
    {'alpha': 0.5, 'exact': True, 'option': 'I'}
    """
    found: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.isidentifier():
            raise InvalidParameter(f"--parameter must be NAME=VALUE, got {assignment!r}")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except ValueError:  # no TOML, or a whole number that Python does not read
            found[name] = value
    return found


def _list(algorithm: str | None, *, as_json: bool) -> None:
    from fltheory.conformance.conform import build
    from fltheory.conformance.mistakes import listed

    chosen = None if algorithm is None else build(algorithm, {}).name
    entries = [entry for entry in listed() if chosen in (None, entry["algorithm"])]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    table("readings and known mistakes", entries, ("algorithm", "kind", "name", "text", "source"))
