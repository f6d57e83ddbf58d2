r"""Equation (62): the heterogeneity term vanishes if participation is homogeneous.

:math:`r_\tau = 0` says that :math:`\mathbb E[p_\tau^k s_\tau^k]/p^k` is the same for all :math:`k`. As published

.. math:: \sum_{k=1}^N p_\tau^k s_\tau^k\bigl(\widetilde F_k(\omega^*) - \widetilde F_k(\bar\omega_{\tau E+j})\bigr)
   \le r_\tau\sum_{k=1}^N p_\tau^k s_\tau^k D_k .

The condition is about expectations, the statement about the drawn :math:`p_\tau^k s_\tau^k`: when by chance one
client works alone, the round moves towards its own minimiser. Expectations do not help (``published@expected``): for
:math:`j > 0` the model :math:`\bar\omega_{\tau E+j}` depends on who works, and is good for those who do. (The text
defines :math:`\bar\omega_{\tau E+j}` as the best model of the round, which depends on it even more; here all
:math:`j` are tried.)

**Derivation of the corrected form.** At the start of the round the model does not depend on who will work, so
:math:`\mathbb E\sum_k p_\tau^k s_\tau^k(\widetilde F_k(\omega^*) - \widetilde F_k(\bar\omega_{\tau E}))` is a sum
with the factors :math:`\mathbb E[p_\tau^k s_\tau^k]`. If they are :math:`c_\tau p^k`, it is :math:`c_\tau(F(\omega^*)
- F(\bar\omega_{\tau E})) \le 0`; in any case it is at most :math:`\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k`, because
:math:`\widetilde F_k(\bar\omega_{\tau E}) \ge \widetilde F_k^*`. Later models cost a term of second order in
:math:`\eta_\tau`, see :mod:`~fltheory.bounds.efl.eq_64`.

Instances: rounds with drawn participation of :mod:`~fltheory.bounds.efl._round`; half of them homogeneous. No noise: it
moves later models only, and for :math:`r_\tau = 1` the statement is true at every model.

Source: EFL (long version), appendix A.2.1, (61), (62).
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Le, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._round import METRIC, QUIET_DRAWN_ROUNDS, gaps_drawn
from fltheory.bounds.efl._symbols import r_tau
from fltheory.bounds.flexible_participation.symbols import p_drawn, s_drawn, w_bar
from fltheory.bounds.symbols import E, F, N, j, k, w_star


def _ascent(step: Any) -> Expr:
    return Sum(p_drawn[k] * s_drawn[k] * (F(k, w_star) - F(k, w_bar[step])), (k, 1, N))


inside = ((j, 0, E - 1),)

claim = Claim(
    id="efl.eq-62",
    kind=Kind.LEMMA,
    title="vanishing of the heterogeneity term",
    citation=Citation("efl", "appendix A.2.1, (62) (long version)"),
    forms=(
        Form(statement=Le(_ascent(j), r_tau * METRIC), over=inside),
        Form(
            variant="published@expected",
            statement=Le(EE(_ascent(j)), r_tau * gaps_drawn),
            over=inside,
            note="in expectation",
        ),
        Form(
            variant="corrected",
            statement=Le(EE(_ascent(0)), r_tau * gaps_drawn),
            note="in expectation, at the start of the round",
        ),
    ),
    check=QUIET_DRAWN_ROUNDS,
)
