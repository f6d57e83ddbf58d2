r"""Laws of participation that change over the rounds of a run, and expectations over one of them.

The participation of round :math:`t` has outcomes :math:`\omega_1, \dots, \omega_{O_t}` with probabilities
:math:`\mathbb P_t(\omega_o)`, coefficients :math:`p_t^k(\omega_o)` and completed steps :math:`s_t^k(\omega_o)`. What is
written for one round with ``p_drawn``, ``s_drawn`` and ``EE`` becomes a statement about round :math:`t` of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy import Sum

from fltheory.bounds.algebra import EE, Env
from fltheory.bounds.flexible_participation.symbols import mean_ps, mean_ps_at, p_drawn, s_drawn
from fltheory.bounds.quantities import family, index
from fltheory.bounds.symbols import k, t

o = index("o", meaning="an outcome of the participation of a round")

outcomes_at = family(
    "outcomes_at",
    "O_{<0>}",
    "number of outcomes of the participation of a round",
    first=0,
    shape=("rounds",),
    domain="integer>=1",
)
chance_at = family(
    "chance_at",
    r"\mathbb{P}_{<0>}(\omega_{<1>})",
    "probability of an outcome of the participation of a round",
    first=(0, 1),
    shape=("rounds", "outcomes"),
    domain="probability",
)
p_at = family(
    "p_at",
    r"p_{<0>}^{<2>}(\omega_{<1>})",
    "aggregation coefficient of a client in a round, for every outcome",
    first=(0, 1, 1),
    shape=("rounds", "outcomes", "clients"),
    domain="nonnegative",
)
s_at = family(
    "s_at",
    r"s_{<0>}^{<2>}(\omega_{<1>})",
    "local steps that a client completes in a round, for every outcome",
    first=(0, 1, 1),
    shape=("rounds", "outcomes", "clients"),
    domain="integer>=0",
)
q_at = family(
    "q_at",
    "q_{<0>}^{<1>}",
    "probability that a client works in a round",
    first=(0, 1),
    shape=("rounds", "clients"),
    domain="probability",
)


def mean_in(expression: Any, t: Any) -> sp.Expr:
    """Return the expectation, over the participation of round ``t``, of an expression in what is drawn."""
    return Sum(chance_at[t, o] * _drawn_in(expression, t), (o, 1, outcomes_at[t]))


def of_round(expression: Any, t: Any) -> sp.Expr:
    """Return an expression in expectations over one round, as one about round ``t``."""
    found = expression.replace(lambda part: isinstance(part, EE), lambda part: mean_in(part.args[0], t))
    return found.xreplace({mean_ps: mean_ps_at[t]})


def _drawn_in(expression: Any, t: Any) -> Any:
    there = {p_drawn: p_at, s_drawn: s_at}
    return expression.replace(
        lambda part: isinstance(part, sp.Indexed) and part.base in there,
        lambda part: there[part.base][t, o, part.indices[0]],
    )


works_in = (q_at[t, k], mean_in(sp.Min(s_drawn[k], 1), t))
"""Definition of the probability that a client works in a round."""


def laws_of(rounds: Sequence[Env]) -> dict[str, Any]:
    """Return the quantities that give the laws of all rounds, from the law of each of them."""
    return {
        "outcomes_at": [len(law["chance"]) for law in rounds],
        "chance_at": [law["chance"] for law in rounds],
        "p_at": [law["p_drawn"] for law in rounds],
        "s_at": [law["s_drawn"] for law in rounds],
    }
