r"""Equation (31): the squared gradient norm against the gap of the function.

.. math:: \|\alpha_{\tau E+i}^k\bar g_{\tau E+i}^k\|^2 \le 2L\bigl(F_k(w_{\tau E+i}^k) - F_k^*\bigr)\alpha_{\tau
   E+i}^k .

The step :math:`w - \frac1L\nabla F_k(w)` lowers a smooth function by at least :math:`\frac{1}{2L}\|\nabla
F_k(w)\|^2`, and :math:`\alpha \in \{0, 1\}`. It is an equality for quadratics of curvature :math:`L`.

Instances: rounds without noise, see :mod:`~fltheory.bounds.flexible_participation.round`; the models of the first step
are arbitrary.

Source: Ruan et al., AISTATS 2021, appendix A.1.3.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import QUIET_STEPS
from fltheory.bounds.flexible_participation.symbols import active, g_bar_loc, w_loc
from fltheory.bounds.symbols import E, F, F_star, L, N, i, k

claim = Claim(
    id="ruan.eq-31",
    kind=Kind.LEMMA,
    title="gradient norm against function gap",
    citation=Citation("ruan", "(31)"),
    forms=(
        Form(
            statement=Le(
                NormSq(active[k, i] * g_bar_loc[k, i]), 2 * L * (F(k, w_loc[k, i]) - F_star[k]) * active[k, i]
            ),
            over=((k, 1, N), (i, 0, E - 1)),
        ),
    ),
    check=QUIET_STEPS,
)
