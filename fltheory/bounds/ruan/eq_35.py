r"""Equation (35): strong convexity between a local model and the optimum.

.. math:: \langle w_{\tau E+i}^k - w^*, \alpha_{\tau E+i}^k\bar g_{\tau E+i}^k\rangle \ge \Bigl(F_k(w_{\tau E+i}^k) -
   F_k(w^*)
   + \frac\mu2\|w_{\tau E+i}^k - w^*\|^2\Bigr)\alpha_{\tau E+i}^k .

This is the definition of strong convexity at :math:`w_{\tau E+i}^k`, evaluated at :math:`w^*`; an equality where the
curvature is :math:`\mu` all the way.

Instances: rounds without noise, see :mod:`~fltheory.bounds.flexible_participation.round`; the models of the first step
are arbitrary.

Source: Ruan et al., AISTATS 2021, appendix A.1.3.
"""

from __future__ import annotations

from sympy import Ge

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import QUIET_STEPS
from fltheory.bounds.flexible_participation.symbols import active, g_bar_loc, w_loc
from fltheory.bounds.symbols import E, F, N, i, k, mu, w_star

claim = Claim(
    id="ruan.eq-35",
    kind=Kind.LEMMA,
    title="strong convexity step",
    citation=Citation("ruan", "(35)"),
    forms=(
        Form(
            statement=Ge(
                Inner(w_loc[k, i] - w_star, active[k, i] * g_bar_loc[k, i]),
                (F(k, w_loc[k, i]) - F(k, w_star) + mu / 2 * NormSq(w_loc[k, i] - w_star)) * active[k, i],
            ),
            over=((k, 1, N), (i, 0, E - 1)),
        ),
    ),
    check=QUIET_STEPS,
)
