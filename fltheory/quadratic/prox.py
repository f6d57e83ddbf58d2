r"""Exact minimisers of quadratics with an elastic net.

.. math:: \min_u\ \tfrac12 u^\top (H + qI) u + g^\top u + \lambda_1 \|u\|_1

With a diagonal ``H`` the answer is a soft threshold; with a matrix and no l1 term a linear solve; otherwise
cyclic coordinate descent for all replicates and clients at once, whose updates set coordinates to exact zeros. It is
slow on badly conditioned matrices; what it has not solved after a few sweeps is finished by
:func:`~fltheory.problems.elastic_net.minimise_with_l1`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.problems.elastic_net import minimise_with_l1, soft
from fltheory.quadratic.objective import NULL

_SWEEPS = 100
_TOLERANCE = 1e-14


def elastic_net_minimiser(curvature: Floats, slope: Floats, pull: float, l1: float) -> Floats:
    """Return the minimisers for curvatures ``(r | 1, n, d)`` or ``(r | 1, n, d, d)`` and slopes ``(r, n, d)``."""
    dense = curvature.ndim == slope.ndim + 1
    values = np.linalg.eigvalsh(curvature) if dense and pull <= 0 else curvature
    if pull <= 0 and np.min(values) + pull <= NULL * np.max(values):
        raise NotApplicable(
            "the sub-problem has no unique minimiser: the Hessian is singular and the quadratic pull is 0; "
            "choose a positive pull, or mu > 0"
        )
    if not dense:
        return -soft(slope, l1) / (curvature + pull)
    matrix = curvature + pull * np.eye(curvature.shape[-1])
    if l1 == 0.0:
        return np.asarray(-np.linalg.solve(matrix, slope[..., None])[..., 0])
    return _coordinate_descent(np.broadcast_to(matrix, (*slope.shape, slope.shape[-1])), slope, l1)


def _coordinate_descent(matrix: Floats, slope: Floats, l1: float) -> Floats:
    u = np.zeros(slope.shape)
    gradient = slope.copy()
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    largest = np.full(slope.shape[:-1], np.inf)
    for _ in range(_SWEEPS):
        largest = np.zeros(slope.shape[:-1])
        for j in range(slope.shape[-1]):
            own = diagonal[..., j]
            new = -soft(gradient[..., j] - own * u[..., j], l1) / own
            change = new - u[..., j]
            u[..., j] = new
            gradient += matrix[..., j, :] * change[..., None]
            largest = np.maximum(largest, np.abs(change))
        if largest.max(initial=0.0) <= _TOLERANCE * max(1.0, float(np.abs(u).max(initial=0.0))):
            return u
    for place in np.argwhere(largest > _TOLERANCE * max(1.0, float(np.abs(u).max(initial=0.0)))):
        at = tuple(place)
        h = _Quadratic(matrix[at], slope[at])
        u[at] = minimise_with_l1(h, u[at], l1=l1, tolerance=_TOLERANCE * float(np.linalg.norm(slope[at])))
    return u


@dataclass(frozen=True, slots=True, eq=False)
class _Quadratic:
    """The smooth part for one replicate and client."""

    matrix: Floats
    slope: Floats

    def gradient(self, v: Floats) -> Floats:
        return np.asarray(self.matrix @ v + self.slope)

    def hessian(self, v: Floats) -> Floats:
        return self.matrix

    def divergence(self, v: Floats, step: Floats) -> float:
        return float(0.5 * step @ self.matrix @ step)
