r"""Equation (58): the squared length of a round on average.

.. math:: \mathbb E_\xi\Bigl[\Bigl(\sum_{j=0}^{E-1}h_{\tau E+j}\Bigr)^2\Bigr] \le \mathbb
   E_\xi\Bigl[E\sum_{j=0}^{E-1}h_{\tau E+j}^2\Bigr] \le E G^2\sum_{k=1}^N\frac{(p_\tau^k)^2}{p^k}s_\tau^k .

True: the inequality of Cauchy and Schwarz, and convexity with weights :math:`p^k` that sum to one. Equality for one
client with constant gradients.

Instances: see :mod:`~fltheory.bounds.efl._round`.

Source: EFL (long version), appendix A.2.1, (57), (58).
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Le, Sum, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._round import bounded_gradients, squares
from fltheory.bounds.flexible_participation.round import ROUNDS
from fltheory.bounds.flexible_participation.symbols import active, g_loc, p_tau, s_tau
from fltheory.bounds.symbols import E, G_sq, N, j, k


def _square(step: Any) -> Expr:
    return NormSq(Sum(p_tau[k] * active[k, step] * g_loc[k, step], (k, 1, N)))


middle = EE(E * Sum(_square(j), (j, 0, E - 1)))

claim = Claim(
    id="efl.eq-58",
    kind=Kind.LEMMA,
    title="squared length of a round",
    citation=Citation("efl", "appendix A.2.1, (58) (long version)"),
    forms=(
        Form(
            statement=(
                Le(EE(Sum(sqrt(_square(j)), (j, 0, E - 1)) ** 2), middle),
                Le(middle, E * G_sq * squares(p_tau, s_tau)),
            ),
        ),
    ),
    assumptions=(bounded_gradients,),
    uses=("efl.lemma-2", "efl.lemma-3"),
    check=ROUNDS,
)
