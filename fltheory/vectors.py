"""Vectors of doubles in the intermediate language of numba's compiler, for tiles that keep them in registers.

Loops over scalars are turned into vectors by the compiler as well, but slowly, with a scalar rest, and not always.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

LANES = 4
"""Doubles of a vector."""

VECTOR = ir.VectorType(ir.DoubleType(), LANES)
SINGLES = ir.VectorType(ir.FloatType(), LANES)
WORDS = ir.VectorType(ir.IntType(64), LANES)

_FUSED = ("contract",)


class Vector:
    """A vector with arithmetic; products and sums may be fused. Numbers stand for vectors that repeat them."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = ir.Constant(VECTOR, [value] * LANES) if isinstance(value, float) else value

    def __add__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fadd(self.value, self.like(other).value, flags=_FUSED))

    def __sub__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fsub(self.value, self.like(other).value, flags=_FUSED))

    def __mul__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fmul(self.value, self.like(other).value, flags=_FUSED))

    def __truediv__(self, other: Vector | float) -> Vector:
        return self.like(self.builder.fdiv(self.value, self.like(other).value))

    def __neg__(self) -> Vector:
        return self.like(self.builder.fneg(self.value))

    def like(self, other: Any) -> Vector:
        """Return a vector, made with the same builder, of a number or of a value of that builder."""
        return other if isinstance(other, Vector) else Vector(self.builder, other)

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


class Place:
    """A place for a vector that changes in a loop; the compiler keeps it in a register."""

    def __init__(self, vector: Vector) -> None:
        self._builder = vector.builder
        self._made = cgutils.alloca_once(self._builder, VECTOR)  # type: ignore[no-untyped-call]
        self.set(vector)

    def set(self, vector: Vector) -> None:
        """Change the content."""
        self._builder.store(vector.value, self._made)

    def get(self) -> Vector:
        """Return the content."""
        return Vector(self._builder, self._builder.load(self._made))


class Array:
    """A C-ordered array while a tile is being built."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self.shape = cgutils.unpack_tuple(builder, array.shape, kind.ndim)  # type: ignore[no-untyped-call]
        self._data = array.data
        self._builder = builder

    def at(self, *index: Any) -> Any:
        """Return the address of an entry; a single number counts entries from the first on, whatever the shape."""
        place = index[0]
        for size, i in zip(self.shape[1:], index[1:], strict=False):
            place = self._builder.add(self._builder.mul(place, size), i)
        return self._builder.gep(self._data, [place])

    def load(self, *index: Any) -> Vector:
        """Return the vector that begins at an entry."""
        return load(self._builder, self.at(*index))

    def store(self, vector: Vector, *index: Any) -> None:
        """Write a vector from an entry on."""
        store(vector, self.at(*index))


@contextmanager
def loop(builder: Any, stop: Any, step: int = 1) -> Iterator[Any]:
    """Build a loop from zero; the context is its counter."""
    zero, by = ir.Constant(stop.type, 0), ir.Constant(stop.type, step)
    with cgutils.for_range_slice(builder, zero, stop, by) as (counter, _):
        yield counter


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
