"""``fltheory data``: which real data sets are on this machine, and how to get the others."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fltheory.cli.options import AsJson
from fltheory.cli.terminal import table

if TYPE_CHECKING:
    from fltheory.datasets import Availability


def data(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of a data set.", show_default=False)
    ] = None,
    fetch: Annotated[bool, typer.Option("--fetch", help="Get the data set, if a public registry has it.")] = False,
    directory: Annotated[
        Path | None,
        typer.Option("--directory", help="Data directory to search first, and to fetch into.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the real data sets; or fetch, show and verify one."""
    from fltheory import datasets

    if name is None:
        if fetch:
            raise typer.BadParameter("--fetch needs the name of a data set")
        _list(datasets.available(directory), as_json=as_json)
        return
    if fetch:
        typer.echo(f"fetching {name}", err=True)
        directory = datasets.fetch(name, directory).parent
    kind = datasets.source(name)
    if not as_json:
        typer.echo((inspect.getdoc(inspect.getmodule(kind)) or "") + "\n")
    loaded = datasets.load(name, directory)
    folder = datasets.find(kind, directory)
    verified: dict[str, Any] = {
        "name": name,
        "title": kind.title,
        "train_samples": len(loaded.train_labels),
        "test_samples": len(loaded.test_labels),
        "sample_shape": list(loaded.sample_shape),
        "classes": loaded.num_classes,
        "owners": None if loaded.train_owners is None else int(loaded.train_owners.max()) + 1,
        "folder": str(folder),
    }
    if as_json:
        typer.echo(json.dumps(verified, indent=2))
        return
    owners = "" if verified["owners"] is None else f", {verified['owners']} natural clients"
    typer.echo(
        f"{kind.title}: {verified['train_samples']:,} samples to train and {verified['test_samples']:,} to test on, "
        f"shape {loaded.sample_shape}, {loaded.num_classes} classes{owners}\nverified in {folder}"
    )


def _list(found: tuple[Availability, ...], *, as_json: bool) -> None:
    if as_json:
        entries: list[dict[str, Any]] = [
            {
                "name": one.name,
                "title": one.title,
                "train_samples": one.samples[0],
                "test_samples": one.samples[1],
                "folder": None if one.folder is None else str(one.folder),
                "remedy": one.remedy,
            }
            for one in found
        ]
        typer.echo(json.dumps(entries, indent=2))
        return
    entries = [
        {
            "name": one.name,
            "title": one.title,
            "samples": f"{one.samples[0]:,} + {one.samples[1]:,}",
            "where": f"missing; to get it: {one.remedy}" if one.folder is None else str(one.folder),
        }
        for one in found
    ]
    table("data sets", entries, ("name", "title", "samples", "where"))
