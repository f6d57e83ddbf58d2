r"""(15): an inner product with a gradient at a third point, for convex smooth functions.

.. math:: -\langle\nabla L_k(x), z - y\rangle \le -L_k(z) + L_k(y) + \frac\beta2\|z - x\|^2 .

It adds the upper bound of smoothness between :math:`x` and :math:`z` to the gradient inequality between :math:`x` and
:math:`y`; both are equalities if :math:`L_k` has curvature :math:`\beta` from :math:`x` to :math:`z` and none from
:math:`x` to :math:`y`, so the constant cannot be improved.

Instances: separable functions with piecewise linear derivative, slopes from 0 to :math:`\beta`, and any three points.

Source: the paper's appendix B.1.
"""

from __future__ import annotations

from typing import Any

from sympy import Le

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._prox import SHAPES, losses, quantities
from fltheory.bounds.fen._symbols import beta, grad, loss, x
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import k

y = scalar("y", "y", "any point", shape=("dim",))
z = scalar("z", "z", "any point", shape=("dim",))


def realise(point: Params) -> dict[str, Any]:
    """Return one function and three points."""
    client = losses(point)
    return {
        "k": 1,
        "beta": point["beta"],
        "x": point["points"][0],
        "y": point["points"][1],
        "z": point["points"][2],
        **quantities(client),
    }


claim = Claim(
    id="fen.eq-15",
    kind=Kind.LEMMA,
    title="three-point inequality of convex smooth functions",
    citation=Citation("fen", "(15)"),
    forms=(Form(statement=Le(-Inner(grad(k, x), z - y), -loss(k, z) + loss(k, y) + beta / 2 * NormSq(z - x))),),
    check=Instances(
        space=Space(
            {"m": Integer(1, 1), "d": Integer(1, 3), **SHAPES, "points": Real(-4, 4, shape=(3, "d"))},
        ),
        realise=realise,
    ),
)
