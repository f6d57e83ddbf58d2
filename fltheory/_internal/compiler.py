"""Object files from numba functions, for :mod:`fltheory._internal.kernels`.

An entry point is written around the function: it makes arrays of addresses and shapes in one table of integers, takes
real numbers from another, and has the function inlined, so that everything is compiled once and nothing of Python or
of numba's run-time library is left in the code. That is checked, since a missing function would end the process.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from fltheory._internal.kernels import Kinds, ObjectCode

# What is used of numba here is not typed.
_njit: Any = numba.njit
_types: Any = numba.types
_populate: Any = arrayobj.populate_array
_pack: Any = cgutils.pack_array

_IMPLIED = {"memcpy", "memmove", "memset"}
_C_LIBRARY = {*_IMPLIED, "log1p", "sqrt", "sqrtf"}


def _array_at(_: Any, address: Any, shape: Any, kind: Any) -> Any:
    """Make a C-ordered array of what is at an address; nobody owns it."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result = signature.return_type
        content = context.get_data_type(result.dtype)
        itemsize = context.get_constant(_types.intp, context.get_abi_sizeof(content))
        sizes = cgutils.unpack_tuple(builder, arguments[1])  # type: ignore[no-untyped-call]
        strides = [itemsize]
        for size in reversed(sizes[1:]):
            strides.insert(0, builder.mul(strides[0], size))
        array = context.make_array(result)(context, builder)
        _populate(
            array,
            data=builder.inttoptr(arguments[0], content.as_pointer()),
            shape=_pack(builder, sizes),
            strides=_pack(builder, strides),
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue()

    return _types.Array(kind.dtype, len(shape), "C")(_types.int64, shape, kind), build


_array: Any = intrinsic(_array_at)


def object_code(function: Any, kinds: Kinds) -> ObjectCode | None:
    """Compile a numba function for arguments of these types; ``None`` if the code cannot stand alone."""
    options = {name: function.targetoptions[name] for name in ("error_model", "fastmath")}
    entry = _njit(**options, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(_entry(function, kinds))
    signature = (_types.CPointer(_types.int64), _types.CPointer(_types.float64))
    entry.compile(signature)
    result = entry.overloads[signature]
    module = result.library._final_module
    calls = {other.name for other in module.functions if other.is_declaration and not other.name.startswith("llvm.")}
    if not calls <= _C_LIBRARY:
        return None
    return ObjectCode(result.fndesc.llvm_func_name, sorted(calls | _IMPLIED), result.library._get_compiled_object())


def _entry(function: Any, kinds: Kinds) -> Any:
    """Return the function with its arguments taken from two tables.

    The lines that do so are put before those of the function: numba would take much longer to compile a call.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function.py_func)))
    (written,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    arguments = [argument.arg for argument in written.args.args]
    names: dict[str, Any] = {**function.py_func.__globals__, "_array": _array}
    lines, integers, reals = [], 0, 0
    for name, kind in zip(arguments, kinds, strict=True):
        if kind == "real":
            value, reals = f"_reals[{reals}]", reals + 1
        elif isinstance(kind, str):
            value, integers = f"_integers[{integers}]", integers + 1
        else:
            dtype, axes = kind
            names[f"_type_{name}"] = np.dtype(dtype).type
            shape = "".join(f"_integers[{integers + 1 + axis}], " for axis in range(int(axes)))
            value = f"_array(_integers[{integers}], ({shape}), _type_{name})"
            integers += 1 + int(axes)
        lines.append(f"{name} = {value}")
    written.decorator_list = []
    written.args = ast.parse("lambda _integers, _reals: 0", mode="eval").body.args  # type: ignore[attr-defined]
    written.body = ast.parse("\n".join(lines)).body + written.body
    exec(compile(tree, inspect.getsourcefile(function.py_func) or "<entry>", "exec"), names)
    return names[written.name]
