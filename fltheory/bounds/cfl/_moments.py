r"""Closed form of what CFL-R and FedAvg do on the noisy quadratic, and the best constant step by it.

The objective is :math:`f(w) = \frac12 (w - w^*)^\top \Lambda (w - w^*)` with gradients :math:`\nabla f + \delta_{t,i} +
\xi_{t,i} + \nu_{t,i,k}` and no growth (:math:`A = B = 0`). With :math:`\eta = K\eta_l`, :math:`P =
\eta_l\sum_{k<K}(1 - \eta_l\lambda)^k` and :math:`\rho = 1 - \lambda P` on the axis with eigenvalue :math:`\lambda`, a
round of either method is

.. math:: w_{t+1} - w^* = \rho\,(w_t - w^*) - P\,b_t + \text{noise}, \qquad
   b_t = \begin{cases}\zeta_t & \text{FedAvg} \\ \frac1t\sum_{\tau \le t}\zeta_\tau & \text{CFL-R}\end{cases}

with :math:`\zeta_t` the mean over clients of the drifts of round :math:`t`. So every weighted mean of models is linear
in independent drifts, and its second moment is a sum of squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fltheory.checks import Floats
from fltheory.quadratic.problem import Quadratic

LARGEST = (np.sqrt(7.0) - 1.0) / 12.0
r"""The largest step that the paper allows, :math:`\eta L`, for :math:`\eta_g = c_{p_B} = 1`."""

_SMALLEST = 1e-9
"""Smallest step that is tried, as a fraction of the largest one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moments:
    r"""Second moments on a noisy quadratic with one Hessian.

    Parameters
    ----------
    curvature, away, bias
        Eigenvalues, :math:`w_0 - w^*` and the clients' mean of the lasting drift, shape ``(dim,)`` each.
    spread
        Variance per coordinate of the clients' mean of the drifts that are new in every round.
    noise
        The same for the noise of one step.
    local_steps
        Steps per round.
    remembers
        CFL-R with equal weights if set, else FedAvg or FedProx.
    prox
        Coefficient of FedProx.
    mirrored
        Average over the lasting drift and its mirror image, which is as likely a draw.
    """

    curvature: Floats
    away: Floats
    bias: Floats
    spread: float
    noise: float
    local_steps: int
    remembers: bool
    prox: float = 0.0
    mirrored: bool = False

    @classmethod
    def of(
        cls, problem: Quadratic, local_steps: int, *, remembers: bool, prox: float = 0.0, mirrored: bool = False
    ) -> Moments:
        """Return the moments of a problem whose clients share one Hessian, given by its eigenvalues."""
        inside = problem.unrotated()
        drift = inside.round_drift_sq + (0.0 if inside.fresh_drift_centred else inside.fresh_drift_sq)
        share = problem.num_clients * problem.dim
        assert inside.client_drift is not None
        return cls(
            curvature=inside.hessian[0],
            away=inside.start - inside.objective().w_star,
            bias=inside.client_drift.mean(axis=0),
            spread=drift / share,
            noise=float(inside.noise_sq.mean()) / share,
            local_steps=local_steps,
            remembers=remembers,
            prox=prox,
            mirrored=mirrored,
        )

    def loss(self, steps: Floats, weights: Floats, *, power: int = 1, over_rounds: bool = False) -> Floats:
        r"""Return :math:`\mathbb E\sum_j\lambda_j^{\mathrm{power}} (w - w^*)_j^2` of weighted means of models.

        Parameters
        ----------
        steps
            Steps per round, :math:`K\eta_l`, shape ``(steps,)``.
        weights
            Weights of the models before the first round and after every round, shape ``(steps | 1, rounds + 1)``.
        power
            1 for twice the gap, 2 for the squared gradient.
        over_rounds
            Compare with the minimiser of the mean of all rounds' objectives.
        """
        weights = weights / weights.sum(axis=1, keepdims=True)
        rounds = weights.shape[1] - 1
        local = steps[:, None] / self.local_steps
        shrink = 1.0 - local * (self.curvature + self.prox)
        powers = [shrink**k for k in range(self.local_steps)]
        gain = local * sum(powers)
        noisy = local**2 * sum(p * p for p in powers)
        keep = 1.0 - gain * self.curvature
        response = _response(weights, keep)
        start, moved = response[..., 0], gain[..., None] * response[..., 1:]
        number = np.arange(1.0, rounds + 1.0)
        # Round t passes on the mean of the drifts so far, so that a drift acts through all later rounds.
        carried = np.cumsum((moved / number)[..., ::-1], axis=-1)[..., ::-1] if self.remembers else moved
        share = 1.0 / number if self.remembers else np.ones(rounds)
        goal = 1.0 / self.curvature if over_rounds else np.zeros_like(self.curvature)
        drift = ((carried - goal[:, None] / rounds) ** 2).sum(axis=-1)
        noise = ((share * response[..., 1:]) ** 2).sum(axis=-1)
        near, far = start * self.away, (moved.sum(axis=-1) - goal) * self.bias
        second = (
            near**2
            + far**2
            - (0.0 if self.mirrored else 2.0) * near * far
            + self.spread * drift
            + self.noise * noisy * noise
        )
        return np.asarray((self.curvature**power * second).sum(axis=1))

    def distance(self, rounds: int) -> float:
        """Return the distance (root mean square) of the start from the minimiser of all rounds' mean objective."""
        lasting = self.away**2 + (self.bias / self.curvature) ** 2
        if not self.mirrored:
            lasting = lasting + 2 * self.away * self.bias / self.curvature
        return float(np.sqrt((lasting + self.spread / (rounds * self.curvature**2)).sum()))


def _response(weights: Floats, keep: Floats) -> Floats:
    """Return how much the input of each round moves the weighted mean: backwards, z_t = a_t + rho z_{t+1}."""
    from scipy.signal import lfilter

    rounds = weights.shape[1]
    if rounds <= 16 * keep.size:
        # Few rounds: all steps and axes at once. Many: round after round in compiled code, one step and axis at a time.
        out = np.empty((rounds, *keep.shape))
        out[-1] = weights[:, -1:]
        for number in range(rounds - 2, -1, -1):
            np.multiply(keep, out[number + 1], out=out[number])
            out[number] += weights[:, number, None]
        return np.moveaxis(out, 0, -1)
    response = np.empty((*keep.shape, rounds))
    for at in np.ndindex(keep.shape):
        turned = weights[min(at[0], len(weights) - 1), ::-1]
        response[at] = lfilter(np.ones(1), np.array([1.0, -float(keep[at])]), turned)[::-1]
    return response


def averaging(steps: Floats, rounds: int, mu: float) -> Floats:
    r"""Return the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}` of the models before rounds 1 to T; none for the last."""
    shrink = 1.0 - 0.5 * mu * np.asarray(steps)[:, None]
    # Divided by the last one, since the first ones would be too small for the last ones to be finite.
    weights = shrink ** (rounds - 1.0 - np.arange(rounds + 1.0))
    weights[:, -1] = 0.0
    return np.asarray(weights)


def best_step(moments: Moments, rounds: int, mu: float, *, over_rounds: bool = False) -> tuple[float, float]:
    """Return the best constant step per round and the expected gap of the weighted mean with it."""
    low, high = _SMALLEST * LARGEST, LARGEST
    # The loss need not have one minimum only, so the first grid covers everything; later ones close in on its best.
    for count in (28, 9, 9, 9):
        steps = np.geomspace(low, high, count)
        losses = moments.loss(steps, averaging(steps, rounds, mu), over_rounds=over_rounds)
        best = int(np.argmin(losses))
        low, high = steps[max(best - 1, 0)], steps[min(best + 1, count - 1)]
    return float(steps[best]), 0.5 * float(losses[best])
