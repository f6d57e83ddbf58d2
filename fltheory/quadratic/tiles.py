"""Many steps of a separable quadratic at once, for a few coordinates that stay in registers meanwhile."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fltheory import vectors

_VECTORS = 4
WIDTH = vectors.LANES * _VECTORS
"""Coordinates of a tile; arrays have to be filled up to whole tiles."""


def _walk_tile(
    _: Any, state: Any, part: Any, first: Any, noise: Any, drift: Any, numbers: Any, drawn: Any, stride: Any, count: Any
) -> Any:
    """Apply ``w <- slope w - shift - drift z - noise z'`` to coordinates from ``first`` on of a part, ``count`` times.

    ``state`` begins with ``w``, ``slope`` and ``shift``, each ``(parts, coordinates)``. In ``numbers``, ``(parts,
    size)``, are the ``z'`` of all steps, each ``stride`` further than the one before, and ``z`` from ``drawn`` on.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        state, numbers = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 5))
        _, part, first, noise, drift, _, drawn, stride, count = arguments
        parts, width = cgutils.unpack_tuple(builder, state.shape, 3)[1:]  # type: ignore[no-untyped-call]
        size = cgutils.unpack_tuple(builder, numbers.shape, 2)[1]  # type: ignore[no-untyped-call]
        begin = builder.add(builder.mul(part, size), first)

        def entry(row: int, k: int) -> Any:
            line = builder.add(builder.mul(ir.Constant(parts.type, row), parts), part)
            at = builder.add(builder.mul(line, width), first)
            return builder.gep(state.data, [builder.add(at, ir.Constant(at.type, vectors.LANES * k))])

        def number(column: Any, k: int) -> vectors.Vector:
            at = builder.add(builder.add(begin, column), ir.Constant(begin.type, vectors.LANES * k))
            return vectors.load(builder, builder.gep(numbers.data, [at]), vectors.SINGLES)

        columns = range(_VECTORS)
        minus_noise, minus_drift = (-vectors.repeated(builder, size) for size in (noise, drift))
        models = [vectors.Place(vectors.load(builder, entry(0, k))) for k in columns]
        slopes = [vectors.load(builder, entry(1, k)) for k in columns]
        fixed = [-vectors.load(builder, entry(2, k)) for k in columns]
        shifts = [minus_drift * number(drawn, k) + fixed[k] for k in columns]
        with vectors.loop(builder, count) as step:
            for k in columns:
                moved = minus_noise * number(builder.mul(step, stride), k) + shifts[k]
                models[k].set(slopes[k] * models[k].get() + moved)
        for k in columns:
            vectors.store(models[k].get(), entry(0, k))
        return context.get_dummy_value()

    number, integer = types.float64, types.int64
    return types.void(state, integer, integer, number, number, numbers, integer, integer, integer), build


walk_tile: Any = intrinsic(_walk_tile)
