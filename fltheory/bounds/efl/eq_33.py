r"""Equation (33): a smooth function's gradient is bounded by its gap.

.. math:: \|\alpha_{\tau E+j}^k\,\bar g_{\tau E+j}^k\|^2 \le 2L\bigl(\widetilde F_k(\omega_{\tau E+j}^k) - \widetilde
   F_k^*\bigr)\,\alpha_{\tau E+j}^k .

True, with equality for curvature :math:`L` between the model and the minimiser.

Instances: see :mod:`~fltheory.bounds.efl._round`; no noise.

Source: EFL (long version), appendix A.2.1, (33).
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import QUIET_STEPS
from fltheory.bounds.flexible_participation.symbols import active, g_bar_loc, w_loc
from fltheory.bounds.symbols import E, F, F_star, L, N, j, k

claim = Claim(
    id="efl.eq-33",
    kind=Kind.LEMMA,
    title="gradient against gap",
    citation=Citation("efl", "appendix A.2.1, (33) (long version)"),
    forms=(
        Form(
            statement=Le(
                NormSq(active[k, j] * g_bar_loc[k, j]), 2 * L * (F(k, w_loc[k, j]) - F_star[k]) * active[k, j]
            ),
            over=((k, 1, N), (j, 0, E - 1)),
        ),
    ),
    check=QUIET_STEPS,
)
