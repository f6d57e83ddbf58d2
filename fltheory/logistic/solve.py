r"""Minimisers of logistic losses: damped Newton, and a first-order method with a Newton finish for l1 terms.

Both solve, for a batch of models at once,

.. math:: \min_w f(w) + \langle \ell, w\rangle + \frac{q}{2}\|w - a\|^2 + \lambda_1 \|w - a\|_1 .

Newton's line search never subtracts two function values: the change of the objective along a direction is its slope
plus a Bregman divergence (:meth:`~fltheory.logistic.model.LogisticLoss.divergence`), so steps are accepted rightly
down to the last digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.logistic.model import LogisticLoss
from fltheory.problems.elastic_net import minimise_with_l1, newton_direction, soft

NEWTON_STEPS = 100

ACCELERATED_STEPS = 400
"""Steps of the first-order method before Newton's takes over; well conditioned problems need fewer."""


def minimise(
    loss: LogisticLoss, start: Floats, *, pull: float = 0.0, anchor: Floats | None = None, linear: Floats | None = None
) -> Floats:
    r"""Return the minimisers of :math:`f + \langle\ell, w\rangle + \frac{q}{2}\|w-a\|^2`, shape ``(models, dim)``.

    Damped Newton until every gradient norm is at most ``1e-12 * max(1, q)``.

    Parameters
    ----------
    loss
        :math:`f`.
    start
        First guesses, shape ``(models, dim)``.
    pull, anchor, linear
        :math:`q`, :math:`a` and :math:`\ell`; the last two of shape ``(models, dim)``, zero if ``None``.

    Raises
    ------
    NotApplicable
        If the gradient norm stays above the tolerance, which rounding alone can cause on badly scaled features.
    """
    tolerance = 1e-12 * max(1.0, pull)
    fixed = np.zeros_like(start) if linear is None else linear
    centre = np.zeros_like(start) if anchor is None else anchor
    diagonal = np.arange(loss.dim)
    w = start.copy()
    norms = np.full(len(w), math.inf)
    for _ in range(NEWTON_STEPS):
        gradient = loss.gradient(w) + fixed + pull * (w - centre)
        norms = np.linalg.norm(gradient, axis=-1)
        active = ~(norms <= tolerance)
        if not active.any():
            return w
        hessian = loss.hessian(w)
        hessian[..., diagonal, diagonal] += pull
        direction = newton_direction(hessian, gradient)
        slope = (gradient * direction).sum(axis=-1)
        length = np.ones(len(w))
        for _ in range(50):
            step = length[:, None] * direction
            rise = loss.divergence(w + step, w) + 0.5 * pull * (step**2).sum(axis=-1)
            too_long = active & ~(rise <= -0.99 * length * slope)
            if not too_long.any():
                break
            length[too_long] /= 2.0
        w = np.where(active[:, None], w + length[:, None] * direction, w)
    raise NotApplicable(
        f"Newton's method stopped at a gradient norm of {norms.max():.2g} after {NEWTON_STEPS} steps, above "
        f"{tolerance:g}; scale the features to order one, or raise l2"
    )


def minimise_l1(
    loss: LogisticLoss, smoothness: float, *, anchor: Floats, pull: float, l1: float, linear: Floats | None = None
) -> Floats:
    r"""Return the minimisers with the term :math:`\lambda_1\|w-a\|_1`, shape ``(models, dim)``.

    Accelerated proximal gradient with the momentum of the strongly convex case: with :math:`\kappa = (L+q)/(\lambda+q)`
    the objective gap shrinks by :math:`1 - \kappa^{-1/2}` per step, for all models at once. Models that are not there
    after a few hundred steps are finished one by one by :func:`~fltheory.problems.elastic_net.minimise_with_l1`, which
    does not depend on :math:`\kappa`.

    The prox-gradient mapping, or the least subgradient, has a norm below 1e-12 that bounds the distance to the
    minimiser by 1e-10, or is at the level of rounding. Coordinates at the kink equal the anchor's exactly.

    Parameters
    ----------
    loss
        :math:`f`.
    smoothness
        An upper bound :math:`L` on the largest eigenvalue of its Hessian.
    anchor, pull, l1, linear
        :math:`a` and :math:`\ell` of shape ``(models, dim)``; :math:`q`, :math:`\lambda_1`.
    """
    upper, lower = smoothness + pull, loss.l2 + pull
    root = math.sqrt(lower / upper)
    momentum = (1.0 - root) / (1.0 + root)
    tolerance = max(min(0.5e-10 * lower, 1e-12), 1e-14 * max(1.0, upper))
    fixed = np.zeros_like(anchor) if linear is None else linear
    v = np.zeros_like(anchor)
    ahead = v
    residual = np.full(len(v), math.inf)
    for _ in range(ACCELERATED_STEPS):
        slope = loss.gradient(anchor + ahead) + fixed + pull * ahead
        new = soft(ahead - slope / upper, l1 / upper)
        residual = upper * np.linalg.norm(new - ahead, axis=-1)
        ahead = new + momentum * (new - v)
        v = new
        if np.all(residual <= tolerance):
            return np.asarray(anchor + v)
    for m in np.flatnonzero(~(residual <= tolerance)):
        one = slice(m, m + 1)
        around = _Around(loss=loss.for_models(one), anchor=anchor[m], pull=pull, linear=fixed[m])
        size = float(np.abs(anchor[m] + v[m]).max(initial=1.0))
        v[m] = minimise_with_l1(around, v[m], l1=l1, tolerance=tolerance * size)
    return np.asarray(anchor + v)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Around:
    """The smooth part of one proximal problem as a function of ``v = w - a``."""

    loss: LogisticLoss
    anchor: Floats
    pull: float
    linear: Floats

    def gradient(self, v: Floats) -> Floats:
        return np.asarray(self.loss.gradient((self.anchor + v)[None])[0] + self.linear + self.pull * v)

    def hessian(self, v: Floats) -> Floats:
        return np.asarray(self.loss.hessian((self.anchor + v)[None])[0] + self.pull * np.eye(len(v)))

    def divergence(self, v: Floats, step: Floats) -> float:
        w = (self.anchor + v)[None]
        return float(self.loss.divergence(w + step, w)[0] + 0.5 * self.pull * (step @ step))
