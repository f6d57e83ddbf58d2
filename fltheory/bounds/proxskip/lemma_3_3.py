r"""Lemma 3.3: the proximal operator is firmly nonexpansive.

For a proper, closed and convex :math:`\psi`, with :math:`P(x) = \mathrm{prox}_{\frac\gamma p\psi}(x)` and
:math:`Q(x) = x - P(x)`, as published

.. math:: \|P(x) - P(y)\|^2 + \|Q(x) - Q(y)\|^2 \le \|x - y\|^2 \qquad \text{for all } x, y \text{ and any }
   \gamma, p > 0 .

**Where it is tight.** The difference of the sides is :math:`2\langle P(x)-P(y), Q(x)-Q(y)\rangle`; it vanishes for
projections onto subspaces, consensus among them.

Instances: regularisers of :mod:`fltheory.bounds.proxskip._prox` on a line and in the plane.

Source: Mishchenko et al., ICML 2022, Lemma 3.3, (10).
"""

from __future__ import annotations

from typing import Any

from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.proxskip._prox import REGULARISER, SIZES, regulariser
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Real, Space

x = scalar("x", "x", "any vector", shape=("dim",))
y = scalar("y", "y", "any vector", shape=("dim",))
P_x, P_y = (scalar(f"P_{v}", f"P({v})", f"proximal operator at {v}", shape=("dim",)) for v in "xy")
Q_x, Q_y = (scalar(f"Q_{v}", f"Q({v})", f"what the proximal operator takes from {v}", shape=("dim",)) for v in "xy")


def realise(point: Params) -> dict[Any, Any]:
    """Return two points and their proximal points."""
    psi, scale = regulariser(point), point["gamma"] / point["q"]
    return {x: point["x"], y: point["y"], P_x: psi.prox(point["x"], scale), P_y: psi.prox(point["y"], scale)}


claim = Claim(
    id="proxskip.lemma-3.3",
    kind=Kind.LEMMA,
    title="firm nonexpansiveness of the proximal operator",
    citation=Citation("proxskip", "Lemma 3.3, (10)"),
    forms=(
        Form(
            statement=Le(NormSq(P_x - P_y) + NormSq(Q_x - Q_y), NormSq(x - y)),
            where=((Q_x, x - P_x), (Q_y, y - P_y)),
        ),
    ),
    check=Instances(
        space=Space(
            {
                **SIZES,
                **REGULARISER,
                "gamma": Real(0.01, 10, log=True),
                "q": Real(0.01, 10, log=True),
                "x": Real(-3, 3, shape=("d",)),
                "y": Real(-3, 3, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
