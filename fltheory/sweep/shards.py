"""A sweep in shares: one per task of a job array, each with its own database, merged afterwards.

Shares need nothing but a file system: no scheduler, no connection between them, no package beyond this one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fltheory._internal import arguments, shapes
from fltheory._internal.files import read_json
from fltheory.errors import InvalidParameter
from fltheory.sweep.store import Run, Store

DATABASE = "sweep.sqlite"
"""Name of the file with the results in the folder of a sweep."""


class Shard(NamedTuple):
    """One of several equal shares of a grid, counted from 1."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Return the share that is written as ``3/16``.

        >>> Shard.read("3/16")
        Shard(number=3, of=16)
        """
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise arguments.fail("sweep", "shard", "a number and a total such as 3/16", text)
        return cls(int(found[1]), int(found[2]))

    def has(self, index: int) -> bool:
        """Return whether a point belongs to this share; neighbours in the grid go to different ones."""
        return index % self.of == self.number - 1

    @property
    def folder(self) -> str:
        """Default name of the folder in which the share is kept."""
        return f"shard-{self.number}-of-{self.of}"


def merge(folders: Sequence[Path], into: Store) -> int:
    """Copy all results in the databases of folders into another one, and return how many there were."""
    found: list[Run] = []
    for folder in folders:
        with Store(_database(folder)) as store:
            found += store.everything()
    into.keep(sorted(found, key=lambda run: run.done))  # where a run is there twice, the one that went well stays
    return len(found)


def configuration_of(folders: Sequence[Path]) -> Path:
    """Return the configuration file of which folders hold the shares."""
    if not folders:
        raise InvalidParameter("sweep needs the folders of the shares to merge, such as results/NAME/shard-*")
    named = {}
    for folder in folders:
        _database(folder)
        summary = read_json(folder / "summary.json")
        shapes.check(summary, {"configuration": str}, str(folder / "summary.json"))
        named[summary["configuration"]] = folder
    if len(named) > 1:
        (one, first), (other, second), *_ = named.items()
        raise InvalidParameter(
            f"sweep can only merge shares of one file, got {first} of '{one}' and {second} of '{other}'"
        )
    return Path(next(iter(named)))


def slurm_script(file: Path, shares: int, *, output: Path, options: Sequence[str] = ()) -> str:
    """Return a job script of Slurm that runs a file in a job array, one share per task.

    Parameters
    ----------
    file
        The configuration file.
    shares
        Tasks of the array.
    output
        Folder in which each share gets one of its own.
    options
        Further options of ``fltheory sweep``.
    """
    arguments.integer("sweep", "slurm", shares, low=1)
    where = shlex.quote(str(output))
    more = "".join(f" {shlex.quote(option)}" for option in options)
    share = f"shard-${{SLURM_ARRAY_TASK_ID}}-of-{shares}"
    return f"""\
#!/bin/bash
#SBATCH --job-name=fltheory
#SBATCH --array=1-{shares}
#SBATCH --cpus-per-task=1
# Submit with sbatch, from the folder in which this command was given. A task that was ended can be submitted again:
# it goes on where it was. When all are done:
#   fltheory sweep --merge {where}/shard-*-of-{shares} --output {where}
set -euo pipefail
fltheory sweep {shlex.quote(str(file))} --quiet --jobs "${{SLURM_CPUS_PER_TASK:-1}}"{more} \\
    --shard "${{SLURM_ARRAY_TASK_ID}}/{shares}" --output {where}/"{share}"
"""


def _database(folder: Path) -> Path:
    path = folder / DATABASE
    if not path.is_file():
        raise InvalidParameter(f"{folder}: must be the folder of a sweep, got one without {DATABASE}")
    return path
