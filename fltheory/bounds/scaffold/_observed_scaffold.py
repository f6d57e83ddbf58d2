r"""How Theorem VII is read on an experiment with SCAFFOLD.

The output is one of the server's models :math:`x^0, \dots, x^{R-1}`, drawn with weights
:math:`(1 - \frac{\mu\tilde\eta}2)^{-(r+1)}`; its expected gap is the weighted mean of the gaps along the run, at every
number of rounds. The step-size of a round is :math:`\tilde\eta = K\eta_g\eta_l`. The first control variates are zero
or, where the algorithm begins with gradients, those at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.scaffold import Scaffold
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.scaffold._symbols import R
from fltheory.errors import NotApplicable
from fltheory.participation import Everyone, WithoutReplacement
from fltheory.problems.problem import Origin, norm_sq
from fltheory.simulation.trajectories import Band


def _algorithm(facts: Facts) -> Scaffold:
    if not isinstance(facts.algorithm, Scaffold):
        raise NotApplicable(f"the theorem is about SCAFFOLD, got {facts.algorithm.title}")
    return facts.algorithm


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    title = _algorithm(facts).title
    if facts.participation.timeline.events:
        raise NotApplicable("the theorem is about a fixed set of clients, the experiment has arrivals or departures")
    return f"{title}, {_sampled(facts)} of {facts.num_clients} clients, {facts.local_steps} local steps"


def _sampled(facts: Facts) -> int:
    return int(getattr(facts.participation.selection, "size", facts.num_clients))


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    chosen, option = facts.participation.selection, _algorithm(facts).option
    spread = float(np.ptp(facts.problem.weights))
    rates = {rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)}
    return [
        Requirement(
            "clients are sampled uniformly, without replacement",
            isinstance(chosen, Everyone | WithoutReplacement),
            str(getattr(chosen, "name", chosen)),
        ),
        Requirement("all steps are completed", facts.completes_all_steps(), f"{facts.local_steps} steps"),
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
        Requirement("one step size", len(rates) == 1, f"{len(rates)} different"),
        Requirement("control variates by option II", option == "II", f"option {option}"),
        *fixed_objectives(facts),
    ]


def _client_gradients(facts: Facts, w: Floats) -> Floats:
    """Return all clients' gradients at one model, shape ``(clients, dim)``."""
    oracle = facts.problem.reference_oracle(seed=0, replicates=range(1))
    oracle.begin_round(0)
    inside = oracle.enter(np.asarray(w, dtype=float)[None])
    models = np.broadcast_to(inside, (1, facts.num_clients, facts.problem.dim))
    return np.asarray(oracle.gradient(models)[0], dtype=np.float64)


def averaged(gaps: Any, shrink: float) -> Any:
    r"""Return :math:`\sum_{r<R}w_rf_r / \sum_{r<R}w_r` at all :math:`R`, with weights that grow by 1 / ``shrink``."""
    if isinstance(gaps, Band):
        mean, low, high = (averaged(side, shrink) for side in (gaps.mean, gaps.low, gaps.high))
        return Band(mean, low, high, gaps.level)
    found, total, weight = np.empty(len(gaps)), 0.0, 0.0
    for place, gap in enumerate(gaps):
        total, weight = shrink * total + gap, shrink * weight + 1.0
        found[place] = total / weight
    return found


def quantities(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities of the theorem after every number of rounds."""
    known, algorithm = facts.require("mu", "L", "sigma_sq", "w_star"), _algorithm(facts)
    step = facts.local_steps * algorithm.server_rate * facts.experiment.rate_at(0)
    shrink = 1 - float(known["mu"]) * step / 2
    if shrink <= 0:
        raise NotApplicable(
            f"the output has no weights for an effective step of {step:g} (local steps times both rates) with "
            f"mu = {known['mu']:g}; their product must be below 2"
        )
    goal = _client_gradients(facts, known["w_star"])
    begin = _client_gradients(facts, np.asarray(facts.experiment.start)) if algorithm.initial != "zero" else 0.0
    away, rounds = float(norm_sq(goal - begin).mean()), np.arange(1, facts.rounds + 1)
    with np.errstate(over="ignore"):
        weights = np.cumsum(shrink ** -rounds.astype(float))
    return {
        "mu": known["mu"],
        "beta": known["L"],
        "sigma_sq": float(np.max(known["sigma_sq"])),
        "N": facts.num_clients,
        "S": _sampled(facts),
        "K": facts.local_steps,
        "R": rounds,
        "eta_g": algorithm.server_rate,
        "eta_tilde": facts.keep("eta_tilde", step, Origin.DECLARED, "local steps times both learning rates"),
        "start_sq": facts.at_start("distance_sq"),
        "off_sq": facts.keep("off_sq", away, Origin.COMPUTED, "distance of the first control variates"),
        "W_R": weights,
        "dependence": facts.keep("dependence", 0.0, Origin.DECLARED, "clients draw on their own, by the engines"),
        "error": averaged(facts.curve("gap", last=-1), shrink),
    }


def after_all(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities of the rate, which asks for many rounds, after all of them."""
    found = dict(quantities(facts))
    error = found["error"]
    if isinstance(error, Band):
        found["error"] = Band(error.mean[-1:], error.low[-1:], error.high[-1:], error.level)
    else:
        found["error"] = error[-1:]
    return {**found, "R": found["R"][-1:], "W_R": found["W_R"][-1:]}


observed = Observation(
    quantities=quantities, about=about, axis=R, algorithm=Scaffold, conditions=conditions, exceeds="gap"
)
"""It allows every step-size up to the largest one, so that it prescribes none."""

observed_rate = replace(observed, quantities=after_all)
