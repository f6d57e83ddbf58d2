r"""Local SGD on equal clients, run by the exact engine, and how the bounds are read on an experiment.

The paper's machines have one objective and draw samples independently. Instances are quadratics; an experiment whose
clients differ is told so. :math:`x_0` is the start, and :math:`B` its distance from the minimiser.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.claim import Rejected
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.observation import Facts, Requirement
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real
from fltheory.errors import NotApplicable
from fltheory.participation import Everyone, Participation
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic, client_gradients
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Constant

last_gap = scalar(
    "last_gap", r"\mathbb EF(\bar x_{KR}) - F^*", "expected gap of the averaged last iterate", domain="nonnegative"
)
mean_gap = scalar(
    "mean_gap",
    r"\tfrac1{KR}\sum_{t=1}^{KR}\mathbb E[F(\bar x_t) - F^*]",
    "expected mean gap of all averaged iterates, at least that of their mean",
    domain="nonnegative",
)

CLIENTS: dict[str, Parameter] = {
    "M": Integer(1, 4, far=5),
    "K": Integer(1, 5, far=300),
    "d": Integer(1, 2, far=5),
    "H": Real(0.1, 10, log=True),
    "flat": Real(0.001, 1, log=True, shape=("d",), far=1e-6),
    "noise": Real(0, 10),
    "start": Real(-3, 3, shape=("d",)),
}

Tuned = Callable[[Facts], Constant]


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, FedAvg):
        raise NotApplicable(f"the theorem is about local SGD (FedAvg), got {facts.algorithm.title}")
    if facts.participation.timeline.events:
        raise NotApplicable("the theorem is about a fixed set of machines, the experiment has arrivals or departures")
    return f"local SGD, {facts.num_clients} machines, {facts.local_steps} local steps"


def about_quadratics(facts: Facts) -> str:
    """Return the setting in words; refuse problems that are no quadratics."""
    if not isinstance(facts.problem, Quadratic):
        raise NotApplicable(f"the statement is about quadratics, got {type(facts.problem).__name__}")
    return f"{about(facts)}, quadratics"


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    chosen, pmf = facts.participation.selection, facts.participation.step_pmf(0)
    assert isinstance(facts.algorithm, FedAvg)
    spread = float(np.ptp(facts.problem.weights))
    complete = isinstance(chosen, Everyone) and float(pmf[:, -1].min()) == 1.0
    rates = {rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)}
    return [
        Requirement("all clients complete all steps", complete, str(getattr(chosen, "name", chosen))),
        Requirement("models are averaged", facts.algorithm.server_rate == 1, f"rate {facts.algorithm.server_rate:g}"),
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
        Requirement("one step size", len(rates) == 1, f"{len(rates)} different"),
        _alike(facts),
        *fixed_objectives(facts),
    ]


def _alike(facts: Facts) -> Requirement:
    """Return whether all clients have one objective: their gradients at the start, the minimiser and near it."""
    problem = facts.problem
    best = np.asarray(facts.require("w_star")["w_star"])
    far = np.asarray(problem.start) - best
    models = best + np.concatenate([np.zeros((1, problem.dim)), far[None], -far[None], np.eye(problem.dim)])
    if isinstance(problem, Quadratic):
        own = client_gradients(problem, models)
    else:
        own = np.stack([np.asarray(problem.objective(row).gradient(models)) for row in np.eye(problem.num_clients)])
    apart = float(np.abs(own - own[:1]).max())
    size = max(1.0, float(np.abs(own).max()))
    return Requirement(
        "all machines have one objective", apart < 1e-9 * size, f"gradients differ by {apart:g}", Origin.MEASURED
    )


def constants(facts: Facts) -> dict[str, Any]:
    """Return what does not depend on the run."""
    known = facts.require("L", "sigma_sq", "w_star")
    try:
        start = facts.experiment.start
    except NotApplicable:  # a learning rate is asked for, and there is no experiment yet
        start = facts.problem.start
    distance = float(np.sqrt(((np.asarray(start) - known["w_star"]) ** 2).sum()))
    return {
        "M": facts.num_clients,
        "K": facts.local_steps,
        "H": known["L"],
        "sigma": math.sqrt(float(np.max(known["sigma_sq"]))),
        "B": facts.keep("B", distance, Origin.COMPUTED, "distance of the start"),
    }


def at_the_end(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities after all rounds; the step size depends on their number."""
    facts.keep("eta", facts.experiment.rate_at(0), Origin.DECLARED, "step size of the experiment")
    gap = facts.curve("gap", first=facts.rounds)
    return {**constants(facts), "R": facts.rounds, "last_gap": gap}


def averaged(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities after all rounds, with the gaps of all averaged iterates."""
    facts.keep("eta", facts.experiment.rate_at(0), Origin.DECLARED, "step size of the experiment")
    gaps = facts.run.curve("mean_iterate_gap").mean(axis=0)[1:]
    return {**constants(facts), "R": facts.rounds, "mean_gap": float(gaps.mean())}


def _smallest(facts: Facts, rates: Sequence[float]) -> Constant:
    """Return the step size; refuse a start at the minimiser."""
    if min(rates) == 0:
        raise NotApplicable("the step size is zero for a start at the minimiser")
    return Constant(value=min(rates))


def on_quadratics(facts: Facts) -> Constant:
    """Return the step size of the sharp form of Corollary 1."""
    env = constants(facts)
    total, rates = env["K"] * facts.rounds, [1 / float(env["H"])]
    if env["sigma"] > 0:
        rates.append(env["B"] * math.sqrt(env["M"] / (2 * total)) / env["sigma"])
    return _smallest(facts, rates)


def tuned(largest: float) -> Tuned:
    """Return the step size (89), or with another multiple of 1 / H as the largest one."""

    def rate(facts: Facts) -> Constant:
        env = constants(facts)
        return _smallest(facts, convex_rates(env, facts.rounds, largest))

    return rate


def convex_rates(env: Mapping[str, Any], rounds: int, largest: float) -> list[float]:
    """Return the step sizes of which (89) takes the smallest one."""
    high, far, noise = (float(env[name]) for name in ("H", "B", "sigma"))
    machines, steps = float(env["M"]), float(env["K"])
    rates = [largest / high]
    if noise > 0:
        rates.append(far * math.sqrt(machines) / (noise * math.sqrt(steps * rounds)))
        if machines > 1 and steps > 1:
            rates.append((far**2 / (high * noise**2 * steps**2 * rounds)) ** (1 / 3))
    return rates


def tuned_experiment(rate: Tuned) -> Callable[[Params], Experiment]:
    """Return how a run with a step size of the paper is made at a point."""

    def experiment(point: Params) -> Experiment:
        hessian = (point["H"] * point["flat"] / point["flat"].max())[None]
        problem = Quadratic(
            hessian=hessian,
            linear=np.zeros_like(hessian),
            constant=np.zeros(1),
            noise_sq=np.full(point["M"], point["noise"]),
            start=point["start"],
            sample_counts=np.ones(point["M"]),
        )
        participation = Participation(num_clients=point["M"], local_steps=point["K"])
        rounds = point["R"]
        facts = Facts(problem=problem, algorithm=FedAvg(), participation=participation, rounds=rounds)
        try:
            step = rate(facts)
        except NotApplicable as error:
            raise Rejected(str(error)) from error
        return Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=rounds, rate=step)

    return experiment


def last_model(point: Params, made: Experiment, run: Any) -> Mapping[str, Any]:
    """Return the quantities of a run whose last model is the output."""
    return at_the_end(Facts.of(made, run))


def all_models(point: Params, made: Experiment, run: Any) -> Mapping[str, Any]:
    """Return the quantities of a run whose averaged iterates are averaged."""
    return averaged(Facts.of(made, run))
