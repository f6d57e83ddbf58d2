"""Clients of Algorithms 1 to 3: convex, smooth losses, as quantities of statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fltheory.bounds.functions import Kinked, one_based
from fltheory.bounds.space import Params, Real

SHAPES = {
    "beta": Real(0.1, 10, log=True),
    "centre": Real(-3, 3, shape=("m", "d")),
    "knot": Real(-3, 3, shape=("m", "d")),
    "left": Real(0, 1, shape=("m", "d")),
    "right": Real(0, 1, shape=("m", "d")),
}
"""Parameters of ``m`` losses on ``d`` coordinates; slopes are shares of the smoothness, 0 included."""


def losses(point: Params) -> Kinked:
    """Return the clients' losses: convex, with the smoothness asked for."""
    beta = point["beta"]
    return Kinked(centre=point["centre"], knot=point["knot"], left=beta * point["left"], right=beta * point["right"])


def quantities(clients: Kinked) -> dict[str, Callable[..., Any]]:
    """Return losses, gradients and mean loss as quantities of statements, with clients counted from 1."""
    asked = one_based(clients)
    return {"loss": asked["F"], "grad": asked["grad_F"], "risk": lambda w: clients.mean(w).item()}
