r"""Equation (18): the covariance of two clients' noise vanishes.

Since clients draw independently, the proof of Lemma 2 says, the covariance is

.. math:: \mathbb E_\xi\bigl\|(g_t^k - \bar g_t^k)(g_t^i - \bar g_t^i)\bigr\|^2 = 0, \qquad i \ne k .

The product of two vectors may be their inner product (``published@inner``) or the product entry by entry
(``published@product``). In both readings a squared norm is averaged, which is positive as soon as both clients have
noise along a common axis. The same squared norms are in (17), which is no expansion of a square.

**Derivation of the corrected form.** What the lemma needs is the inner product without the square, with coefficients.
Given participation, coefficients are fixed and the noise of client :math:`k` has mean zero and is independent of that
of client :math:`i`, so :math:`\mathbb E\langle p_\tau^k(g_t^k - \bar g_t^k), p_\tau^i(g_t^i - \bar g_t^i)\rangle =
0`; averaging over participation keeps it. So it holds for coefficients that depend on the step counts of all clients,
as long as the step counts do not depend on the noise.

Instances: two clients with coins for their noise; the step counts, and with them both coefficients, are drawn by a
third coin.

Source: EFL (long version), appendix A.2.1, (17)-(19).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Eq

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.symbols import g, g_bar, p_drawn
from fltheory.bounds.space import Integer, Params, Real, Space, ratio


def realise(point: Params) -> dict[str, Any]:
    """Return all outcomes of two coins for noise and one for participation."""
    outcomes = list(itertools.product((-1, 1), (-1, 1), (0, 1)))
    coins = np.array(outcomes)
    chance = {0: 1 - point["q"], 1: point["q"]}
    return {
        "g_bar": point["gradient"],
        "g": [point["gradient"] + coin[:2, None] * point["noise"] for coin in coins],
        "p_drawn": [point["p"][coin[2]] for coin in coins],
        "chance": [chance[int(coin[2])] * ratio(point, 1, 4) for coin in coins],
    }


first, second = g[1] - g_bar[1], g[2] - g_bar[2]

claim = Claim(
    id="efl.eq-18",
    kind=Kind.IDENTITY,
    title="covariance of the noise of two clients",
    citation=Citation("efl", "appendix A.2.1, (18) (long version)"),
    forms=(
        Form(
            variant="published@inner",
            statement=Eq(EE(Inner(first, second) ** 2), 0, evaluate=False),
            note="product read as inner product",
        ),
        Form(
            variant="published@product",
            statement=Eq(EE(NormSq(first * second)), 0, evaluate=False),
            note="product read entry by entry",
        ),
        Form(
            variant="corrected",
            intended=("published@inner",),
            statement=Eq(EE(p_drawn[1] * p_drawn[2] * Inner(first, second)), 0, evaluate=False),
            note="inner product without the square; coefficients may depend on the step counts",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 3),
                "q": Real(0, 1),
                "p": Real(0, 5, shape=(2, 2)),
                "gradient": Real(-3, 3, shape=(2, "d")),
                "noise": Real(-3, 3, shape=(2, "d")),
            }
        ),
        realise=realise,
    ),
)
