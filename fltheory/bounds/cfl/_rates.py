r"""Shared by the rates of the CFL paper: the noisy quadratic, its moments in closed form, the best constant step.

All rates are measured on :math:`f(w) = \frac12 (w - w^*)^\top \Lambda (w - w^*)` with gradients :math:`\nabla f +
\delta_{t,i} + \xi_{t,i} + \nu_{t,i,k}`, no growth (:math:`A = B = 0`), :math:`L = 1` and :math:`\eta_g = 1`. Strongly
convex: eigenvalues :math:`\mu` and 1. General convex: one small eigenvalue that nobody knows. With :math:`\eta =
K\eta_l`, :math:`P = \eta_l\sum_{k<K}(1 - \eta_l\lambda)^k` and :math:`\rho = 1 - \lambda P` on the axis with
eigenvalue :math:`\lambda`, a round of either method is

.. math:: w_{t+1} - w^* = \rho\,(w_t - w^*) - P\,b_t + \text{noise}, \qquad
   b_t = \begin{cases}\zeta_t & \text{FedAvg} \\ \frac1t\sum_{\tau \le t}\zeta_\tau & \text{CFL-R}\end{cases}

with :math:`\zeta_t` the mean over clients of the drifts of round :math:`t`. So every weighted mean of models is linear
in independent drifts, and its second moment is a sum of squares.

A theorem promises that some constant step works. That step is looked for on a grid by the closed form; what is
reported is measured by the exact engine at the step found, or by the closed form where the engine has no such
objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds._algebra import Env
from fltheory.bounds._claim import Experiments, Instances, Method, Sweep, Sweeps
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.checks import Floats
from fltheory.experiment import Experiment
from fltheory.participation import Participation
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.quadratic.problem import Quadratic
from fltheory.trajectories import Trajectories

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
    """

    curvature: Floats
    away: Floats
    bias: Floats
    spread: float
    noise: float
    local_steps: int
    remembers: bool
    prox: float = 0.0

    @classmethod
    def of(cls, problem: Quadratic, local_steps: int, *, remembers: bool, prox: float = 0.0) -> Moments:
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
        from scipy.signal import lfilter

        weights = weights / weights.sum(axis=1, keepdims=True)
        rounds = weights.shape[1] - 1
        local = steps[:, None] / self.local_steps
        shrink = 1.0 - local * (self.curvature + self.prox)
        powers = [shrink**k for k in range(self.local_steps)]
        gain = local * sum(powers)
        noisy = local**2 * sum(p * p for p in powers)
        keep = 1.0 - gain * self.curvature
        # How much the input of each round moves the weighted mean, backwards: z_t = a_t + rho z_{t+1}.
        response = np.empty((*keep.shape, rounds + 1))
        for at in np.ndindex(keep.shape):
            turned = weights[min(at[0], len(weights) - 1), ::-1]
            response[at] = lfilter(np.ones(1), np.array([1.0, -float(keep[at])]), turned)[::-1]
        start, moved = response[..., 0], gain[..., None] * response[..., 1:]
        number = np.arange(1.0, rounds + 1.0)
        # Round t passes on the mean of the drifts so far, so that a drift acts through all later rounds.
        carried = np.cumsum((moved / number)[..., ::-1], axis=-1)[..., ::-1] if self.remembers else moved
        share = 1.0 / number if self.remembers else np.ones(rounds)
        goal = 1.0 / self.curvature if over_rounds else np.zeros_like(self.curvature)
        drift = ((carried - goal[:, None] / rounds) ** 2).sum(axis=-1)
        noise = ((share * response[..., 1:]) ** 2).sum(axis=-1)
        mean = start * self.away - (moved.sum(axis=-1) - goal) * self.bias
        second = mean**2 + self.spread * drift + self.noise * noisy * noise
        return np.asarray((self.curvature**power * second).sum(axis=1))

    def distance(self, rounds: int) -> float:
        """Return the distance (root mean square) of the start from the minimiser of all rounds' mean objective."""
        lasting = (self.away + self.bias / self.curvature) ** 2
        return float(np.sqrt((lasting + self.spread / (rounds * self.curvature**2)).sum()))


def averaging(steps: Floats, rounds: int, mu: float) -> Floats:
    r"""Return the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}` of the models before rounds 1 to T; none for the last."""
    shrink = 1.0 - 0.5 * mu * np.asarray(steps)[:, None]
    weights = shrink ** -np.arange(rounds + 1.0)
    weights[:, -1] = 0.0
    return np.asarray(weights)


def best_step(moments: Moments, rounds: int, mu: float, *, over_rounds: bool = False) -> tuple[float, float]:
    """Return the best constant step per round and the expected gap of the weighted mean with it."""
    low, high = _SMALLEST * LARGEST, LARGEST
    # The loss need not have one minimum only, so the first grid covers everything; later ones close in on its best.
    for count in (49, 13, 13, 13):
        steps = np.geomspace(low, high, count)
        losses = moments.loss(steps, averaging(steps, rounds, mu), over_rounds=over_rounds)
        best = int(np.argmin(losses))
        low, high = steps[max(best - 1, 0)], steps[min(best + 1, count - 1)]
    return float(steps[best]), 0.5 * float(losses[best])


SPACE = Space(
    {
        "T": Integer(8, 2**15),
        "N": Integer(1, 256),
        "K": Integer(1, 1024),
        "D": Real(0, 100),
        "G": Real(0, 100),
        "sigma": Real(0, 100),
        "kappa": Real(1, 1000, log=True),
        "power": Real(0, 1),
        "F": Real(0.01, 100, log=True),
    }
)
r"""Parameters of a rate; the smaller eigenvalue is :math:`1 / (\kappa T^{\mathrm{power}})`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What a rate is about.

    Parameters
    ----------
    remembers
        CFL-R, else FedAvg.
    scenario
        ``S1`` or ``S2``.
    centred
        Whether the client drifts of a round sum to zero.
    strongly
        Strongly convex: weights of the mean grow with :math:`mu`. Else equal weights.
    """

    remembers: bool
    scenario: str = "S2"
    centred: bool = True
    strongly: bool = True

    def curvature(self, point: Params) -> float:
        r"""Return the smaller eigenvalue.

        Where general convexity is claimed the curvature is not known and may be the worst one: that at which the
        start, :math:`\lambda F^2`, and the drift, its square over :math:`\lambda N T`, cost the same; a lasting drift
        does not average out over rounds.
        """
        rounds, far = float(point["T"]), float(point["F"])
        scale = float(float(point["kappa"]) * rounds ** float(point["power"]))
        if self.strongly:
            return 1.0 / scale
        drift_sq = float(point["D"]) ** 2 + float(point["sigma"]) ** 2 / int(point["K"])
        worst = np.sqrt((drift_sq + float(point["G"]) ** 2) / (int(point["N"]) * rounds)) / far
        if self.lasting:
            worst = max(worst, float(point["G"]) / (np.sqrt(int(point["N"])) * far))
        return float(min(1.0, max(1.0 / rounds, worst) / scale))

    @property
    def lasting(self) -> bool:
        """Whether the clients' mean drift is the same in all rounds and not zero."""
        return self.scenario == "S2" and not self.centred

    def problem(self, point: Params) -> Quadratic:
        """Return the instance."""
        low = self.curvature(point)
        return noisy_quadratic(
            dim=2 if self.strongly else 1,
            num_clients=int(point["N"]),
            mu=low,
            L=1.0 if self.strongly else low,
            rotated=False,
            radius=float(point["F"]),
            scenario=self.scenario,
            client_drift_sq=float(point["G"]) ** 2,
            client_drift_centred=self.centred,
            round_drift_sq=float(point["D"]) ** 2,
            noise_sq=float(point["sigma"]) ** 2,
        )

    def moments(self, point: Params, *, remembers: bool | None = None) -> Moments:
        """Return the moments of the method, or of the other one."""
        which = self.remembers if remembers is None else remembers
        return Moments.of(self.problem(point), int(point["K"]), remembers=which)

    def known_mu(self, point: Params) -> float:
        """Return the strong convexity that the weights may use."""
        return float(self.problem(point).hessian.min()) if self.strongly else 0.0

    def experiment(self, point: Params) -> Experiment:
        """Return the run with the best constant step."""
        rounds, local_steps = int(point["T"]), int(point["K"])
        mu = self.known_mu(point)
        step, _ = best_step(self.moments(point), rounds, mu)
        return Experiment(
            problem=self.problem(point),
            algorithm=CFLR() if self.remembers else FedAvg(),
            participation=Participation(num_clients=int(point["N"]), local_steps=local_steps),
            rounds=rounds,
            rate=step / local_steps,
            averaging=averaging(np.array([step]), rounds, mu)[0],
        )

    def quantities(self, point: Params, experiment: Experiment, trajectories: Trajectories) -> Env:
        """Return the letters of a rate; the accuracy is measured."""
        return self.letters(point, float(trajectories.curve("average_gap")[0, -2]))

    def letters(self, point: Params, gap: float) -> Env:
        """Return the letters of a rate, given the accuracy."""
        return {
            "rate_T": float(point["T"]),
            "rate_eps": gap,
            "rate_K": float(point["K"]),
            "rate_F": float(point["F"]),
            "rate_G": float(point["G"]),
            "rate_D": float(point["D"]),
            "rate_sigma": float(point["sigma"]),
            "rate_A": 0.0,
            "rate_B": 0.0,
            "rate_eta_max": LARGEST,
            "N": float(point["N"]),
            "mu": float(self.problem(point).hessian.min()),
            "L": 1.0,
        }

    def over_rounds(self, point: Params) -> Env:
        """Return the letters with the mean of all rounds' objectives as the objective, by the closed form."""
        moments, rounds = self.moments(point), int(point["T"])
        gap = best_step(moments, rounds, self.known_mu(point), over_rounds=True)[1]
        return {**self.letters(point, gap), "rate_F": moments.distance(rounds)}

    def against_fedavg(self, point: Params, experiment: Experiment, trajectories: Trajectories) -> Env:
        """Return the letters with the accuracy of FedAvg at its own best step, by the closed form."""
        other = best_step(self.moments(point, remembers=False), int(point["T"]), self.known_mu(point))[1]
        return {**self.quantities(point, experiment, trajectories), "rate_rival": other}

    def check(self, *sweeps: Sweep, kind: str = "engine") -> Sweeps:
        """Return sweeps over runs of the exact engine, over the closed form, or against FedAvg."""
        if kind == "over-rounds":
            source: Instances | Experiments = Instances(
                space=SPACE, realise=self.over_rounds, method=Method.EXACT, rational=False
            )
        else:
            read = self.against_fedavg if kind == "against-fedavg" else self.quantities
            source = Experiments(space=SPACE, experiment=self.experiment, quantities=read)
        return Sweeps(source=source, sweeps=sweeps)


BASE: Mapping[str, Any] = {
    "T": 32, "N": 2, "K": 2, "D": 1.0, "G": 1.0, "sigma": 1.0, "kappa": 1.0, "power": 0.0, "F": 1.0,
}  # fmt: skip
"""Base of all sweeps."""

ONLY: Mapping[str, Mapping[str, float]] = {
    "D": {"G": 0.0, "sigma": 0.0},
    "G": {"D": 0.0, "sigma": 0.0},
    "sigma": {"D": 0.0, "G": 0.0},
    "F": {"D": 0.0, "G": 0.0, "sigma": 0.0},
}
"""One source of error alone, so that its term cannot hide behind another one."""

_RANGES: Mapping[str, tuple[float, float]] = {
    "T": (16, 512), "N": (2, 64), "K": (1, 1024), "D": (0.1, 1e4), "G": (0.1, 1e4), "sigma": (0.1, 1e4),
    "kappa": (2, 64), "F": (1, 1e6),
}  # fmt: skip


def sweep(name: str, only: str = "", high: float | None = None, low: float | None = None, **fixed: Any) -> Sweep:
    """Return a geometric sweep of one parameter, with one source of error alone if asked; whole numbers stay whole."""
    first, last = _RANGES[name]
    values = np.geomspace(first if low is None else low, last if high is None else high, 6)
    numbers = tuple(round(float(v)) if name in ("T", "N", "K") else float(v) for v in values)
    base = {**BASE, **fixed, **(ONLY[only] if only else {})}
    return Sweep(name, numbers, {**base, name: numbers[0]})


LOUD: Mapping[str, float] = {"D": 4.0, "G": 4.0, "sigma": 4.0}
"""Drifts that weigh more than the start from few rounds on; for the general convex rates, which settle late."""


def thorough(*sources: str, strongly: bool, **fixed: Any) -> tuple[Sweep, ...]:
    """Return sweeps of every parameter of a rate in which the given drifts and noises matter."""
    off: dict[str, Any] = {name: 0.0 for name in ("D", "G", "sigma") if name not in sources}
    base = {**({} if strongly else LOUD), **fixed, **off}
    louder = base if strongly else {**base, "D": 16.0, "G": 16.0}
    each = [sweep("T", only, **base) for only in sources]
    if "N" not in fixed:
        each += [sweep("N", only, **{**louder, "T": 128}) for only in sources]
    # Noise alone fades as the number of steps grows, so it starts larger and less of its range is used.
    alone = {**base, "T": 128, "sigma": 4.0 if strongly else 16.0}
    sizes = [sweep("K", **base)] if "D" in sources else [sweep("K", "", None if strongly else 32, **alone)]
    sizes += [sweep(name, **base) for name in (*sources, "F")]
    last = sweep("kappa", sources[0], **{**base, "T": 256}) if strongly else sweep("F", "F", **base)
    return (*each, *sizes, last)


def lasting(*others: str) -> tuple[Sweep, ...]:
    """Return sweeps for a client drift that stays; not of the number of clients, whose mean drift is one draw each."""
    off: dict[str, Any] = {name: 0.0 for name in ("D", "sigma") if name not in others}
    return (sweep("T", "G"), *(sweep(name, **off) for name in ("G", *others, "F")))
