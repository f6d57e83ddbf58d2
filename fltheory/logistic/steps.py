"""One call's worth of local steps as plain arrays, and the loop over them in obvious NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fltheory import seeding
from fltheory.checks import Floats, Ints
from fltheory.logistic.model import LogisticLoss, one_hot
from fltheory.seeding import Words


class LocalWork(NamedTuple):
    """What a stepper needs to run (G); an axis of length 1 broadcasts over replicates or clients."""

    start: Floats
    """Models before the first step, ``(replicates | 1, clients | 1, dim)``."""
    steps: Ints
    """Steps of each client, ``(replicates, clients)``."""
    features: Floats
    """Stacked features, ``(samples, features)``."""
    labels: Ints
    """Labels of the round, ``(replicates | 1, samples)``."""
    offsets: Ints
    """First row of every client and the end, ``(clients + 1,)``."""
    keys: Words
    """Minibatch keys, ``(replicates, clients)``."""
    batch_size: int
    """Samples per step; 0 means all samples of the client."""
    fixed: int
    """Minibatch used in every step, or -1 for a fresh one per step."""
    recentre: bool
    """Subtract the gradient at the start, on the same samples."""
    rate: float
    l2: float
    correction: Floats
    """``c_i``, ``(replicates | 1, clients | 1, dim)``."""
    diagonal: Floats
    """Diagonal of ``Q_i``, ``(replicates | 1, clients | 1, dim)``; ignored if the pull is dense."""
    dense: Floats
    """``Q_i``, ``(replicates | 1, clients | 1, dim, dim)``; ignored unless ``use_dense``."""
    use_dense: bool
    anchor: Floats
    """``a_i``, ``(replicates | 1, clients | 1, dim)``."""
    l1: float
    l1_anchor: Floats
    """``b``, ``(replicates | 1, clients | 1, dim)``."""


def drawn_samples(keys: Words, index: int, batch_size: int, count: int) -> Ints:
    """Return the rows of minibatch ``index`` among ``count``, shape ``keys.shape + (batch_size,)``.

    Sampling is with replacement: the high half of word ``index * batch_size + b`` scaled to ``0 .. count - 1``.
    """
    counters = np.arange(index * batch_size, (index + 1) * batch_size, dtype=np.uint64)
    high = seeding.words(np.asarray(keys)[..., None], counters) >> np.uint64(32)
    return ((high * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def reference_steps(work: LocalWork) -> Floats:
    """Return the local models after all steps, ``(replicates, clients, dim)``."""
    result = np.array(np.broadcast_to(work.start, (*work.steps.shape, work.start.shape[-1])))
    rows = result.shape[2] // work.features.shape[1]
    for r, i in np.ndindex(*work.steps.shape):
        own = slice(int(work.offsets[i]), int(work.offsets[i + 1]))
        features, labels = work.features[own], work.labels[r if len(work.labels) > 1 else 0, own]
        c, a, b = (_at(array, r, i) for array in (work.correction, work.anchor, work.l1_anchor))
        Q = _at(work.dense, r, i) if work.use_dense else np.diag(_at(work.diagonal, r, i))
        w = start = result[r, i]
        for k in range(work.steps[r, i]):
            picked = np.arange(len(labels))
            if work.batch_size:
                index = k if work.fixed < 0 else work.fixed
                picked = drawn_samples(work.keys[r, i], index, work.batch_size, len(labels))
            loss = LogisticLoss(
                features=features[picked],
                targets=one_hot(labels[picked], rows),
                weights=np.full(len(picked), 1.0 / len(picked)),
                l2=work.l2,
            )
            g = loss.gradient(w) - (loss.gradient(start) if work.recentre else 0.0)
            w = w - work.rate * (g + c + Q @ (w - a) + work.l1 * np.sign(w - b))
        result[r, i] = w
    return result


def _at(array: Floats, r: int, i: int) -> Floats:
    """Return the entry of replicate ``r`` and client ``i`` where axes of length 1 broadcast."""
    return np.asarray(array[r if array.shape[0] > 1 else 0, i if array.shape[1] > 1 else 0])
