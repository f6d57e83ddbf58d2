r"""Equation (56): the expected squared length of the path of a round.

With :math:`h_{\tau E+i} = \|\sum_k p_\tau^k\alpha_{\tau E+i}^k g_{\tau E+i}^k\|` and :math:`H_\tau = (\sum_i h_{\tau
E+i})^2`,

.. math:: \mathbb E_\xi[H_\tau] \le \mathbb E_\xi\Bigl[E\sum_{i=0}^{E-1}h_{\tau E+i}^2\Bigr] \le
   EG^2\sum_{k=1}^N\frac{(p_\tau^k)^2}{p^k}s_\tau^k .

Cauchy-Schwarz over the steps, then Jensen's inequality with the weights :math:`p^k` as in (55). Both are equalities
for :math:`E = N = 1`.

Instances: rounds with noise, see :mod:`~fltheory.bounds.flexible_participation.round`.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import ROUNDS, bounded_gradients, speed, speed_sq
from fltheory.bounds.flexible_participation.symbols import p_tau, s_tau
from fltheory.bounds.symbols import E, G_sq, N, i, k, p

steps = (i, 0, E - 1)
middle = EE(E * Sum(speed_sq(i), steps))

claim = Claim(
    id="ruan.eq-56",
    kind=Kind.LEMMA,
    title="bound on E[H]",
    citation=Citation("ruan", "(56)"),
    forms=(
        Form(
            statement=(
                Le(EE(Sum(speed(i), steps) ** 2), middle),
                Le(middle, E * G_sq * Sum(p_tau[k] ** 2 / p[k] * s_tau[k], (k, 1, N))),
            )
        ),
    ),
    assumptions=(bounded_gradients,),
    check=ROUNDS,
)
