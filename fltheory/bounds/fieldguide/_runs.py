r"""Local SGD under uniform heterogeneity, run by the exact engine, and how the theorem is read on an experiment.

On quadratics :math:`\|\nabla F_i(x) - \nabla F(x)\|` is bounded over all :math:`x` only if all clients have the same
Hessian; then it is constant. Instances are such quadratics, and an experiment with different Hessians is told that no
:math:`\zeta` exists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.heterogeneity import observed_zeta
from fltheory.bounds.observation import Facts, Requirement
from fltheory.bounds.space import Integer, Parameter, Params, Real
from fltheory.errors import NotApplicable
from fltheory.participation import Everyone, Participation
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Constant, Schedule

CLIENTS: dict[str, Parameter] = {
    "M": Integer(1, 3, far=5),
    "tau": Integer(1, 4, far=300),
    "d": Integer(1, 2, far=5),
    "L": Real(0.1, 10, log=True),
    "flat": Real(0.001, 1, log=True, shape=("d",), far=1e-6),
    "tilt": Real(-3, 3, shape=("M", "d")),
    "noise": Real(0.001, 10, log=True),
    "start": Real(-3, 3, shape=("d",)),
}


def experiment(point: Params, *, rounds: int, rate: float | Schedule) -> Experiment:
    """Return local SGD on quadratics with one Hessian."""
    hessian = (point["L"] * point["flat"] / point["flat"].max())[None]
    tilt = point["tilt"] - point["tilt"].mean(axis=0)
    problem = Quadratic(
        hessian=hessian,
        linear=tilt,
        constant=np.zeros(point["M"]),
        noise_sq=np.full(point["M"], point["noise"]),
        start=point["start"],
        sample_counts=np.ones(point["M"]),
    )
    return Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=point["M"], local_steps=point["tau"]),
        rounds=rounds,
        rate=rate,
    )


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, FedAvg):
        raise NotApplicable(f"the theorem is about local SGD (FedAvg), got {facts.algorithm.title}")
    if facts.participation.timeline.events:
        raise NotApplicable("the theorem is about a fixed set of clients, the experiment has arrivals or departures")
    observed_zeta(facts)
    return f"FedAvg, {facts.num_clients} clients, {facts.local_steps} local steps"


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    chosen = facts.participation.selection
    assert isinstance(facts.algorithm, FedAvg)
    spread = float(np.ptp(facts.problem.weights))
    complete = isinstance(chosen, Everyone) and facts.completes_all_steps()
    found = [
        Requirement("all clients complete all steps", complete, str(getattr(chosen, "name", chosen))),
        Requirement("models are averaged", facts.algorithm.server_rate == 1, f"rate {facts.algorithm.server_rate:g}"),
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
    ]
    rates = {rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)}
    found.append(Requirement("one step size", len(rates) == 1, f"{len(rates)} different"))
    return [*found, *fixed_objectives(facts)]


def constants(facts: Facts) -> dict[str, Any]:
    """Return what does not depend on the run."""
    known = facts.require("L", "sigma_sq", "w_star")
    try:
        start = facts.experiment.start
    except NotApplicable:  # a learning rate is asked for, and there is no experiment yet
        start = facts.problem.start
    distance = float(np.sqrt(((np.asarray(start) - known["w_star"]) ** 2).sum()))
    variance, zeta = float(np.max(known["sigma_sq"])), observed_zeta(facts)
    return {
        "M": facts.num_clients,
        "steps": facts.local_steps,
        "L": known["L"],
        "sigma": math.sqrt(variance),
        "sigma_sq": variance,
        "zeta": zeta,
        "zeta_sq": zeta**2,
        "D": facts.keep("D", distance, Origin.COMPUTED, "distance of the start"),
        "D_sq": distance**2,
    }


def quantities(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities after every number of rounds."""
    gaps = facts.run.curve("mean_iterate_gap").mean(axis=0)[1:].mean(axis=1)
    number = np.arange(1, facts.rounds + 1)
    step = facts.keep("eta", facts.experiment.rate_at(0), Origin.DECLARED, "step size of the experiment")
    return {**constants(facts), "eta": step, "T": number, "excess": np.cumsum(gaps) / number}


def at_the_end(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities after all rounds, for a step size that depends on their number."""
    env = dict(quantities(facts))
    return {**env, "T": int(env["T"][-1]), "excess": float(env["excess"][-1])}


def tuned(facts: Facts) -> Constant:
    """Return the step size (16)."""
    env, rounds = constants(facts), facts.rounds
    smooth, far, steps, sigma, zeta = (float(env[name]) for name in ("L", "D", "steps", "sigma", "zeta"))
    if far == 0:
        raise NotApplicable("the step size (16) is zero for a start at the minimiser")
    choices = [1 / (4 * smooth)]
    if sigma > 0:
        choices.append(math.sqrt(env["M"]) * far / (math.sqrt(steps * rounds) * sigma))
        choices.append((far**2 / (steps**2 * rounds * smooth * sigma**2)) ** (1 / 3))
    if zeta > 0:
        choices.append((far**2 / (rounds * smooth * zeta**2)) ** (1 / 3) / steps)
    return Constant(value=min(choices))
