"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def matching_ids(incomplete: str) -> list[str]:
    """Return the ids that begin like a word, for the completion of shells."""
    from fltheory.bounds import catalogue

    return [id_ for id_ in catalogue.index() if id_.startswith(incomplete)]


Id = Annotated[
    str, typer.Argument(metavar="ID", help="Id of a claim.", show_default=False, autocompletion=matching_ids)
]
Claims = Annotated[
    list[Path] | None,
    typer.Option("--claims", help="Folder with claims of your own, one file each; may be given several times."),
]
Algorithms = Annotated[
    list[Path] | None,
    typer.Option("--algorithms", help="Folder with algorithms of your own, one file each; may be given several times."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the search and of the engines.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", help="Processes; results do not depend on it.", show_default="all cores")
]
Backend = Annotated[
    str, typer.Option("--backend", help="Where to run: processes of this computer, or dask (needs the extra dask).")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", help="Address of a Dask scheduler, such as tcp://host:8786.", show_default="a cluster of its own"
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing but errors.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Check everything again, also what the same code has checked before.")
]

LEDGER = Path("results/ledger")
"""Where `check` writes the ledger and `show` looks for verdicts, by default."""


def cores() -> int:
    """Return the number of processes to use by default: the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # fewer than there are inside a job of a cluster
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
