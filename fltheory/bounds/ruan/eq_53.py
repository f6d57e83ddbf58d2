r"""Equation (53): inside a round the distance is at least half the final one, up to the path that is left.

With :math:`\Delta_t = \|\bar w_t - w^*\|^2` and :math:`h_{\tau E+j} = \|\sum_k p_\tau^k\alpha_{\tau E+j}^k g_{\tau
E+j}^k\|`,

.. math:: \Delta_{\tau E+i} \ge \frac12\Delta_{(\tau+1)E} - \Bigl(\sum_{j=i}^{E-1}\eta_\tau h_{\tau E+j}\Bigr)^2
   \ge \frac12\Delta_{(\tau+1)E} - \Bigl(\sum_{j=0}^{E-1}\eta_\tau h_{\tau E+j}\Bigr)^2 .

Triangle inequality along the path and :math:`(a + b)^2 \le 2a^2 + 2b^2`; true for every outcome, with equality where
the path leads straight away from :math:`w^*` and doubles the distance. The repaired proof, see (62), does without it:
it bounds :math:`\Delta_{\tau E+i}` from below by :math:`\Delta_{\tau E}`, which does not depend on the participation
of the round.

Instances: rounds with noise, see :mod:`~fltheory.bounds.flexible_participation.round`.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from sympy import Ge, Sum

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import ROUNDS, distance, speed
from fltheory.bounds.flexible_participation.symbols import w_end
from fltheory.bounds.symbols import E, eta, i, j, w_star

final = NormSq(w_end - w_star) / 2
left, whole = (Sum(eta * speed(j), (j, first, E - 1)) ** 2 for first in (i, 0))

claim = Claim(
    id="ruan.eq-53",
    kind=Kind.LEMMA,
    title="lower bound on the distance inside a round",
    citation=Citation("ruan", "(53)"),
    forms=(Form(statement=(Ge(distance(i), final - left), Ge(final - left, final - whole)), over=((i, 0, E - 1),)),),
    check=ROUNDS,
)
