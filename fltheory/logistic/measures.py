r"""Compiled measures of models: squared distance, gap and squared gradient norm in one pass over the samples.

In the notation of :mod:`fltheory.logistic.model`, with :math:`v = w^*`, :math:`\rho(u) = e^u - 1 - u` and
:math:`D = \sum_c \pi_c\,\rho(u_c)`, the divergence of a sample is :math:`\log(1 + D)`, and its probabilities differ
from those at :math:`w^*` by

.. math:: \pi_c\,\frac{u_c + \rho(u_c) - D}{1 + D} .

One exponential serves gap and gradient, and both are accurate relative to their own size, however small. Both leave
out the gradient at :math:`w^*`, of norm at most 1e-12. Models so far away that :math:`e^u` might overflow are left to
the array code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from fltheory.logistic.kernel import LARGE, add_slopes, exp_remainder, filled, filled_shape, scores
from fltheory.logistic.model import probabilities, reference_measures
from fltheory.problem import Measures

if TYPE_CHECKING:
    from fltheory.checks import Floats
    from fltheory.logistic.model import LogisticLoss

# Samples that are taken together: few enough to stay in the fastest cache.
_SAMPLES = 32


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _measure(
    moved: Any,
    features: Any,
    chances: Any,
    weights: Any,
    gaps: Any,
    slopes: Any,
    u: Any,
    shifts: Any,
    top: Any,
    total: Any,
) -> None:
    """Add the divergences and the slopes of models, less those at the minimiser, to ``gaps`` and ``slopes``.

    ``moved`` are the models less the minimiser, filled up to whole tiles. Features, weights and ``chances``, the
    probabilities at the minimiser, come in blocks of samples. A gap becomes NaN where an exponential might overflow.
    The last arguments are scratch.
    """
    classes = chances.shape[1]
    for block in range(len(chances)):
        x, p, omega = features[block], chances[block], weights[block]
        for m in range(len(moved)):
            scores(moved[m], x, u)
            for b in range(_SAMPLES):
                top[b], total[b] = 0.0, 0.0
            for c in range(classes):
                for b in range(_SAMPLES):
                    total[b] += p[c, b] * u[c, b]
            for c in range(classes):
                for b in range(_SAMPLES):
                    u[c, b] -= total[b]
                    top[b] = max(top[b], u[c, b])
            for b in range(_SAMPLES):
                total[b] = 0.0
            for c in range(classes):
                for b in range(_SAMPLES):
                    rest = exp_remainder(u[c, b])
                    u[c, b] += rest
                    total[b] += p[c, b] * rest
            for c in range(classes):
                for b in range(_SAMPLES):
                    shifts[c, b] = omega[b] * p[c, b] * (u[c, b] - total[b]) / (1.0 + total[b])
            loss = 0.0
            for b in range(_SAMPLES):
                loss += omega[b] * np.log1p(total[b]) if top[b] <= LARGE else np.nan
            gaps[m] += loss
            add_slopes(shifts, x, 1.0, slopes[m])


def compiled_measures(loss: LogisticLoss, w_star: Floats, w: Floats) -> Measures:
    """Return the measures of models ``(..., dim)``; see :func:`~fltheory.logistic.model.reference_measures`."""
    rows, width = shape = (loss.rows, loss.features.shape[1])
    tall, wide = filled_shape(shape)
    away = (w - w_star).reshape(-1, *shape)
    moved = np.zeros((len(away), tall, wide))
    moved[:, :rows, :width] = away
    star = np.zeros((tall, wide))
    star[:rows, :width] = w_star.reshape(shape)
    count = len(loss.weights)
    whole = filled(count, _SAMPLES)
    x, weights, z = np.zeros((whole, wide)), np.zeros(whole), np.zeros((tall, whole))
    x[:count, :width], weights[:count] = loss.features, loss.weights
    scores(star, x, z)
    classes = max(rows, 2)
    chances = probabilities(z[:classes].T).reshape(-1, _SAMPLES, classes).transpose(0, 2, 1)
    distance_sq = np.einsum("mcf,mcf->m", away, away)
    gap, slopes = 0.5 * loss.l2 * distance_sq, loss.l2 * moved
    u, shifts = np.zeros((2, tall, _SAMPLES))
    top, total = np.zeros((2, _SAMPLES))
    _measure(
        moved,
        x.reshape(-1, _SAMPLES, wide),
        np.ascontiguousarray(chances),
        weights.reshape(-1, _SAMPLES),
        gap,
        slopes,
        u,
        shifts,
        top,
        total,
    )
    slopes = slopes[:, :rows, :width]
    norm_sq = np.einsum("mcf,mcf->m", slopes, slopes)
    if (far := np.isnan(gap)).any():
        remote = reference_measures(loss, w_star, w.reshape(-1, loss.dim)[far])
        gap[far], norm_sq[far] = remote.gap, remote.gradient_norm_sq
    return Measures(*(values.reshape(w.shape[:-1]) for values in (distance_sq, gap, norm_sq)))
