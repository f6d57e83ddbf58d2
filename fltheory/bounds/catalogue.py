"""Finding claims: the statements that can be listed, shown and checked.

Every file under ``bounds/<paper>/`` whose name does not start with an underscore states one claim, and so does every
such file of a folder that a user names; a file without an assignment to ``claim`` is a helper and is skipped. Listing
parses the call ``Claim(...)`` for its id, kind, title and citation, which have to be written out; SymPy and the claims
themselves are loaded only when one of them is used.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fltheory._internal.culprits import in_words
from fltheory.bounds.papers import PAPERS
from fltheory.errors import FltheoryError, InvalidParameter

if TYPE_CHECKING:
    from fltheory.bounds.claim import Claim

ORDER = tuple(PAPERS)
"""Papers in the order of listings; others follow by name."""

_HOME = Path(__file__).parent
_PREFIX = "fltheory_claim_"
_CLAIM = re.compile(r"^claim\b", re.MULTILINE)


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
        """Return the claim itself, with its page."""
        module = self.module()
        claim: Claim = module.claim
        if not hasattr(claim, "with_page"):  # no claim at all, as whoever uses it will say
            return claim
        found = _LOADED.get(self.path)
        if found is None or found[0] is not claim:
            found = _LOADED[self.path] = claim, claim.with_page(inspect.getdoc(module) or "")
        return found[1]


_LOADED: dict[Path, tuple[Claim, Claim]] = {}
"""Claims as they stand in their files, and with their pages."""

Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One folder with claims, or several."""


def folders(claims: Folders) -> tuple[Path, ...]:
    """Return folders as paths."""
    if isinstance(claims, str | os.PathLike):
        return (Path(claims),)
    if not isinstance(claims, Iterable) or not all(isinstance(folder, str | os.PathLike) for folder in claims):
        raise InvalidParameter(f"claims must be a folder with claims, or a list of folders, got {claims!r}")
    return tuple(Path(folder) for folder in claims)


def index(folders: Iterable[Path] = ()) -> dict[str, Entry]:
    """Return all claims by id: those of the package, then those of the given folders.

    >>> index()["ruan.lemma-a.2"].reference
    'Lemma A.2, (14)'
    """
    found: dict[str, Entry] = {}
    for path in sorted(_HOME.glob("*/[!_]*.py")):
        if (entry := _entry(path)) is not None:
            _add(found, entry)
    for folder in folders:
        if not folder.is_dir():
            raise InvalidParameter(f"--claims must name a folder with one file per claim, got '{folder}'")
        read = (_entry(path.resolve()) for path in sorted(folder.glob("[!_]*.py")))
        own = [entry for entry in read if entry is not None]
        if not own:
            raise InvalidParameter(f"--claims must name a folder with one file per claim, got none in '{folder}'")
        for entry in own:
            _add(found, entry)
    return dict(sorted(found.items(), key=lambda item: rank(item[1].paper, item[0])))


def select(patterns: str | Iterable[str], folders: Iterable[Path] = ()) -> list[Entry]:
    """Return the claims that match an id or a glob such as ``ruan.*``, or several, in the order of the listing."""
    if isinstance(patterns, str) or not isinstance(patterns, Iterable):
        patterns = [patterns]
    patterns = list(patterns)
    if not patterns:
        raise InvalidParameter("no claim is named; name one by its id, such as 'ruan.theorem-3.1', or all by '*'")
    known = index(folders)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise InvalidParameter(f"a claim is named by its id, such as 'ruan.theorem-3.1', got {pattern!r}")
        if not any(fnmatchcase(id_, pattern) for id_ in known):
            raise InvalidParameter(f"no claim matches {pattern!r}; {_hint(pattern, known)}")
    return [entry for id_, entry in known.items() if any(fnmatchcase(id_, pattern) for pattern in patterns)]


def _hint(pattern: str, known: Mapping[str, Entry]) -> str:
    """Return what may have been meant: all claims of a paper, all whose ids begin so, or the nearest id."""
    if not pattern:
        return "see the ids with: fltheory list"
    beginning = [
        f"{start}*" for start in (f"{pattern.rstrip('.')}.", pattern) if any(i.startswith(start) for i in known)
    ]
    papers = difflib.get_close_matches(pattern, [entry.paper for entry in known.values()], n=1, cutoff=0.7)
    meant = [*beginning, *difflib.get_close_matches(pattern, list(known), n=1), *(f"{paper}.*" for paper in papers)]
    return f"did you mean {meant[0]!r}?" if meant else "see the ids with: fltheory list"


def select_one(id_: str, folders: Iterable[Path] = ()) -> Entry:
    """Return the one claim that an id or glob matches."""
    found = select([id_], folders)
    if len(found) != 1:
        raise InvalidParameter(f"{id_!r} matches {len(found)} claims; name one of them")
    return found[0]


def _entry(path: Path) -> Entry | None:
    """Return the claim of a file, read from its text unless it is as before; ``None`` for a file that states none."""
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=4096)
def _read(path: Path, changed: int, size: int) -> Entry | None:
    """Return the claim of a file that was changed at a time, and has a size.

    Only the assignment to ``claim`` and what follows it is parsed, so that listing all claims stays quick.
    """
    text = path.read_text(encoding="utf-8")
    begin = _CLAIM.search(text)
    if begin is None:
        return None
    try:
        statement = ast.parse(text[begin.start() :]).body[0]
    except SyntaxError as error:
        line = text.count("\n", 0, begin.start()) + (error.lineno or 1)
        raise InvalidParameter(f"{path}:{line}: not valid Python: {error.msg}") from None
    call = getattr(statement, "value", None)
    line = text.count("\n", 0, begin.start()) + 1
    if not isinstance(call, ast.Call) or _last_name(call.func) != "Claim":
        raise InvalidParameter(f"{path}:{line}: claim must be a call of Claim(...); rename what is not a claim")
    given = {word.arg: word.value for word in call.keywords if word.arg}
    where = f"{path}:{line}: Claim"
    citation = given.get("citation")
    if not isinstance(citation, ast.Call) or _last_name(citation.func) != "Citation":
        raise InvalidParameter(
            f"{where}.citation must be written as Citation(paper, reference), so that it can be listed"
        )
    cited = dict(zip(("paper", "reference"), citation.args, strict=False))
    cited |= {word.arg: word.value for word in citation.keywords if word.arg}
    kind = given.get("kind")
    if not isinstance(kind, ast.Attribute):
        raise InvalidParameter(f"{where}.kind must be written as a member of Kind, such as Kind.LEMMA")
    words = {
        name: _literal(where, name, {**given, **cited}.get(name)) for name in ("id", "paper", "reference", "title")
    }
    return Entry(**words, kind=kind.attr.lower(), path=path)


def uses(entry: Entry) -> tuple[str, ...]:
    """Return the statements that the published proof of a claim uses, read from its text like all that is listed."""
    text = entry.path.read_text(encoding="utf-8")
    begin = _CLAIM.search(text)
    assert begin is not None  # otherwise there would be no entry
    call = getattr(ast.parse(text[begin.start() :]).body[0], "value", None)
    given = {word.arg: word.value for word in call.keywords} if isinstance(call, ast.Call) else {}
    try:
        return tuple(map(str, ast.literal_eval(given["uses"]))) if "uses" in given else ()
    except ValueError:  # not written out
        return entry.load().uses


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literal(where: str, name: str, node: ast.expr | None) -> str:
    try:
        value = None if node is None else ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, str):
        raise InvalidParameter(f"{where}.{name} must be a string written out in the file, so that it can be listed")
    return value


def _add(found: dict[str, Entry], entry: Entry) -> None:
    other = found.setdefault(entry.id, entry)
    if other is not entry:
        raise InvalidParameter(f"claim {entry.id!r} is stated twice, in {other.path} and {entry.path}; rename one")


def rank(paper: str, id_: str) -> Any:
    """Return what claims are sorted by: papers in their order, then numbers in ids by their value."""
    numbered = [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.split(r"(\d{1,9})", id_)]
    return (ORDER.index(paper) if paper in ORDER else len(ORDER), paper, numbered)


def _outside(path: Path) -> ModuleType:
    """Load a file outside of the package; files beside it can be imported meanwhile, and are forgotten afterwards."""
    folder = path.parent
    # An edit of the file or of a helper makes another module of it, so that nothing stale is taken.
    texts = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    name = f"{_PREFIX}{hashlib.sha256(str(path).encode() + texts).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidParameter(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _beside(folder):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InvalidParameter(in_words(error, kind=not isinstance(error, FltheoryError))) from error
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Put a folder on the path, in front; modules that were imported from it are forgotten at the end."""
    before = dict(sys.modules)
    hidden = ({file.stem for file in folder.glob("*.py")} & before.keys()) - sys.stdlib_module_names
    for name in hidden:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file is not None and Path(file).parent == folder and not name.startswith(_PREFIX):
                del sys.modules[name]
        sys.modules.update({name: before[name] for name in hidden})
