"""Where commands put their results, and how numbers are shown."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from fltheory.errors import InvalidParameter


def prepare(directory: Path, stale: Iterable[str]) -> None:
    """Make sure that results can be written, and that none of an earlier run are taken for those of this one."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
        for name in stale:
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"--output must be a directory that can be written to, got '{directory}': "
            f"{(error.strerror or str(error)).lower()}; choose another with --output"
        ) from None


def shown(mean: float | None, half_width: float | None) -> str:
    """Return a value as it stands in a table.

    >>> shown(0.12345, 0.001)
    '1.235e-01 ± 1e-03'
    """
    return f"{mean:.3e} ± {half_width:.0e}" if half_width else f"{mean:.3e}"
