r"""Equation (43): the gap at the local models from below by the gap at the virtual model.

From the first to the last line, with :math:`\alpha = \alpha_{\tau E+j}^k`,

.. math:: \sum_k p_\tau^k\alpha\bigl(\widetilde F_k(\omega_{\tau E+j}^k) - \widetilde F_k(\omega^*)\bigr) \ge -\sum_k
   p_\tau^k\alpha\Bigl(\eta_\tau L\bigl(\widetilde F_k(\bar\omega_{\tau E+j}) - \widetilde F_k^*\bigr) +
   \tfrac1{2\eta_\tau}\|\omega_{\tau E+j}^k - \bar\omega_{\tau E+j}\|^2\Bigr) + \sum_k p_\tau^k\alpha\bigl(\widetilde
   F_k(\bar\omega_{\tau E+j}) - \widetilde F_k(\omega^*)\bigr) .

True. The second printed line (``published@second-line``) drops the first of two sums, :math:`\sum_k
p_\tau^k\alpha(\widetilde F_k(\omega_{\tau E+j}^k) - \widetilde F_k(\bar\omega_{\tau E+j}))`, as if it were
non-negative; local models are usually better than the virtual one for their client, so it is not. The line seems to
have lost a term, for the next one has it.

**Derivation of the corrected form.** Convexity at the virtual model: :math:`\widetilde F_k(\omega^k) - \widetilde
F_k(\bar\omega) \ge \langle\nabla\widetilde F_k(\bar\omega), \omega^k - \bar\omega\rangle`. With the inequality of
Young and (33) it gives the last line.

Instances: see :mod:`~fltheory.bounds.efl._round`; no noise.

Source: EFL (long version), appendix A.2.1, (43).
"""

from __future__ import annotations

from sympy import Ge, Sum

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import QUIET_STEPS
from fltheory.bounds.flexible_participation.symbols import active, p_tau, w_bar, w_loc
from fltheory.bounds.symbols import E, F, F_star, L, N, eta, grad_F, j, k, w_star

weight = p_tau[k] * active[k, j]
away = w_loc[k, j] - w_bar[j]
gap = Sum(weight * (F(k, w_loc[k, j]) - F(k, w_star)), (k, 1, N))
virtual = Sum(weight * (F(k, w_bar[j]) - F(k, w_star)), (k, 1, N))
loss = Sum(weight * (eta * L * (F(k, w_bar[j]) - F_star[k]) + NormSq(away) / (2 * eta)), (k, 1, N))
inside = ((j, 0, E - 1),)

claim = Claim(
    id="efl.eq-43",
    kind=Kind.LEMMA,
    title="gap at local models from below",
    citation=Citation("efl", "appendix A.2.1, (43) (long version)"),
    forms=(
        Form(statement=Ge(gap, virtual - loss), over=inside, note="first line against the last"),
        Form(
            variant="published@second-line",
            statement=Ge(gap, virtual),
            over=inside,
            note="first line against the second, as printed",
        ),
        Form(
            variant="corrected",
            intended=("published@second-line",),
            statement=Ge(gap, Sum(weight * Inner(grad_F(k, w_bar[j]), away), (k, 1, N)) + virtual),
            over=inside,
            note="with the term of first order that the second line lost",
        ),
    ),
    uses=("efl.eq-33",),
    check=QUIET_STEPS,
)
