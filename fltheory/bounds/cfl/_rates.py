r"""Shared by the rates of the CFL paper: instances, the best constant step, and the sweeps along which rates are held.

All rates are measured on the noisy quadratic of :mod:`fltheory.bounds.cfl._moments` with :math:`L = 1` and
:math:`\eta_g = 1`. A theorem promises that some constant step works; that step is looked for on a grid by the closed
form. Strongly convex: eigenvalues :math:`\mu = 1/\kappa` and 1. General convex: one eigenvalue :math:`\lambda` that
nobody knows, so the worst one. Up to constants the gap is :math:`\lambda F^2` as long as the start is felt, and
:math:`V/\lambda` once it is forgotten, :math:`V` the mean square of what the drifts leave in the mean of all models; so
the worst curvature is :math:`\sqrt V/F`, and at least :math:`1/T`, with

* :math:`V = \frac{D^2}{NT}` for drifts that are new in every round (with :math:`G^2` in S1), for both methods;
* :math:`V = \frac{\sigma^2}{NKT}` for the noise of FedAvg, :math:`\frac{\sigma^2}{NKT^2}` for that of CFL-R, which is
  divided by the number of the round;
* :math:`V = \frac{G^2}{N}` for drawn drifts that stay.

**Sweeps.** Every source of error is swept alone, in the range where its term leads, along every parameter that a rate
may contain: :math:`T, N, K`, its own size, :math:`F`, and the curvature (:math:`\kappa` where :math:`\mu` is known;
flatter and steeper than the worst one where it is not). In the general convex case the range is
:math:`F\sqrt{N/T} < D < LF\sqrt{NT}`: below, the start leads, and above, the gap saturates at :math:`LF^2/2` because a
vanishing step does no harm. Then all sources together, and none. A soft O has one logarithm, :math:`\ln(T + LF^2 /
\varepsilon)`, so where a rate is exact, measured over claimed falls like :math:`1/\ln T`; it settles no sooner.

The number of rounds is swept with the exact engine, up to thousands of rounds; the other parameters by the closed
form, which agrees with the engine. With the mean of all rounds' objectives as objective (``over-rounds``) the closed
form is all there is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds._algebra import Env
from fltheory.bounds._claim import Experiments, Instances, Method, Sweep, Sweeps
from fltheory.bounds._space import Choice, Integer, Params, Real, Space
from fltheory.bounds.cfl._moments import LARGEST, Moments, averaging, best_step
from fltheory.experiment import Experiment
from fltheory.participation import Participation
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.quadratic.problem import Quadratic

SPACE = Space(
    {
        "T": Integer(8, 2**15),
        "N": Integer(1, 256),
        "K": Integer(1, 1024),
        "by": Choice(("engine", "formula")),
        "D": Real(0, 1e6),
        "G": Real(0, 1e6),
        "sigma": Real(0, 1e12),
        "kappa": Real(1, 10000, log=True),
        "steep": Real(1, 100, log=True),
        "F": Real(0.01, 1e9, log=True),
    }
)


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

    def curvature(self, point: Params) -> float:
        """Return the smaller eigenvalue: the given one, or the worst one, made steeper or flatter."""
        rounds, far = float(point["T"]), float(point["F"])
        if self.strongly:
            return 1.0 / float(point["kappa"])
        fresh = float(point["D"]) ** 2 + (float(point["G"]) ** 2 if self.scenario == "S1" else 0.0)
        noise = float(point["sigma"]) ** 2 / int(point["K"]) / (rounds if self.remembers else 1.0)
        left = (max(fresh, noise) / rounds + (float(point["G"]) ** 2 if self.lasting else 0.0)) / int(point["N"])
        worst = max(1.0 / (LARGEST * rounds), float(np.sqrt(left)) / far)
        return float(min(1.0, worst * float(point["steep"]) / float(point["kappa"])))

    def problem(self, point: Params) -> Quadratic:
        r"""Return the instance.

        The start is equally far along all axes. Drawn client drifts that stay have a mean of mean square
        :math:`G^2/N`; here it is that long in every draw, equally along all axes, and points either way.
        """
        low, clients, drift_sq = self.curvature(point), int(point["N"]), float(point["G"]) ** 2
        around = drift_sq * (1.0 - 1.0 / clients) if self.lasting else drift_sq
        made = noisy_quadratic(
            dim=2 if self.strongly else 1,
            num_clients=clients,
            mu=low,
            L=1.0 if self.strongly else low,
            rotated=False,
            radius=float(point["F"]),
            scenario=self.scenario,
            client_drift_sq=around,
            client_drift_centred=self.centred or self.lasting,
            round_drift_sq=float(point["D"]) ** 2,
            noise_sq=float(point["sigma"]) ** 2,
        )
        assert made.client_drift is not None
        stays = float(np.sqrt(drift_sq / (clients * made.dim))) if self.lasting else 0.0
        away = float(point["F"]) / np.sqrt(made.dim)
        return replace(made, linear=-made.hessian * away, client_drift=made.client_drift + stays)

    def moments(self, point: Params, *, remembers: bool) -> Moments:
        """Return the moments of one of the methods."""
        return Moments.of(self.problem(point), int(point["K"]), remembers=remembers, mirrored=self.lasting)

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
        """Return the letters of a rate; the accuracy is measured, by the closed form where nothing was run."""
        if not runs:
            return self.letters(point, tuned(self, point, remembers=self.remembers)[1])
        return self.letters(point, float(np.mean([run.curve("average_gap")[0, -2] for run in runs])))

    def letters(self, point: Params, gap: float) -> Env:
        """Return the letters of a rate, given the accuracy."""
        named = {f"rate_{name}": float(point[name]) for name in ("T", "K", "F", "G", "D", "sigma")}
        return {
            **named,
            "rate_eps": gap,
            "rate_A": 0.0,
            "rate_B": 0.0,
            "rate_eta_max": LARGEST,
            "N": float(point["N"]),
            "mu": self.curvature(point),
            "L": 1.0,
        }

    def over_rounds(self, point: Params) -> Env:
        """Return the letters with the mean of all rounds' objectives as the objective, by the closed form."""
        gap = tuned(self, point, remembers=self.remembers, over_rounds=True)[1]
        distance = self.moments(point, remembers=self.remembers).distance(int(point["T"]))
        return {**self.letters(point, gap), "rate_F": distance}

    def against_fedavg(self, point: Params, _: Any, runs: Any) -> Env:
        """Return the letters with the accuracy of FedAvg at its own best step, by the closed form."""
        return {**self.quantities(point, _, runs), "rate_rival": tuned(self, point, remembers=False)[1]}

    def check(self, *sweeps: Sweep, kind: str = "engine") -> Sweeps:
        """Return a check along sweeps: as the points say, with the mean over rounds as objective, or against FedAvg."""
        if kind == "over-rounds":
            source: Instances | Experiments = Instances(
                space=SPACE, realise=self.over_rounds, method=Method.EXACT, rational=False
            )
        else:
            read = self.against_fedavg if kind == "against-fedavg" else self.quantities
            source = Experiments(space=SPACE, experiment=self.experiments, quantities=read)
        return Sweeps(source=source, sweeps=sweeps)

    def acts(self, source: str) -> bool:
        """Return whether a source of error moves the model: with one Hessian, drifts that sum to zero do not."""
        return source != "G" or self.scenario == "S1" or self.lasting

    def size(self, source: str) -> float:
        r"""Return how large a source is where it leads; the noise of CFL-R does only above :math:`F\sqrt{NK}`."""
        if self.strongly:
            return 0.5 if self.lasting and source == "G" else 1.0
        return {"D": 4.0, "G": 0.5 if self.lasting else 4.0, "sigma": 64.0 if self.remembers else 8.0}[source]

    def alone(self, source: str, *, attained: bool = False) -> tuple[Sweep, ...]:
        """Return sweeps of every parameter with one source of error only, from the range where it leads.

        Parameters
        ----------
        source
            ``D``, ``G`` or ``sigma``.
        attained
            Stay in the family that attains a rate: no curvature but the worst one where it is not known, and no source
            so large that the gap saturates.
        """
        size = self.size(source)
        base = {**self._base(), source: size}
        far = float(base["F"])
        # What does not last is seen only after the generous exponential of these bounds has died out.
        fading = self.lasting and self.strongly and source != "G"
        return (
            sweep("T", 256, 8192, base) if fading else sweep("T", 64, 2048, {**base, "by": "engine"}),
            *(() if self.clients else (sweep("N", 2, 64, base),)),
            sweep("K", 1, 32, base),
            sweep(source, size / 16, 2 * size, base)
            if attained
            else sweep(source, size / 16, 1e4 * self._saturation(source, base), base, points=8),
            # Up to where the start leads.
            sweep("F", far / 2, 1e7 * far, base),
            *(() if attained and not self.strongly else self._bent(base, attained=attained)),
        )

    def _saturation(self, source: str, base: Params) -> float:
        """Return about how large a source is when no step does better than a vanishing one."""
        far, clients, rounds = float(base["F"]), int(base["N"]), int(base["T"])
        if source != "sigma":
            return far * float(np.sqrt(clients * rounds))
        return far * float(np.sqrt(clients * int(base["K"]) * rounds * (rounds if self.remembers else 1)))

    def start(self, *, attained: bool = False) -> tuple[Sweep, ...]:
        """Return sweeps without any drift and noise."""
        base = self._base()
        return (
            sweep("T", 256, 8192, {**base, "kappa": 4.0} if self.strongly else base),
            sweep("K", 1, 32, base),
            sweep("F", 1, 1e4, base),
            *(() if attained else self._bent(base)),
        )

    def everything(self, *sources: str) -> tuple[Sweep, ...]:
        """Return the sweeps of a rate that contains these sources: each alone, all together, and none."""
        # Where the curvature is the worst one for a drift that stays, it has to lead within the rounds.
        shy = 8.0 if self.lasting and not self.strongly else 1.0
        acting = tuple(source for source in sources if self.acts(source))
        loud = {**self._base(), **{source: self.size(source) / (1.0 if source == "G" else shy) for source in acting}}
        idle = tuple(sweep(source, 1 / 16, 1e5, loud) for source in sources if source not in acting)
        together = (sweep("T", 64, 2048, {**loud, "by": "engine"}), *self._bent(loud), *idle)
        return (*(s for source in acting for s in self.alone(source)), *together, *self.start())

    def attained_over_rounds(self, source: str) -> tuple[Sweep, ...]:
        r"""Return sweeps of one drift for the mean over rounds as objective.

        The condition number is swept with many rounds: the memory of the weights, :math:`\kappa/\eta` rounds, has to be
        short against their number.
        """
        return self._longer(self.alone(source, attained=True))

    def over_all_rounds(self, *sources: str) -> tuple[Sweep, ...]:
        """Return all sweeps for the mean over rounds as objective; of the condition number with one source at a time.

        Noise and drifts cost the same power of the number of rounds there, so that together neither leads.
        """
        kept = (s for s in self.everything(*sources) if s.name != "kappa" or _alone(s.base))
        return self._longer(tuple(kept))

    def _longer(self, sweeps: tuple[Sweep, ...]) -> tuple[Sweep, ...]:
        """Return sweeps in which the condition number, where drifts lead, is swept with four times as many rounds."""
        return tuple(
            replace(s, base={**s.base, "T": 4 * s.base["T"]})
            if s.name == "kappa" and self.strongly and self._drifts(s.base)
            else s
            for s in sweeps
        )

    def _drifts(self, base: Params) -> bool:
        return float(base["D"]) > 0 or (self.acts("G") and float(base["G"]) > 0)

    def _base(self) -> Mapping[str, Any]:
        base = {**BASE, "N": self.clients or 2}
        if not self.strongly:
            return base
        return {**base, "T": 1024, **({"kappa": 1.0, "F": 256.0} if self.lasting else {"kappa": 2.0, "F": 8.0})}

    def _bent(self, base: Mapping[str, Any], *, attained: bool = False) -> tuple[Sweep, ...]:
        r"""Return sweeps of the curvature: of the known one, or away from the worst one in both directions.

        The condition number stays well below :math:`\eta T`, from where on the start leads; noise fades faster than
        drifts, so the start leads earlier. The generous exponential in the bounds for drifts that stay is seen only
        above. A rate that is attained needs a larger one, since both eigenvalues contribute, like
        :math:`1 + 1/\kappa`.
        """
        if self.strongly:
            ends = (
                ((2, 64) if attained else (1, 16)) if self._drifts(base) else (512, 16384) if self.lasting else (1, 8)
            )
            return (sweep("kappa", *ends, {**base, "T": 4096}),)
        steepest = min(32.0, 1.0 / self.curvature(base))
        return (sweep("kappa", 1, 1024, base), sweep("steep", 1, steepest, base))


@functools.lru_cache(maxsize=4096)
def _tuned(
    setting: Setting, point: tuple[tuple[str, Any], ...], remembers: bool, over_rounds: bool
) -> tuple[float, float]:
    params = dict(point)
    moments = setting.moments(params, remembers=remembers)
    return best_step(moments, int(params["T"]), setting.known_mu(params), over_rounds=over_rounds)


def tuned(setting: Setting, point: Params, *, remembers: bool, over_rounds: bool = False) -> tuple[float, float]:
    """Return the best constant step per round and the gap with it; the forms of a claim share their points."""
    key = tuple(sorted((name, value) for name, value in point.items() if name != "by"))
    return _tuned(setting, key, remembers, over_rounds)


def _alone(base: Params) -> bool:
    return sum(float(base[source]) > 0 for source in ("D", "G", "sigma")) <= 1


BASE: Mapping[str, Any] = {
    "T": 512, "N": 2, "K": 2, "by": "formula", "D": 0.0, "G": 0.0, "sigma": 0.0, "kappa": 1.0, "steep": 1.0,
    "F": 1.0,
}  # fmt: skip
"""Base of all sweeps: no source of error."""


def sweep(name: str, low: float, high: float, base: Params, *, points: int = 6) -> Sweep:
    """Return a geometric sweep of one parameter; whole numbers stay whole."""
    values = np.geomspace(low, high, points)
    numbers = tuple(round(float(v)) if name in ("T", "N", "K") else float(v) for v in values)
    return Sweep(name, numbers, {**base, name: numbers[0]})
