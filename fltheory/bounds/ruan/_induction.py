r"""Free constants for the inductions (63) to (67): everything that is a number there is drawn, not simulated.

Distances are fractions of what the premises allow.

The recursion (62) is about a given model. To take its expectation with :math:`\mathbb E[\sum_k p_\tau^k s_\tau^k]` as
a factor, participation in a round must not depend on the model, hence not on earlier rounds. Without that the factor
stays inside, and two outcomes are enough: the model is far from the minimiser where little is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Eq, Le

from fltheory.bounds.algebra import EE, compiled
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import ExactPoint, Integer, Parameter, Params, Real, ratio

work = scalar(
    "work",
    r"\sum_{k=1}^{N}p_\tau^ks_\tau^k",
    "weighted steps that are done in the round",
    random=True,
    domain="nonnegative",
)
gap_given = scalar(
    "gap_given", r"\bar\Delta_{\tau E}", "squared distance before the round", random=True, domain="nonnegative"
)

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


OUTCOMES: Mapping[str, Parameter] = {"share": Real(0, 1), "works": Real(0.001, 1, shape=(2,))}
"""How two equally likely outcomes share the distance, and how much is done in each."""


def jointly(point: Params, out: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return an environment with two outcomes of distance and work, and the distance that follows from ``given``."""
    far = 2 * point["share"] * out["Delta_now"]
    half = ratio(point, 1, 2)
    made = {
        **out,
        "chance": [half, half],
        "gap_given": [far, 2 * out["Delta_now"] - far],
        "work": list(point["theta"] * point["E"] * point["works"]),
    }
    return {**made, "Delta_later": point["later"] * compiled(given)(made, exact=isinstance(point, ExactPoint))}


def any_dependence(mean: Any, now: Any, later: Any, given: Any) -> tuple[Any, ...]:
    """Return the premises of an induction if participation may depend on the model: means, and the recursion."""
    return Eq(mean, EE(work), evaluate=False), Eq(now, EE(gap_given), evaluate=False), Le(later, given)
