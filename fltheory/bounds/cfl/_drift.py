r"""Drifts over clients and rounds as random vectors on finitely many outcomes (Definition 3.3, Assumptions 3 to 6).

All drifts are made of fair coins: the client drift of round :math:`\tau` is :math:`\delta_\tau = s\,y_\tau`, the round
drift :math:`\xi_\tau = s_\tau x_\tau + s_0 z_\tau` with a coin :math:`s_\tau` of its own and a coin :math:`s_0` common
to all rounds. Both are centred and uncorrelated with each other in all pairs of rounds, as Assumption 5 asks; :math:`z
= 0` makes rounds independent. Client drifts are those of one client (S2), or have a coin :math:`s` in every round
(S1), as Assumption 6 asks. What the statements need of independence stands as relations among the assumptions. The
gradient is a fixed vector, or one that moves with the coins if the model depends on the drifts. The constants
:math:`G^2, D^2` are the smallest ones for the given growth :math:`B^2, A^2`.

Only second moments occur in the statements, and these see no more than pairs of coins. So the coins are pairwise
independent: seven of them live on eight equally likely outcomes, as the products of three independent ones.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Eq, Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._symbols import A_sq, B_sq, D_sq, G_sq, delta, grad, now, p, r, s, xi
from fltheory.bounds.claim import Assumption
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.problems.problem import Origin

rounds = ((s, 1, now),)
pairs = ((s, 1, now), (r, 1, now))


def _centred(drift: Any) -> Eq:
    return Eq(EE(NormSq(drift - EE(drift))), EE(NormSq(drift)), evaluate=False)


def _uncorrelated(one: Any, other: Any, factor: Any = 1) -> Eq:
    return Eq(factor * EE(NormSq(one + other)), factor * (EE(NormSq(one)) + EE(NormSq(other))), evaluate=False)


# Moments that add up, not inner products that vanish: zero is not hit in float64.
BOUNDED = (
    Assumption("client drift (3)", Le(EE(NormSq(delta[s])), G_sq + B_sq * EE(NormSq(grad))), Origin.DECLARED, rounds),
    Assumption("round drift (4)", Le(EE(NormSq(xi[s])), D_sq + A_sq * EE(NormSq(grad))), Origin.DECLARED, rounds),
    Assumption("client drift is centred (5)", _centred(delta[s]), Origin.DECLARED, rounds),
    Assumption("round drift is centred (5)", _centred(xi[s]), Origin.DECLARED, rounds),
    Assumption("drifts are uncorrelated (5)", _uncorrelated(xi[s], delta[r]), Origin.DECLARED, pairs),
)
"""Assumptions 3, 4 and 5."""

# The factor takes out pairs of a round with itself.
FRESH = Assumption(
    "new clients in every round (6, S1)", _uncorrelated(delta[s], delta[r], s - r), Origin.DECLARED, pairs
)
SAME = Assumption(
    "same clients in all rounds (6, S2)",
    Eq(EE(NormSq(delta[s] - delta[1])), 0, evaluate=False),
    Origin.DECLARED,
    rounds,
)
ROUNDS = Assumption(
    "uncorrelated rounds, which no assumption says", _uncorrelated(xi[s], xi[r], s - r), Origin.DECLARED, pairs
)
FIXED = Assumption(
    "model does not depend on the drifts",
    Eq(NormSq(EE(grad)), EE(NormSq(grad)), evaluate=False),
    Origin.DECLARED,
)

WEIGHTS = Assumption("weights sum to one", Eq(Sum(p[s], (s, 1, now)), 1, evaluate=False), Origin.DECLARED)


def space(first: int, last: int) -> Space:
    """Return the space of laws with so many rounds."""
    return Space(
        {
            "t": Integer(first, last),
            "d": Integer(1, 2),
            "p": Real(0.05, 1, shape=("t",)),
            "gradient": Real(-2, 2, shape=("d",)),
            "follows client": Real(-2, 2, shape=("d",)),
            "follows rounds": Real(-2, 2, shape=("d",)),
            "client": Real(-2, 2, shape=("t", "d")),
            "round": Real(-2, 2, shape=("t", "d")),
            "common": Real(-2, 2, shape=("t", "d")),
            "A_sq": Real(0, 2),
            "B_sq": Real(0, 2),
        }
    )


def realise(
    point: Params,
    *,
    same_client: bool = True,
    common_rounds: bool = True,
    moving_model: bool = False,
    fixed_client: bool = False,
) -> dict[str, Any]:
    """Return gradients, drifts and the smallest constants.

    Parameters
    ----------
    point
        A point of :func:`space`.
    same_client
        One client drift for all rounds (scenario S2), or independent ones (S1).
    common_rounds
        Round drifts share a coin; otherwise they are independent.
    moving_model
        The gradient depends on the coins.
    fixed_client
        The client drift is a constant, so that expectations are over rounds only.
    """
    number, dim = point["t"], point["d"]
    coins = coin_table(1 + number + (1 if same_client else number))
    client, own, common = coins[:, : -1 - number], coins[:, -1 - number : -1, None], coins[:, -1:, None]
    chance = [ratio(point, 1, len(coins))] * len(coins)
    y = point["client"][:1] if same_client else point["client"]
    deltas = y[None] * (1 + 0 * client[:, :, None] if fixed_client else client[:, :, None])
    deltas = deltas + np.zeros((len(coins), number, dim), dtype=int)
    xis = point["round"][None] * own + point["common"][None] * (common if common_rounds else 0 * common)
    moved = point["follows client"] * client[:, :1] + point["follows rounds"] * own[:, 0]
    grads = point["gradient"] + (moved if moving_model else 0 * moved)
    size = (grads * grads).sum() * chance[0]
    return {
        "t": number,
        "p": point["p"] / point["p"].sum(),
        "grad": grads,
        "local_grad": grads[:, None] - deltas - xis,
        "delta": deltas,
        "xi": xis,
        "A_sq": point["A_sq"],
        "B_sq": point["B_sq"],
        "D_sq": _rest((xis * xis).sum(axis=(0, 2)) * chance[0], point["A_sq"] * size),
        "G_sq": _rest((deltas * deltas).sum(axis=(0, 2)) * chance[0], point["B_sq"] * size),
        "chance": chance,
    }


def coin_table(number: int) -> Any:
    """Return up to seven pairwise independent fair coins, one column each, on as few outcomes as possible."""
    free = next(n for n in range(1, 4) if 2**n > number)
    faces = np.array(list(itertools.product((-1, 1), repeat=free)))
    subsets = [s for size in range(1, free + 1) for s in itertools.combinations(range(free), size)]
    return np.stack([faces[:, list(s)].prod(axis=1) for s in subsets[:number]], axis=1)


def _rest(sizes: Any, covered: Any) -> Any:
    """Return the smallest constant that covers all sizes together with what growth covers."""
    return max([0 * covered, *(size - covered for size in sizes)])
