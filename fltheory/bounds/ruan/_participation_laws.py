r"""Exact laws of participation in one round, for the moments of schemes A and C.

Scheme A: every client completes all steps with its own probability, independently; outcomes are the :math:`2^N - 1`
sets of complete clients that are not empty, with their conditional probabilities given :math:`K_\tau \ne 0`.

Scheme C: the round has a hidden state, one of two (day or night, say); given the state, clients draw their step
counts independently. So the counts of different clients may depend on each other. All outcomes are enumerated. With
one law per state for all clients participation is homogeneous.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from sympy import Eq, Max, Min, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Assumption, Instances
from fltheory.bounds.definitions import Definition
from fltheory.bounds.flexible_participation.symbols import p_drawn, s_drawn
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import E, N, k, l, p

q = scalar("q_tau", r"q_\tau", "probability that a client completes all steps", domain="probability")
done = family(
    "done",
    r"q_\tau^{<0>}",
    "whether a client completes all steps, as drawn in the round",
    random=True,
    shape=("clients",),
    domain="binary",
)
K_drawn = scalar(
    "K_drawn", r"K_\tau", "number of complete clients, as drawn in the round", random=True, domain="integer>=0"
)
k_0 = index("k_0")

s_any = scalar(
    "s_any",
    r"s_\tau",
    "local steps that any one client completes, as drawn in the round",
    random=True,
    domain="integer>=0",
)
inverse = family(
    "inverse_steps",
    r"\frac{\mathbf{1}[s_\tau^{<0>} > 0]}{s_\tau^{<0>}}",
    "inverse of the steps of a client, 0 if it is inactive",
    random=True,
    shape=("clients",),
    domain="probability",
)
inverse_any = scalar(
    "inverse_any",
    r"\frac{\mathbf{1}[s_\tau > 0]}{s_\tau}",
    "inverse of the steps of any one client, 0 if it is inactive",
    random=True,
    domain="probability",
)
active = family(
    "active_drawn",
    r"\mathbf{1}[s_\tau^{<0>} > 0]",
    "whether a client is active in the round",
    random=True,
    shape=("clients",),
    domain="binary",
)

COEFFICIENTS_A: tuple[Definition, ...] = (
    (K_drawn, Sum(done[l], (l, 1, N))),
    (p_drawn[k], N * p[k] * done[k] / K_drawn),
)
"""Scheme A: coefficients of complete clients."""

COEFFICIENTS_C: tuple[Definition, ...] = (
    (active[k], Min(s_drawn[k], 1)),
    (inverse[k], active[k] / Max(s_drawn[k], 1)),
    (s_any, s_drawn[1]),
    (inverse_any, inverse[1]),
    (p_drawn[k], E * p[k] * inverse[k]),
)
"""Scheme C: coefficients inverse to the completed steps; where all clients have one law, any of them is the first."""

weights_sum_to_one = Assumption("weights sum to one", Eq(Sum(p[k], (k, 1, N)), 1, evaluate=False))
all_active = Assumption("no inactive client", Eq(EE(active[k]), 1, evaluate=False), over=((k, 1, N),))


def chain(*sides: Any) -> tuple[Any, ...]:
    """Return a chain of equalities, link by link."""
    return tuple(Eq(left, right, evaluate=False) for left, right in itertools.pairwise(sides))


# Scheme A


def _complete_clients(counts: Any, chances: Sequence[Any]) -> dict[str, Any]:
    clients, weights = len(chances), counts / counts.sum()
    sets = [drawn for drawn in itertools.product((0, 1), repeat=clients) if sum(drawn)]
    law = [_product(c if one else 1 - c for c, one in zip(chances, drawn, strict=True)) for drawn in sets]
    return {
        "N": clients,
        "p": weights,
        "done": sets,
        "K_drawn": [sum(drawn) for drawn in sets],
        "p_drawn": [[clients * w * one / sum(drawn) for w, one in zip(weights, drawn, strict=True)] for drawn in sets],
        "chance": [part / sum(law) for part in law],
    }


def _homogeneous_a(point: Params) -> dict[str, Any]:
    chances = [point["q"]] * point["N"]
    # The statement on pairs of clients is about k and l; here l is the last client, and k all others.
    return _complete_clients(point["n"], chances) | {"q_tau": point["q"], "l": point["N"]}


def _one_reliable(point: Params) -> dict[str, Any]:
    chances = [1, *[point["q"]] * (point["N"] - 1)]
    return _complete_clients(point["n"], chances) | {"q_tau": point["q"], "k_0": 1}


def _space_a(fewest: int) -> Space:
    return Space(
        {
            "N": Integer(fewest, 5),
            "n": Real(0.05, 20, log=True, shape=("N",), whole=True),
            "q": Real(0.01, 1),
        }
    )


scheme_a = Instances(space=_space_a(1), realise=_homogeneous_a)
"""Scheme A with equally reliable clients."""

scheme_a_pairs = Instances(space=_space_a(2), realise=_homogeneous_a)
"""The same with at least two clients."""

scheme_a_reliable = Instances(space=_space_a(1), realise=_one_reliable)
"""Scheme A in which the first client is always complete."""

scheme_a_reliable_pairs = Instances(space=_space_a(2), realise=_one_reliable)
"""The same with at least two clients."""


# Scheme C


def _counts_drawn(point: Params, absent: Any, day: Any) -> dict[str, Any]:
    """Return all step counts; ``absent`` has the probabilities of no step, ``day`` is that of the first state."""
    clients, steps, weights = point["N"], point["E"], point["n"] / point["n"].sum()
    states = []
    for state in (0, 1):
        laws = []
        for client in range(clients):
            # Homogeneous laws have one row for all clients.
            row = client % len(point["law"][state])
            present = point["law"][state][row] / point["law"][state][row].sum()
            laws.append([absent[state][row], *(present * (1 - absent[state][row]))])
        states.append(laws)
    lowest = 0 if any(share != 0 for share in np.ravel(absent)) else 1
    drawn = list(itertools.product(range(lowest, steps + 1), repeat=clients))
    law = [
        sum(
            share * _product(of_client[s] for of_client, s in zip(laws, counts, strict=True))
            for share, laws in zip((day, 1 - day), states, strict=True)
        )
        for counts in drawn
    ]
    inverses = [[ratio(point, 1, s) if s else ratio(point, 0) for s in counts] for counts in drawn]
    return {
        "N": clients,
        "E": steps,
        "p": weights,
        "s_drawn": drawn,
        "s_any": [counts[0] for counts in drawn],
        "inverse_steps": inverses,
        "inverse_any": [row[0] for row in inverses],
        "active_drawn": [[min(s, 1) for s in counts] for counts in drawn],
        "p_drawn": [[steps * w * x for w, x in zip(weights, row, strict=True)] for row in inverses],
        "chance": law,
    }


def _all_active(point: Params) -> dict[str, Any]:
    return _counts_drawn(point, np.zeros((2, len(point["law"][0])), dtype=int), point["day"])


def _some_inactive(point: Params) -> dict[str, Any]:
    return _counts_drawn(point, point["absent"], point["day"])


def _independent_inactive(point: Params) -> dict[str, Any]:
    return _counts_drawn(point, point["absent"], ratio(point, 1))


def _space_c(rows: int | str, *, inactive: bool) -> Space:
    absent = {"absent": Real(0.0, 0.9, shape=(2, rows))} if inactive else {}
    return Space(
        {
            "N": Integer(1, 3),
            "E": Integer(1, 2 if inactive else 3),
            "n": Real(0.05, 20, log=True, shape=("N",), whole=True),
            "law": Real(0.001, 1, log=True, shape=(2, rows, "E")),
            "day": Real(0, 1),
            **absent,
        }
    )


scheme_c_homogeneous = Instances(space=_space_c(1, inactive=False), realise=_all_active)
"""Scheme C, the same law of steps for all clients, nobody inactive."""

scheme_c_heterogeneous = Instances(space=_space_c("N", inactive=False), realise=_all_active)
"""Scheme C, a law of steps per client, nobody inactive."""

scheme_c_homogeneous_inactive = Instances(space=_space_c(1, inactive=True), realise=_some_inactive)
"""Scheme C, the same law of steps for all clients, inactive ones among them."""

scheme_c_iid_inactive = Instances(space=_space_c(1, inactive=True), realise=_independent_inactive)
"""Scheme C, independent clients with the same law of steps, inactive ones among them."""

scheme_c_heterogeneous_inactive = Instances(space=_space_c("N", inactive=True), realise=_some_inactive)
"""Scheme C, a law of steps per client, inactive ones among them."""


def _product(factors: Any) -> Any:
    out: Any = 1
    for factor in factors:
        out = out * factor
    return out
