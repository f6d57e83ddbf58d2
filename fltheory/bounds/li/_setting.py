r"""What Theorems 1 to 3 share: symbols, constants, learning rate, instances, and how they are read on an experiment.

**Time.** The theorems speak of :math:`w_1`, :math:`T - 1` and of rates :math:`\eta_t = \frac{2}{\mu(\gamma+t)}`. As
printed, the start is :math:`w_1`, whose step has :math:`t = 1`, so the first rate is :math:`\frac{2}{\mu(\gamma+1)}`
and :math:`w_T` is the model after :math:`T - 1 = \tau E` steps. The proof counts rates from
:math:`\frac{2}{\mu\gamma}`: readings ``first-rate``.

**Instances.** One to three clients with quadratics :math:`F_k(w) = \frac12\sum_a h_{ka}(w_a - c_{ka})^2` of
different curvatures (condition up to 100), additive noise from none to large, starts anywhere; 20 rounds in exact
expectation, all draws of participants enumerated. :math:`G^2` is the largest expected squared gradient that any client
meets along the run: asking for less than the paper does (a bound everywhere, which no strongly convex function has)
makes the check harder.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sympy import Eq, Le, Max, Sum

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.claim import Assumption, Experiments, Form
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, G_sq, L, N, k, mu, p, sigma_sq, tau
from fltheory.errors import NotApplicable
from fltheory.participation import Everyone, Participation, Selection, WithoutReplacement, WithReplacement
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import PerStep

kappa = scalar("kappa", r"\kappa", "condition number")
gamma = scalar("gamma", r"\gamma", "offset of the learning rate")
T = scalar("T", "T", "number of the model, 1 for the start", shape=("rounds",))
K = scalar("K", "K", "number of clients that take part", domain="integer>=1")
B = scalar("B", "B", "what noise, heterogeneity and local steps add per step")
C = scalar("C", "C", "what drawing the participants adds per step")
Gamma = scalar("Gamma_all", r"\Gamma", "heterogeneity, F* minus the mean of the clients' minima", domain="nonnegative")
gap = scalar("gap", r"\mathbb{E}[F(w_T)] - F^*", "expected gap of the averaged model", shape=("rounds",))
start_sq = scalar("start_sq", r"\mathbb{E}\|w_1 - w^*\|^2", "squared distance of the start", domain="nonnegative")
seen_sq = scalar(
    "seen_sq", r"\mathbb{E}\|g_t^k\|^2", "largest expected squared norm of a gradient of every round", shape=("rounds",)
)

GROWTH = 1 + (E - 1) / gamma
"""How much larger than the last one the rates of a round are, at most."""
dependence = scalar("dependence", r"\rho_\xi", "correlation of the noises of two clients", domain="nonnegative")

NOISE = Sum(p[k] ** 2 * sigma_sq[k], (k, 1, N))
B_PRINTED = NOISE + 6 * L * Gamma + 8 * (E - 1) ** 2 * G_sq
B_SHARP = NOISE + 6 * L * Gamma + 2 * GROWTH**2 * (E - 1) ** 2 * G_sq
INDEPENDENT = Assumption(
    "noise independent over the clients (used by the proof, listed nowhere)",
    Eq(dependence, 0, evaluate=False),
    Origin.DECLARED,
)
ASSUMPTIONS = (Assumption("bounded gradients (A4)", Le(seen_sq, G_sq), Origin.MEASURED), INDEPENDENT)

SCHEMES: Mapping[str, type[Selection]] = {"all": Everyone, "I": WithReplacement, "II": WithoutReplacement}


def constants(added: Any = None, *, sharp: bool = False) -> tuple[tuple[Any, Any], ...]:
    """Return the definitions of a theorem; ``added`` is its C, printed with 4 for the square of how rates fall."""
    own = () if added is None else ((C, added * GROWTH**2 / 4 if sharp else added),)
    inside = B_SHARP if sharp else B_PRINTED
    return ((kappa, L / mu), (gamma, Max(8 * kappa, E)), (T, tau * E + 1), (B, inside), *own)


def offset(facts: Facts) -> float:
    """Return gamma."""
    known = facts.require("mu", "L")
    if known["mu"] <= 0:
        raise NotApplicable("the theorem is about strongly convex objectives, got mu = 0")
    return float(max(8 * known["L"] / known["mu"], facts.local_steps))


def rate(facts: Facts, *, later: int) -> PerStep:
    """Return the learning rate; ``later`` is the time of the first step."""
    return PerStep(scale=2 / facts.require("mu")["mu"], shift=offset(facts) + later)


def about(facts: Facts, *, scheme: str) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, FedAvg):
        raise NotApplicable(f"the theorem is about FedAvg, got {facts.algorithm.title}")
    if facts.participation.timeline.events:
        raise NotApplicable("the theorem is about a fixed set of clients, the experiment has arrivals or departures")
    drawn = "all clients take part" if scheme == "all" else f"participants drawn by scheme {scheme}"
    return f"FedAvg, {facts.num_clients} clients, {drawn}, {facts.local_steps} local steps"


def conditions(facts: Facts, *, scheme: str) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    chosen = facts.participation.selection
    assert isinstance(facts.algorithm, FedAvg)
    fits = isinstance(chosen, SCHEMES[scheme])
    wanted = {"all": "everyone", "I": "with-replacement", "II": "without-replacement"}[scheme]
    found = [
        Requirement(f"participants: {wanted}", fits, str(getattr(chosen, "name", chosen))),
        Requirement("all steps are completed", facts.completes_all_steps(), f"{facts.local_steps} steps"),
        Requirement("models are averaged", facts.algorithm.server_rate == 1, f"rate {facts.algorithm.server_rate:g}"),
    ]
    if scheme == "II":
        spread = float(np.ptp(facts.problem.weights))
        found.append(Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"))
    return [*found, *fixed_objectives(facts)]


def quantities(facts: Facts) -> dict[Any, Any]:
    """Return the value of every symbol on an experiment that has been run."""
    known = facts.require("mu", "L", "sigma_sq", "Gamma")
    weights, clients = facts.problem.weights, facts.num_clients
    gaps = np.broadcast_to(np.asarray(known["Gamma"], dtype=float), (clients,))
    norms, ball = facts.gradient_sq(), facts.gradient_bound()
    if ball is None:
        largest, origin, note = float(norms.max()), Origin.MEASURED, "largest expected squared gradient of the run"
    else:
        largest, origin, note = ball, Origin.COMPUTED, "for all models in the ball"
    return {
        mu: known["mu"],
        L: known["L"],
        N: clients,
        K: getattr(facts.participation.selection, "size", clients),
        E: facts.local_steps,
        p: weights,
        sigma_sq: np.broadcast_to(np.asarray(known["sigma_sq"], dtype=float), (clients,)),
        Gamma: facts.keep("Gamma_all", float(weights @ gaps), Origin.COMPUTED, "weighted mean of the clients' gaps"),
        G_sq: facts.keep("G_sq", largest, origin, note),
        seen_sq: norms,
        tau: np.arange(1, facts.rounds + 1),
        gap: facts.curve("gap", first=1),
        start_sq: facts.at_start("distance_sq"),
        dependence: facts.keep("dependence", 0.0, Origin.DECLARED, "clients draw on their own, by the engines"),
    }


STEPS = 600
"""Steps of a run, if they are not too few for 20 rounds."""


def selection(scheme: str, size: int) -> Selection:
    """Return how participants are drawn."""
    if scheme == "I":
        return WithReplacement(size=size)
    return WithoutReplacement(size=size, renormalise=False) if scheme == "II" else Everyone()


def experiment(point: Params, *, scheme: str, later: int) -> Experiment:
    """Return the run at a point of the space: quadratics, and the theorem's learning rate."""
    clients = point["N"]
    position = point["curvature"] - point["curvature"].min()
    hessian = 1 + (point["condition"] - 1) * position / max(position.max(), 1e-9)
    problem = Quadratic(
        hessian=hessian,
        linear=-hessian * point["centre"],
        constant=0.5 * (hessian * point["centre"] ** 2).sum(axis=1),
        noise_sq=point["noise"],
        start=point["start"],
        sample_counts=np.ones(clients) if scheme == "II" else point["n"],
    )
    drawn = selection(scheme, min(point.get("K", clients), clients))
    participation = Participation(num_clients=clients, local_steps=point["E"], selection=drawn)
    facts = Facts(problem=problem, algorithm=FedAvg(), participation=participation)
    return Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=participation,
        rounds=max(1, min(20, STEPS // point["E"])),
        rate=rate(facts, later=later),
    )


def _space(scheme: str) -> Space:
    return Space(
        {
            "N": Integer(2 if scheme == "II" else 1, 3, far=5),
            "d": Integer(1, 2, far=5),
            "E": Integer(1, 3, far=400),
            **({} if scheme == "all" else {"K": Integer(1, 2)}),
            "condition": Real(1, 100, log=True, far=1e6),
            "curvature": Real(0, 1, shape=("N", "d")),
            "centre": Real(-3, 3, shape=("N", "d")),
            **({} if scheme == "II" else {"n": Real(0.1, 1, log=True, shape=("N",), far=0.001)}),
            "noise": Real(0, 10, shape=("N",)),
            "start": Real(-3, 3, shape=("d",)),
        }
    )


LONG_ROUND: Params = {
    "N": 2,
    "d": 1,
    "E": 400,
    "condition": 4.0,
    "curvature": np.array([[0.0], [1.0]]),
    "centre": np.array([[-1.0], [1.0]]),
    "n": np.ones(2),
    "noise": np.zeros(2),
    "start": np.array([0.6]),
}
"""A round from the minimiser in which both clients walk to their own ones, which takes hundreds of steps."""


@functools.cache
def runs(scheme: str, *, later: int) -> Experiments:
    """Return runs with the learning rate of a reading."""
    return Experiments(
        space=_space(scheme),
        experiment=partial(experiment, scheme=scheme, later=later),
        quantities=lambda point, experiment, run: quantities(Facts.of(experiment, run)),
        record={"gradient_sq": True},
        begin=(LONG_ROUND,) if scheme == "all" else (),
    )


def observed(scheme: str, *, later: int) -> Observation:
    """Return how a reading is seen on an experiment of the user's own."""
    chosen: Callable[[Facts], PerStep] = partial(rate, later=later)
    return Observation(
        quantities=quantities,
        about=partial(about, scheme=scheme),
        rate=chosen,
        axis=tau,
        record={"gradient_sq": True},
        algorithm=FedAvg,
        conditions=partial(conditions, scheme=scheme),
    )


def forms(scheme: str, added: Any = None) -> tuple[Form, ...]:
    """Return the forms of a theorem whose constant is B, or B + ``added``."""
    where, sharper = constants(added), constants(added, sharp=True)
    noise = 2 * (B if added is None else B + C) / mu
    forgotten = mu * gamma / 2 * start_sq
    front = kappa / (gamma + T - 1)
    return (
        Form(
            statement=Le(gap, front * (noise + forgotten)),
            where=where,
            note="the start is w_1, and its step has t = 1",
        ),
        Form(
            variant="published@first-rate",
            statement=Le(gap, front * (noise + forgotten)),
            where=where,
            check=runs(scheme, later=0),
            observation=observed(scheme, later=0),
            note="rates counted as in the proof: the first is 2 / (mu gamma)",
        ),
        Form(
            variant="sharp",
            statement=Le(gap, front * Max(noise, forgotten)),
            where=sharper,
            note="a maximum in place of the sum, and how much rates fall in a round in place of 2",
        ),
        Form(
            variant="sharp@first-rate",
            statement=Le(gap, front * Max(noise, forgotten)),
            where=sharper,
            check=runs(scheme, later=0),
            observation=observed(scheme, later=0),
            note="the same, rates counted as in the proof",
        ),
    )
