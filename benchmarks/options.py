"""How the benchmarks are run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Options:
    """Choices of the command line.

    Parameters
    ----------
    quick
        Small sizes, to see that everything works; ratios are then not meaningful.
    repetitions
        Turns that every tool gets.
    peers_python
        Interpreter in which the peers are installed.
    folder
        Where data for the tools are written.
    """

    quick: bool
    repetitions: int
    peers_python: str
    folder: Path
