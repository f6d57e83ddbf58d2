r"""Closed form of what CFL-R and FedAvg do on quadratics whose Hessians commute, and the best constant step by it.

Clients have the gradients :math:`\lambda_i(w - w^*) + \delta_i + \delta_{t,i} + \xi_{t,i} + \nu_{t,i,k}` on an axis of
their common basis: :math:`\lambda_i` with mean :math:`\lambda`, :math:`\delta_i` that stay, :math:`\delta_{t,i}` and
:math:`\xi_{t,i}` new in every round, noise :math:`\nu`. With :math:`\eta = K\eta_l` and the gains :math:`P_i =
\eta_l\sum_{k<K}(1 - \eta_l\lambda_i)^k`, a round of either method is

.. math:: w_{t+1} - w^* = \Bigl(1 - \frac1N\sum_iP_i\lambda_i\Bigr)(w_t - w^*) - \frac1N\sum_iP_i(\delta_i + b_{t,i})
   + \text{noise}, \qquad
   b_{t,i} = \begin{cases}\zeta_{t,i} & \text{FedAvg} \\
   \frac1t\sum_{\tau \le t}\zeta_{\tau,i} & \text{CFL-R}\end{cases}

with :math:`\zeta_{t,i} = \delta_{t,i} + \xi_{t,i}`. So every weighted mean of models is linear in independent drifts,
and its second moment is a sum of squares. If all clients have the same Hessian only the mean :math:`\bar\delta`
counts; if not, drifts that sum to zero leave :math:`\frac1N\sum_i(P_i - \bar P)\delta_i`, of the order of
:math:`\eta^2`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter
from fltheory.quadratic.problem import Quadratic


def largest(growth_sq: float) -> float:
    r"""Return the largest step that the paper allows, :math:`\eta L`, for :math:`\eta_g = 1`.

    Parameters
    ----------
    growth_sq
        :math:`B^2 + A^2`, one less than :math:`c_{p_B}`.
    """
    c = 1.0 + growth_sq
    return float((np.sqrt(6.0 + c) - np.sqrt(c)) / (12.0 * np.sqrt(c)))


LARGEST = largest(0.0)
"""The same without growth."""

_SMALLEST = 1e-9
"""Smallest step that is tried, as a fraction of the largest one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class QuadraticMoments:
    r"""Second moments on a quadratic whose Hessians commute; equal if all numbers are.

    Parameters
    ----------
    curvature, away
        Eigenvalues of the objective and :math:`w_0 - w^*`, shape ``(dim,)`` each.
    hessians
        Eigenvalues of the clients, shape ``(1 | clients, dim)``.
    lasting
        Drift of every client at :math:`w^*` that stays, shape ``(clients, dim)``.
    spread, balanced
        Variance per coordinate of the clients' mean of the drifts that are new in every round; of those that sum to
        zero, which have none, :math:`1/(N - 1)` of the variance of one client's.
    noise
        Of the clients' noise of one step, divided by their number, shape ``(clients, 1)``.
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
    hessians: Floats
    lasting: Floats
    spread: float
    balanced: float
    noise: Floats
    local_steps: int
    remembers: bool
    prox: float = 0.0
    mirrored: bool = False

    @classmethod
    def of(
        cls, problem: Quadratic, local_steps: int, *, remembers: bool, prox: float = 0.0, mirrored: bool = False
    ) -> QuadraticMoments:
        """Return the moments of a problem whose Hessians are given by their eigenvalues, all clients weighing alike."""
        if problem.is_dense or np.ptp(problem.weights) > 0 or problem.round_growth > 0 or problem.hessian_noise > 0:
            raise InvalidParameter(
                "Moments.of needs Hessians in a common basis, equal weights, no round_growth and no hessian_noise, got "
                f"hessian of shape {problem.hessian.shape}, weights from {problem.weights.min():g} to "
                f"{problem.weights.max():g}, round_growth={problem.round_growth:g}, "
                f"hessian_noise={problem.hessian_noise:g}; run the exact engine, or sample"
            )
        goal = problem.objective_inside()
        clients, fresh, centred = problem.num_clients, problem.fresh_drift_sq, problem.fresh_drift_centred
        scale = 1.0 + np.asarray(problem.client_growth)[:, None]
        drift = problem.round_drift_sq + (0.0 if centred else fresh)
        return cls(
            curvature=problem.weights @ np.broadcast_to(problem.hessian, (clients, problem.dim)),
            away=problem.inward(problem.start) - goal.w_star,
            hessians=scale * problem.hessian if np.ptp(scale) > 0 else scale[:1] * problem.hessian,
            lasting=scale * (problem.hessian * goal.w_star + problem.linear) + np.asarray(problem.client_drift),
            spread=drift / (clients * problem.dim),
            balanced=fresh / ((clients - 1) * problem.dim) if centred else 0.0,
            noise=problem.noise_sq[:, None] / (clients * problem.dim),
            local_steps=local_steps,
            remembers=remembers,
            prox=prox,
            mirrored=mirrored,
        )

    def _content(self) -> tuple[Any, ...]:
        values = (getattr(self, name) for name in self.__slots__)
        return tuple((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuadraticMoments) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    @property
    def bias(self) -> Floats:
        """The clients' mean of the drift that stays."""
        return np.asarray(self.lasting.mean(axis=0))

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
        # Axes: steps, clients, dimensions.
        local = steps[:, None, None] / self.local_steps
        shrink = 1.0 - local * (self.hessians + self.prox)
        powers = [shrink**k for k in range(self.local_steps)]
        gains = local * sum(powers)
        response = _response(weights, 1.0 - (gains * self.hessians).mean(axis=1))
        start, moved = response[..., 0], response[..., 1:]
        number = np.arange(1.0, rounds + 1.0)
        goal = 1.0 / self.curvature if over_rounds else np.zeros_like(self.curvature)
        near = start * self.away
        far = moved.sum(axis=-1) * (gains * self.lasting).mean(axis=1) - goal * self.bias
        second = near**2 + far**2 - (0.0 if self.mirrored else 2.0) * near * far
        # Sources that are not there would take most of the time.
        varied = gains.var(axis=1)
        uneven_gains = bool(varied.any())
        if self.spread > 0 or (self.balanced > 0 and uneven_gains):
            # Round t passes on the mean of the drifts so far, so that a drift acts through all later rounds.
            carried = moved / number if self.remembers else moved
            if self.remembers:
                np.cumsum(carried[..., ::-1], axis=-1, out=carried[..., ::-1])
            # In place: fresh arrays of this size cost more than what is done to them.
            off = gains.mean(axis=1)[..., None] * carried
            off -= goal[:, None] / rounds
            drift = np.square(off, out=off).sum(axis=-1)
            # What the clients' gains have in common acts through the mean of the drifts only.
            uneven = varied * (carried**2).sum(axis=-1) if uneven_gains else 0.0
            second += self.spread * (drift + uneven) + self.balanced * uneven
        if np.any(self.noise > 0):
            noisy = local**2 * sum(p * p for p in powers)
            passed = moved / number if self.remembers else moved
            second += (self.noise * noisy).mean(axis=1) * (passed**2).sum(axis=-1)
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


@functools.lru_cache(maxsize=4096)
def best_step(
    moments: QuadraticMoments, rounds: int, mu: float, *, high: float = LARGEST, over_rounds: bool = False
) -> tuple[float, float]:
    """Return the best constant step per round, ``high`` at most, and the expected gap of the weighted mean with it.

    Settings that differ in a source of error which is absent have the same moments, and share the answer.
    """

    def losses_at(steps: Floats) -> Floats:
        return moments.loss(steps, averaging(steps, rounds, mu), over_rounds=over_rounds)

    # The loss need not have one minimum only, so the first grid covers everything; later ones close in on its best.
    steps = np.geomspace(_SMALLEST * high, high, 28)
    losses = losses_at(steps)
    for _ in range(3):
        best = int(np.argmin(losses))
        ends = [max(best - 1, 0), min(best + 1, len(steps) - 1)]
        known = losses[ends]
        steps = np.geomspace(steps[ends[0]], steps[ends[1]], 9)
        losses = np.concatenate([known[:1], losses_at(steps[1:-1]), known[1:]])
    best = int(np.argmin(losses))
    return float(steps[best]), 0.5 * float(losses[best])
