"""One call's worth of local steps as plain arrays, and the loop over them in obvious NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fltheory._internal import seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Words
from fltheory.logistic.model import LogisticLoss, one_hot
from fltheory.problems.oracle import LocalSteps, Rates, rate_of


class StepperInput(NamedTuple):
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
    l2: float
    rates: Rates
    how: LocalSteps
    """What is added to the gradients; its step counts and rates are already in ``steps`` and ``rates``."""

    @property
    def fixed(self) -> int:
        """The minibatch used in every step, or -1 for a fresh one per step."""
        return -1 if self.how.minibatch is None else self.how.minibatch.index


def drawn_samples(keys: Words, index: int, batch_size: int, count: int) -> Ints:
    """Return the rows of minibatch ``index`` among ``count``, shape ``keys.shape + (batch_size,)``.

    Sampling is with replacement: the high half of word ``index * batch_size + b`` scaled to ``0 .. count - 1``.
    """
    counters = np.arange(index * batch_size, (index + 1) * batch_size, dtype=np.uint64)
    high = seeding.words(np.asarray(keys)[..., None], counters) >> np.uint64(32)
    return ((high * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def reference_steps(work: StepperInput) -> Floats:
    """Return the local models after all steps, ``(replicates, clients, dim)``."""
    result = np.array(np.broadcast_to(work.start, (*work.steps.shape, work.start.shape[-1])))
    rows = result.shape[2] // work.features.shape[1]
    terms = work.how.written_out(result.shape[2])
    for r, i in np.ndindex(*work.steps.shape):
        own = slice(int(work.offsets[i]), int(work.offsets[i + 1]))
        features, labels = work.features[own], work.labels[r if len(work.labels) > 1 else 0, own]
        c, Q, a, b = (term[r % term.shape[0], i % term.shape[1]] for term in terms)
        Q = Q if Q.ndim == 2 else np.diag(Q)
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
            g = loss.gradient(w) - (loss.gradient(start) if work.how.recentre else 0.0)
            w = w - rate_of(work.rates, k) * (g + c + Q @ (w - a) + work.how.l1 * np.sign(w - b))
        result[r, i] = w
    return result
