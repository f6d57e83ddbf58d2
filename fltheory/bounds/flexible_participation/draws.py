r"""One round with random participation, for the steps of the proof that average over it.

Every client completes ``high`` steps with probability :math:`q_k` and ``low`` steps otherwise, independently; if
devices are homogeneous, all have the law of the first one. Coefficients follow scheme A, B or C; a round of scheme A
without a complete client changes nothing. :math:`z_\tau = 0` if :math:`\mathbb E[p_\tau^k s_\tau^k]/p^k` is the same
for all clients, else 1. All draws, and all outcomes of the noise given each of them, are enumerated; :math:`\theta`
and :math:`G^2` are the smallest that are valid for all draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Le

from fltheory.bounds.claim import Assumption, Instances, Rejected
from fltheory.bounds.flexible_participation.round import (
    CLIENTS,
    COINS,
    NOISE,
    Clients,
    RoundInstance,
    best,
    clients_of,
    constants,
    paths,
    play,
)
from fltheory.bounds.flexible_participation.symbols import gradient_sq_given
from fltheory.bounds.space import Choice, ExactPoint, Integer, Integers, Parameter, Params, Real, Space
from fltheory.bounds.symbols import G_sq
from fltheory.problems.problem import Origin

DRAWN: Mapping[str, Parameter] = {
    **CLIENTS,
    **NOISE,
    "scheme": Choice(("B", "C", "A")),
    "devices": Choice(("homogeneous", "heterogeneous")),
    "manner": Choice(("any", "quiet")),
    "low": Integers(0, "E", shape=("N",)),
    "high": Integers(0, "E", shape=("N",)),
    "q": Real(0, 1, shape=("N",), far=0.001),
}

bounded_gradients = Assumption("bounded gradients (3.4)", Le(gradient_sq_given, G_sq), Origin.MEASURED)
"""For every draw of participation."""

MOST = 64
"""Outcomes that are enumerated at most, where statements look at every one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DrawnRound:
    """One outcome of participation: its probability, steps completed, coefficients, and the round."""

    chance: Any
    completed: Any
    coefficients: Any
    played: RoundInstance


def _drawn(point: Params) -> tuple[Clients, Any, Any, list[DrawnRound]]:
    """Return clients, learning rate, bound on the ratio of coefficients, and all draws."""
    clients = clients_of(point)
    count, steps = point["N"], point["E"]
    rows = range(count) if point["devices"] == "heterogeneous" else [0] * count
    laws = [((point["high"][r], point["q"][r]), (point["low"][r], 1 - point["q"][r])) for r in rows]
    found = []
    for outcome in itertools.product(*laws):
        completed = np.array([int(s) for s, _ in outcome])
        chance = np.prod([q for _, q in outcome])
        if chance != 0:
            found.append((chance, completed, coefficients_of(point["scheme"], clients.weights, completed, steps)))
    if not any((c * s).sum() > 0 for _, s, c in found):
        raise Rejected("no draw aggregates anything")
    theta = max((c / clients.weights).max() for _, _, c in found)
    eta = point["rate"] * clients.largest_rate(steps, theta)
    most = COINS if count <= 2 else 1
    draws = [
        DrawnRound(chance=q, completed=s, coefficients=c, played=play(clients, point, eta, s, c, most=most))
        for q, s, c in found
    ]
    return clients, eta, theta, draws


def quietly(point: Params) -> Params:
    """Return the point with homogeneous devices and without noise, started close to the optimum."""
    kind = ExactPoint if isinstance(point, ExactPoint) else dict
    rest = {name: value for name, value in point.items() if name not in NOISE}
    return kind({**rest, "devices": "homogeneous", "offset": point["offset"] / 16})


def coefficients_of(scheme: str, weights: Any, completed: Any, steps: int) -> Any:
    """Return the aggregation coefficients of a scheme for given steps completed."""
    if scheme == "B":
        return weights * 1
    if scheme == "C":
        return weights * [0 if s == 0 else steps for s in completed] / np.maximum(completed, 1)
    complete = (completed == steps).astype(int)
    return weights * (len(weights) * complete) / max(int(complete.sum()), 1)


def _shared(point: Params, clients: Clients, eta: Any, theta: Any, draws: list[DrawnRound]) -> dict[str, Any]:
    """Return what both kinds of outcomes need: constants, the law's moments, and whether it is heterogeneous."""
    ratios = sum(draw.chance * draw.coefficients * draw.completed for draw in draws) / clients.weights
    tolerance = 0 if isinstance(point, ExactPoint) else 1e-12
    return {
        **constants(clients, point, eta, theta),
        "G_sq": max(draw.played.second_moment for draw in draws),
        "z_tau": int(bool(ratios.max() - ratios.min() > tolerance * ratios.max())),
        "common": ratios.min(),
    }


def realise_paths(point: Params) -> dict[str, Any]:
    """Return all pairs of a draw and an outcome of the noise."""
    point = point if point["manner"] == "any" else quietly(point)
    clients, eta, theta, draws = _drawn(point)
    if sum(len(draw.played.averaged) for draw in draws) > MOST:
        raise Rejected(f"more than {MOST} outcomes")
    env = _shared(point, clients, eta, theta, draws)
    lists: dict[str, list[Any]] = {}
    for draw in draws:
        count = len(draw.played.averaged)
        repeated = {
            "p_drawn": [draw.coefficients] * count,
            "s_drawn": [draw.completed] * count,
            "active_drawn_at": [draw.played.works] * count,
            "gradient_sq_given": [draw.played.second_moment] * count,
            "w_best": [best(clients, draw.played, draw.coefficients, o) for o in range(count)],
            "chance": [draw.chance / count] * count,
        }
        for name, values in {**paths(draw.played), **repeated}.items():
            lists.setdefault(name, []).extend(values)
    return env | lists


def realise_given(point: Params) -> dict[str, Any]:
    """Return the draws as outcomes, with means over the noise given each of them."""
    point = point if point["manner"] == "any" else quietly(point)
    clients, eta, theta, draws = _drawn(point)
    env = _shared(point, clients, eta, theta, draws)
    before = point["offset"].dot(point["offset"])
    away = [draw.played.averaged[:, -1] - clients.optimum for draw in draws]
    return env | {
        "p_drawn": [draw.coefficients for draw in draws],
        "s_drawn": [draw.completed for draw in draws],
        "gradient_sq_given": [draw.played.second_moment for draw in draws],
        "Delta_before": before,
        "Delta_after": [(ends * ends).sum() / len(ends) for ends in away],
        "chance": [draw.chance for draw in draws],
    }


PATHS = Instances(space=Space({**DRAWN, "E": Integer(1, 2)}), realise=realise_paths)
"""Rounds with random participation; an outcome is a draw with an outcome of the noise."""

GIVEN = Instances(space=Space({**DRAWN, "N": Integer(2, 2), "rate": Real(0.001, 1, log=True)}), realise=realise_given)
"""Rounds of two clients with random participation; an outcome is a draw, noise is averaged out."""

ANY_RATE = Instances(
    space=Space({**DRAWN, "N": Integer(2, 2), "rate": Real(0.001, 30, log=True)}), realise=realise_given
)
"""The same with learning rates beyond the largest that the published proof allows."""
