r"""The loss of l2-regularised logistic regression, its derivatives and an accurate gap.

A model is a vector :math:`w` that stands for one row of weights per class (softmax, ``rows = C``) or for the
log-odds of class 1 against class 0 (binary, ``rows = 1``), stored row by row: ``w.reshape(rows, features)``.
With scores :math:`z = W x` and targets :math:`q` (a one-hot label, or a law over labels),

.. math:: f(w) = \sum_j \omega_j \bigl( A(z_j) - \langle q_j, z_j\rangle \bigr) + \frac{\lambda}{2}\|w\|^2,
   \qquad A(z) = \log \sum_c e^{z_c} \;\text{ or }\; \log(1 + e^{z}).

The loss is affine in the targets, so averaging it over a law of labels is the same as averaging the labels.

**The gap.** :math:`f(w) - f(v)` subtracts two nearly equal numbers near a minimiser. The code uses instead

.. math:: f(w) - f(v) = \langle\nabla f(v), w - v\rangle + \sum_j \omega_j D_A(z_j(w), z_j(v))
          + \frac{\lambda}{2}\|w - v\|^2,
   \qquad D_A = \log\Bigl(1 + \sum_c \pi_c\,(e^{u_c} - 1 - u_c)\Bigr),

where :math:`\pi = \mathrm{softmax}(z(v))` and :math:`u` is :math:`z(w) - z(v)` minus its mean under :math:`\pi`.
No term of the last sum is negative, so the Bregman divergence is accurate relative to its own size, however
small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory.problems.problem import Measures, norm_sq

# Beyond this exponent the sum inside D_A is formed by log-sum-exp, before exp overflows.
_LARGE = 500.0

# Models are evaluated in blocks of about this many scores, which bounds the memory of a call.
_BLOCK = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LogisticLoss:
    r"""A weighted sum of logistic losses plus :math:`\frac{\lambda}{2}\|w\|^2`.

    Parameters
    ----------
    features
        Shape ``(samples, features)``; for :meth:`gradient` also ``(models, samples, features)``, with its own samples
        for every model.
    targets
        Shape ``(samples, rows)``, or ``(models, samples, rows)`` with its own labels for every model.
    weights
        :math:`\omega_j`, shape ``(samples,)``.
    l2
        :math:`\lambda`.
    linear
        A vector :math:`\delta` whose term :math:`\langle\delta, w\rangle` is added to the loss, shape ``(dim,)``, or
        ``(models, dim)`` with its own for every model; ``None`` adds nothing.
    """

    features: Floats
    targets: Floats
    weights: Floats
    l2: float
    linear: Floats | None = None

    @property
    def rows(self) -> int:
        """Rows of the weight matrix: the number of classes, or 1 for the binary model."""
        return int(self.targets.shape[-1])

    @property
    def dim(self) -> int:
        """Length of a model."""
        return self.rows * int(self.features.shape[-1])

    def for_models(self, block: slice) -> LogisticLoss:
        """Return the loss of a block of models; the same loss if everything is common to all."""
        own_targets = self.targets.ndim == 3
        own_linear = self.linear is not None and self.linear.ndim == 2
        if not (own_targets or own_linear):
            return self
        return replace(
            self,
            targets=self.targets[block] if own_targets else self.targets,
            linear=self.linear[block] if self.linear is not None and own_linear else self.linear,
        )

    def scores(self, w: Floats) -> Floats:
        """Return the scores of models ``(..., dim)``, shape ``(..., samples, rows)``."""
        return scores(self.features, w)

    def value(self, w: Floats) -> Floats:
        """Return the loss of models ``(..., dim)``, shape ``(...)``."""
        z = self.scores(w)
        losses = _log_partition(z) - _inner(self.targets, z)
        total = losses @ self.weights + 0.5 * self.l2 * (w**2).sum(axis=-1)
        return np.asarray(total if self.linear is None else total + (self.linear * w).sum(axis=-1))

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at models ``(..., dim)``, same shape."""
        residuals = (probabilities(self.scores(w)) - self.targets) * self.weights[:, None]
        slopes = np.matmul(np.swapaxes(residuals, -1, -2), self.features)
        total = slopes.reshape(w.shape) + self.l2 * w
        return np.asarray(total if self.linear is None else total + self.linear)

    def hessian(self, w: Floats) -> Floats:
        """Return the Hessian at models ``(..., dim)``, shape ``(..., dim, dim)``."""
        return in_blocks(self._hessians, w, self.dim * (self.dim + len(self.features)))

    def fisher_diagonal(self, w: Floats) -> Floats:
        r"""Return the diagonal of the Fisher information of the labels, without :math:`\lambda`.

        The expectation over the model's own labels gives :math:`\mathbb E (p_c - 1_{y=c})^2 = p_c(1 - p_c)`,
        the diagonal of the Hessian less :math:`\lambda`.
        """
        p = probabilities(self.scores(w))
        return self._second_moments(p * (1.0 - p), w)

    def empirical_fisher_diagonal(self, w: Floats) -> Floats:
        r"""Return the mean squared slope per sample at the given targets, without :math:`\lambda`."""
        return self._second_moments((probabilities(self.scores(w)) - self.targets) ** 2, w)

    def divergence(self, w: Floats, v: Floats) -> Floats:
        r"""Return :math:`f(w) - f(v) - \langle\nabla f(v), w - v\rangle`, accurate however close ``w`` is to ``v``.

        Never negative, and free of NaN for finite models. Both have shape ``(..., dim)`` and broadcast.
        """
        moved = w - v
        with np.errstate(over="ignore", invalid="ignore"):
            losses = _log_partition_divergence(self.scores(v), self.scores(moved))
            return np.asarray(losses @ self.weights + 0.5 * self.l2 * (moved**2).sum(axis=-1))

    def _hessians(self, models: Floats) -> Floats:
        width = self.features.shape[1]
        result = np.empty((*models.shape, self.dim))
        for r, w in enumerate(models):
            p = probabilities(self.scores(w))
            # Minus the outer products of p: as a product of one matrix with its own transpose, half the work in BLAS.
            outer = (np.sqrt(self.weights)[:, None] * p)[:, :, None] * self.features[:, None, :]
            flat = outer.reshape(len(p), self.dim)
            result[r] = -(flat.T @ flat)
            for c in range(self.rows):
                root = np.sqrt(self.weights * p[:, c])[:, None] * self.features
                own = slice(c * width, (c + 1) * width)
                result[r, own, own] += root.T @ root
            result[r].flat[:: self.dim + 1] += self.l2
        return result

    def _second_moments(self, spread: Floats, w: Floats) -> Floats:
        weighted = np.swapaxes(spread * self.weights[:, None], -1, -2)
        moments = np.matmul(weighted, self.features**2)
        return np.asarray(moments.reshape(*moments.shape[:-2], w.shape[-1]))


def scores(features: Floats, w: Floats) -> Floats:
    """Return the scores of models ``(..., dim)`` on samples, shape ``(..., samples, rows)``."""
    rows = w.reshape(*w.shape[:-1], -1, features.shape[-1])
    return np.asarray(np.matmul(features, np.swapaxes(rows, -1, -2)))


def probabilities(z: Floats) -> Floats:
    """Return the class probabilities of scores ``(..., rows)``; for one row, that of class 1."""
    if z.shape[-1] == 1:
        small = np.exp(-np.abs(z))
        return np.asarray(np.where(z >= 0, 1.0, small) / (1.0 + small))
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    powers /= (powers @ np.ones(z.shape[-1]))[..., None]
    return np.asarray(powers)


def one_hot(labels: Ints, rows: int) -> Floats:
    """Return targets for labels ``(...)``, shape ``(..., rows)``; for one row, the label itself (0 or 1)."""
    if rows == 1:
        return labels[..., None].astype(np.float64)
    return np.asarray(labels[..., None] == np.arange(rows), dtype=np.float64)


def in_blocks(function: Callable[[Floats], Floats], w: Floats, cost: int) -> Floats:
    """Apply a function of models ``(models, dim)`` to models ``(..., dim)`` block by block.

    ``cost`` is the number of intermediate values per model.
    """
    flat = w.reshape(-1, w.shape[-1])
    size = max(1, _BLOCK // max(cost, 1))
    parts = [function(flat[first : first + size]) for first in range(0, len(flat), size)]
    result = np.concatenate(parts) if parts else function(flat)
    return np.asarray(result.reshape((*w.shape[:-1], *result.shape[1:])))


def reference_measures(loss: LogisticLoss, w_star: Floats, w: Floats) -> Measures:
    """Return squared distance to the minimiser ``w_star``, gap and squared gradient norm of models ``(..., dim)``."""
    cost = int(loss.targets.size)
    gap = in_blocks(lambda block: loss.divergence(block, w_star), w, cost)
    return Measures(norm_sq(w - w_star), gap, norm_sq(in_blocks(loss.gradient, w, cost)))


def _inner(a: Floats, b: Floats) -> Floats:
    """Return inner products over the last axis, faster than a product and a sum over few classes."""
    return np.asarray(np.einsum("...c,...c->...", a, b))


def _log_partition(z: Floats) -> Floats:
    if z.shape[-1] == 1:
        return np.asarray(np.logaddexp(0.0, z[..., 0]))
    top = z.max(axis=-1)
    return np.asarray(top + np.log(np.exp(z - top[..., None]) @ np.ones(z.shape[-1])))


def _log_partition_divergence(base: Floats, moved: Floats) -> Floats:
    if base.shape[-1] == 1:
        base = np.concatenate([np.zeros_like(base), base], axis=-1)
        moved = np.concatenate([np.zeros_like(moved), moved], axis=-1)
    log_p = base - _log_partition(base)[..., None]
    p = np.exp(log_p)
    u = moved - _inner(p, moved)[..., None]
    top = u.max(axis=-1)
    near = np.log1p(_inner(p, _exp_remainder(np.minimum(u, _LARGE))))
    if np.all(top <= _LARGE):
        return np.asarray(near)
    return np.asarray(np.where(top <= _LARGE, near, _log_partition(log_p + u)))


def _exp_remainder(u: Floats) -> Floats:
    """Return ``exp(u) - 1 - u`` to a relative accuracy of about 1e-13."""
    series = u * (1.0 / 11.0)
    for n in range(10, 2, -1):
        series += 1.0
        series *= u
        series *= 1.0 / n
    series += 1.0
    # From 0.1 on, the subtraction costs at most two digits; exp is several times faster than expm1.
    return np.asarray(np.where(np.abs(u) < 0.1, 0.5 * u**2 * series, np.exp(u) - 1.0 - u))
