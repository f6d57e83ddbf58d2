r"""Shared by the one-round recursion (62): symbols, runs on noisy quadratics, constants and the drift already seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sympy import Expr, Le, sqrt

from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.algebra import Env
from fltheory.bounds.cfl._moments import QuadraticMoments
from fltheory.bounds.cfl._rate_symbols import K, sigma
from fltheory.bounds.claim import Assumption, Experiments
from fltheory.bounds.definitions import Definition
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space
from fltheory.bounds.symbols import L, N, mu
from fltheory.participation import Participation
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

eta = scalar("eta", r"\eta", "step per round, local steps times local rate times server rate", domain="nonnegative")
eta_g = scalar("eta_g", r"\eta_g", "server rate", domain="positive")
distance = scalar(
    "distance_sq", r"\mathbb{E}\|\omega_t - \omega^*\|^2", "squared distance before the round", domain="nonnegative"
)
distance_next = scalar(
    "distance_sq_next",
    r"\mathbb{E}\|\omega_t + \Delta\omega_t - \omega^*\|^2",
    "squared distance after the round",
    domain="nonnegative",
)
gap = scalar("gap", r"(f(\omega_t) - f^*)", "gap before the round", domain="nonnegative")
t_now = scalar("t", "t", "number of the round, from 1", domain="integer>=1")
p_sq = scalar("p_sq", r"\sum_\tau p_\tau^2", "sum of the squared weights of the rounds so far", domain="nonnegative")
p_now = scalar(
    "p_now",
    r"\sum_\tau p_t",
    "weight of the current round, added up as many times as there are rounds",
    domain="nonnegative",
)
c_pB = scalar("c_pB", "c_{p_B}", "growth constant of the first round, the largest one", domain="nonnegative")
c_pG = scalar("c_pG", "c_{p_G}(t)", "drift constant of the round", domain="nonnegative")
c_1 = scalar("c_1", "c_1(t)", "second-order constant of the round", domain="nonnegative")
c_2 = scalar("c_2", "c_2(t)", "third-order constant of the round", domain="nonnegative")
seen = scalar(
    "seen",
    "V_t",
    "mean square of the part of the clients' mean drift that earlier rounds have seen",
    domain="nonnegative",
)

SPACE: dict[str, Parameter] = {
    "d": Integer(1, 2, far=5),
    "N": Integer(1, 5),
    "K": Integer(1, 4, far=300),
    "T": Integer(4, 60, far=600),
    "server": Real(1, 8, log=True),
    "step": Real(0.05, 1),
    "mu": Real(0.05, 1, log=True, far=1e-6),
    "D": Real(0, 3),
    "G": Real(0, 3),
    "sigma": Real(0, 3),
    "radius": Real(0, 3),
}

published = Le(distance_next, (1 - mu * eta / 2) * distance - eta * gap + c_1 * eta**2 + c_2 * eta**3)
corrected = Le(
    distance_next,
    (1 - mu * eta / 2) * distance - eta * gap + c_1 * eta**2 + c_2 * eta**3 + 2 * eta * sqrt(seen * distance),
)

sharp = Le(
    distance_next,
    (1 - mu * eta / 2) * distance - 2 * eta * gap + c_1 * eta**2 + 2 * eta * sqrt(seen * distance),
)
"""For quadratics with one Hessian: twice the gap, and no term of third order."""

STEP = Assumption(
    "step size, half of (61)",
    Le(eta, (sqrt(6 * eta_g**2 + c_pB * eta_g**4) - sqrt(c_pB * eta_g**4)) / (12 * L * sqrt(c_pB))),
)


def constants(squares: Any, drift: Expr, total: Any = 1) -> tuple[Definition, ...]:
    r"""Return the definitions of :math:`c_1` and :math:`c_2`.

    ``squares`` is the sum of the squared weights of the rounds so far, ``drift`` is :math:`c_{p_G}`, and ``total``
    stands for the sum of the weights.
    """
    return (
        (p_sq, squares),
        (c_pG, drift),
        (c_1, c_pG + p_sq * sigma**2 / (N * K * total**2)),
        (c_2, 12 * L * c_pG / eta_g**2 + 12 * L * sigma**2 / (eta_g**2 * K)),
    )


def runs(*cases: str, remembers: bool, effort: int = 3, growing: bool = False) -> Experiments:
    """Return the runs of a method in the given cases: ``S1``, ``S1-centred``, ``S2`` (drawn drifts), ``S2-centred``.

    ``growing`` asks for a round drift that grows with the gradient, ``A`` times as fast.
    """
    grown: dict[str, Parameter] = {"A": Real(0, 0.9)} if growing else {}
    return Experiments(
        space=Space({"case": Choice(cases), **SPACE, **grown}),
        experiment=lambda point: _experiments(point, remembers),
        quantities=_quantities(remembers),
        effort=effort,
    )


def _problem(point: Params) -> Quadratic:
    case = str(point["case"])
    centred = case.endswith("centred")
    single = point["d"] == 1
    return noisy_quadratic(
        dim=point["d"],
        num_clients=point["N"],
        mu=1.0 if single else point["mu"],
        L=1.0,
        rotated=False,
        radius=point["radius"],
        scenario=case[:2],
        client_drift_sq=0.0 if centred and point["N"] == 1 else point["G"] ** 2,
        client_drift_centred=centred,
        round_drift_sq=point["D"] ** 2,
        noise_sq=point["sigma"] ** 2,
        round_growth=point.get("A", 0.0),
    )


def _step(point: Params) -> float:
    """Return the step per round, a part of what :data:`STEP` allows."""
    server_sq, growth = point["server"] ** 2, point.get("A", 0.0)
    root = np.sqrt(1 + growth**2)
    largest = (np.sqrt(6 * server_sq + (root * server_sq) ** 2) - root * server_sq) / (12 * (1 + growth) * root)
    return float(point["step"] * largest)


def _experiments(point: Params, remembers: bool) -> tuple[Experiment, ...]:
    """Return the run; two for drawn drifts that stay, since a draw and its mirror image are equally likely."""
    server, made = point["server"], _problem(point)
    assert made.client_drift is not None
    problems = (made, replace(made, client_drift=-made.client_drift)) if point["case"] == "S2" else (made,)
    return tuple(
        Experiment(
            problem=problem,
            algorithm=CFLR(server_rate=server) if remembers else FedAvg(server_rate=server),
            participation=Participation(num_clients=point["N"], local_steps=point["K"]),
            rounds=point["T"],
            rate=_step(point) / (server * point["K"]),
        )
        for problem in problems
    )


def _quantities(remembers: bool) -> Callable[[Params, Any, Any], Env]:
    def read(point: Params, made: tuple[Experiment, ...], runs: tuple[Trajectories, ...]) -> Env:
        problem = made[0].problem
        assert isinstance(problem, Quadratic)
        growth = problem.round_growth
        moments = QuadraticMoments.of(replace(problem, round_growth=0.0), point["K"], remembers=remembers)
        t = np.arange(1.0, point["T"] + 1.0)
        fresh = point["d"] * moments.spread
        squared = np.mean([run.curve("distance_sq")[0] for run in runs], axis=0)
        return {
            "t": t,
            "eta": _step(point),
            "eta_g": point["server"],
            "distance_sq": squared[:-1],
            "distance_sq_next": squared[1:],
            "gap": np.mean([run.curve("gap")[0, :-1] for run in runs], axis=0),
            "p_sq": 1.0 / t if remembers else np.ones(len(t)),
            # All weights are 1/t in CFL-R; FedAvg has a weight of one in every round.
            "p_now": np.ones(len(t)) if remembers else t,
            "c_pB": 1.0 + growth**2,
            "seen": float(moments.bias @ moments.bias) + (fresh * (t - 1.0) / t**2 if remembers else 0.0 * t),
            "G": point["G"],
            "D": point["D"],
            "K": float(point["K"]),
            "sigma": point["sigma"],
            # Of the objectives of the rounds, whose gradients are up to 1 - A or 1 + A times that of their mean.
            "mu": (1.0 - growth) * (1.0 if point["d"] == 1 else point["mu"]),
            "L": 1.0 + growth,
            "N": float(point["N"]),
        }

    return read
