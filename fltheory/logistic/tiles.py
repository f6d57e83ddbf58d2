"""Two tiles of small matrix products, written in the intermediate language of numba's compiler.

A tile keeps its eight vectors of partial sums in registers, so that a number once loaded is used several times. The
compiler does not arrive at this from loops over scalars, where it stops at half the speed. Matrices are C-ordered and
filled up to whole tiles by the caller; nothing is checked. The cache of a compiled function that uses a tile does not
notice changes of this file.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Doubles of a vector; rows and vectors of a tile; features of a tile.
LANES, ROWS, VECTORS = 4, 2, 4
WIDTH = LANES * VECTORS

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class _Matrix:
    """Loads and stores vectors of a C-ordered matrix while a tile is being built."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self.height, self.width = cgutils.unpack_tuple(builder, array.shape, 2)  # type: ignore[no-untyped-call]
        self._data = array.data
        self._builder = builder

    def load(self, i: Any, j: Any) -> Any:
        return self._builder.load(self._vector_at(i, j), align=8)

    def store(self, vector: Any, i: Any, j: Any) -> None:
        self._builder.store(vector, self._vector_at(i, j), align=8)

    def spread(self, i: Any, j: Any) -> Any:
        """Return a vector that repeats one entry."""
        return _repeated(self._builder, self._builder.load(self._at(i, j)))

    def _at(self, i: Any, j: Any) -> Any:
        return self._builder.gep(self._data, [self._builder.add(self._builder.mul(i, self.width), j)])

    def _vector_at(self, i: Any, j: Any) -> Any:
        return self._builder.bitcast(self._at(i, j), _VECTOR.as_pointer())


def _repeated(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return _shuffled(builder, first, first, [0] * LANES)


def _shuffled(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))


def _from(builder: Any, first: Any, count: int, step: int = 1) -> list[Any]:
    return [builder.add(first, ir.Constant(first.type, step * k)) for k in range(count)]


def _place(builder: Any) -> Any:
    """Return a place for a vector; the compiler keeps it in a register."""
    return cgutils.alloca_once(builder, _VECTOR)  # type: ignore[no-untyped-call]


def _multiply_into(builder: Any, place: Any, a: Any, b: Any) -> None:
    product = builder.fmul(a, b, flags=("contract",))
    builder.store(builder.fadd(builder.load(place), product, flags=("contract",)), place)


def _score_tile(_: Any, w: Any, c: Any, x: Any, b: Any, z: Any) -> Any:
    """Write the scores ``z[c : c + 2, b : b + 4]`` of two rows of ``w`` on four samples ``x``."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        model, samples, out = (_Matrix(context, builder, signature.args[k], arguments[k]) for k in (0, 2, 4))
        rows, columns = _from(builder, arguments[1], ROWS), _from(builder, arguments[3], LANES)
        sums = [[_place(builder) for _ in columns] for _ in rows]
        for place in (place for row in sums for place in row):
            builder.store(ir.Constant(_VECTOR, [0.0] * LANES), place)
        zero, step = ir.Constant(columns[0].type, 0), ir.Constant(columns[0].type, LANES)
        with cgutils.for_range_slice(builder, zero, model.width, step) as (f, _):
            loaded = [samples.load(i, f) for i in columns]
            for i, row in zip(rows, sums, strict=True):
                weights = model.load(i, f)
                for vector, place in zip(loaded, row, strict=True):
                    _multiply_into(builder, place, vector, weights)
        for i, row in zip(rows, sums, strict=True):
            # Adds the lanes of four vectors, leaving the four totals in one.
            s0, s1, s2, s3 = (builder.load(place) for place in row)
            left, right = (
                builder.fadd(_shuffled(builder, a, b, [0, 4, 2, 6]), _shuffled(builder, a, b, [1, 5, 3, 7]))
                for a, b in ((s0, s1), (s2, s3))
            )
            low, high = _shuffled(builder, left, right, [0, 1, 4, 5]), _shuffled(builder, left, right, [2, 3, 6, 7])
            out.store(builder.fadd(low, high), i, columns[0])
        return context.get_dummy_value()

    return types.void(w, c, x, b, z), build


def _slope_tile(_: Any, z: Any, c: Any, x: Any, f: Any, kept: Any, out: Any) -> Any:
    """Multiply ``out[c : c + 2, f : f + 16]`` by ``kept`` and add the product of ``z[c : c + 2]`` and ``x``."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        factors, samples, slopes = (_Matrix(context, builder, signature.args[k], arguments[k]) for k in (0, 2, 5))
        kept = _repeated(builder, arguments[4])
        rows, columns = _from(builder, arguments[1], ROWS), _from(builder, arguments[3], VECTORS, LANES)
        sums = [[_place(builder) for _ in columns] for _ in rows]
        for i, row in zip(rows, sums, strict=True):
            for j, place in zip(columns, row, strict=True):
                builder.store(builder.fmul(kept, slopes.load(i, j)), place)
        zero, step = ir.Constant(columns[0].type, 0), ir.Constant(columns[0].type, 1)
        with cgutils.for_range_slice(builder, zero, samples.height, step) as (b, _):
            loaded = [samples.load(b, j) for j in columns]
            for i, row in zip(rows, sums, strict=True):
                factor = factors.spread(i, b)
                for vector, place in zip(loaded, row, strict=True):
                    _multiply_into(builder, place, vector, factor)
        for i, row in zip(rows, sums, strict=True):
            for j, place in zip(columns, row, strict=True):
                slopes.store(builder.load(place), i, j)
        return context.get_dummy_value()

    return types.void(z, c, x, f, types.float64, out), build


score_tile: Any = intrinsic(_score_tile)
slope_tile: Any = intrinsic(_slope_tile)
