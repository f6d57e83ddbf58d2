r"""The statements about FedAvg and CFL-R on a user's own experiment.

:math:`G, D, \sigma` are the roots of the mean squares of client drift, round drift and noise that the problem has, or
that the user declares; :math:`B, A` how much the drifts grow with the gradient. A rate is compared at every horizon of
the run: :math:`\varepsilon` is the gap of the averaged model after that many rounds, so the experiment has to say how
it averages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.cfl._moments import QuadraticMoments, largest
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.errors import InvalidParameter, MissingConstants, NotApplicable
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic


def drifts(facts: Facts) -> dict[str, float]:
    """Return the sizes of drifts and noise, and how drifts grow, by the names of the paper."""
    return {
        "G": _root(facts, "G", ("client_drift_sq", "fresh_drift_sq"), "root mean square of the client drift"),
        "D": _root(facts, "D", ("round_drift_sq",), "root mean square of the round drift"),
        "sigma": _root(facts, "sigma", ("sigma_sq",), "root of the variance of a stochastic gradient"),
        "B": _root(facts, "B", ("client_growth_sq",), "growth of the client drift with the gradient"),
        "A": _root(facts, "A", ("round_growth_sq",), "growth of the round drift with the gradient"),
    }


def _root(facts: Facts, name: str, squares: tuple[str, ...], meaning: str) -> float:
    if name in facts.given:
        return float(facts.keep(name, None, Origin.DECLARED))
    known = facts.problem.constants()
    if not any(square in known for square in squares) and "sigma_sq" not in squares:
        raise MissingConstants({name: meaning}, where=type(facts.problem).__name__)
    found = [facts.require(square)[square] for square in squares if square in known or square == "sigma_sq"]
    value = float(np.sqrt(sum(float(np.max(one)) for one in found)))
    return float(facts.keep(name, value, Origin.COMPUTED, meaning))


def everybody(remembers: bool) -> Any:
    """Return what says which setting it is: all clients, weighing alike, with the right algorithm."""

    def about(facts: Facts) -> str:
        kind = CFLR if remembers else FedAvg
        if not isinstance(facts.algorithm, kind):
            raise NotApplicable(f"the statement is about {kind.title}, got {facts.algorithm.title}")
        if not facts.everybody_completes():
            raise NotApplicable("the statement is about rounds in which all clients take all steps")
        return f"{kind.title}, {facts.num_clients} clients, {facts.local_steps} local steps"

    return about


def alike(facts: Facts) -> Sequence[Requirement]:
    """Return what the statements assume of weights and learning rate."""
    spread = float(np.ptp(facts.problem.weights))
    rates = [facts.experiment.rate_at(index) for index in range(facts.rounds)]
    return (
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
        Requirement("constant learning rate", np.ptp(rates) == 0.0, f"from {min(rates):g} to {max(rates):g}"),
    )


def recursion(remembers: bool) -> Observation:
    """Return how the one-round recursion (62) is read on an experiment."""

    def quantities(facts: Facts) -> Mapping[str, Any]:
        known, steps = facts.require("mu", "L"), facts.local_steps
        server = float(getattr(facts.algorithm, "server_rate", 1.0))
        t = np.arange(1.0, facts.rounds + 1.0)
        sizes = drifts(facts)
        return {
            **{name: sizes[name] for name in ("G", "D", "sigma")},
            "mu": known["mu"],
            "L": known["L"],
            "N": float(facts.num_clients),
            "K": float(steps),
            "eta": facts.experiment.rate_at(0) * server * steps,
            "eta_g": server,
            "t": t,
            "distance_sq": facts.curve("distance_sq", last=-1),
            "distance_sq_next": facts.curve("distance_sq", first=1),
            "gap": facts.curve("gap", last=-1),
            "p_sq": 1.0 / t if remembers else np.ones(len(t)),
            "p_now": np.ones(len(t)) if remembers else t,
            "c_pB": 1.0 + sizes["A"] ** 2 + sizes["B"] ** 2,
            "seen": _seen(facts, t, remembers),
        }

    return Observation(quantities=quantities, about=everybody(remembers), axis="t", conditions=alike)


def _seen(facts: Facts, t: Any, remembers: bool) -> Any:
    """Return the mean square of the part of the clients' mean drift that earlier rounds have seen, round by round."""
    if "seen" in facts.given:
        return facts.keep("seen", None, Origin.DECLARED)
    try:
        if not isinstance(facts.problem, Quadratic):
            raise InvalidParameter("only quadratics know it")
        moments = QuadraticMoments.of(facts.problem, facts.local_steps, remembers=remembers)
    except InvalidParameter:
        raise MissingConstants(
            {"seen": "mean square of the part of the clients' mean drift that earlier rounds have seen"},
            where=type(facts.problem).__name__,
        ) from None
    lasting = float(moments.bias @ moments.bias)
    fresh = facts.problem.dim * moments.spread * (t - 1.0) / t**2 if remembers else 0.0 * t
    return facts.keep("seen", lasting + fresh, Origin.COMPUTED, "from the drifts of the quadratics")


def rate(
    remembers: bool, *, scenario: str = "", without: tuple[str, ...] = (), clients: int | None = None
) -> Observation:
    """Return how a rate of Theorems 4.1 to 4.6 is read on an experiment, at every horizon of its run.

    Parameters
    ----------
    remembers
        Whether it is about CFL-R, else about FedAvg.
    scenario
        ``S1`` (new clients in every round), ``S2`` (the same ones), or either.
    without
        Drifts that there must not be: ``D``, ``G``.
    clients
        Number of clients, where a theorem fixes it.
    """

    def about(facts: Facts) -> str:
        words: str = everybody(remembers)(facts)
        if clients is not None and facts.num_clients != clients:
            raise NotApplicable(f"the statement is about {clients} client, got {facts.num_clients}")
        if facts.run.average_gap is None:
            raise NotApplicable(
                "the statement is about the averaged model; say how the experiment averages: "
                "Experiment(averaging=np.ones(rounds + 1)), or the weights of the theorem"
            )
        return words

    def quantities(facts: Facts) -> Mapping[str, Any]:
        known = facts.require("mu", "L")
        sizes = drifts(facts)
        start = facts.at_start("distance_sq")
        return {
            **sizes,
            "mu": known["mu"],
            "L": known["L"],
            "N": float(facts.num_clients),
            "K": float(facts.local_steps),
            "T": np.arange(2.0, facts.rounds + 1.0),
            "F": facts.keep("F", float(np.sqrt(start)), Origin.COMPUTED, "distance of the start"),
            "eps": facts.curve("average_gap", first=1, last=-1),
            "eta_max": largest(sizes["A"] ** 2 + sizes["B"] ** 2) / known["L"],
        }

    def conditions(facts: Facts) -> Sequence[Requirement]:
        other = {"S1": ("client_drift_sq", "new clients"), "S2": ("fresh_drift_sq", "the same clients")}.get(scenario)
        found = [*alike(facts)]
        if other is not None and other[0] in (known := facts.problem.constants()):
            size = float(np.max(known[other[0]].value))
            words = f"{other[1]} in all rounds (scenario {scenario})"
            found.append(Requirement(words, size < 1e-12, f"{other[0]} = {size:g}", known[other[0]].origin))
        sizes = drifts(facts)
        return [*found, *(Requirement(f"{name} = 0", sizes[name] < 1e-12, f"{sizes[name]:g}") for name in without)]

    return Observation(quantities=quantities, about=about, axis="T", conditions=conditions)
