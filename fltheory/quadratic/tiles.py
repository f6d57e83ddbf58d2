"""Many steps of a separable quadratic at once, for a few coordinates that stay in registers meanwhile."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from fltheory._internal import vectors
from fltheory._internal.vectors import Array, Vector, further, tile

_VECTORS = 4
WIDTH = vectors.LANES * _VECTORS
"""Coordinates of a tile; arrays have to be filled up to whole tiles."""


def _walk_tile(
    builder: Any,
    state: Array,
    part: Any,
    first: Any,
    noise: Any,
    drift: Any,
    numbers: Array,
    drawn: Any,
    stride: Any,
    count: Any,
) -> None:
    """Apply ``w <- slope w - shift - drift z - noise z'`` to coordinates from ``first`` on of a part, ``count`` times.

    ``state`` begins with ``w``, ``slope`` and ``shift``, each ``(parts, coordinates)``. In ``numbers``, ``(parts,
    size)``, are the ``z'`` of all steps, each ``stride`` further than the one before, and ``z`` from ``drawn`` on.
    """
    coordinates = further(builder, first, _VECTORS, vectors.LANES)

    def row(number: int) -> list[Any]:
        return [state.at(ir.Constant(part.type, number), part, j) for j in coordinates]

    def drawn_from(column: Any) -> list[Vector]:
        places = [numbers.at(part, builder.add(column, j)) for j in coordinates]
        return [vectors.load(builder, place, vectors.SINGLES) for place in places]

    minus_noise, minus_drift = (-vectors.repeated(builder, size) for size in (noise, drift))
    models = [vectors.Place(vectors.load(builder, place)) for place in row(0)]
    slopes = [vectors.load(builder, place) for place in row(1)]
    fixed = [-vectors.load(builder, place) for place in row(2)]
    shifts = [minus_drift * z + own for z, own in zip(drawn_from(drawn), fixed, strict=True)]
    with vectors.loop(builder, count) as step:
        units = drawn_from(builder.mul(step, stride))
        for model, slope, shift, unit in zip(models, slopes, shifts, units, strict=True):
            model.set(slope * model.get() + (minus_noise * unit + shift))
    for model, place in zip(models, row(0), strict=True):
        vectors.store(model.get(), place)


walk_tile = tile(_walk_tile)
