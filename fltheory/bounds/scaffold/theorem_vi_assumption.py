r"""Theorem VI, its assumption: dissimilarity of the functions of the lower bound.

For :math:`f_1(x) = \mu x^2 + Gx` and :math:`f_2(x) = -Gx`, so that :math:`f(x) = \frac\mu2x^2`, the proof says:
"clearly :math:`f` is :math:`\mu`-strongly convex and further :math:`f_1` and :math:`f_2` satisfy A1 with
:math:`B = 3`", which is (form ``published``)

.. math:: \tfrac12\bigl((f_1'(x))^2 + (f_2'(x))^2\bigr) \le G^2 + B^2(f'(x))^2, \qquad B = 3 ,

for all :math:`x`, or for convex functions (form ``published@convex``) :math:`G^2 + 2\beta B^2(f(x) - f^*)` on the
right, with :math:`\beta = 2\mu`. Both fail for small :math:`x > 0`: the left-hand side is :math:`2\mu^2x^2 + 2\mu Gx +
G^2`, and the term that is linear in :math:`x` wins. The lower bound itself does not need it.

**Derivation of the corrected form.** A larger constant part makes it true: :math:`2\mu Gx \le (b^2 - 2)\mu^2x^2 +
\frac{G^2}{b^2 - 2}`, so that for every :math:`b^2 > 2` the functions satisfy A1 with :math:`G^2\bigl(1 + \frac1{b^2 -
2}\bigr)` and :math:`B^2 = b^2`, for :math:`B = 3` with :math:`\frac87G^2`. It is attained at :math:`x =
\frac G{\mu(b^2 - 2)}`, so no smaller constant does.

Instances: any :math:`\mu`, :math:`G` and :math:`x`.

Source: Karimireddy et al., 2020, proof of Theorem VI, page 22 of the supplement. :math:`f_2` is not strongly convex,
as the paper says.
"""

from __future__ import annotations

from typing import Any

from sympy import Gt, Integer, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._symbols import B_sq, G, beta
from fltheory.bounds.space import Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.problems.problem import Origin

at = scalar("at", "x", "any number")
mean_sq = ((2 * mu * at + G) ** 2 + G**2) / 2
growth = scalar("growth", "b^2", "any growth of the dissimilarity above two", domain="positive")
nine = (B_sq, Integer(9))


def realise(point: Params) -> dict[str, Any]:
    """Return a point; the functions are in the statement."""
    return {"mu": point["mu"], "G": point["G"], "at": point["x"] * point["G"] / point["mu"], "growth": point["growth"]}


claim = Claim(
    id="scaffold.theorem-vi-assumption",
    kind=Kind.LEMMA,
    title="dissimilarity of the functions of the lower bound",
    citation=Citation("scaffold", "Theorem VI, proof"),
    forms=(
        Form(statement=Le(mean_sq, G**2 + B_sq * (mu * at) ** 2), where=(nine,), note="A1, with B = 3"),
        Form(
            variant="published@convex",
            statement=Le(mean_sq, G**2 + 2 * beta * B_sq * mu * at**2 / 2),
            where=(nine, (beta, 2 * mu)),
            note="A1 for convex functions, with B = 3",
        ),
        Form(
            variant="corrected",
            statement=Le(mean_sq, G**2 * (1 + 1 / (growth - 2)) + growth * (mu * at) ** 2),
            assumptions=(Assumption("growth", Gt(growth, 2), Origin.DECLARED),),
            note="a larger constant part, for every b^2 > 2; attained",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "mu": Real(0.1, 10, log=True),
                "G": Real(0.1, 10, log=True),
                "x": Real(-3, 3),
                "growth": Real(2.01, 20),
            }
        ),
        realise=realise,
    ),
)
