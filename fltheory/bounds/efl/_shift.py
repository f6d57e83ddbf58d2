r"""Arrival and departure of a client: letters and instances of Theorem 2.

The instances are those of :mod:`fltheory.bounds.ruan._shift`, with the share of the client that joins or leaves from
tiny to dominating.
"""

from __future__ import annotations

from typing import Any

from fltheory.bounds._algebra import scalar
from fltheory.bounds._claim import Instances
from fltheory.bounds._space import Params, Real, Space
from fltheory.bounds.ruan._shift import SPACE, kinked, shift

n_a = scalar("efl_n_a", "n_a", "number of samples of the client that joins or leaves")
n_before = scalar("efl_n_before", "n", "number of samples of all clients before the shift")
w_hat = scalar("efl_w_hat", r"\hat w^*", "minimiser of the objective after the shift")
D_old = scalar("efl_D_old", "D_a", "gap of the client at the minimiser before the shift")
D_new = scalar("efl_D_new", r"\hat D_a", "gap of the client at the minimiser after the shift")


def _realise(point: Params, *, arrives: bool) -> dict[str, Any]:
    found = shift(point)
    at_rest, at_whole = (kinked(point).value(-1, at) for at in (found.at_rest, found.at_whole))
    return {
        "mu": found.mu,
        "L": found.L,
        "efl_n_a": found.own,
        "efl_n_before": found.rest if arrives else found.rest + found.own,
        "w_star": found.at_rest if arrives else found.at_whole,
        "efl_w_hat": found.at_whole if arrives else found.at_rest,
        "efl_D_old": at_rest if arrives else at_whole,
        "efl_D_new": at_whole if arrives else at_rest,
    }


def arrival(point: Params) -> dict[str, Any]:
    """Return the quantities when the last client joins."""
    return _realise(point, arrives=True)


def departure(point: Params) -> dict[str, Any]:
    """Return the quantities when the last client leaves."""
    return _realise(point, arrives=False)


_space = Space({**SPACE.parameters, "n": Real(0.001, 100, log=True, shape=("N",))})

ARRIVALS = Instances(space=_space, realise=arrival)
DEPARTURES = Instances(space=_space, realise=departure)
