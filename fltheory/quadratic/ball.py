r"""Constants of a quadratic problem that hold for every model in a ball; they are attained.

Eigenvalues are the same everywhere. The expected squared norm of a stochastic gradient of client ``i`` is

.. math:: (1 + \rho^2)\Bigl(\|(1+\alpha_i)(H_i w + b_i) + \delta_i\|^2 + A^2\|H_i w + b_i\|^2
          + \mathbb E\|\delta_t\|^2 + \mathbb E\|\xi\|^2\Bigr) + \mathbb E\|\nu\|^2 ,

a convex quadratic function of :math:`w`. Its maximum over a ball is a trust-region problem, whose dual has no gap:

.. math:: \max_{\|d\|\le R} d^\top M d + 2h^\top d
          = \min_{\nu \ge \lambda_{\max}(M)} \nu R^2 + h^\top(\nu I - M)^{-1}h .

Every feasible :math:`\nu` gives an upper bound, so rounding in the search for the best one cannot spoil the result. The
noise of a random Hessian has the variance :math:`\rho^2` times the large bracket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.problems.problem import Constant, ball, ball_constants
from fltheory.quadratic.objective import eigenvalues

if TYPE_CHECKING:
    from fltheory.quadratic.problem import Quadratic


def constants_on_ball(problem: Quadratic, radius: float, centre: Floats | None = None) -> Mapping[str, Constant]:
    """Return constants by name; see :func:`fltheory.problems.problem.constants_on_ball`."""
    radius, outer = ball("Quadratic", problem, radius, centre)
    c = problem.inward(outer)
    spectra = eigenvalues(problem.hessian) if problem.is_dense else problem.hessian
    growth = np.asarray(problem.client_growth)
    drift_sq = problem.fresh_drift_sq + problem.round_drift_sq
    full_sq = np.array([_largest_slope_sq(problem, i, radius, c) for i in range(problem.num_clients)]) + drift_sq
    sigma_sq = problem.noise_sq + problem.hessian_noise**2 * full_sq
    return ball_constants(
        mu=spectra.min(axis=1) * (1.0 + growth - problem.round_growth),
        L=spectra.max(axis=1) * (1.0 + growth + problem.round_growth),
        sigma_sq=sigma_sq,
        gradient_sq=full_sq + sigma_sq,
    )


def _largest_slope_sq(problem: Quadratic, client: int, radius: float, centre: Floats) -> float:
    """Return the largest mean squared norm of a round's full gradient, without the drift that is drawn."""
    hessian = problem.hessian[client % len(problem.hessian)]
    linear = problem.linear[client % len(problem.linear)]
    scale, growth = 1.0 + np.asarray(problem.client_growth)[client], problem.round_growth
    values, vectors = np.linalg.eigh(hessian) if problem.is_dense else (hessian, None)
    c, b, delta = (
        v if vectors is None else v @ vectors for v in (centre, linear, np.asarray(problem.client_drift)[client])
    )
    slope = values * c + b
    mean = scale * slope + delta
    at_centre = float(mean @ mean + growth**2 * (slope @ slope))
    return at_centre + largest_on_ball(
        (scale**2 + growth**2) * values**2, values * (scale * mean + growth**2 * slope), radius
    )


def largest_on_ball(values: Floats, h: Floats, radius: float) -> float:
    r"""Return :math:`\max\{\sum_k m_k d_k^2 + 2 h_k d_k : \|d\| \le R\}` for :math:`m_k \ge 0`, from the dual.

    >>> largest_on_ball(np.array([1.0, 4.0]), np.zeros(2), 3.0)
    36.0
    """
    if radius == 0.0:
        return 0.0
    gaps = values.max() - values
    size = float(np.linalg.norm(h))
    if size == 0.0:
        return float(values.max() * radius**2)

    def short(shift: float) -> float:
        """Return how far the point that belongs to a multiplier is from the sphere, outside positive."""
        return float(np.linalg.norm(h / (shift + gaps))) - radius

    top = float(np.linalg.norm(h[gaps == 0.0]))
    inside = np.where(gaps > 0.0, h / np.where(gaps > 0.0, gaps, 1.0), 0.0)
    shift = 0.0
    if top > 0.0 or np.linalg.norm(inside) > radius:
        from scipy.optimize import brentq

        low, high = max(top / radius, 1e-12 * size / radius), size / radius
        if short(high) >= 0.0:
            shift = high
        else:
            shift = low if short(low) <= 0.0 else float(brentq(short, low, high, rtol=1e-14))
    terms = np.where(h != 0.0, h**2 / np.where(shift + gaps > 0.0, shift + gaps, 1.0), 0.0)
    return float((values.max() + shift) * radius**2 + terms.sum())
