"""Finding claims: the statements that can be listed, shown and checked.

Every file under ``bounds/<paper>/`` whose name does not start with an underscore states one claim, and so does every
such file of a folder that a user names. Listing reads the first four, literal, arguments of ``Claim(...)`` from the
text of the file; SymPy and the claims themselves are loaded only when one of them is used.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fltheory.errors import InvalidParameter

if TYPE_CHECKING:
    from fltheory.bounds._claim import Claim

ORDER = ("ruan", "efl", "cfl", "fen")
"""Papers in the order of listings; others follow by name."""

_HOME = Path(__file__).parent / "bounds"
_HEAD = re.compile(
    r"^claim(?:: Claim)? = Claim\(\s*"
    r'id="(?P<id>[^"]+)",\s*kind=Kind\.(?P<kind>\w+),\s*title="(?P<title>[^"]+)",\s*'
    r'source=Source\("(?P<paper>[^"]+)",\s*"(?P<reference>[^"]+)"\)',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim that has been found, not loaded."""

    id: str
    paper: str
    reference: str
    kind: str
    title: str
    path: Path

    def as_json(self) -> dict[str, str]:
        """Return what `list --json` prints."""
        return {name: getattr(self, name) for name in ("id", "paper", "reference", "kind", "title")}

    @property
    def name(self) -> str:
        """Name of the module; empty for a file outside the package."""
        inside = self.path.is_relative_to(_HOME)
        return f"fltheory.bounds.{self.path.parent.name}.{self.path.stem}" if inside else ""

    def module(self) -> ModuleType:
        """Import the file of the claim; its docstring is the page."""
        return importlib.import_module(self.name) if self.name else _outside(self.path)

    def load(self) -> Claim:
        """Return the claim itself."""
        claim: Claim = self.module().claim
        return claim


def index(folders: Iterable[Path] = ()) -> dict[str, Entry]:
    """Return all claims by id: those of the package, then those of the given folders.

    >>> index()["ruan.lemma-a.2"].reference
    'Lemma A.2, (14)'
    """
    found: dict[str, Entry] = {}
    for path in sorted(_HOME.glob("*/[!_]*.py")):
        _add(found, _entry(path))
    for folder in folders:
        if not folder.is_dir():
            raise InvalidParameter(f"--claims must name a folder with one file per claim, got '{folder}'")
        own = [_entry(path.resolve()) for path in sorted(folder.glob("[!_]*.py"))]
        if not own:
            raise InvalidParameter(f"--claims must name a folder with one file per claim, got none in '{folder}'")
        for entry in own:
            _add(found, entry)
    return dict(sorted(found.items(), key=lambda item: _rank(item[1])))


def select(patterns: Sequence[str], folders: Iterable[Path] = ()) -> list[Entry]:
    """Return the claims that match ids or globs such as ``ruan.*``, in the order of the listing."""
    known = index(folders)
    for pattern in patterns:
        if not any(fnmatchcase(id_, pattern) for id_ in known):
            close = difflib.get_close_matches(pattern, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else "see the ids with: fltheory list"
            raise InvalidParameter(f"no claim matches {pattern!r}; {hint}")
    return [entry for id_, entry in known.items() if any(fnmatchcase(id_, pattern) for pattern in patterns)]


def _entry(path: Path) -> Entry:
    head = _HEAD.search(path.read_text(encoding="utf-8"))
    if head is None:
        raise InvalidParameter(
            f'{path} must end in claim = Claim(id="...", kind=Kind..., title="...", source=Source("...", "..."), ...), '
            "with these four first and literal; a file that is no claim starts with an underscore"
        )
    return Entry(head["id"], head["paper"], head["reference"], head["kind"].lower(), head["title"], path)


def _add(found: dict[str, Entry], entry: Entry) -> None:
    other = found.setdefault(entry.id, entry)
    if other is not entry:
        raise InvalidParameter(f"claim {entry.id!r} is stated twice, in {other.path} and {entry.path}; rename one")


def _rank(entry: Entry) -> Any:
    numbered = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", entry.id)]
    return (ORDER.index(entry.paper) if entry.paper in ORDER else len(ORDER), entry.paper, numbered)


def _outside(path: Path) -> ModuleType:
    name = f"fltheory_claim_{abs(hash(str(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidParameter(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InvalidParameter(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
