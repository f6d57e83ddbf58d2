r"""How Theorem V is read on an experiment with FedAvg.

The output is one of the models :math:`x^0, \dots, x^R`, drawn with the weights of the theorem; its expected gap is the
weighted mean of the recorded gaps. The step is that of the instances (:mod:`fltheory.bounds.scaffold._fedavg`), with
the terms of Lemma 7 for noise and sampled clients. Dissimilarity (14) is decided on the clients of the experiment
(:mod:`fltheory.bounds.heterogeneity`): :math:`B^2 = 2` unless it is declared, and the smallest :math:`G` for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.heterogeneity import Growth, observed_dissimilarity
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.scaffold._fedavg import GROWTH, tuned, tuned_general
from fltheory.bounds.scaffold._symbols import R
from fltheory.errors import NotApplicable
from fltheory.participation import Everyone, WithoutReplacement
from fltheory.problems.problem import Origin
from fltheory.simulation.schedules import Constant


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, FedAvg):
        raise NotApplicable(f"the theorem is about FedAvg, got {facts.algorithm.title}")
    if facts.participation.timeline.events:
        raise NotApplicable("the theorem is about a fixed set of clients, the experiment has arrivals or departures")
    if not isinstance(facts.participation.selection, Everyone | WithoutReplacement):
        raise NotApplicable("the theorem is about all clients, or some of them drawn without replacement")
    observed_dissimilarity(facts, Growth.GAP, GROWTH)
    return f"FedAvg, {_sampled(facts)} of {facts.num_clients} clients, {facts.local_steps} local steps"


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    spread = float(np.ptp(facts.problem.weights))
    server = _server_rate(facts)
    rates = {rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)}
    return [
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
        Requirement("all steps are completed", facts.completes_all_steps(), f"{facts.local_steps} steps"),
        Requirement("global step-size of at least 1", server >= 1.0, f"{server:g}"),
        Requirement("one step size", len(rates) == 1, f"{len(rates)} different"),
        *fixed_objectives(facts),
    ]


def _sampled(facts: Facts) -> int:
    return int(getattr(facts.participation.selection, "size", facts.num_clients))


def _server_rate(facts: Facts) -> float:
    assert isinstance(facts.algorithm, FedAvg)
    return float(facts.algorithm.server_rate)


def constants(facts: Facts) -> dict[str, Any]:
    """Return what does not depend on the run."""
    known = facts.require("mu", "L", "sigma_sq", "w_star")
    try:
        start = facts.experiment.start
    except NotApplicable:  # a learning rate is asked for, and there is no experiment yet
        start = facts.problem.start
    distance = float(np.sqrt(((np.asarray(start) - known["w_star"]) ** 2).sum()))
    G_sq, B_sq = observed_dissimilarity(facts, Growth.GAP, GROWTH)
    return {
        "R": facts.rounds,
        "K": facts.local_steps,
        "N": facts.num_clients,
        "S": _sampled(facts),
        "mu": known["mu"],
        "beta": known["L"],
        "B_sq": B_sq,
        "G_sq": G_sq,
        "sigma_sq": float(np.max(known["sigma_sq"])),
        "eta_g": facts.keep("eta_g", _server_rate(facts), Origin.DECLARED, "server rate of the algorithm"),
        "dependence": facts.keep("dependence", 0.0, Origin.DECLARED, "clients draw on their own, by the engines"),
        "D": facts.keep("D", distance, Origin.COMPUTED, "distance of the start"),
    }


def step(facts: Facts, *, convex: bool) -> float:
    """Return the effective step; ``convex`` if strong convexity is not used."""
    env = constants(facts)
    number, clients, sampled = env["R"], env["N"], env["S"]
    largest = 1 / (8 * (1 + env["B_sq"]) * env["beta"])
    noise = env["sigma_sq"] / (env["K"] * sampled) * (1 + sampled / env["eta_g"] ** 2)
    terms = (2 * noise + 4 * (1 - sampled / clients) * env["G_sq"] / sampled, 36 * env["beta"] * env["G_sq"])
    if convex:
        return tuned_general(env["D"] ** 2, terms, largest, number)
    if env["mu"] <= 0:
        raise NotApplicable("the theorem is about strongly convex objectives, got mu = 0")
    return tuned(env["mu"], 3 * env["D"] ** 2, terms, largest, number)


def rate(facts: Facts, *, convex: bool) -> Constant:
    """Return the local step-size."""
    return Constant(value=step(facts, convex=convex) / (facts.local_steps * _server_rate(facts)))


def quantities(facts: Facts, *, convex: bool) -> Mapping[str, Any]:
    """Return the quantities after all rounds."""
    env = constants(facts)
    gaps = np.asarray(facts.run.curve("gap").mean(axis=0))
    shrink = 1.0 if convex else 1 - env["mu"] * step(facts, convex=convex) / 2
    weights = shrink ** (facts.rounds - np.arange(len(gaps)))
    return {**env, "error": float(weights @ gaps / weights.sum())}


def observed(*, convex: bool) -> Observation:
    """Return how one of the two cases is read on an experiment."""
    return Observation(
        quantities=partial(quantities, convex=convex),
        about=about,
        rate=partial(rate, convex=convex),
        axis=R,
        algorithm=FedAvg,
        conditions=conditions,
        exceeds="gap",
    )
