r"""Exact minimisers of quadratics with an elastic net.

.. math:: \min_u\ \tfrac12 u^\top (H + qI) u + g^\top u + \lambda_1 \|u\|_1

With a diagonal ``H`` the answer is a soft threshold; with a matrix and no l1 term a linear solve; otherwise
cyclic coordinate descent, whose updates set coordinates to exact zeros and whose limit is the minimiser for
every positive definite ``H + qI``.
"""

from __future__ import annotations

import numpy as np

from fltheory.checks import Floats
from fltheory.errors import NotApplicable
from fltheory.quadratic.objective import NULL

_SWEEPS = 20_000
_TOLERANCE = 1e-14


def soft(x: Floats, threshold: float) -> Floats:
    """Return the soft threshold ``sign(x) max(|x| - threshold, 0)``."""
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0), dtype=np.float64)


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
    for _ in range(_SWEEPS):
        largest = 0.0
        for j in range(slope.shape[-1]):
            own = diagonal[..., j]
            new = -soft(gradient[..., j] - own * u[..., j], l1) / own
            change = new - u[..., j]
            u[..., j] = new
            gradient += matrix[..., j, :] * change[..., None]
            largest = max(largest, float(np.abs(change).max(initial=0.0)))
        if largest <= _TOLERANCE * max(1.0, float(np.abs(u).max(initial=0.0))):
            return u
    raise NotApplicable(
        f"coordinate descent did not reach {_TOLERANCE:g} in {_SWEEPS} sweeps: the Hessian is too ill conditioned; "
        "raise the quadratic pull"
    )
