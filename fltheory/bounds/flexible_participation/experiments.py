r"""Runs with flexible participation: clients, step laws, and what a bound has to know about them.

Every client has a quadratic :math:`F_k(w) = \frac12\sum_a h_{ka}(w_a - c_{ka})^2` with additive gradient noise. In a
round it completes ``high`` steps with probability :math:`q_k` and ``low`` steps otherwise, so that all outcomes of a
round can be listed: expectations over participation in the constants are sums over them, and the exact engine
averages over the same list. Clients are independent, or exclude each other: then one of them is asked in each round.

A few instances of every search are extreme: up to five clients with weights down to a thousandth, 300 local steps,
condition numbers of a million, clients that complete more steps in one round of a thousand.

:math:`\mu` and :math:`L` are the extreme curvatures, :math:`\theta` is the largest ratio that occurs, and :math:`G^2`
the largest expected squared norm of a stochastic gradient along the run; all of them as small as the instance allows,
which makes the bounds as strong as they can be. Rounds of scheme A without a complete client count as rounds in which
nothing happens: moments are not conditional on :math:`K_\tau > 0`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sympy import Eq, Le

from fltheory.bounds.claim import Assumption, Rejected
from fltheory.bounds.flexible_participation.symbols import (
    dependence,
    p_drawn,
    theta,
)
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Integers, Parameter, Params, Real
from fltheory.bounds.symbols import G_sq, N, k, p
from fltheory.participation import Everyone, Participation, Selection, StepCounts, Timeline, WithoutReplacement
from fltheory.participation.moments import moments
from fltheory.participation.schemes import Scheme, scheme_weights
from fltheory.problems.problem import Origin
from fltheory.quadratic.gradient_norms import local_gradient_sq
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

gradient_sq = scalar(
    "gradient_sq",
    r"\mathbb{E}\|g_t^k\|^2",
    "expected squared norms of all stochastic gradients of a run",
    shape=("gradients",),
    domain="nonnegative",
)

INDEPENDENT = Assumption(
    "participation independent over the rounds and of the noise (used by the proof, listed nowhere)",
    Eq(dependence, 0, evaluate=False),
    Origin.DECLARED,
)
BOUNDED_GRADIENTS = Assumption("bounded gradients (3.4)", Le(gradient_sq, G_sq), Origin.MEASURED)
BOUNDED_COEFFICIENTS = Assumption(
    "bounded aggregation coefficients (3.5)", Le(p_drawn[k], theta * p[k]), over=((k, 1, N),)
)


def clients(*, most: int = 2, steps: int = 3, schemes: tuple[str, ...] = ("A", "B", "C")) -> dict[str, Parameter]:
    """Return the parameters of client quadratics whose step counts have two values each."""
    return {
        "N": Integer(1, most, far=5),
        "d": Integer(1, 2, far=5),
        "E": Integer(1, steps, far=300),
        "scheme": Choice(schemes),
        "participation": Choice(("homogeneous", "heterogeneous", "full", "exclusive")),
        "low": Integers(0, "E", shape=("N",)),
        "high": Integers(0, "E", shape=("N",)),
        "q": Real(0, 1, shape=("N",), far=0.001),
        "n": Real(0.001, 1, log=True, shape=("N",)),
        "mu": Real(0.1, 10, log=True, far=0.001),
        "condition": Real(1, 1000, log=True, far=1e6),
        "curvature": Real(0, 1, shape=("N", "d")),
        "centre": Real(-3, 3, shape=("N", "d")),
        "noise": Real(0, 1, shape=("N",)),
        "loud": Real(1e-3, 1e3, log=True),
        "start": Real(-3, 3, shape=("d",)),
    }


def one_works(**more: Any) -> Params:
    """Return a point of :func:`clients` that starts at the minimiser and ends at that of the only client who works.

    What heterogeneous participation adds to a bound in every round is needed there, after hundreds of rounds or
    thousands: until then the part that vanishes is larger.
    """
    return {
        "N": 2,
        "d": 1,
        "E": 1,
        "scheme": "C",
        "participation": "heterogeneous",
        "low": np.array([0, 1]),
        "high": np.array([0, 1]),
        "q": np.ones(2),
        "n": np.ones(2),
        "mu": 1.0,
        "condition": 1.0,
        "curvature": np.zeros((2, 1)),
        "centre": np.array([[-1.0], [1.0]]),
        "noise": np.zeros(2),
        "loud": 1.0,
        "start": np.zeros(1),
        **more,
    }


def quadratics(point: Params, *, unit: float = 1.0) -> Quadratic:
    """Return the clients' quadratics, each with minimum 0; ``unit`` is that of the noise."""
    position = point["curvature"] - point["curvature"].min()
    # Rescaled so that the condition number is the one asked for, unless there is one curvature only.
    hessian = point["mu"] * (1 + (point["condition"] - 1) * position / max(position.max(), 1e-9))
    return Quadratic(
        hessian=hessian,
        linear=-hessian * point["centre"],
        constant=0.5 * (hessian * point["centre"] ** 2).sum(axis=1),
        sample_counts=point["n"],
        noise_sq=unit * point["loud"] * point["noise"],
        start=point["start"],
    )


def two_values(point: Params, *, low: str = "low", high: str = "high", q: str = "q") -> StepCounts:
    """Return the step law: more steps with probability ``q``, fewer otherwise."""
    steps, count = point["E"], point["N"]
    pmf = np.zeros((count, steps + 1))
    for client in range(count):
        row = client if point["participation"] in ("heterogeneous", "exclusive") else 0
        ends = sorted((int(point[low][row]), int(point[high][row])))
        pmf[client, ends[1]] += point[q][row]
        pmf[client, ends[0]] += 1.0 - point[q][row]
    if point["participation"] == "full":
        pmf = np.eye(steps + 1)[[steps] * count]
    return StepCounts(pmf=pmf)


def selection(point: Params) -> Selection:
    """Return who is asked: everyone, or one client where they exclude each other."""
    return WithoutReplacement(size=1, renormalise=False) if point["participation"] == "exclusive" else Everyone()


def law(problem: Quadratic, participation: Participation, scheme: Scheme, index: int = 0) -> dict[str, Any]:
    """Return the outcomes of one round, and what the theorem needs to know about them."""
    weights = problem.weights
    found = moments(scheme, participation, index, weights)
    if found.sum_p_s <= 0:
        raise Rejected("no client ever completes a step")
    chance, steps, _ = participation.outcomes(index, weights)
    coefficients = scheme_weights(scheme, weights, steps, participation.local_steps)
    return {
        "p_drawn": list(coefficients),
        "s_drawn": list(steps.astype(float)),
        "chance": chance,
        "theta": float((coefficients / weights).max()),
        "mean_ps": found.sum_p_s,
        "z": found.z,
        "mean_ps_of": found.p_s,
        "dependence": 0.0,  # by the laws of participation, which are drawn round by round
    }


def constants(problem: Quadratic) -> dict[str, Any]:
    """Return the constants of the clients' objectives."""
    known = problem.constants()
    return {
        "N": problem.num_clients,
        "mu": known["mu"].value,
        "L": known["L"].value,
        "Gamma": known["gamma"].value,
        "sigma_sq": known["sigma_sq"].value,
        "p": problem.weights,
        "w_star": known["w_star"].value,
    }


def setting(problem: Quadratic, participation: Participation, scheme: str) -> dict[str, Any]:
    """Return everything that learning rate and constants depend on, for laws that do not change."""
    return {"E": participation.local_steps, **constants(problem), **law(problem, participation, Scheme(scheme))}


def some(problem: Quadratic, who: Any) -> Quadratic:
    """Return some of the clients, with their own weights and without drift; what all clients share stays shared."""

    def of_these(values: Any) -> Any:
        return values if len(values) == 1 else values[who]

    return replace(
        problem,
        hessian=of_these(problem.hessian),
        linear=of_these(problem.linear),
        constant=of_these(problem.constant),
        sample_counts=problem.sample_counts[who],
        noise_sq=problem.noise_sq[who],
        client_drift=None,
        client_growth=None,
    )


def members(problem: Quadratic, participation: Participation, index: int) -> tuple[Quadratic, Participation]:
    """Return the clients that are in the objective in a round, as a federation of its own."""
    who = participation.members(index)
    rest, steps = some(problem, who), StepCounts(pmf=participation.step_pmf(index)[who])
    return rest, replace(participation, num_clients=rest.num_clients, steps=steps, timeline=Timeline())


def along(run: Experiment, trajectories: Trajectories, first: int = 0) -> dict[str, Any]:
    """Return the curves of a run from a round on, and the smallest bound on the gradients of the clients there."""
    mean, covariance = trajectories.curve("model_mean")[0], trajectories.curve("model_covariance")[0]
    rates = np.array([run.rate_at(index) for index in range(first, run.rounds)])
    assert isinstance(run.problem, Quadratic)
    norms = local_gradient_sq(run.problem, mean[first:-1], covariance[first:-1], rates, run.participation.local_steps)[
        :, run.participation.members(first)
    ]
    curve = trajectories.curve("distance_sq")[0, first:]
    # From round 1 on: round 0 holds by definition of V, at times with equality, and would hide the others.
    return {
        "tau": np.arange(1, len(curve)),
        "distance_sq": curve[1:],
        "start_sq": curve[0],
        "gradient_sq": norms.ravel(),
        "norms_sq": norms,
        "G_sq": norms.max(),
    }
