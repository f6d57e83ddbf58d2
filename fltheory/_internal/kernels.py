r"""Compiled loops whose machine code is kept on disk, so that later processes need not load numba.

A :class:`Kernel` names a numba function that takes C-ordered arrays and numbers, writes its results into some of the
arrays, and neither allocates nor raises. The first call with arrays of given types compiles it
(:mod:`fltheory._internal.compiler`) and stores the object file; other processes link that file into themselves with
llvmlite,
which takes a tenth of the time that importing numba does. A stored file is used only if nothing has changed that
decides the code: the sources of the function and of all that they import from this package, the types, numba, llvmlite,
numba's settings and the processor. Where object files cannot be had, on other systems than Linux or with a numba that
is different inside, numba itself runs the function and keeps it in its own cache, which notices edits of its file only.

Files are in ``$FLTHEORY_CACHE_DIR``, or else in ``fltheory`` in the user's cache folder. A folder that cannot be
written to is read all the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib
import importlib.util
import json
import os
import re
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.files import write_bytes

Kinds = tuple[tuple[str, int] | str, ...]
"""Types of arguments: data type and number of axes of an array, ``integer`` or ``real``."""

_ROOT = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from\s+(fltheory[\w.]*)\s+import\s+(\([\w\s,]*\)|[\w ,]*)", re.MULTILINE)
_LOADING = threading.RLock()


class ObjectCode(NamedTuple):
    """An object file, the function in it, and the functions of the C library that it calls."""

    symbol: str
    calls: list[str]
    content: bytes

    def packed(self) -> bytes:
        """Return a digest, and the header and the content that it is the digest of."""
        rest = json.dumps([self.symbol, self.calls]).encode() + b"\n" + self.content
        return hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest

    @staticmethod
    def unpacked(data: bytes) -> ObjectCode:
        """Undo :meth:`packed`; raises :class:`ValueError` if the data are damaged."""
        digest, _, rest = data.partition(b"\n")
        if hashlib.sha256(rest).hexdigest().encode() != digest:
            raise ValueError("damaged object file")
        header, _, content = rest.partition(b"\n")
        symbol, calls = json.loads(header)
        return ObjectCode(symbol, calls, content)


class Kernel:
    """A compiled loop, to be called with arrays and numbers.

    Parameters
    ----------
    module, function
        Where the numba function is; the module is imported only to compile.
    """

    def __init__(self, module: str, function: str) -> None:
        self._module = module
        self._function = function
        self._loaded: dict[Kinds, Callable[..., None]] = {}

    def __call__(self, *arguments: Any) -> None:
        kinds: list[tuple[str, int] | str] = []
        integers: list[int] = []
        reals: list[float] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                if not argument.flags.c_contiguous:
                    raise ValueError(f"{self._function} needs C-ordered arrays, got strides {argument.strides}")
                kinds.append((argument.dtype.str, argument.ndim))
                integers.append(argument.__array_interface__["data"][0])
                integers += argument.shape
            elif isinstance(argument, float):
                kinds.append("real")
                reals.append(argument)
            else:
                kinds.append("integer")
                integers.append(int(argument))
        key = tuple(kinds)
        run = self._loaded.get(key)
        if run is None:
            with _LOADING:
                run = self._loaded.get(key) or self._loaded.setdefault(key, self._load(key))
        run(arguments, integers, reals)

    def _load(self, kinds: Kinds) -> Callable[..., None]:
        place = _place(self._module, self._function, kinds)
        code = _stored(place)
        if code is None:
            function = getattr(importlib.import_module(self._module), self._function)
            code = _compiled(function, kinds)
            if code is None:
                return lambda arguments, integers, reals: function(*map(_for_numba, arguments))
            _store(place, code)
        return _linked(code, self._function)


def _compiled(function: Any, kinds: Kinds) -> ObjectCode | None:
    """Compile a numba function; ``None`` means that it has to be left to numba."""
    if sys.platform != "linux":
        return None  # linking has been tried there only, and a mistake in it would end the process
    try:
        from fltheory._internal.compiler import object_code

        return object_code(function, kinds)
    except Exception:  # what is used there of numba may change; if the function is wrong, numba says so
        return None


def _for_numba(argument: Any) -> Any:
    """Return an argument in a type that depends on its kind only, since numba compiles for every type anew."""
    if isinstance(argument, np.ndarray):
        return np.require(argument, requirements="W")
    return argument if isinstance(argument, float) else int(argument)


def _linked(code: ObjectCode, name: str) -> Callable[..., None]:
    """Link an object file into this process and return its function."""
    from llvmlite import binding  # type: ignore[import-untyped]

    library = ctypes.CDLL(None)
    for call in code.calls:
        binding.add_symbol(call, ctypes.cast(getattr(library, call), ctypes.c_void_p).value)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code.content))
    engine.finalize_object()
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer, pointer)(
        engine.get_function_address(code.symbol)
    )
    unused = ctypes.create_string_buffer(16)

    def run(_: tuple[Any, ...], integers: list[int], reals: list[float]) -> None:
        first, second = struct.pack(f"{len(integers)}q", *integers), struct.pack(f"{len(reals)}d", *reals)
        if function(unused, unused, first, second) != 0:
            raise RuntimeError(f"{name} has failed")

    run.engine = engine  # type: ignore[attr-defined]  # the code lives as long as its engine
    return run


def cache_folder() -> Path:
    """Return where object files are kept."""
    if chosen := os.environ.get("FLTHEORY_CACHE_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "fltheory"


def _place(module: str, function: str, kinds: Kinds) -> Path:
    """Return the file of a kernel; its name tells all that decides the code."""
    decisive = repr((_sources(module), kinds, _platform())).encode()
    return cache_folder() / f"{module}.{function}-{hashlib.sha256(decisive).hexdigest()[:32]}.o"


@functools.cache
def _platform() -> tuple[Any, ...]:
    from llvmlite import __version__, binding

    settings = sorted(
        (name, value) for name, value in os.environ.items() if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR"
    )
    numba = importlib.util.find_spec("numba")
    version = _text(Path(numba.origin).with_name("_version.py")) if numba and numba.origin else ""
    features = binding.get_host_cpu_features().flatten()
    return sys.version_info[:2], version, __version__, settings, binding.get_host_cpu_name(), features


@functools.cache
def _sources(module: str) -> list[tuple[str, str]]:
    """Return the sources of a module, of the compiler here, and of all that they import from this package."""
    found: dict[str, str] = {}
    waiting = [module, "fltheory._internal.compiler"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _text(_ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py"))
            for package, names in _IMPORT.findall(found[name]):
                waiting += [package, *(f"{package}.{part}" for part in re.findall(r"\w+", names))]
    return sorted((name, text) for name, text in found.items() if text)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _stored(place: Path) -> ObjectCode | None:
    try:
        return ObjectCode.unpacked(place.read_bytes())
    except (OSError, ValueError):
        return None


def _store(place: Path, code: ObjectCode) -> None:
    """Write the file in one go, since other processes may be reading; without a place to write, do nothing."""
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(place, code.packed())
