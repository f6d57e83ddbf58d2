r"""Arrival and departure of a client: symbols and instances of Theorem 2.

The instances are those of :mod:`fltheory.bounds.objective_shift.clients`, with the share of the client that joins or
leaves from
tiny to dominating.
"""

from __future__ import annotations

from typing import Any

from fltheory.bounds.claim import Instances
from fltheory.bounds.objective_shift.clients import SPACE, kinked, shift
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Real, Space

n_a = scalar("n_a", "n_a", "number of samples of the client that joins or leaves", domain="positive")
n_before = scalar("n_before", "n", "number of samples of all clients before the shift", domain="positive")
w_hat = scalar("w_hat", r"\hat w^*", "minimiser of the objective after the shift", shape=("dim",))
D_old = scalar("D_old", "D_a", "gap of the client at the minimiser before the shift", domain="nonnegative")
D_new = scalar("D_new", r"\hat D_a", "gap of the client at the minimiser after the shift", domain="nonnegative")


def _realise(point: Params, *, arrives: bool) -> dict[str, Any]:
    found = shift(point)
    at_rest, at_whole = (kinked(point).value(-1, at) for at in (found.at_rest, found.at_whole))
    return {
        "mu": found.mu,
        "L": found.L,
        "n_a": found.own,
        "n_before": found.rest if arrives else found.rest + found.own,
        "w_star": found.at_rest if arrives else found.at_whole,
        "w_hat": found.at_whole if arrives else found.at_rest,
        "D_old": at_rest if arrives else at_whole,
        "D_new": at_whole if arrives else at_rest,
    }


def arrival(point: Params) -> dict[str, Any]:
    """Return the quantities when the last client joins."""
    return _realise(point, arrives=True)


def departure(point: Params) -> dict[str, Any]:
    """Return the quantities when the last client leaves."""
    return _realise(point, arrives=False)


_space = Space({**SPACE.parameters, "n": Real(0.001, 100, log=True, shape=("N",), whole=True)})

ARRIVALS = Instances(space=_space, realise=arrival)
DEPARTURES = Instances(space=_space, realise=departure)
