r"""The compiled loops of the softmax models: local steps and measures.

Functions take arrays and numbers only, scratch included, run serially over a block of replicates and release the
interpreter lock, so that the engine can run blocks in threads. Every replicate is computed by itself, hence the same
bits for any number of threads. They are called through :mod:`fltheory.logistic.compiled` and
:mod:`fltheory.logistic.measures`.

One function runs binary and softmax models and every option of (G). Models and samples are filled up to whole tiles of
:mod:`fltheory.logistic.tiles` with zeros. Scores are stored class by class, so that exponentials run over samples in
vector registers. A binary model is filled up to two rows: the scores of class 1, and zeros for class 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fltheory._internal.seeding import GOLDEN
from fltheory._internal.vectors import LANES
from fltheory.logistic.tiles import add_slopes, diverge, drag, scores, softmax

_GAMMA = np.uint64(GOLDEN)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc"}, "cache": True}


@njit(**_OPTIONS)
def local_steps(  # type: ignore[no-untyped-def]
    out, start, steps, features, labels, offsets, keys, batch_size, fixed, recentre, rates, l2, plain,
    correction, diagonal, dense, use_dense, anchor, l1, l1_anchor, state, z, at, chosen,
):  # fmt: skip
    """Run all steps and write the models to ``out``, ``(replicates, clients, rows, used)``.

    ``used`` features of ``features``, which is filled up, are those of the data. ``plain`` says that there is neither a
    correction nor a pull nor an l1 term. The last arguments are scratch, zero at first: what :func:`drag` needs and the
    start, scores, places of samples, and their labels.
    """
    rows, used, wide = out.shape[2], out.shape[3], features.shape[1]
    classes = max(rows, 2)
    w, base, push, first_model = state[0], state[1], state[2], state[7]
    terms = not plain or recentre
    # Clients are the outer loop: the samples of one stay in the cache.
    for i in range(out.shape[1]):
        first, count = offsets[i], offsets[i + 1] - offsets[i]
        batch = batch_size if batch_size > 0 else count
        whole = (batch + LANES - 1) // LANES * LANES
        si, ic, iq = i % start.shape[1], i % correction.shape[1], i % diagonal.shape[1]
        jd, ia, ib = i % dense.shape[1], i % anchor.shape[1], i % l1_anchor.shape[1]
        for r in range(out.shape[0]):
            rl, rs = r % labels.shape[0], r % start.shape[0]
            rc, rq, rd = r % correction.shape[0], r % diagonal.shape[0], r % dense.shape[0]
            ra, rb = r % anchor.shape[0], r % l1_anchor.shape[0]
            for c in range(rows):
                for f in range(used):
                    j = c * used + f
                    w[c, f] = first_model[c, f] = start[rs, si, j]
                    if not plain:
                        state[3, c, f] = correction[rc, ic, j]
                        state[4, c, f] = diagonal[rq, iq, j]
                        state[5, c, f] = anchor[ra, ia, j]
                        state[6, c, f] = l1_anchor[rb, ib, j]
            for k in range(steps[r, i]):
                rate = rates[k if rates.shape[0] > 1 else 0]
                fresh = k == 0 or (batch_size > 0 and fixed < 0)
                if fresh:
                    word = keys[r, i] + np.uint64((k if fixed < 0 else fixed) * batch_size) * _GAMMA
                    for b in range(batch):
                        row = first + b
                        if batch_size > 0:
                            word += _GAMMA
                            high = (word ^ (word >> np.uint64(30))) * _FIRST
                            high = (high ^ (high >> np.uint64(27))) * _SECOND
                            high = (high ^ (high >> np.uint64(31))) >> np.uint64(32)
                            row = first + np.int64((high * np.uint64(count)) >> np.uint64(32))
                        at[b] = row * wide
                        label = labels[rl, row]
                        chosen[b] = label if rows > 1 else 1 - label
                if use_dense:
                    for c in range(rows):
                        for f in range(used):
                            pull = 0.0
                            for e in range(rows):
                                for g in range(used):
                                    pull += dense[rd, jd, c * used + f, e * used + g] * (w[e, g] - state[5, e, g])
                            push[c, f] = pull
                # The loops over tiles are compiled once for both points, which keeps the time to compile small.
                for point in range(0 if recentre and fresh else 1, 2):
                    model = first_model if point == 0 else w
                    factor = 1.0 / batch if point == 0 else -rate / batch
                    kept = l2 if point == 0 else 1.0 - rate * l2
                    scores(model, features, at, used, z, whole)
                    softmax(z, classes, whole, factor)
                    for b in range(batch):
                        z[chosen[b] * whole + b] -= factor
                        if rows == 1:
                            z[whole + b] = 0.0
                    if point == 0:
                        for c in range(rows):
                            for f in range(used):
                                base[c, f] = first_model[c, f]
                    elif terms:
                        drag(state, kept, rate, l1)
                        kept = 1.0
                    add_slopes(z, whole, features, at, batch, kept, base if point == 0 else w)
            for c in range(rows):
                for f in range(used):
                    out[r, i, c, f] = w[c, f]


@njit(**_OPTIONS)
def measure(moved, features, chances, weights, used, gaps, slopes, u, rest, at):  # type: ignore[no-untyped-def]
    """Add the divergences and the slopes of models, less those at the minimiser, to ``gaps`` and ``slopes``.

    ``moved`` are the models less the minimiser, filled up to whole tiles. ``weights`` and ``chances``, the
    probabilities at the minimiser, come in blocks of samples. ``gaps`` has one column per lane. The last arguments are
    scratch.
    """
    blocks, count = weights.shape
    for block in range(blocks):
        for b in range(count):
            at[b] = (block * count + b) * features.shape[1]
        for m in range(moved.shape[0]):
            scores(moved[m], features, at, used, u, count)
            diverge(u, rest, chances, block, weights, gaps, m)
            add_slopes(u, count, features, at, count, 1.0, slopes[m])
