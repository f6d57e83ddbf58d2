r"""Equation (60): the term that pulls away from the optimum is absent if participation is homogeneous on average.

:math:`z_\tau = 0` if :math:`\mathbb E[p_\tau^ks_\tau^k] = c_\tau p^k` for all :math:`k`, else :math:`z_\tau = 1`. As
printed, for every draw of participation,

.. math:: \sum_{k=1}^Np_\tau^ks_\tau^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E+l})\bigr) \le
   z_\tau\sum_{k=1}^Np_\tau^ks_\tau^k\Gamma_k .

The condition is about means, the statement about single draws: in a draw in which one client works alone, the
left-hand side is positive wherever that client is better off than at :math:`w^*`. Nor is it true on average
(``published@expected``): :math:`\bar w_{\tau E+l}` depends on who works. Start at :math:`w^*` with two clients that
work or not by fair coins; a client that works alone has moved towards its own minimum.

**Derivation of the corrected form.** Compare with the start of the round, which no draw of the round influences. By
convexity, and because :math:`\|\nabla F_k(\bar w_{\tau E})\| \le G`,

.. math:: F_k(\bar w_{\tau E+i}) \ge F_k(\bar w_{\tau E}) - G\|\bar w_{\tau E+i} - \bar w_{\tau E}\| , \qquad
   \mathbb E_\xi\|\bar w_{\tau E+i} - \bar w_{\tau E}\| \le \eta_\tau G\sum_{j<i}A_j , \quad A_j =
   \sum_kp_\tau^k\alpha_{\tau E+j}^k .

Hence, with :math:`P_\tau = \sum_kp_\tau^ks_\tau^k = \sum_iA_i` and :math:`\sum_{j<i}A_jA_i = \frac12(P_\tau^2 -
\sum_iA_i^2) \le \frac12(1 - \frac1E)P_\tau^2`,

.. math:: \mathbb E_\xi\sum_{i,k}p_\tau^k\alpha_{\tau E+i}^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E+i})\bigr) \le
   \sum_kp_\tau^ks_\tau^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E})\bigr)
   + \frac{\eta_\tau G^2}{2}\Bigl(1 - \frac1E\Bigr)P_\tau^2 .

Now the mean over participation may be taken inside: :math:`\sum_k\mathbb E[p_\tau^ks_\tau^k](F_k(w^*) - F_k(\bar
w_{\tau E}))` is :math:`c_\tau(F(w^*) - F(\bar w_{\tau E})) \le 0` if :math:`z_\tau = 0`, and at most
:math:`\sum_k\mathbb E[p_\tau^ks_\tau^k]\Gamma_k` in any case. What comes in addition is of the order of
:math:`\eta_\tau`, hence of the second order in (62). With :math:`c_\tau = \min_k\mathbb E[p_\tau^ks_\tau^k]/p^k` in
general, the same computation gives :math:`\sum_k(\mathbb E[p_\tau^ks_\tau^k] - c_\tau p^k)\Gamma_k`
(``corrected@graded``): no indicator, zero in the homogeneous case, and continuous.

Instances: rounds with random participation under schemes A, B, C, see
:mod:`~fltheory.bounds.flexible_participation.draws`. On average the left-hand side
is :math:`c_\tau(F(w^*) - F(\bar w_{\tau E})) \le 0` plus a term of the order of :math:`\eta_\tau`, so it is positive
only for :math:`z_\tau = 0` and a start close to :math:`w^*`; half of all points are such, without noise. All forms are
searched in the same space.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, Smallest
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.draws import PATHS, bounded_gradients
from fltheory.bounds.flexible_participation.experiments import BOUNDED_COEFFICIENTS
from fltheory.bounds.flexible_participation.symbols import active_drawn_at, p_drawn, s_drawn, w_bar, w_best, z_tau
from fltheory.bounds.quantities import scalar
from fltheory.bounds.symbols import E, F, G_sq, Gamma, N, eta, i, k, p, w_star

common = scalar(
    "common", r"c_\tau", "smallest ratio of expected contribution and objective weight", domain="nonnegative"
)

COMMON = (common, Smallest(EE(p_drawn[k] * s_drawn[k]) / p[k], (k, 1, N)))

at_best = Sum(p_drawn[k] * s_drawn[k] * (F(k, w_star) - F(k, w_best)), (k, 1, N))
along = Sum(Sum(p_drawn[k] * active_drawn_at[k, i] * (F(k, w_star) - F(k, w_bar[i])), (k, 1, N)), (i, 0, E - 1))
moved = eta * G_sq / 2 * (1 - 1 / E) * EE(Sum(p_drawn[k] * s_drawn[k], (k, 1, N)) ** 2)
gaps = Sum(EE(p_drawn[k] * s_drawn[k]) * Gamma[k], (k, 1, N))

claim = Claim(
    id="ruan.eq-60",
    kind=Kind.LEMMA,
    title="heterogeneity term vanishes when z = 0",
    citation=Citation("ruan", "(60)"),
    forms=(
        Form(statement=Le(at_best, z_tau * Sum(p_drawn[k] * s_drawn[k] * Gamma[k], (k, 1, N)))),
        Form(
            variant="published@expected",
            statement=Le(EE(at_best), z_tau * gaps),
            note="expectation over participation and noise on both sides",
        ),
        Form(
            variant="corrected",
            statement=Le(EE(along), z_tau * gaps + moved),
            note="expectations, the sum over steps, and what the round moves in addition",
        ),
        Form(
            variant="corrected@graded",
            statement=Le(EE(along), Sum((EE(p_drawn[k] * s_drawn[k]) - common * p[k]) * Gamma[k], (k, 1, N)) + moved),
            where=(COMMON,),
            note="instead of the indicator, by how much participation is heterogeneous",
        ),
    ),
    assumptions=(bounded_gradients, BOUNDED_COEFFICIENTS),
    check=PATHS,
)
