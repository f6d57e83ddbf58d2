"""Code of the user's: files and names that configuration files and options refer to.

``my_module:FedAdam`` names an object in ``my_module.py`` beside the configuration file, or else in a module that Python
can import. A file is loaded once; modules beside it can be imported by it while it is loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from fltheory._internal import arguments
from fltheory.errors import InvalidParameter


def load_file(path: Path) -> ModuleType:
    """Return a Python file as a module; errors name file and line."""
    path = path.resolve()
    name = f"_own_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidParameter(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InvalidParameter(f"{_place(error, path)}: {type(error).__name__}: {error}") from error
    return module


def load_named(reference: str, *folders: Path) -> Any:
    """Return what ``module:name`` refers to; files in the folders come first, in their order.

    >>> load_named("math:pi", Path("."))
    3.141592653589793
    """
    module_name, _, name = reference.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        raise InvalidParameter(f"own code must be named as module:Name, got {reference!r}")
    module = _module(module_name, folders)
    if not hasattr(module, name):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise InvalidParameter(f"{module_name} has no {name!r}; {arguments.nearest(name, public) or 'check the name'}")
    return getattr(module, name)


def digest_of(reference: str, *folders: Path) -> str:
    """Return a digest of the file that a reference leads to, so that results of older code are not taken over."""
    file = getattr(_module(reference.partition(":")[0], folders), "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _module(name: str, folders: Sequence[Path]) -> ModuleType:
    files = [folder.joinpath(*name.split(".")).with_suffix(".py") for folder in folders]
    for file in files:
        if file.is_file():
            return load_file(file)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        listed = " or ".join(str(file) for file in files)
        raise InvalidParameter(f"{name} is neither {listed} nor a module that can be imported: {error}") from None


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let modules of a folder be imported, and forget them afterwards: another folder may have the same names."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == folder and not name.startswith("_own_"):
                del sys.modules[name]


def _place(error: BaseException, path: Path) -> str:
    """Return file and line of the user's code at which something went wrong."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == path.parent]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else str(path)
