r"""The first term of :math:`\tilde V` in Corollary 3.2.1: what the model and the client that comes or goes add to it.

Clients have piecewise quadratic functions, the last one arrives or departs; minimisers and gaps are theirs, exactly.
:math:`\Delta_{\tau_0}` is the bound of Theorem 3.1, whose constants are free: all rounds before the shift have
heterogeneous participation, :math:`M_{\tau_0} = \tau_0`, or none has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.claim import Instances, Sweep, Sweeps
from fltheory.bounds.objective_shift.clients import SPACE, kinked, shift
from fltheory.bounds.space import Choice, Integer, Params, Real, Space


def realise(point: Params) -> dict[str, Any]:
    """Return both minimisers, the client's gap at the old one, and the constants of both bounds."""
    moved = {**point, **{name: point["apart"] * point[name] for name in ("centre", "knot")}}
    found = shift(moved)
    arrival = point["event"] == "arrival"
    old, new = (found.at_rest, found.at_whole) if arrival else (found.at_whole, found.at_rest)
    return {
        "E": point["E"],
        "mu": found.mu,
        "L": found.L,
        "n_l": found.own,
        "n_new": found.rest + found.own if arrival else found.rest,
        "w_star": old,
        "w_new": new,
        "Gamma_l": kinked(moved).value(-1, old),
        "tau_0": point["tau_0"],
        "M_shift": point["tau_0"] if point["before"] == "heterogeneous" else 0,
        "gamma": point["gamma"],
        "gamma_new": point["gamma_new"],
        "D": point["D"],
        "V": point["V"],
    }


SHIFTS = Instances(
    space=Space(
        {
            **SPACE.parameters,
            "event": Choice(("arrival", "departure")),
            "before": Choice(("homogeneous", "heterogeneous")),
            "apart": Real(0.1, 10, log=True),
            "E": Integer(1, 5, far=300),
            "tau_0": Integer(1, 100),
            "gamma": Real(1, 1000, log=True),
            "gamma_new": Real(1, 1000, log=True),
            "D": Real(0.01, 100, log=True),
            "V": Real(0.01, 1e4, log=True),
        }
    ),
    realise=realise,
)


def sweeps(before: str) -> Sweeps:
    """Return later and later shifts, starts farther and farther away, and clients that disagree more and more."""
    decades, half = tuple(10.0**power for power in range(1, 7)), np.full((2, 1), 0.5)
    sides = {"left": half, "right": half, "knot": 0 * half}
    base = {"N": 2, "d": 1, "mu": 1.0, "condition": 2.0, "n": np.ones(2), **sides, "before": before, "E": 2}
    base |= {"event": "arrival", "gamma": 20.0, "gamma_new": 20.0, "D": 1.0, "V": 1.0}
    alike, other = {"centre": 0 * half, "apart": 1.0}, {"centre": np.array([[0.0], [1.0]])}
    return Sweeps(
        instances=SHIFTS,
        sweeps=(
            Sweep("tau_0", decades, base | alike),
            Sweep("V", decades, {name: value for name, value in (base | alike | {"tau_0": 10}).items() if name != "V"}),
            *(Sweep("apart", decades, base | other | {"tau_0": 10, "event": e}) for e in ("arrival", "departure")),
        ),
    )
