r"""Instances of the rates of the CFL paper: quadratics, the best constant step, and the symbols of a rate.

All rates are measured on the quadratics of :mod:`fltheory.bounds.cfl._moments` with :math:`L = 1` and :math:`\eta_g =
1`. A theorem promises that some constant step works; that step is looked for on a grid by the closed form, up to the
largest one that the paper allows. Strongly convex: eigenvalues :math:`\mu = 1/\kappa` and 1. General convex: one
eigenvalue :math:`\lambda` that nobody knows, so the worst one. Up to constants the gap is :math:`\lambda F^2` as long
as the start is felt, and :math:`V/\lambda` once it is forgotten, :math:`V` the mean square of what the drifts leave in
the mean of all models; so the worst curvature is :math:`\sqrt V/F`, and at least :math:`1/T`, with

* :math:`V = \frac{D^2}{NT}` for drifts that are new in every round (with :math:`G^2` in S1), for both methods;
* :math:`V = \frac{\sigma^2}{NKT}` for the noise of FedAvg, :math:`\frac{\sigma^2}{NKT^2}` for that of CFL-R, which is
  divided by the number of the round;
* :math:`V = \frac{G^2}{N}` for drawn drifts that stay.

**Two groups.** Client drifts that sum to zero do not move the model if all clients have one Hessian. With growth
(:math:`B > 0`) the clients form two groups of signs :math:`s_i`, :math:`\sum_is_i = 0` and :math:`\sum_is_i^2 = N` (one
client is neutral if their number is odd). On a steep axis client :math:`i` has the eigenvalue :math:`h(1 + bs_i)`, the
largest of which is :math:`L`; a flat axis with eigenvalue :math:`\mu` or :math:`\lambda` is the same for all, and the
start lies along it. The groups pull apart: in S2, with drifts that sum to zero, client :math:`i` has the drift
:math:`s_i\delta` at :math:`w^*` along the steep axis, at a distance :math:`x` from it :math:`s_i(\delta + bhx)`, of
mean square at most :math:`2\delta^2 + 2b^2\|\nabla f\|^2`. So :math:`G^2 = 2\delta^2` and :math:`B^2 = 2b^2` in
Assumption 3; where drifts have mean zero the product drops out, and :math:`G = \delta`, :math:`B = b`. In a round of
:math:`K \ge 2` steps the flatter group moves further, :math:`P_i = \eta(1 - \frac{K-1}{2K}\eta h(1 + bs_i) + \dots)`,
so that the steep axis tends to :math:`x_\infty = \frac{K-1}{2K}\eta b\delta` to first order in :math:`\eta`: a gap of

.. math:: \frac h2x_\infty^2 = \frac{(K-1)^2}{32K^2}\,h\,\eta^2B^2G^2

that a smaller step lowers, while the flat axis needs a larger one. In the general convex case it costs as much as the
start, :math:`F^2/(\eta T)`, for :math:`\eta` of the order of :math:`(hB^2G^2T/F^2)^{-1/3}`, and the worst flat
curvature is :math:`1/(\eta T)`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.algebra import Env
from fltheory.bounds.cfl._moments import QuadraticMoments, averaging, best_step, largest
from fltheory.bounds.claim import Experiments, Instances, Method, Rejected, Sweep, Sweeps
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.participation import Participation
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment

SPACE = Space(
    {
        "T": Integer(8, 2**15),
        "N": Integer(1, 256),
        "K": Integer(1, 1024),
        "by": Choice(("engine", "formula")),
        "D": Real(0, 1e6),
        "G": Real(0, 1e6),
        "sigma": Real(0, 1e12),
        "B": Real(0, 1),
        "kappa": Real(1, 1e6, log=True),
        "steep": Real(1, 100, log=True),
        "F": Real(0.01, 1e21, log=True),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RateSetting:
    r"""What a rate is about.

    Parameters
    ----------
    remembers
        CFL-R, else FedAvg.
    scenario
        ``S1`` or ``S2``.
    centred
        Whether the client drifts of a round sum to zero.
    strongly
        Strongly convex: weights of the mean grow with :math:`\mu`. Else equal weights.
    clients
        Number of clients, where a theorem fixes it.
    """

    remembers: bool
    scenario: str = "S2"
    centred: bool = True
    strongly: bool = True
    clients: int | None = None

    @property
    def lasting(self) -> bool:
        """Whether the clients' mean drift is the same in all rounds and not zero."""
        return self.scenario == "S2" and not self.centred

    @property
    def balanced(self) -> bool:
        """Whether the client drifts stay and sum to zero, so that they act through two groups only."""
        return self.scenario == "S2" and self.centred

    def groups(self, point: Params) -> tuple[Floats, float]:
        """Return what the groups multiply the common steep eigenvalue by, shape ``(clients,)``, and that eigenvalue."""
        signs = camp_signs(int(point["N"])) * float(point["B"]) * (np.sqrt(0.5) if self.balanced else 1.0)
        factors = 1.0 + signs
        steep = 1.0 / float(factors.max())
        if (self.strongly and float(factors.min()) * steep < self.curvature(point)) or factors.min() < 0:
            raise Rejected(f"B = {float(point['B']):g} makes the flatter group flatter than mu")
        return factors, steep

    def drift_apart(self, point: Params) -> float:
        r"""Return :math:`\delta`, how far the drift of every client is from that of the mean at the minimiser."""
        return float(point["G"]) * (float(np.sqrt(0.5)) if self.balanced and float(point["B"]) > 0 else 1.0)

    def curvature(self, point: Params) -> float:
        """Return the smaller eigenvalue: the given one, or the worst one, made steeper or flatter."""
        rounds, far = float(point["T"]), float(point["F"])
        if self.strongly:
            return 1.0 / float(point["kappa"])
        fresh = float(point["D"]) ** 2 + (float(point["G"]) ** 2 if self.scenario == "S1" else 0.0)
        noise = float(point["sigma"]) ** 2 / int(point["K"]) / (rounds if self.remembers else 1.0)
        left = (max(fresh, noise) / rounds + (float(point["G"]) ** 2 if self.lasting else 0.0)) / int(point["N"])
        high = largest(float(point["B"]) ** 2)
        worst = max(1.0 / (high * rounds), float(np.sqrt(left)) / far)
        if self.balanced and float(point["B"]) > 0:
            steps = int(point["K"])
            moved = self.groups(point)[1] * ((steps - 1) / (4 * steps) * float(point["B"]) * float(point["G"])) ** 2
            worst = max(worst, (moved / (far * rounds) ** 2) ** (1 / 3))
        return float(min(1.0, worst * float(point["steep"]) / float(point["kappa"])))

    def problem(self, point: Params) -> Quadratic:
        r"""Return the instance.

        The start is equally far along all axes; with two groups it lies along the flat one. Drawn client drifts that
        stay have a mean of mean square :math:`G^2/N`; here it is that long in every draw, equally along all axes, and
        points either way.
        """
        low, clients, drift_sq = self.curvature(point), int(point["N"]), self.drift_apart(point) ** 2
        apart = float(point["B"]) > 0
        factors, high = self.groups(point) if apart else (np.ones(1), 1.0 if self.strongly else low)
        around = drift_sq * (1.0 - 1.0 / clients) if self.lasting else drift_sq
        made = noisy_quadratic(
            dim=2 if self.strongly or apart else 1,
            num_clients=clients,
            mu=min(low, high),
            L=high,
            rotated=False,
            radius=float(point["F"]),
            scenario=self.scenario,
            client_drift_sq=around,
            client_drift_centred=self.centred or self.lasting,
            round_drift_sq=float(point["D"]) ** 2,
            noise_sq=float(point["sigma"]) ** 2,
        )
        assert made.client_drift is not None
        if not apart:
            away, hessian = np.full(made.dim, float(point["F"]) / np.sqrt(made.dim)), made.hessian
        else:
            away = np.array([float(point["F"]), 0.0])
            hessian = np.stack([np.full(clients, low), high * factors], axis=1)
        if apart and self.balanced:
            drift = np.outer(camp_signs(clients), [0.0, np.sqrt(drift_sq)])
        else:
            stays = float(np.sqrt(drift_sq / (clients * made.dim))) if self.lasting else 0.0
            drift = made.client_drift + stays
        return replace(
            made, hessian=hessian, linear=-hessian * away, constant=np.zeros(len(hessian)), client_drift=drift
        )

    def moments(self, point: Params, *, remembers: bool) -> QuadraticMoments:
        """Return the moments of one of the methods."""
        return QuadraticMoments.of(self.problem(point), int(point["K"]), remembers=remembers, mirrored=self.lasting)

    def known_mu(self, point: Params) -> float:
        """Return the strong convexity that the weights may use."""
        return self.curvature(point) if self.strongly else 0.0

    def experiments(self, point: Params) -> tuple[Experiment, ...]:
        """Return the runs whose mean is measured: one, two if the client drift may point either way, or none."""
        if point["by"] == "formula":
            return ()
        rounds, local_steps = int(point["T"]), int(point["K"])
        step, _ = tuned(self, point, remembers=self.remembers)
        made = self.problem(point)
        assert made.client_drift is not None
        problems = (made, replace(made, client_drift=-made.client_drift)) if self.lasting else (made,)
        return tuple(
            Experiment(
                problem=problem,
                algorithm=CFLR() if self.remembers else FedAvg(),
                participation=Participation(num_clients=int(point["N"]), local_steps=local_steps),
                rounds=rounds,
                rate=step / local_steps,
                averaging=averaging(np.array([step]), rounds, self.known_mu(point))[0],
            )
            for problem in problems
        )

    def quantities(self, point: Params, _: Any, runs: Any) -> Env:
        """Return the quantities of a rate; the accuracy is measured, by the closed form where nothing was run."""
        if not runs:
            return self.known(point, tuned(self, point, remembers=self.remembers)[1])
        return self.known(point, float(np.mean([run.curve("average_gap")[0, -2] for run in runs])))

    def known(self, point: Params, gap: float) -> Env:
        """Return the quantities of a rate, given the accuracy."""
        named = {name: float(point[name]) for name in ("T", "K", "F", "G", "D", "B", "sigma")}
        return {
            **named,
            "eps": gap,
            "A": 0.0,
            "eta_max": largest(float(point["B"]) ** 2),
            "N": float(point["N"]),
            "mu": self.curvature(point),
            "L": 1.0,
        }

    def over_rounds(self, point: Params) -> Env:
        """Return the quantities with the mean of all rounds' objectives as the objective, by the closed form."""
        gap = tuned(self, point, remembers=self.remembers, over_rounds=True)[1]
        distance = self.moments(point, remembers=self.remembers).distance(int(point["T"]))
        return {**self.known(point, gap), "F": distance}

    def against_fedavg(self, point: Params, _: Any, runs: Any) -> Env:
        """Return the quantities with the accuracy of FedAvg at its own best step, by the closed form."""
        return {**self.quantities(point, _, runs), "eps_fedavg": tuned(self, point, remembers=False)[1]}

    def check(self, *sweeps: Sweep, kind: str = "engine") -> Sweeps:
        """Return a check along sweeps: as the points say, with the mean over rounds as objective, or against FedAvg."""
        return Sweeps(instances=_source(self, kind), sweeps=sweeps)


@functools.cache
def _source(setting: RateSetting, kind: str) -> Instances | Experiments:
    """Return where the instances of a setting come from, one object for all checks, which then share what is run."""
    if kind == "over-rounds":
        return Instances(space=SPACE, realise=setting.over_rounds, method=Method.EXACT, rational=False)
    read = setting.against_fedavg if kind == "against-fedavg" else setting.quantities
    return Experiments(space=SPACE, experiment=setting.experiments, quantities=read)


def camp_signs(clients: int) -> Floats:
    """Return signs of two groups with sum 0 and mean square 1; the middle one of an odd number of clients is neutral.

    >>> camp_signs(4).tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """
    if clients < 2:
        raise Rejected(f"two groups need two clients, got {clients}")
    signs = np.sign(np.arange(clients) - (clients - 1) / 2)
    return np.asarray(signs / np.sqrt(np.mean(signs**2)))


@functools.lru_cache(maxsize=4096)
def _tuned(
    setting: RateSetting, point: tuple[tuple[str, Any], ...], remembers: bool, over_rounds: bool
) -> tuple[float, float]:
    params = dict(point)
    moments = setting.moments(params, remembers=remembers)
    high = largest(float(params["B"]) ** 2)
    return best_step(moments, int(params["T"]), setting.known_mu(params), high=high, over_rounds=over_rounds)


def tuned(setting: RateSetting, point: Params, *, remembers: bool, over_rounds: bool = False) -> tuple[float, float]:
    """Return the best constant step per round and the gap with it; the forms of a claim share their points."""
    key = tuple(sorted((name, value) for name, value in point.items() if name != "by"))
    return _tuned(setting, key, remembers, over_rounds)
