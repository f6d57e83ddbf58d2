"""Inner loops of the softmax models, written in LLVM's intermediate language.

Two are small matrix products, made of tiles whose eight vectors of partial sums stay in registers, so that a number
once loaded is used several times. Two treat the scores of four samples at a time, all classes: from scores to slopes,
and from differences of scores to gaps and slopes. The compiler arrives at none of this from loops over scalars, and
takes longer. Arrays are C-ordered and filled up to whole tiles by the caller; nothing is checked. Samples are named by
``at``, the number of entries of ``x`` before each, so that a minibatch need not be copied together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from fltheory._internal import vectors
from fltheory._internal.vectors import LANES, Array, Place, Vector, further, loop, tile
from fltheory.logistic.exponentials import LARGE, exponentials, log_one_plus, remainders

ROWS = 2
"""Rows of a model that a tile takes together."""

_VECTORS = 4

WIDTH = LANES * _VECTORS
"""Features of a tile."""


def _scores(builder: Any, w: Array, x: Array, at: Array, used: Any, z: Array, count: Any) -> None:
    """Write the scores of a model ``w`` on ``count`` samples to ``z``; only ``used`` features are not zero."""
    nought = ir.Constant(count.type, 0)
    with loop(builder, w.shape[0], ROWS) as c, loop(builder, count, LANES) as b:
        rows = further(builder, c, ROWS)
        weights = [w.at(i, nought) for i in rows]
        samples = [x.at(builder.load(at.at(k))) for k in further(builder, b, LANES)]
        sums = [[Place(Vector(builder, 0.0)) for _ in samples] for _ in rows]
        with loop(builder, used, LANES) as f:
            loaded = [vectors.load(builder, builder.gep(sample, [f])) for sample in samples]
            for row, own in zip(sums, weights, strict=True):
                weight = vectors.load(builder, builder.gep(own, [f]))
                for vector, place in zip(loaded, row, strict=True):
                    place.set(vector * weight + place.get())
        for i, row in zip(rows, sums, strict=True):
            # Adds the lanes of four vectors, leaving the four totals in one.
            s0, s1, s2, s3 = (place.get() for place in row)
            left, right = (
                vectors.shuffled(p, q, [0, 4, 2, 6]) + vectors.shuffled(p, q, [1, 5, 3, 7])
                for p, q in ((s0, s1), (s2, s3))
            )
            low, high = vectors.shuffled(left, right, [0, 1, 4, 5]), vectors.shuffled(left, right, [2, 3, 6, 7])
            z.store(low + high, _entry(builder, i, b, count))


def _add_slopes(builder: Any, z: Array, count: Any, x: Array, at: Array, real: Any, kept: Any, out: Array) -> None:
    """Multiply ``out`` by ``kept`` and add the product of ``z`` and the first ``real`` of ``count`` samples."""
    nought = ir.Constant(count.type, 0)
    kept = vectors.repeated(builder, kept)
    with loop(builder, out.shape[1], WIDTH) as f, loop(builder, out.shape[0], ROWS) as c:
        rows, columns = further(builder, c, ROWS), further(builder, f, _VECTORS, LANES)
        factors = [z.at(_entry(builder, i, nought, count)) for i in rows]
        sums = [[Place(kept * out.load(i, j)) for j in columns] for i in rows]
        with loop(builder, real) as b:
            sample = builder.load(at.at(b))
            loaded = [x.load(builder.add(sample, j)) for j in columns]
            for row, own in zip(sums, factors, strict=True):
                factor = vectors.repeated(builder, builder.load(builder.gep(own, [b])))
                for vector, place in zip(loaded, row, strict=True):
                    place.set(vector * factor + place.get())
        for i, row in zip(rows, sums, strict=True):
            for j, place in zip(columns, row, strict=True):
                out.store(place.get(), i, j)


def _softmax(builder: Any, z: Array, classes: Any, count: Any, factor: Any) -> None:
    """Turn the scores of ``count`` samples into probabilities times ``factor``."""
    factor = vectors.repeated(builder, factor)
    with loop(builder, count, LANES) as b:
        top = Place(Vector(builder, -1e308))
        for j in _classes(builder, classes, b, count):
            top.set(z.load(j).at_least(top.get()))
        for j in _classes(builder, classes, b, count):
            z.store(z.load(j) - top.get(), j)
    _apply(builder, exponentials, z, z, builder.mul(classes, count))
    with loop(builder, count, LANES) as b:
        total = Place(Vector(builder, 0.0))
        for j in _classes(builder, classes, b, count):
            total.set(total.get() + z.load(j))
        scale = factor / total.get()
        for j in _classes(builder, classes, b, count):
            z.store(z.load(j) * scale, j)


def _diverge(
    builder: Any, u: Array, rest: Array, chances: Array, block: Any, weights: Array, gaps: Array, m: Any
) -> None:
    """Turn differences of scores into slopes, and add what a block of samples adds to the gap of model ``m``.

    ``chances[block]`` are the probabilities at the minimiser, class by class, ``weights[block]`` the weights of the
    samples. ``gaps`` has one column per lane. A gap becomes NaN where an exponential might overflow. ``rest`` is
    scratch. For the formulas see :mod:`fltheory.logistic.measures`.
    """
    nought = ir.Constant(block.type, 0)
    zero = Vector(builder, 0.0)
    classes, count = chances.shape[1:]
    size = builder.mul(classes, count)
    before = builder.mul(block, size)
    far = Place(zero)
    with loop(builder, count, LANES) as b:
        mean = Place(zero)
        for j in _classes(builder, classes, b, count):
            mean.set(mean.get() + chances.load(builder.add(before, j)) * u.load(j))
        for j in _classes(builder, classes, b, count):
            moved = u.load(j) - mean.get()
            far.set(moved.at_least(far.get()))
            u.store(moved, j)
    _apply(builder, remainders, u, rest, size)
    loss = Place(gaps.load(m, nought))
    with loop(builder, count, LANES) as b:
        total = Place(zero)
        for j in _classes(builder, classes, b, count):
            total.set(total.get() + chances.load(builder.add(before, j)) * rest.load(j))
        divergence, weight = total.get(), weights.load(block, b)
        scale = weight / (divergence + 1.0)
        for j in _classes(builder, classes, b, count):
            part = u.load(j) + (rest.load(j) - divergence)
            u.store(scale * chances.load(builder.add(before, j)) * part, j)
        loss.set(loss.get() + weight * log_one_plus(divergence))
    gaps.store(far.get().where("<=", LARGE, loss.get(), float("nan")), m, nought)


def _entry(builder: Any, c: Any, b: Any, count: Any) -> Any:
    """Return the place of class ``c`` and sample ``b`` of ``count`` in a table of scores."""
    return builder.add(builder.mul(c, count), b)


def _classes(builder: Any, classes: Any, b: Any, count: Any) -> Iterator[Any]:
    """Build a loop over the classes of a sample; gives the place in a table of scores."""
    with loop(builder, classes) as c:
        yield _entry(builder, c, b, count)


def _apply(builder: Any, function: Callable[[list[Vector]], list[Vector]], x: Array, out: Array, size: Any) -> None:
    """Write a function of the first ``size`` entries of ``x``, and of a few more, to ``out``."""
    with loop(builder, size, WIDTH) as j:
        places = further(builder, j, _VECTORS, LANES)
        for place, value in zip(places, function([x.load(place) for place in places]), strict=True):
            out.store(value, place)


def _drag(builder: Any, state: Array, kept: Any, rate: Any, l1: Any) -> None:
    """Turn ``w`` into ``kept * w - rate * (fixed - base + push + pull * (w - anchor) + l1 * sign(w - edge))``.

    ``state`` consists of ``w``, ``base``, ``push``, ``fixed``, ``pull``, ``anchor`` and ``edge``, and of more.
    """
    kept, rate, l1 = (vectors.repeated(builder, number) for number in (kept, rate, l1))
    size = builder.mul(state.shape[1], state.shape[2])
    with loop(builder, size, LANES) as j:
        w, base, push, fixed, pull, anchor, edge = (
            state.load(builder.add(builder.mul(ir.Constant(size.type, k), size), j)) for k in range(7)
        )
        side = (w - edge).where(">", 0.0, 1.0, (w - edge).where("<", 0.0, -1.0, 0.0))
        state.store(kept * w - rate * (fixed - base + push + pull * (w - anchor) + l1 * side), j)


scores = tile(_scores)
add_slopes = tile(_add_slopes)
softmax = tile(_softmax)
diverge = tile(_diverge)
drag = tile(_drag)
