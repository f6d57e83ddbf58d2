"""Text of a TOML file that can say where each of its keys stands.

The standard library's parser keeps no positions, so a key is looked up in the text again once there is something
to complain about. Keys inside an inline table or a list are reported at the line where it begins.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fltheory.errors import FltheoryError, InvalidParameter

Key = tuple[str | int, ...]
"""Where a value stands: names of tables, and numbers from 1 in lists of tables."""

LARGEST = 16 * 2**20
"""Bytes of the largest file that is read."""

ACCIDENTS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, MemoryError)
"""What a constructor raises when it trips over a value that it did not check."""

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z][\w.-]*)\s*\]\]?\s*(?:#.*)?$")
_ENTRY = re.compile(r"\s*([\w.-]+)\s*=")
_FIELD = re.compile(r"\S+\.(\w+)\s")
_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def dotted(key: Key) -> str:
    """Return a key as it is written in messages.

    >>> dotted(("algorithm", 2, "rate", "scale"))
    'algorithm[2].rate.scale'
    """
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class TomlText:
    """One TOML file.

    Parameters
    ----------
    path
        Name of the file in messages.
    text
        What is in it.
    moved
        Pairs of a key and the one where its value really stands in the text.
    note
        What to add to every message.
    folders
        Folders with algorithms of the user's own.
    """

    path: str
    text: str
    moved: tuple[tuple[Key, Key], ...] = ()
    note: str = ""
    folders: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path, folders: Iterable[Path] = ()) -> TomlText:
        """Read a file, or say why it cannot be read."""
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
        except OSError as error:
            raise InvalidParameter(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
        if len(content) > LARGEST:
            raise InvalidParameter(f"{path}: must have at most {LARGEST} bytes, got more")
        try:
            text = content.decode("utf-8-sig").replace("\r\n", "\n")  # some editors begin files with a mark
            return cls(path=str(path), text=text, folders=tuple(str(folder) for folder in folders))
        except UnicodeDecodeError as error:
            raise InvalidParameter(
                f"{path}: must be a TOML file in UTF-8, got byte {error.start} out of place"
            ) from None

    @property
    def folder(self) -> Path:
        """Folder of the file, in which data of the user are looked for."""
        return Path(self.path).parent

    @property
    def places(self) -> tuple[Path, ...]:
        """Where modules of the user are looked for: the folder of the file, then those that were named."""
        return self.folder, *(Path(folder) for folder in self.folders)

    def tables(self) -> dict[str, Any]:
        """Return the content, or raise with the line of the first mistake."""
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            place = _LINE.search(message)
            line = int(place[1]) if place else max(len(self.text.splitlines()), 1)
            column = f", column {place[2]}" if place else ""
            cause = _LINE.sub("", message).removesuffix(" (at end of document)")
            raise InvalidParameter(f"{self.path}:{line}: not valid TOML: {cause}{column}") from None
        except RecursionError:
            raise InvalidParameter(f"{self.path}: not valid TOML: nested too deeply") from None
        except ValueError:  # of Python, which reads no longer whole numbers
            most = sys.get_int_max_str_digits()
            raise InvalidParameter(f"{self.path}: a whole number must have at most {most} digits, got more") from None

    def refuse(self, key: Key, message: str) -> InvalidParameter:
        """Return the error about a key, with its place in front; the caller raises it."""
        line = self.line_of(key)
        text = f"{message}; {self.note}" if self.note else message
        return InvalidParameter(f"{self.path}:{line}: {text}" if line else f"{self.path}: {text}")

    @contextmanager
    def blaming(self, key: Key, table: Mapping[str, Any]) -> Iterator[None]:
        """Put the place of the culprit in front of whatever is raised while ``table`` is made use of."""
        try:
            yield
        except FltheoryError as error:
            culprit = _culprit(key, table, str(error))
            name, message = dotted(culprit), str(error)
            raise self.refuse(culprit, message if message.startswith(name) else f"{name}: {message}") from error
        except ACCIDENTS as error:
            name = f"{dotted(key)}: " if key else ""
            raise self.refuse(key, f"{name}cannot be built from these values: {error}") from error

    def line_of(self, key: Key) -> int | None:
        """Return the line of a key, or of the closest thing around it that has one."""
        for here, there in self.moved:
            if key[: len(here)] == here:
                key = (*there, *key[len(here) :])
                break
        best, found = 0, None
        current: Key = ()
        counts: Counter[tuple[str, ...]] = Counter()
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _HEADER.match(line):
                names = tuple(header[2].split("."))
                counts[names] += header[1] == "[["
                current = _numbered(names, counts)
                here = current
            elif entry := _ENTRY.match(line):
                here = (*current, *entry[1].split("."))
            else:
                continue
            if best < len(here) and key[: len(here)] == here:
                best, found = len(here), number
        return found


def _numbered(names: tuple[str, ...], counts: Counter[tuple[str, ...]]) -> Key:
    """Return the key of a header: a list of tables stands for its latest entry."""
    key: Key = ()
    for depth, name in enumerate(names, 1):
        key = (*key, name)
        if counts[names[:depth]]:
            key = (*key, counts[names[:depth]])
    return key


def _culprit(key: Key, table: Mapping[str, Any], message: str) -> Key:
    """Return the key of the field that a message ``Owner.field must be ...`` is about, or the table's own."""
    field = _FIELD.match(message)
    if field is None:
        return key
    if field[1] in table:
        return (*key, field[1])
    deeper = [found for found in _keys(key, table) if found[-1] == field[1]]
    return deeper[0] if len(deeper) == 1 else key


def _keys(key: Key, value: Any) -> Iterator[Key]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield (*key, name)
            yield from _keys((*key, name), item)
    elif isinstance(value, list):
        for index, item in enumerate(value, 1):
            yield from _keys((*key, index), item)
