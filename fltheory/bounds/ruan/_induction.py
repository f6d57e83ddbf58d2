r"""Free constants for the inductions (63) to (67): everything that is a number there is drawn, not simulated.

Distances are fractions of what the premises allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fltheory.bounds.algebra import compiled
from fltheory.bounds.space import ExactPoint, Integer, Parameter, Params, Real

CONSTANTS: Mapping[str, Parameter] = {
    "E": Integer(1, 5),
    "mu": Real(0.01, 100, log=True),
    "condition": Real(1, 1000, log=True),
    "theta": Real(0.05, 20, log=True),
}

DISTANCES: Mapping[str, Parameter] = {
    "z": Integer(0, 1),
    "Gamma": Real(0, 100),
    "heterogeneous": Real(0, 1),
    "start": Real(0, 10),
    "now": Real(0, 1),
    "later": Real(0, 1),
}


def constants(point: Params) -> dict[str, Any]:
    """Return the constants."""
    return {
        "E": point["E"],
        "mu": point["mu"],
        "L": point["mu"] * point["condition"],
        "theta": point["theta"],
    }


def fulfilled(
    point: Params, env: Mapping[str, Any], definitions: tuple[Any, ...], bound: Any, recursion: Any
) -> dict[str, Any]:
    """Return an environment with its definitions carried out and distances that fulfil the premises."""
    exact = isinstance(point, ExactPoint)
    out = {
        **constants(point),
        **env,
        "mean_ps_Gamma": point["Gamma"],
        "M_tau": env["tau"] * point["heterogeneous"],
        "z_tau": point["z"],
        "Delta_start": point["start"],
    }
    for symbol, value in definitions:
        out[symbol.name] = compiled(value)(out, exact=exact)
    out["Delta_now"] = point["now"] * compiled(bound)(out, exact=exact)
    out["Delta_later"] = point["later"] * compiled(recursion)(out, exact=exact)
    return out
