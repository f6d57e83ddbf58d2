r"""Compiled local steps: the loop of :func:`~fltheory.logistic.steps.reference_steps` in numba.

One function for binary and softmax models and for every option of (G); it takes arrays and scalars only, so that
its machine code is cached on disk, releases the interpreter lock, and is serial: callers give blocks of replicates to
threads. Every replicate is computed by itself, hence the same bits for any number of threads.

The time goes into two small matrix products per step (scores, then slopes), made of the tiles of
:mod:`fltheory.logistic.tiles`. To spare remainders, samples, rows and features are filled up to whole tiles with
zeros or with weight zero. Scores are stored class by class, which lets the exponential run over samples in vector
registers. A binary model is filled up to two rows: the scores of class 1, and zeros for class 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from fltheory.logistic.tiles import LANES, ROWS, WIDTH, score_tile, slope_tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fltheory.checks import Floats
    from fltheory.logistic.steps import LocalWork

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# Adding 1.5 * 2**52 rounds to an integer and leaves that integer in the low bits of the sum.
_ROUNDING = 6755399441055744.0
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

# Beyond this exponent sums of exponentials are shifted by their largest term, before exp overflows.
LARGE = 500.0


@njit(nogil=True, cache=True, error_model="numpy")
def scores(w: Any, x: Any, z: Any) -> None:
    """Write the scores of a filled-up model ``w`` on filled-up samples ``x`` to ``z``, class by class."""
    for c in range(0, w.shape[0], ROWS):
        for b in range(0, x.shape[0], LANES):
            score_tile(w, c, x, b, z)


@njit(nogil=True, cache=True, error_model="numpy")
def add_slopes(z: Any, x: Any, kept: Any, out: Any) -> None:
    """Multiply ``out`` by ``kept`` and add the product of ``z`` and ``x``."""
    for f in range(0, out.shape[1], WIDTH):
        for c in range(0, out.shape[0], ROWS):
            slope_tile(z, c, x, f, kept, out)


# Reassociation would cancel the rounding constant, so this function does without it.
@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _exp_terms(x: Any) -> Any:
    """Return ``s, r, t`` with ``exp(x) = s * (1 + r + t)``, to about 1e-16, as straight-line code that vectorises.

    ``s`` is a power of two, and ``t`` is accurate relative to its own size. ``x`` is at most 700.
    """
    x = max(x, -708.0)
    shifted = x * _LOG2E + _ROUNDING
    n = shifted - _ROUNDING
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    y = 1.0 / 479001600.0
    y = y * r + 1.0 / 39916800.0
    y = y * r + 1.0 / 3628800.0
    y = y * r + 1.0 / 362880.0
    y = y * r + 1.0 / 40320.0
    y = y * r + 1.0 / 5040.0
    y = y * r + 1.0 / 720.0
    y = y * r + 1.0 / 120.0
    y = y * r + 1.0 / 24.0
    y = y * r + 1.0 / 6.0
    y = y * r + 0.5
    bits = (np.float64(shifted).view(np.int64) << np.int64(52)) + np.int64(1023 << 52)
    return np.int64(bits).view(np.float64), r, y * r * r


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def exp(x: Any) -> Any:
    """Return ``exp(x)``; see :func:`_exp_terms`."""
    s, r, t = _exp_terms(x)
    return s * (1.0 + (r + t))


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def exp_remainder(x: Any) -> Any:
    """Return ``exp(x) - 1 - x`` accurate relative to its own size."""
    s, r, t = _exp_terms(x)
    return t if s == 1.0 else s * (1.0 + (r + t)) - 1.0 - x


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def softmax(z: Any, flat: Any, top: Any, total: Any) -> None:
    """Turn scores into ``exp(z - top)`` in place, and sum them over classes to ``total``.

    ``top`` is zero, or the largest score of a sample if any is large. ``flat`` is a view of the classes of ``z`` as one
    vector: a long loop leaves less of a remainder.
    """
    count = z.shape[1]
    classes = len(flat) // count
    size = 0.0
    for j in range(len(flat)):
        size += flat[j] * flat[j]
    for b in range(count):
        top[b] = 0.0
        total[b] = 0.0
    if not size <= LARGE * LARGE:
        for b in range(count):
            top[b] = z[0, b]
        for c in range(1, classes):
            for b in range(count):
                top[b] = max(top[b], z[c, b])
        for c in range(classes):
            for b in range(count):
                z[c, b] -= top[b]
    for j in range(len(flat)):
        flat[j] = exp(flat[j])
    for c in range(classes):
        for b in range(count):
            total[b] += z[c, b]


@njit(nogil=True, cache=True, error_model="numpy")
def _draw(picked: Any, key: Any, first: Any, count: Any, offset: Any) -> None:
    """Fill ``picked`` with rows of one client, one counter-based word each."""
    for b in range(len(picked)):
        z = key + np.uint64(first + b + 1) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        z = z ^ (z >> np.uint64(31))
        picked[b] = offset + np.int64(((z >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _run(
    models: Any,
    steps: Any,
    features: Any,
    labels: Any,
    offsets: Any,
    keys: Any,
    batch_size: Any,
    fixed: Any,
    recentre: Any,
    rate: Any,
    l2: Any,
    more: Any,
    correction: Any,
    diagonal: Any,
    dense: Any,
    use_dense: Any,
    anchor: Any,
    l1: Any,
    l1_anchor: Any,
    start: Any,
    w: Any,
    base: Any,
    added: Any,
    picked: Any,
    samples: Any,
    room: Any,
    top: Any,
    total: Any,
) -> None:
    """Run all steps in place on ``models``, shape ``(replicates, clients, rows, features)``.

    ``more`` says whether there is a correction, a pull or an l1 term at all. The last arguments are scratch, zero at
    first; that they are not made here halves the time to compile.
    """
    rows, width = models.shape[2], models.shape[3]
    classes, tall = max(rows, 2), w.shape[0]
    for r in range(models.shape[0]):
        rl = min(r, labels.shape[0] - 1)
        for i in range(models.shape[1]):
            first, count = offsets[i], offsets[i + 1] - offsets[i]
            rc, ic = min(r, correction.shape[0] - 1), min(i, correction.shape[1] - 1)
            rq, iq = min(r, diagonal.shape[0] - 1), min(i, diagonal.shape[1] - 1)
            rd, jd = min(r, dense.shape[0] - 1), min(i, dense.shape[1] - 1)
            ra, ia = min(r, anchor.shape[0] - 1), min(i, anchor.shape[1] - 1)
            rb, ib = min(r, l1_anchor.shape[0] - 1), min(i, l1_anchor.shape[1] - 1)
            batch = batch_size if batch_size > 0 else count
            padded = (batch + LANES - 1) // LANES * LANES
            x, z, flat = samples[:padded], room[: tall * padded].reshape(tall, padded), room[: classes * padded]
            for c in range(rows):
                for f in range(width):
                    w[c, f] = start[c, f] = models[r, i, c, f]
            for k in range(steps[r, i]):
                fresh = k == 0 or (batch_size > 0 and fixed < 0)
                if fresh:
                    if batch_size > 0:
                        _draw(picked[:batch], keys[r, i], (k if fixed < 0 else fixed) * batch_size, count, first)
                    else:
                        for b in range(batch):
                            picked[b] = first + b
                    for b in range(batch):
                        sample = features[picked[b]]
                        for f in range(width):
                            x[b, f] = sample[f]
                if more:
                    for c in range(rows):
                        for f in range(width):
                            pull = diagonal[rq, iq, c, f] * (w[c, f] - anchor[ra, ia, c, f])
                            lean = l1 * np.sign(w[c, f] - l1_anchor[rb, ib, c, f])
                            added[c, f] = correction[rc, ic, c, f] + pull + lean
                if use_dense:
                    for j in range(rows * width):
                        pull = 0.0
                        for e in range(rows):
                            for f in range(width):
                                pull += dense[rd, jd, j, e, f] * (w[e, f] - anchor[ra, ia, e, f])
                        added[j // width, j % width] += pull
                # One call site for both points keeps the compiled code, and the time to compile it, small.
                for point in range(0 if recentre and fresh else 1, 2):
                    factor = 1.0 / batch if point == 0 else -rate / batch
                    scores(start if point == 0 else w, x, z)
                    softmax(z, flat, top, total)
                    for b in range(padded):
                        total[b] = factor / total[b] if b < batch else 0.0
                    for c in range(classes):
                        for b in range(padded):
                            z[c, b] *= total[b]
                    for b in range(batch):
                        label = labels[rl, picked[b]]
                        z[label if rows > 1 else 1 - label, b] -= factor
                    for c in range(rows, tall):
                        for b in range(padded):
                            z[c, b] = 0.0
                    if point == 0:
                        for c in range(rows):
                            for f in range(width):
                                base[c, f] = start[c, f]
                    add_slopes(z, x, l2 if point == 0 else 1.0 - rate * l2, base if point == 0 else w)
                if more or recentre:
                    for c in range(rows):
                        for f in range(width):
                            w[c, f] -= rate * (added[c, f] - base[c, f])
            for c in range(rows):
                for f in range(width):
                    models[r, i, c, f] = w[c, f]


def compiled_steps(work: LocalWork) -> Floats:
    """Return the local models after all steps, ``(replicates, clients, dim)``."""
    models = work.start.copy()
    shape = (models.shape[2] // work.features.shape[1], work.features.shape[1])
    longest = filled(work.batch_size or int(np.diff(work.offsets).max()), LANES)
    start, w, base, added = np.zeros((4, *filled_shape(shape)))
    _run(
        models.reshape(*models.shape[:2], *shape),
        sealed(work.steps),
        sealed(work.features),
        sealed(work.labels),
        sealed(work.offsets),
        sealed(work.keys),
        work.batch_size,
        work.fixed,
        bool(work.recentre),
        work.rate,
        work.l2,
        bool(work.use_dense or work.l1 or work.correction.any() or work.diagonal.any()),
        _by_rows(work.correction, shape),
        _by_rows(work.diagonal, shape),
        _by_rows(work.dense, shape),
        work.use_dense,
        _by_rows(work.anchor, shape),
        work.l1,
        _by_rows(work.l1_anchor, shape),
        start,
        w,
        base,
        added,
        np.zeros(longest, np.int64),
        np.zeros((longest, w.shape[1])),
        np.zeros(w.shape[0] * longest),
        np.zeros(longest),
        np.zeros(longest),
    )
    return models


def filled(count: int, multiple: int) -> int:
    """Return the least multiple that is not below ``count``."""
    return -(-count // multiple) * multiple


def filled_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return rows and features of a model that is filled up to whole tiles."""
    return filled(shape[0], ROWS), filled(shape[1], WIDTH)


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view, since writable and read-only arrays would be compiled for separately."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


def _by_rows(array: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Return a sealed view with the last axis split into rows and features; a placeholder gets an axis of length 1."""
    split = shape if array.shape[-1] == shape[0] * shape[1] else (1, array.shape[-1])
    return sealed(array).reshape(*array.shape[:-1], *split)
