r"""Two sets of clients that differ by one: the minimisers with and without it, exactly.

Arrival and departure of client :math:`l` are the same picture read in opposite directions. *Rest* are the other
clients, *whole* are all of them; the client that joins or leaves is the last one. Functions are
:class:`~fltheory.bounds.functions.Kinked`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space

n_l = scalar("n_l", "n_l", "number of samples of the client that joins or leaves", domain="positive")
w_new = scalar("w_new", r"\tilde w^*", "minimiser of the objective after the shift", shape=("dim",))
Gamma_l = scalar("Gamma_l", r"\Gamma_l", "gap of the joining client at the old minimiser", domain="nonnegative")

SPACE = Space(
    {
        "N": Integer(2, 3, far=5),
        "d": Integer(1, 2, far=5),
        "mu": Real(0.1, 10, log=True),
        "condition": Real(1, 100, log=True, far=1e6),
        "n": Real(0.05, 20, log=True, shape=("N",), far=0.001, whole=True),
        "centre": Real(-3, 3, shape=("N", "d")),
        "knot": Real(-3, 3, shape=("N", "d")),
        "left": Real(0, 1, shape=("N", "d")),
        "right": Real(0, 1, shape=("N", "d")),
    }
)


class Shift(NamedTuple):
    """One client more or less: constants, sample counts, minimisers, and its gap where the rest is at its best."""

    mu: Any
    L: Any
    rest: Any
    own: Any
    at_rest: Any
    at_whole: Any
    gap_at_rest: Any


def kinked(point: Params) -> Kinked:
    """Return the clients' functions; slopes are given as positions between the two constants."""
    low, high = point["mu"], point["mu"] * point["condition"]
    slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
    return Kinked(centre=point["centre"], knot=point["knot"], **slopes)


def without_last(counts: Any) -> Any:
    """Return sample counts with none for the last client."""
    rest = counts * 1
    rest[-1] = 0 * rest[-1]
    return rest


def shift(point: Params) -> Shift:
    """Return both minimisers and the gap of the last client."""
    functions, counts = kinked(point), point["n"]
    rest = without_last(counts)
    at_rest, at_whole = functions.minimiser(rest / rest.sum()), functions.minimiser(counts / counts.sum())
    return Shift(
        mu=point["mu"],
        L=point["mu"] * point["condition"],
        rest=rest.sum(),
        own=counts[-1],
        at_rest=at_rest,
        at_whole=at_whole,
        gap_at_rest=functions.value(-1, at_rest),
    )
