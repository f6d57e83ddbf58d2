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

from typing import TYPE_CHECKING

import numpy as np

from fltheory._internal.kernels import Kernel
from fltheory.logistic.compiled import LANES, SAMPLES, aligned_zeros, filled_shape
from fltheory.logistic.model import probabilities, reference_measures
from fltheory.problems.problem import Measures

if TYPE_CHECKING:
    from fltheory._internal.arguments import Floats
    from fltheory.logistic.model import LogisticLoss

_measure = Kernel("fltheory.logistic.kernel", "measure")


class CompiledMeasures:
    """Measures models against a loss and its minimiser ``w_star``; what does not depend on the models is kept.

    ``features`` are those of the loss, filled up as by :class:`~fltheory.logistic.compiled.CompiledSteps`.
    """

    def __init__(self, loss: LogisticLoss, w_star: Floats, features: Floats) -> None:
        self._loss = loss
        self._w_star = w_star
        self._features = features
        whole = len(features)
        weights = np.zeros(whole)
        weights[: len(loss.weights)] = loss.weights
        self._weights = weights.reshape(-1, SAMPLES)
        z = loss.scores(w_star)
        if loss.rows == 1:
            z = np.concatenate([z, np.zeros_like(z)], axis=1)
        chances = np.zeros((whole, z.shape[1]))
        chances[: len(z)] = probabilities(z)
        self._chances = np.ascontiguousarray(chances.reshape(len(self._weights), SAMPLES, -1).transpose(0, 2, 1))

    def __call__(self, w: Floats) -> Measures:
        """Return the measures of models ``(..., dim)``; see :func:`~fltheory.logistic.model.reference_measures`."""
        loss, w_star = self._loss, self._w_star
        rows, width = shape = (loss.rows, loss.features.shape[1])
        away = (w - w_star).reshape(-1, *shape)
        moved = aligned_zeros((len(away), *filled_shape(shape)))
        moved[:, :rows, :width] = away
        distance_sq = np.einsum("mcf,mcf->m", away, away)
        gaps, slopes = np.zeros((len(away), LANES)), aligned_zeros(moved.shape)
        u, rest = aligned_zeros((2, moved.shape[1] * SAMPLES))
        at = np.zeros(SAMPLES, np.int64)
        _measure(moved, self._features, self._chances, self._weights, width, gaps, slopes, u, rest, at)
        gap = gaps.sum(axis=1) + 0.5 * loss.l2 * distance_sq
        slope = slopes[:, :rows, :width] + loss.l2 * away
        norm_sq = np.einsum("mcf,mcf->m", slope, slope)
        if (far := np.isnan(gap)).any():
            remote = reference_measures(loss, w_star, w.reshape(-1, loss.dim)[far])
            gap[far], norm_sq[far] = remote.gap, remote.gradient_norm_sq
        return Measures(*(values.reshape(w.shape[:-1]) for values in (distance_sq, gap, norm_sq)))
