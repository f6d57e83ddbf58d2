"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

Claims = Annotated[
    list[Path] | None,
    typer.Option("--claims", help="Folder with claims of your own, one file each; may be given several times."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the search and of the engines.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", help="Processes; results do not depend on it.", show_default="all cores")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing but errors.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Check everything again, also what the same code has checked before.")
]

LEDGER = Path("results/ledger")
"""Where `check` writes the ledger and `show` looks for verdicts, unless told otherwise."""


def cores() -> int:
    """Return the number of processes to use by default."""
    return os.cpu_count() or 1
