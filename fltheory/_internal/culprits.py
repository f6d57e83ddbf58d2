"""Where an error arose: file and line of the code that somebody outside of the package has written."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
"""Folder of the package."""

_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def location(error: BaseException) -> str:
    """Return ``file:line`` of the innermost frame outside of package and libraries, else of the innermost one.

    An error that Python finds while it parses a file is where the file is wrong.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    files = [(path, line) for path, line in frames if path.is_absolute()]
    own = [(path, line) for path, line in files if not _within(path, (HOME, *_LIBRARIES))]
    ours = [(path, line) for path, line in files if _within(path, (HOME / "bounds",))]
    for found in (own, ours, files):
        if found:
            path, line = found[-1]
            return f"{path}:{line}"
    return "unknown file"


def in_words(error: BaseException, *, kind: bool = True) -> str:
    """Return where an error arose and what it says, with its type unless ``kind`` is false."""
    text = f"{type(error).__name__}: {error}" if kind else str(error)
    return f"{location(error)}: {text}"


def _within(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
