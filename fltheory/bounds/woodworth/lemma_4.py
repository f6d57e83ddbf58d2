r"""Lemma 4: distance of an iterate from the average, by the distance of two iterates.

As published: for any :math:`t` and :math:`m \ne m'`

.. math:: \mathbb E\|x_t^m - \bar x_t\|^2 \le \frac{M-1}M\,\mathbb E\bigl\|x_t^m - x_t^{m'}\bigr\|^2 .

**Derivation of the sharp form.** The proof bounds products of differences by Cauchy and Schwarz; they are known. For
any vectors :math:`\sum_m\|x^m - \bar x\|^2 = \frac1{2M}\sum_{m,m'}\|x^m - x^{m'}\|^2`. Machines have one law, and so do
pairs of them, so that all :math:`M` terms on the left have one expectation, and all :math:`M(M-1)` terms on the right
that do not vanish:

.. math:: \mathbb E\|x_t^m - \bar x_t\|^2 = \frac{M-1}{2M}\,\mathbb E\bigl\|x_t^m - x_t^{m'}\bigr\|^2 ,

half of what is printed. Lemma 5 and all that rests on it inherit the factor 2.

Instances: two or three machines in one or two dimensions, one to three steps after the last averaging, all coins.

Source: Woodworth et al., 2020, Lemma 4, page 6 of the supplement; (48) has a factor :math:`\frac1{M^2}` too many.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Ge, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.woodworth._machines import OBJECTIVE, mean, noise, objective, squares, walk
from fltheory.bounds.woodworth._symbols import M
from fltheory.problems.problem import Origin

own_sq = scalar("own_sq", r"\mathbb E\|x_t^m - \bar x_t\|^2", "squared distance from the average", domain="nonnegative")
apart_sq = scalar(
    "apart_sq", r"\mathbb E\|x_t^m - x_t^{m'}\|^2", "squared distance of two machines", domain="nonnegative"
)


def realise(point: Params) -> dict[Any, Any]:
    """Run the steps since the last averaging."""
    made, _ = objective(point)
    machines = point["M"]
    rates = [part / point["H"] for part in point["steps"]]
    models = walk(made, point["start"], machines, rates, noise(point, machines, len(rates)))[-1]
    centre = models.sum(axis=1) / machines
    return {
        M: machines,
        own_sq: mean(squares(models[:, 0] - centre)),
        apart_sq: mean(squares(models[:, 0] - models[:, 1])),
    }


claim = Claim(
    id="woodworth.lemma-4",
    kind=Kind.LEMMA,
    title="distance from the average by the distance of two machines",
    citation=Citation("woodworth", "Lemma 4"),
    forms=(
        Form(statement=Le(own_sq, (M - 1) / M * apart_sq)),
        Form(
            variant="sharp",
            statement=Eq(own_sq, (M - 1) / (2 * M) * apart_sq),
            note="an equality, with half of the constant",
        ),
    ),
    assumptions=(Assumption("two machines", Ge(M, 2), Origin.DECLARED),),
    check=Instances(
        space=Space(
            {
                "M": Integer(2, 3),
                "past": Integer(1, 3),
                **OBJECTIVE,
                "steps": Real(0.01, 1, log=True, shape=("past",)),
            }
        ),
        realise=realise,
    ),
)
