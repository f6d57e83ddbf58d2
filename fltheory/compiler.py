"""Object files from numba functions, for :mod:`fltheory.kernels`.

An entry point is written around the function: it makes arrays of addresses and shapes in one table of integers, takes
real numbers from another, and has the function inlined, so that everything is compiled once and nothing of Python or
of numba's run-time library is left in the code. That is checked, since a missing function would end the process.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from fltheory.kernels import Kinds, ObjectCode

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
    lines, integers, reals = [], 0, 0
    names: dict[str, Any] = {"array": _array}
    for k, kind in enumerate(kinds):
        if kind == "real":
            value, reals = f"reals[{reals}]", reals + 1
        elif isinstance(kind, str):
            value, integers = f"integers[{integers}]", integers + 1
        else:
            dtype, axes = kind
            names[f"type{k}"] = np.dtype(dtype).type
            shape = "".join(f"integers[{integers + 1 + axis}], " for axis in range(int(axes)))
            value = f"array(integers[{integers}], ({shape}), type{k})"
            integers += 1 + int(axes)
        lines.append(f"    a{k} = {value}")
    call = f"    function({', '.join(f'a{k}' for k in range(len(kinds)))})"
    names["function"] = _njit(inline="always")(function.py_func)
    exec("\n".join(["def entry(integers, reals):", *lines, call]), names)
    options = {name: function.targetoptions[name] for name in ("error_model", "fastmath")}
    entry = _njit(**options, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(names["entry"])
    signature = (_types.CPointer(_types.int64), _types.CPointer(_types.float64))
    entry.compile(signature)
    result = entry.overloads[signature]
    module = result.library._final_module
    calls = {other.name for other in module.functions if other.is_declaration and not other.name.startswith("llvm.")}
    if not calls <= _C_LIBRARY:
        return None
    return ObjectCode(result.fndesc.llvm_func_name, sorted(calls | _IMPLIED), result.library._get_compiled_object())
