r"""(16): gradients deviate from those at the minimiser by at most the excess risk.

.. math:: \frac{1}{2\beta m}\sum_{k\in[m]}\|\nabla L_k(x) - \nabla L_k(x_*)\|^2 \le \mathcal R(x) - \mathcal R(x_*),
   \qquad \nabla\mathcal R(x_*) = 0 .

Co-coercivity of every client,
:math:`L_k(x) \ge L_k(x_*) + \langle\nabla L_k(x_*), x - x_*\rangle
+ \frac{1}{2\beta}\|\nabla L_k(x) - \nabla L_k(x_*)\|^2`,
averaged; the linear terms cancel. It is an equality if every client has curvature :math:`\beta` or 0 between the two
points.

Instances: separable functions with piecewise linear derivative, slopes from 0 to :math:`\beta`.

Source: the paper's appendix B.1, with a reference to Theorem 2.1.5 of Nesterov (2018).
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._prox import SHAPES, losses, quantities
from fltheory.bounds.fen._symbols import beta, grad, m, risk, x
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import k

x_star = scalar("x_star", "x_*", "zero of the gradient of the mean loss", shape=("dim",))


def realise(point: Params) -> dict[str, Any]:
    """Return the clients, the minimiser of their mean loss and another point."""
    clients = losses(point)
    return {
        "m": point["m"],
        "beta": point["beta"],
        "x": point["x"],
        "x_star": clients.stationary(),
        **quantities(clients),
    }


claim = Claim(
    id="fen.eq-16",
    kind=Kind.LEMMA,
    title="gradient deviation against excess risk",
    citation=Citation("fen", "(16)"),
    forms=(
        Form(
            statement=Le(
                Sum(NormSq(grad(k, x) - grad(k, x_star)), (k, 1, m)) / (2 * beta * m),
                risk(x) - risk(x_star),
            ),
        ),
    ),
    check=Instances(
        space=Space({"m": Integer(1, 3), "d": Integer(1, 2), **SHAPES, "x": Real(-4, 4, shape=("d",))}),
        realise=realise,
    ),
)
