r"""Compiled local steps: the loop of :func:`~fltheory.logistic.steps.reference_steps` in numba.

One function for binary and softmax models and for every option of (G); it takes arrays and scalars only, so that
its machine code is cached on disk, releases the interpreter lock, and is serial: callers give blocks of replicates to
threads. Every replicate is computed by itself, hence the same bits for any number of threads.

The time goes into two small matrix products per step (scores, then slopes). Samples are taken four at a time and
rows of weights two at a time, so that each loaded number is used several times; a minibatch is filled up to a multiple
of four with samples of weight zero. Scores are stored class by class, which lets the exponential run over the
samples of the minibatch in vector registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

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


# Reassociation would cancel the rounding constant, so this function does without it.
@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _exp(x: Any) -> Any:
    """Return ``exp(x)`` for ``x <= 0`` to about 1e-15, as straight-line code that vectorises."""
    x = max(x, -708.0)
    shifted = x * _LOG2E + _ROUNDING
    n = shifted - _ROUNDING
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    y = 1.0 / 6227020800.0
    y = y * r + 1.0 / 479001600.0
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
    y = y * r + 1.0
    y = y * r + 1.0
    bits = (np.float64(shifted).view(np.int64) << np.int64(52)) + np.int64(1023 << 52)
    return y * np.int64(bits).view(np.float64)


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
def _slopes(w: Any, features: Any, labels: Any, picked: Any, batch: Any, z: Any, scratch: Any, out: Any) -> None:
    """Write the mean gradient of the likelihood over the picked samples to ``out``.

    ``picked`` has a multiple of four entries, of which the first ``batch`` count. Models and slopes have the shape
    ``(rows, features)``: a sum as an index might be negative for all the compiler knows, and would not vectorise.
    """
    rows, width = w.shape
    padded = (batch + 3) // 4 * 4
    share = 1.0 / batch
    for b in range(0, padded, 4):
        i0, i1, i2, i3 = picked[b], picked[b + 1], picked[b + 2], picked[b + 3]
        for c in range(0, rows - 1, 2):
            s0, s1, s2, s3, t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for f in range(width):
                p, q = w[c, f], w[c + 1, f]
                s0 += features[i0, f] * p
                s1 += features[i1, f] * p
                s2 += features[i2, f] * p
                s3 += features[i3, f] * p
                t0 += features[i0, f] * q
                t1 += features[i1, f] * q
                t2 += features[i2, f] * q
                t3 += features[i3, f] * q
            z[c, b], z[c, b + 1], z[c, b + 2], z[c, b + 3] = s0, s1, s2, s3
            z[c + 1, b], z[c + 1, b + 1], z[c + 1, b + 2], z[c + 1, b + 3] = t0, t1, t2, t3
        if rows % 2 == 1:
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for f in range(width):
                p = w[rows - 1, f]
                s0 += features[i0, f] * p
                s1 += features[i1, f] * p
                s2 += features[i2, f] * p
                s3 += features[i3, f] * p
            z[rows - 1, b], z[rows - 1, b + 1], z[rows - 1, b + 2], z[rows - 1, b + 3] = s0, s1, s2, s3

    if rows == 1:
        for b in range(padded):
            small = _exp(-abs(z[0, b]))
            z[0, b] = (1.0 if z[0, b] >= 0.0 else small) / (1.0 + small) * share
        for b in range(batch):
            z[0, b] -= share * labels[picked[b]]
    else:
        for b in range(padded):
            scratch[b] = z[0, b]
        for c in range(1, rows):
            for b in range(padded):
                scratch[b] = max(scratch[b], z[c, b])
        for c in range(rows):
            for b in range(padded):
                z[c, b] = _exp(z[c, b] - scratch[b])
        for b in range(padded):
            scratch[b] = 0.0
        for c in range(rows):
            for b in range(padded):
                scratch[b] += z[c, b]
        for b in range(padded):
            scratch[b] = share / scratch[b]
        for c in range(rows):
            for b in range(padded):
                z[c, b] *= scratch[b]
        for b in range(batch):
            z[labels[picked[b]], b] -= share
    for c in range(rows):
        for b in range(batch, padded):
            z[c, b] = 0.0

    for c in range(rows):
        for f in range(width):
            out[c, f] = 0.0
    for b in range(0, padded, 4):
        i0, i1, i2, i3 = picked[b], picked[b + 1], picked[b + 2], picked[b + 3]
        for c in range(0, rows - 1, 2):
            s0, s1, s2, s3 = z[c, b], z[c, b + 1], z[c, b + 2], z[c, b + 3]
            t0, t1, t2, t3 = z[c + 1, b], z[c + 1, b + 1], z[c + 1, b + 2], z[c + 1, b + 3]
            for f in range(width):
                x0, x1, x2, x3 = features[i0, f], features[i1, f], features[i2, f], features[i3, f]
                out[c, f] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
                out[c + 1, f] += t0 * x0 + t1 * x1 + t2 * x2 + t3 * x3
        if rows % 2 == 1:
            s0, s1, s2, s3 = z[rows - 1, b], z[rows - 1, b + 1], z[rows - 1, b + 2], z[rows - 1, b + 3]
            for f in range(width):
                x0, x1, x2, x3 = features[i0, f], features[i1, f], features[i2, f], features[i3, f]
                out[rows - 1, f] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3


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
    correction: Any,
    diagonal: Any,
    dense: Any,
    use_dense: Any,
    anchor: Any,
    l1: Any,
    l1_anchor: Any,
) -> None:
    """Run all steps in place on ``models``, shape ``(replicates, clients, dim)``."""
    dim = models.shape[2]
    rows = dim // features.shape[1]
    longest = batch_size
    if batch_size == 0:
        for i in range(len(offsets) - 1):
            longest = max(longest, offsets[i + 1] - offsets[i])
    longest = (longest + 3) // 4 * 4
    picked = np.empty(longest, np.int64)
    z = np.empty((rows, longest))
    scratch = np.empty(longest)
    points = np.empty((2, rows, features.shape[1]))
    slopes = np.zeros((2, rows, features.shape[1]))
    start, w = points[0].reshape(dim), points[1].reshape(dim)
    base, slope = slopes[0].reshape(dim), slopes[1].reshape(dim)
    pulled = np.empty(dim)
    for r in range(models.shape[0]):
        own_labels = labels[min(r, labels.shape[0] - 1)]
        for i in range(models.shape[1]):
            first, count = offsets[i], offsets[i + 1] - offsets[i]
            rc, ic = min(r, correction.shape[0] - 1), min(i, correction.shape[1] - 1)
            rq, iq = min(r, diagonal.shape[0] - 1), min(i, diagonal.shape[1] - 1)
            rd, jd = min(r, dense.shape[0] - 1), min(i, dense.shape[1] - 1)
            ra, ia = min(r, anchor.shape[0] - 1), min(i, anchor.shape[1] - 1)
            rb, ib = min(r, l1_anchor.shape[0] - 1), min(i, l1_anchor.shape[1] - 1)
            batch = batch_size if batch_size > 0 else count
            for j in range(dim):
                w[j] = start[j] = models[r, i, j]
            for b in range(longest):
                picked[b] = first + min(b, count - 1)
            for k in range(steps[r, i]):
                if batch_size > 0 and (fixed < 0 or k == 0):
                    index = k if fixed < 0 else fixed
                    _draw(picked[:batch], keys[r, i], index * batch_size, count, first)
                # One call site for both points keeps the compiled code, and the time to compile it, small.
                stale = recentre and (k == 0 or (batch_size > 0 and fixed < 0))
                for point in range(0 if stale else 1, 2):
                    _slopes(points[point], features, own_labels, picked, batch, z, scratch, slopes[point])
                if stale:
                    for j in range(dim):
                        base[j] += l2 * start[j]
                if use_dense:
                    for j in range(dim):
                        total = 0.0
                        for m in range(dim):
                            total += dense[rd, jd, j, m] * (w[m] - anchor[ra, ia, m])
                        pulled[j] = total
                else:
                    for j in range(dim):
                        pulled[j] = diagonal[rq, iq, j] * (w[j] - anchor[ra, ia, j])
                if l1 != 0.0:
                    for j in range(dim):
                        pulled[j] += l1 * np.sign(w[j] - l1_anchor[rb, ib, j])
                for j in range(dim):
                    w[j] -= rate * (slope[j] + l2 * w[j] - base[j] + correction[rc, ic, j] + pulled[j])
            for j in range(dim):
                models[r, i, j] = w[j]


def compiled_steps(work: LocalWork) -> Floats:
    """Return the local models after all steps, ``(replicates, clients, dim)``."""
    models = work.start.copy()
    _run(
        models,
        _sealed(work.steps),
        _sealed(work.features),
        _sealed(work.labels),
        _sealed(work.offsets),
        _sealed(work.keys),
        work.batch_size,
        work.fixed,
        bool(work.recentre),
        work.rate,
        work.l2,
        _sealed(work.correction),
        _sealed(work.diagonal),
        _sealed(work.dense),
        work.use_dense,
        _sealed(work.anchor),
        work.l1,
        _sealed(work.l1_anchor),
    )
    return models


def _sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view, since writable and read-only arrays would be compiled for separately."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
