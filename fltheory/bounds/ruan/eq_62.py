r"""Equation (62): the recursion from round to round.

With :math:`\eta_\tau \le \min\{\frac{1}{2(1+\theta)L}, \frac{4}{\mu E\theta}\}` and :math:`B_\tau` of Theorem 3.1, as
printed

.. math:: \mathbb E[\bar\Delta_{(\tau+1)E}] \le \Bigl(1 - \tfrac18\mu\eta_\tau\mathbb
   E\Bigl[\sum_kp_\tau^ks_\tau^k\Bigr]\Bigr)\bar\Delta_{\tau E} + \eta_\tau^2\mathbb E[B_\tau]
   + 2\eta_\tau z_\tau\sum_k\mathbb E[p_\tau^ks_\tau^k]\Gamma_k .

The published proof does not show it: (44), (46), (49), (60), and (61) for a given draw, are not true as printed. The
statement itself is, with the printed constants.

**Derivation of the corrected form.** The chain is (44) in expectation, (46) and (49) with the factor
:math:`\gamma_\tau(1 - \eta_\tau L)` and the sum over steps kept, (57) as an inequality, and (61) as corrected there:
given participation,

.. math:: \bar\Delta_{(\tau+1)E} \le \Bigl(1 - \tfrac18\mu\eta_\tau P_\tau\Bigr)\bar\Delta_{\tau E} +
   \eta_\tau^2\Bigl(B_\tau - \tfrac{E+5}{3}G^2Q_\tau\Bigr)
   + \gamma_\tau(1 - \eta_\tau L)\sum_kp_\tau^ks_\tau^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E})\bigr) ,

with :math:`P_\tau = \sum_kp_\tau^ks_\tau^k`, :math:`Q_\tau = \sum_k\frac{(p_\tau^k)^2}{p^k}s_\tau^k`, where :math:`2E
- \frac53(E-1) = \frac{E+5}{3}` is what is left over. Neither :math:`\bar\Delta_{\tau E}` nor :math:`\bar w_{\tau E}`
depends on the draws of the round, so the mean over participation only meets :math:`p_\tau^k` and :math:`s_\tau^k`.
With :math:`c_\tau = \min_k\mathbb E[p_\tau^ks_\tau^k]/p^k` the last sum becomes

.. math:: c_\tau\bigl(F(w^*) - F(\bar w_{\tau E})\bigr) + \sum_k\bigl(\mathbb E[p_\tau^ks_\tau^k] - c_\tau
   p^k\bigr)\bigl(F_k(w^*) - F_k(\bar w_{\tau E})\bigr)
   \le \sum_k\bigl(\mathbb E[p_\tau^ks_\tau^k] - c_\tau p^k\bigr)\Gamma_k ,

and :math:`0 \le \gamma_\tau(1 - \eta_\tau L) \le 2\eta_\tau`. This implies the published form: for :math:`z_\tau = 0`
the sum vanishes, otherwise it is at most :math:`\sum_k\mathbb E[p_\tau^ks_\tau^k]\Gamma_k`. So Theorem 3.1 can be
built on (62) without a change of constants, provided that participation is independent of the noise and of the model
at the start of the round. Both sides approach each other for small learning rates, where nothing moves.

**Derivation of the sharp form.** The mean of the sharp form of (61) over participation, with the last sum split as
above, and :math:`F(w^*) - F(\bar w_{\tau E}) \le -\frac\mu2\bar\Delta_{\tau E}`: for every learning rate, whether or
not the functions are smooth,

.. math:: \mathbb E[\bar\Delta_{(\tau+1)E}] \le \Bigl(1 - \mu\eta_\tau\Bigl(\tfrac12\,\mathbb
   E\Bigl[\sum_kp_\tau^ks_\tau^k\Bigr] + c_\tau\Bigr)\Bigr)\bar\Delta_{\tau E}
   + \eta_\tau^2G^2\,\mathbb E\Bigl[\max\Bigl\{1, \sum_kp_\tau^k\Bigr\}\sum_kp_\tau^k(s_\tau^k)^2 +
   \tfrac13\mu\eta_\tau\sum_kp_\tau^k(s_\tau^k)^3\Bigr]
   + 2\eta_\tau\sum_k\bigl(\mathbb E[p_\tau^ks_\tau^k] - c_\tau p^k\bigr)\Gamma_k .

If participation is not heterogeneous, the contraction is twelve times the published one. Most terms of :math:`B_\tau`
in the other forms no instance can show, since this form does without them.

Instances: rounds with random participation under schemes A, B, C, noise averaged out, see
:mod:`~fltheory.bounds.flexible_participation.draws`; in the sharp form learning rates go up to thirty times the largest
that the proof allows.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.draws import ANY_RATE, GIVEN, bounded_gradients
from fltheory.bounds.flexible_participation.experiments import BOUNDED_COEFFICIENTS
from fltheory.bounds.flexible_participation.round import small_rate, small_rate_of_round
from fltheory.bounds.flexible_participation.symbols import B_tau, Delta_after, Delta_before, p_drawn, s_drawn, z_tau
from fltheory.bounds.ruan.eq_60 import COMMON, common
from fltheory.bounds.ruan.eq_61 import moves
from fltheory.bounds.ruan.theorem_3_1 import B_PRINTED, B_ROUND
from fltheory.bounds.symbols import G_sq, Gamma, N, eta, k, mu, p

done = EE(Sum(p_drawn[k] * s_drawn[k], (k, 1, N)))
shrunk = (1 - mu * eta * done / 8) * Delta_before

claim = Claim(
    id="ruan.eq-62",
    kind=Kind.LEMMA,
    title="one-round recursion",
    citation=Citation("ruan", "(62)"),
    forms=(
        Form(
            statement=Le(
                EE(Delta_after),
                shrunk + eta**2 * EE(B_tau) + 2 * eta * z_tau * Sum(EE(p_drawn[k] * s_drawn[k]) * Gamma[k], (k, 1, N)),
            ),
            where=((B_tau, B_PRINTED),),
        ),
        Form(
            variant="corrected",
            statement=Le(
                EE(Delta_after),
                shrunk
                + eta**2 * EE(B_tau)
                + 2 * eta * Sum((EE(p_drawn[k] * s_drawn[k]) - common * p[k]) * Gamma[k], (k, 1, N)),
            ),
            where=(COMMON, (B_tau, B_ROUND)),
            note="less of the gradient bound, and a graded measure of heterogeneity instead of the indicator",
        ),
        Form(
            variant="sharp",
            statement=Le(
                EE(Delta_after),
                (1 - mu * eta * (done / 2 + common)) * Delta_before
                + eta**2 * G_sq * EE(moves)
                + 2 * eta * Sum((EE(p_drawn[k] * s_drawn[k]) - common * p[k]) * Gamma[k], (k, 1, N)),
            ),
            where=(COMMON,),
            assumptions=(bounded_gradients,),
            check=ANY_RATE,
            note="any learning rate, no smoothness: more contraction, the gradient bound only",
        ),
    ),
    assumptions=(small_rate, small_rate_of_round, bounded_gradients, BOUNDED_COEFFICIENTS),
    uses=("ruan.eq-61",),
    check=GIVEN,
)
