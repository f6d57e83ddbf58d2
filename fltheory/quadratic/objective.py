"""Closed forms of quadratic objectives: minimisers, minima, gaps, spectral distances."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter
from fltheory.problems.problem import Measures, norm_sq
from fltheory.problems.reflections import Basis, Reflections

NULL = 1e-12
"""Eigenvalues below this fraction of the largest count as zero."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class QuadraticObjective:
    """``w' H w / 2 + b' w + c`` with ``H`` diagonal, shape ``(dim,)``, or dense, shape ``(dim, dim)``.

    With ``reflections``, ``H`` is diagonal in the coordinates that they lead to; all vectors are in those of the model.
    """

    hessian: Floats
    linear: Floats
    w_star: Floats
    f_star: float
    reflections: Reflections | None = None

    @classmethod
    def mean(cls, hessian: Floats, linear: Floats, constant: Floats, p: Floats, near: Floats) -> QuadraticObjective:
        """Return the ``p``-weighted mean of client quadratics; of several minimisers, the one closest to ``near``."""
        h = _mean(hessian, p)
        b = _mean(linear, p)
        c = float(_mean(constant, p))
        residual = _times(h, near) + b
        step = _solve(h, residual)
        if np.linalg.norm(residual - _times(h, step)) > 1e-8 * max(1.0, float(np.linalg.norm(b))):
            raise InvalidParameter(
                "the objective has no minimiser: mu = 0 and the linear term points into the null space of the "
                "Hessian; choose mu > 0, or a linear term in its range"
            )
        w_star = near - step
        f_star = float(0.5 * w_star @ _times(h, w_star) + b @ w_star) + c
        return cls(hessian=h, linear=b, w_star=w_star, f_star=f_star)

    def rotated(self, basis: Basis) -> QuadraticObjective:
        """Return the objective in the coordinates of the model, given the rows of the eigenbasis."""
        if basis is None:
            return self
        if isinstance(basis, Reflections):
            linear, w_star = basis.turned(self.linear), basis.turned(self.w_star)
            return replace(self, linear=linear, w_star=w_star, reflections=basis)
        return QuadraticObjective(
            hessian=(basis.T * self.hessian) @ basis,
            linear=self.linear @ basis,
            w_star=self.w_star @ basis,
            f_star=self.f_star,
        )

    def gap(self, w: Floats) -> Floats:
        away = w - self.w_star
        return np.asarray(0.5 * np.sum(self._curved(away) * away, axis=-1), dtype=np.float64)

    def gradient(self, w: Floats) -> Floats:
        return self._curved(w - self.w_star)

    def measure(self, w: Floats) -> Measures:
        away = w - self.w_star
        gradient = self._curved(away)
        gap = 0.5 * np.einsum("...d,...d->...", gradient, away)
        return Measures(norm_sq(away), np.asarray(gap), norm_sq(gradient))

    def _curved(self, w: Floats) -> Floats:
        """Return ``H w``."""
        if self.reflections is None:
            return _times(self.hessian, w)
        return self.reflections.turned(self.hessian * self.reflections.turned(w))


def client_minima(hessian: Floats, linear: Floats, constant: Floats, scale: Floats, drift: Floats) -> Floats:
    """Return the minimum of every ``scale_i (w'H_i w / 2 + b_i'w + c_i) + drift_i'w``; ``-inf`` if unbounded."""
    minima = np.empty(len(scale))
    for i, factor in enumerate(scale):
        h = factor * hessian[i % len(hessian)]
        b = factor * linear[i % len(linear)] + drift[i]
        w = -_solve(h, b)
        left = np.linalg.norm(_times(h, w) + b)
        bounded = left <= 1e-9 * max(1.0, float(np.linalg.norm(b)))
        minima[i] = factor * constant[i % len(constant)] + 0.5 * float(b @ w) if bounded else -np.inf
    return minima


def eigenvalues(hessian: Floats) -> Floats:
    """Return the eigenvalues of symmetric matrices, increasing, without the rounding of those that are 0.

    >>> eigenvalues(np.array([[[1.0, 1.0], [1.0, 1.0]]])).tolist()
    [[0.0, 2.0]]
    """
    found = np.linalg.eigvalsh(hessian)
    return np.where(np.abs(found) <= NULL * np.abs(found).max(axis=-1, keepdims=True), 0.0, found)


def spectral_distance(hessian: Floats, scale: Floats) -> float:
    """Return the largest spectral norm of a difference of two clients' Hessians."""
    scaled = [factor * hessian[i % len(hessian)] for i, factor in enumerate(scale)]
    if hessian.ndim == 2:
        stacked = np.stack(scaled)
        return float((stacked.max(axis=0) - stacked.min(axis=0)).max())
    largest = 0.0
    for i, first in enumerate(scaled):
        for second in scaled[:i]:
            largest = max(largest, float(np.linalg.norm(first - second, 2)))
    return largest


def _mean(values: Floats, p: Floats) -> Floats:
    return values[0] if len(values) == 1 else np.tensordot(p, values, axes=1)


def _times(h: Floats, w: Floats) -> Floats:
    return np.asarray(h * w if h.ndim == 1 else w @ h, dtype=np.float64)


def _solve(h: Floats, b: Floats) -> Floats:
    """Return the solution of least norm."""
    if h.ndim == 1:
        small = h <= NULL * h.max(initial=0.0)
        return np.asarray(np.where(small, 0.0, b / np.where(small, 1.0, h)), dtype=np.float64)
    values, vectors = np.linalg.eigh(h)
    small = values <= NULL * values.max(initial=0.0)
    return np.asarray(vectors @ np.where(small, 0.0, (vectors.T @ b) / np.where(small, 1.0, values)), dtype=np.float64)
