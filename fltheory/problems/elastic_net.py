r"""Minimisers of smooth convex functions with an l1 term, however badly conditioned.

.. math:: \min_v\ h(v) + \lambda_1\|v\|_1 , \qquad h \text{ strongly convex and twice differentiable.}

The number of steps of a first-order method grows with the condition number of :math:`h`. The method here does not
care about it. It keeps a set of *free* coordinates, each with a sign, and takes Newton steps in them; a coordinate that
would change its sign stops at zero and is no longer free. Once the free coordinates are stationary, the one at zero
whose slope exceeds :math:`\lambda_1` most is set free, in the direction that lowers the objective. The objective
decreases strictly and there are finitely many sets and signs, so the right ones are found; from then on Newton's method
converges quadratically.

The change of the objective along a step is the inner product with the subgradient of least norm plus a Bregman
divergence, so steps are accepted rightly down to the last digit.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable

_STEPS_PER_COORDINATE = 30

_ROUNDING = 2e-15
"""Relative error of a gradient that rounding may cause."""


class Smooth(Protocol):
    """The function :math:`h` at vectors ``(dim,)``."""

    def gradient(self, v: Floats) -> Floats:
        """Return the gradient, shape ``(dim,)``."""
        ...

    def hessian(self, v: Floats) -> Floats:
        """Return the Hessian, shape ``(dim, dim)``."""
        ...

    def divergence(self, v: Floats, step: Floats) -> float:
        r"""Return :math:`h(v + s) - h(v) - \langle\nabla h(v), s\rangle`."""
        ...


def soft(x: Floats, threshold: float) -> Floats:
    """Return the soft threshold ``sign(x) max(|x| - threshold, 0)``.

    >>> soft(np.array([-3.0, 0.5, 2.0]), 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0), dtype=np.float64)


def minimise_with_l1(h: Smooth, start: Floats, *, l1: float, tolerance: float) -> Floats:
    r"""Return the minimiser of :math:`h + \lambda_1\|\cdot\|_1`, shape ``(dim,)``, with exact zeros.

    Parameters
    ----------
    h
        The smooth part.
    start
        First guess, shape ``(dim,)``; a good one saves steps.
    l1
        :math:`\lambda_1`.
    tolerance
        Largest norm of the subgradient of least norm at which to stop; the method also stops at the level of rounding.

    Raises
    ------
    NotApplicable
        If rounding keeps the subgradient above the tolerance.
    """
    v = np.array(start, dtype=np.float64)
    norm = np.inf
    for _ in range(_STEPS_PER_COORDINATE * (len(v) + 1)):
        slope = h.gradient(v)
        # Least subgradient: at zero, slopes up to l1 are balanced by the kink.
        least = np.where(v != 0, slope + l1 * np.sign(v), soft(slope, l1))
        norm = float(np.linalg.norm(least))
        hessian = h.hessian(v)
        rounding = _ROUNDING * float(np.linalg.norm(np.abs(hessian) @ np.abs(v)) + np.linalg.norm(slope))
        if norm <= max(tolerance, rounding):
            return v
        free = v != 0
        entering = np.zeros_like(free)
        if not np.linalg.norm(least[free]) > max(tolerance, 0.1 * np.abs(least[~free]).max(initial=0.0)):
            entering[np.argmax(np.where(free, 0.0, np.abs(least)))] = True
        # Alone, either part has a direction of descent; together they are faster, but the new one may turn back.
        parts = [free | entering, free, entering] if entering.any() else [free]
        better = next((new for part in parts if (new := _orthant_step(h, v, least, hessian, part)) is not None), None)
        if better is None:
            break
        v = better
    raise NotApplicable(
        f"the l1 proximal problem stopped at a subgradient of norm {norm:.2g}, above {tolerance:.2g}; scale the "
        "features to order one, or raise pull or l2"
    )


def newton_direction(hessian: Floats, slope: Floats) -> Floats:
    """Return ``-H^{-1} g`` for matrices ``(..., dim, dim)``, or say what to do where rounding makes one singular."""
    try:
        direction = -np.linalg.solve(hessian, slope[..., None])[..., 0]
    except np.linalg.LinAlgError:
        direction = np.full_like(slope, np.nan)
    if not np.all(np.isfinite(direction)):
        raise NotApplicable(
            "Newton's method met a Hessian that is singular to rounding; scale the features to order one, or raise l2"
        )
    return np.asarray(direction)


def _orthant_step(h: Smooth, v: Floats, least: Floats, hessian: Floats, free: NDArray[np.bool_]) -> Floats | None:
    """Return the model after a Newton step in the free coordinates, or ``None`` if none lowers the objective."""
    direction = np.zeros_like(v)
    direction[free] = newton_direction(hessian[np.ix_(free, free)], least[free])
    sign = np.where(v != 0, np.sign(v), -np.sign(least))
    turning = direction * sign < 0
    zero_at = np.full_like(v, np.inf)
    zero_at[turning] = v[turning] / -direction[turning]
    for length in np.concatenate([0.5 ** np.arange(6), min(zero_at.min(), 1.0) * 0.5 ** np.arange(60)]):
        trial = np.where(zero_at <= length, 0.0, v + length * direction)
        step = trial - v
        if h.divergence(v, step) + float(least @ step) < 0:
            return trial
    return None
