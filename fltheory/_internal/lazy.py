"""Public names that are loaded on first use, so that importing a package costs nothing.

A package lists its public names once, in its stub ``__init__.pyi``, one ``from module import name as name`` a line.
Type checkers read the stub; :func:`attach` reads the same lines at run time and imports a module when one of its names
is asked for.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EXPORT = re.compile(r"^from (?P<module>[\w.]+) import (?P<name>\w+) as (?P=name)$", re.MULTILINE)


def exports(stub: Path) -> dict[str, str]:
    """Return the public names of a stub with the modules they come from."""
    return {found["name"]: found["module"] for found in _EXPORT.finditer(stub.read_text(encoding="utf-8"))}


def attach(package: str, file: str, *more: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package; ``more`` are names that it defines itself."""
    homes = exports(Path(file).with_suffix(".pyi"))
    names = sorted((*homes, *more))

    def get(name: str) -> Any:
        if name not in homes:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close and not name.startswith("_") else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home = homes[name]
        submodule = f"{home}.{name}"
        module = importlib.import_module(home)
        found = getattr(module, name, None) if home != package else None
        return importlib.import_module(submodule) if found is None else found

    return get, lambda: names, names
