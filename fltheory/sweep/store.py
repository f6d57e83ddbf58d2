"""Results of a sweep in one SQLite file: each is there the moment it is finished, and stays.

A row is found again by its key, a digest of everything that decides the result. Rows of other code or of an edited file
stay in the table ``runs`` under keys that nobody asks for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory.errors import InvalidParameter
from fltheory.simulation.run_result import DONE, NOT_RUN, Final

_JSON = ("point", "final", "versions")
_ROW = {
    **dict.fromkeys(("key", "label", "algorithm", "engine", "status", "error", "commit", "time"), str),
    **dict.fromkeys(("seed", "replicates"), int),
    "point": dict,
    "final": shapes.Values({"mean": (float, None), "half_width": (float, None)}),
    "seconds": float,
    "versions": shapes.Values(str),
}
_AT_ONCE = 500
_MOUNTS = Path("/proc/self/mounts")
_OCTAL = re.compile(r"\\([0-7]{3})")
_LOCAL = ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay")
"""File systems on which a log beside the database works."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One algorithm at one point of a grid: a row of the table ``runs``.

    Parameters
    ----------
    key
        Digest of everything that decides the result.
    point
        Swept values by name of their parameter.
    label, algorithm
        Label in the file, and title of the algorithm.
    engine, seed, replicates
        As for :func:`fltheory.simulate`.
    status, error
        A word for what became of it, and the message if it failed.
    final
        Last value of every recorded curve, with the half-width of its band.
    seconds
        Taken by the run.
    versions, commit, time
        Where it comes from.
    """

    key: str
    point: dict[str, Any]
    label: str
    algorithm: str
    engine: str
    seed: int
    replicates: int
    status: str = NOT_RUN
    error: str = ""
    final: Final = field(default_factory=dict)
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    commit: str = ""
    time: str = ""

    @property
    def done(self) -> bool:
        return self.status == DONE


# A column without a kind keeps what it is given: seeds that SQLite has no integers for are written as text.
_KINDS = {"seed": "", "replicates": "INTEGER", "seconds": "REAL"}
_COLUMNS = [f.name for f in dataclasses.fields(Run)]
_TABLE = ", ".join(
    f'"{name}" {_KINDS.get(name, "TEXT")} NOT NULL{" PRIMARY KEY" if name == "key" else ""}' for name in _COLUMNS
)


class Store:
    """The table ``runs`` of one file; use it in a ``with`` statement.

    Parameters
    ----------
    path
        The file; it is made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opening():
            self._connection = sqlite3.connect(path)
            try:
                if not _on_network(path):
                    # Not one wait for the disk per row. A killed process loses nothing; a power failure may cost the
                    # last rows, which are then run again.
                    self._connection.execute("PRAGMA journal_mode = WAL")
                    self._connection.execute("PRAGMA synchronous = NORMAL")
                with self._connection:
                    self._connection.execute(f"CREATE TABLE IF NOT EXISTS runs ({_TABLE})")
                found = [row[1] for row in self._connection.execute("PRAGMA table_info(runs)")]
                if found != _COLUMNS:
                    raise sqlite3.DatabaseError(f"its table runs has the columns {', '.join(found)}")
            except sqlite3.Error:
                self._connection.close()
                raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(sqlite3.Error):  # another process has it open
            self._connection.execute("PRAGMA journal_mode = DELETE")  # one file, that can be copied and only read
        self._connection.close()

    def keep(self, runs: Iterable[Run]) -> None:
        """Write rows in one transaction; a row with the same key is replaced."""
        names = ", ".join(f'"{name}"' for name in _COLUMNS)
        marks = ", ".join("?" * len(_COLUMNS))
        try:
            with self._connection:
                self._connection.executemany(
                    f"INSERT OR REPLACE INTO runs ({names}) VALUES ({marks})", [_written(run) for run in runs]
                )
        except sqlite3.Error as error:
            raise _not_kept(error, self.path) from error

    def recall(self, keys: Iterable[str]) -> dict[str, Run]:
        """Return the rows with the given keys, as far as they are there."""
        wanted = list(keys)
        found: dict[str, Run] = {}
        with self._opening():
            for first in range(0, len(wanted), _AT_ONCE):
                some = wanted[first : first + _AT_ONCE]
                rows = self._connection.execute(f"SELECT * FROM runs WHERE key IN ({', '.join('?' * len(some))})", some)
                found.update((row[0], _read(row)) for row in rows)
        return found

    def everything(self) -> list[Run]:
        """Return all rows."""
        with self._opening():
            return [_read(row) for row in self._connection.execute("SELECT * FROM runs")]

    @contextlib.contextmanager
    def _opening(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
            if _of_the_system(error):
                raise _not_kept(error, self.path) from error
            raise InvalidParameter(
                f"{self.path}: must be a database that fltheory sweep has written, got one that cannot be used: "
                f"{error}; move it away, or choose another directory with --output"
            ) from error


def _of_the_system(error: Exception) -> bool:
    """Return whether the disk is to blame, and not what is in the file."""
    name: str = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_FULL", "SQLITE_IOERR"))


def _not_kept(error: Exception, path: Path) -> OSError:
    return OSError(errno.EIO, f"results cannot be kept, {error}", str(path))


def _on_network(path: Path) -> bool:
    """Return whether a file is on a network file system, or may be: SQLite's log works on local ones only."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return True
    place = path.absolute().parent.resolve()
    kinds = {_OCTAL.sub(_letter, fields[1]): fields[2] for fields in map(str.split, mounts)}
    return next((kinds[str(at)] for at in (place, *place.parents) if str(at) in kinds), "") not in _LOCAL


def _letter(octal: re.Match[str]) -> str:
    """Return what stands for a blank in the list of the system, say."""
    return chr(int(octal[1], 8))


def _written(run: Run) -> list[Any]:
    values = {name: getattr(run, name) for name in _COLUMNS}
    values.update({name: json.dumps(values[name], allow_nan=False) for name in _JSON})
    values["seed"] = run.seed if run.seed < 2**63 else str(run.seed)
    return list(values.values())


def _read(row: tuple[Any, ...]) -> Run:
    values = dict(zip(_COLUMNS, row, strict=True))
    values.update({name: json.loads(values[name]) for name in _JSON})
    if isinstance(values["seed"], str):
        values["seed"] = int(values["seed"])
    shapes.check(values, _ROW, f"row {str(values['key'])[:12]}")
    return Run(**values)
