"""Vectors of doubles in the intermediate language of numba's compiler, for tiles that keep them in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

LANES = 4
"""Doubles of a vector."""

VECTOR = ir.VectorType(ir.DoubleType(), LANES)
SINGLES = ir.VectorType(ir.FloatType(), LANES)


def load(builder: Any, pointer: Any, kind: Any = VECTOR) -> Any:
    """Return the vector that begins at an entry of an array."""
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4 if kind is SINGLES else 8)


def store(builder: Any, vector: Any, pointer: Any) -> None:
    """Write a vector from an entry of an array on."""
    builder.store(vector, builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


def repeated(builder: Any, number: Any) -> Any:
    """Return a vector that repeats a number."""
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return shuffled(builder, first, first, [0] * LANES)


def shuffled(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    """Return entries of two vectors in a given order."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))


def place(builder: Any, vector: Any) -> Any:
    """Return a place for a vector, with this content; the compiler keeps it in a register."""
    made = cgutils.alloca_once(builder, VECTOR)  # type: ignore[no-untyped-call]
    builder.store(vector, made)
    return made


def multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, which may be fused."""
    return builder.fadd(builder.fmul(a, b, flags=("contract",)), c, flags=("contract",))
