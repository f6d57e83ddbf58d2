"""Vectors of doubles in the intermediate language of numba's compiler, for tiles that keep them in registers.

Loops over scalars are turned into vectors by the compiler as well, but slowly, with a scalar rest, and not always.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4
"""Doubles of a vector."""

VECTOR = ir.VectorType(ir.DoubleType(), LANES)
SINGLES = ir.VectorType(ir.FloatType(), LANES)
WORDS = ir.VectorType(ir.IntType(64), LANES)

_FUSED = ("contract",)


def tile(build: Callable[..., None]) -> Any:
    """Return a loop that is written in vectors, to be called with arrays and numbers by functions that numba compiles.

    ``build`` is given an instruction builder, then an :class:`Array` for every array and a value for every number.
    """

    def generate(context: Any, builder: Any, typing: Any, arguments: Any) -> Any:
        def seen(kind: Any, value: Any) -> Any:
            if not isinstance(kind, types.Array):
                return value
            array = context.make_array(kind)(context, builder, value)
            return Array(builder, array.data, cgutils.unpack_tuple(builder, array.shape, kind.ndim))  # type: ignore[no-untyped-call]

        build(builder, *map(seen, typing.args, arguments))
        return context.get_dummy_value()

    def typed(_: Any, *kinds: Any) -> Any:
        return types.void(*kinds), generate

    # Numba asks for the names of the arguments.
    names = list(signature(build).parameters)
    typed.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])  # type: ignore[attr-defined]
    typed.__name__ = build.__name__
    return intrinsic(typed)


class Vector:
    """A vector with arithmetic. Numbers stand for vectors that repeat them; products and sums may be ``fused``."""

    __slots__ = ("_flags", "builder", "value")

    def __init__(self, builder: Any, value: Any, *, fused: bool = True) -> None:
        self.builder = builder
        self.value = ir.Constant(VECTOR, [value] * LANES) if isinstance(value, float) else value
        self._flags = _FUSED if fused else ()

    def __add__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fadd(self.value, self.like(other).value, flags=self._flags))

    def __sub__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fsub(self.value, self.like(other).value, flags=self._flags))

    def __mul__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fmul(self.value, self.like(other).value, flags=self._flags))

    def __truediv__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fdiv(self.value, self.like(other).value))

    def __neg__(self) -> Vector:
        return self.like(self.builder.fneg(self.value))

    def like(self, other: Any) -> Vector:
        """Return a vector of the same kind of a number, or of a value of the same builder."""
        if isinstance(other, Vector):
            return other
        if isinstance(other, float):
            kind = self.value.type
            other = ir.Constant(kind, [_rounded(other, kind.element)] * kind.count)
        return Vector(self.builder, other, fused=bool(self._flags))

    def where(self, relation: str, other: Vector | float, yes: Vector | float, no: Vector | float) -> Vector:
        """Return ``yes`` where ``self relation other`` holds, and ``no`` elsewhere, also at NaN."""
        holds = self.builder.fcmp_ordered(relation, self.value, self.like(other).value)
        return self.like(self.builder.select(holds, self.like(yes).value, self.like(no).value))

    def at_least(self, other: Vector | float) -> Vector:
        """Return the larger of two; NaN stays NaN."""
        return self.where("<", other, other, self)

    def words(self) -> Any:
        """Return the bits as integers."""
        return self.builder.bitcast(self.value, WORDS)

    def polynomial(self, coefficients: list[float]) -> Vector:
        """Return a polynomial, coefficients from the constant one on."""
        total = self.like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = total * self + coefficient
        return total


def _rounded(number: float, kind: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", number))[0]) if kind == ir.FloatType() else number


class Place:
    """A place for a vector that changes in a loop; the compiler keeps it in a register."""

    def __init__(self, vector: Vector) -> None:
        self._builder = vector.builder
        self._made = room(self._builder, VECTOR)
        self.set(vector)

    def set(self, vector: Vector) -> None:
        """Change the content."""
        self._builder.store(vector.value, self._made)

    def get(self) -> Vector:
        """Return the content."""
        return Vector(self._builder, self._builder.load(self._made))


class Array:
    """A C-ordered array while a loop is being built: the address of its first entry, its sizes and its type."""

    def __init__(self, builder: Any, data: Any, shape: Sequence[Any], dtype: str = "float64") -> None:
        self.data = data
        self.shape = list(shape)
        self.dtype = dtype
        self._builder = builder

    def at(self, *index: Any) -> Any:
        """Return the address of an entry; a single number counts entries from the first on, whatever the shape."""
        place = index[0]
        for size, i in zip(self.shape[1:], index[1:], strict=False):
            place = self._builder.add(self._builder.mul(place, size), i)
        return self._builder.gep(self.data, [place])

    def part(self, *index: Any) -> Array:
        """Return the array of the entries that begin with an index."""
        rest = self.shape[len(index) :]
        zeros = [ir.Constant(ir.IntType(64), 0)] * len(rest)
        return Array(self._builder, self.at(*index, *zeros), rest, self.dtype)

    def load(self, *index: Any) -> Vector:
        """Return the vector that begins at an entry."""
        return load(self._builder, self.at(*index))

    def store(self, vector: Vector, *index: Any) -> None:
        """Write a vector from an entry on."""
        store(vector, self.at(*index))


def room(builder: Any, kind: Any) -> Any:
    """Return the address of room for a value of this type, made once per call of the function."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


@contextmanager
def loop(builder: Any, stop: Any, step: int = 1) -> Iterator[Any]:
    """Build a loop from zero; the context is its counter."""
    before = builder.block
    condition, body, after = (builder.append_basic_block(name) for name in ("condition", "body", "after"))
    builder.branch(condition)
    builder.position_at_end(condition)
    counter = builder.phi(stop.type)
    counter.add_incoming(ir.Constant(stop.type, 0), before)
    builder.cbranch(builder.icmp_signed("<", counter, stop), body, after)
    builder.position_at_end(body)
    yield counter
    counter.add_incoming(builder.add(counter, ir.Constant(stop.type, step), flags=["nsw"]), builder.block)
    builder.branch(condition)
    builder.position_at_end(after)


def further(builder: Any, first: Any, count: int, step: int = 1) -> list[Any]:
    """Return ``count`` integers from ``first`` on."""
    return [builder.add(first, ir.Constant(first.type, step * k)) for k in range(count)]


def load(builder: Any, pointer: Any, kind: Any = VECTOR) -> Vector:
    """Return the vector of doubles, or of singles made double, that begins at an entry of an array."""
    loaded = builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4 if kind is SINGLES else 8)
    return Vector(builder, builder.fpext(loaded, VECTOR) if kind is SINGLES else loaded)


def store(vector: Vector, pointer: Any) -> None:
    """Write a vector from an entry of an array on."""
    builder = vector.builder
    builder.store(vector.value, builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


def repeated(builder: Any, number: Any) -> Vector:
    """Return a vector that repeats a number."""
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    vector = Vector(builder, first)
    return shuffled(vector, vector, [0] * LANES)


def shuffled(a: Vector, b: Vector, order: list[int]) -> Vector:
    """Return entries of two vectors in a given order."""
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), order)
    return a.like(a.builder.shuffle_vector(a.value, b.value, places))


def whole_words(number: int) -> Any:
    """Return a vector that repeats an integer."""
    return ir.Constant(WORDS, [number] * LANES)
