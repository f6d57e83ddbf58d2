r"""Equation (37): strong convexity between a local model and the optimum.

.. math:: \langle\omega_{\tau E+j}^k - \omega^*, \alpha_{\tau E+j}^k\bar g_{\tau E+j}^k\rangle \ge \bigl(\widetilde
   F_k(\omega_{\tau E+j}^k) - \widetilde F_k^* + \tfrac\mu2\|\omega_{\tau E+j}^k - \omega^*\|^2\bigr)\,\alpha_{\tau
   E+j}^k .

Printed with the minimum :math:`\widetilde F_k^*` of client :math:`k`, where strong convexity gives the value at
:math:`\omega^*`; they differ by :math:`D_k`. (38) and (39) repeat it; (42) has it right from its
first line on.

**Derivation of the corrected form.** :math:`\widetilde F_k(\omega^*) \ge \widetilde F_k(\omega) +
\langle\nabla\widetilde F_k(\omega), \omega^* - \omega\rangle + \frac\mu2\|\omega - \omega^*\|^2` at :math:`\omega =
\omega_{\tau E+j}^k`. Equality for curvature :math:`\mu`.

Instances: see :mod:`~fltheory.bounds.efl._round`; no noise.

Source: EFL (long version), appendix A.2.1, (37).
"""

from __future__ import annotations

from typing import Any

from sympy import Ge

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import QUIET_STEPS
from fltheory.bounds.flexible_participation.symbols import active, g_bar_loc, w_loc
from fltheory.bounds.symbols import E, F, F_star, N, j, k, mu, w_star

everywhere = ((k, 1, N), (j, 0, E - 1))


def _above(value: Any) -> Ge:
    away = w_loc[k, j] - w_star
    return Ge(
        Inner(away, active[k, j] * g_bar_loc[k, j]),
        (F(k, w_loc[k, j]) - value + mu / 2 * NormSq(away)) * active[k, j],
    )


claim = Claim(
    id="efl.eq-37",
    kind=Kind.LEMMA,
    title="strong convexity between local model and optimum",
    citation=Citation("efl", "appendix A.2.1, (37) (long version)"),
    forms=(
        Form(statement=_above(F_star[k]), over=everywhere),
        Form(
            variant="corrected",
            statement=_above(F(k, w_star)),
            over=everywhere,
            note="the client's value at the optimum in place of its minimum",
        ),
    ),
    check=QUIET_STEPS,
)
