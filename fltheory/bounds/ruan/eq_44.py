r"""Equation (44): what one virtual step does to the distance.

With :math:`\gamma_\tau = 2\eta_\tau(1 - (1+\theta)L\eta_\tau)` and :math:`\eta_\tau \le \frac{1}{2(1+\theta)L}`, as
printed, for every outcome,

.. math:: \|\bar w_{\tau E+i+1} - w^*\|^2 \le {} & \Bigl(1 - \tfrac12\mu\eta_\tau\sum_kp_\tau^k\alpha_{\tau
   E+i}^k\Bigr)\|\bar w_{\tau E+i} - w^*\|^2
   + \eta_\tau^2\Bigl\|\sum_kp_\tau^k\alpha_{\tau E+i}^k(\bar g_{\tau E+i}^k - g_{\tau E+i}^k)\Bigr\|^2 \\
   & + (2 + \mu\eta_\tau)\sum_kp_\tau^k\alpha_{\tau E+i}^k\|\bar w_{\tau E+i} - w_{\tau E+i}^k\|^2 +
   2(2+\theta)L\eta_\tau^2\sum_kp_\tau^k\alpha_{\tau E+i}^k\Gamma_k \\
   & + \gamma_\tau(1 - \eta_\tau L)\sum_kp_\tau^k\alpha_{\tau E+i}^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E+i})\bigr) .

The term :math:`A_2` of (29) is missing. Its mean is zero, but it has both signs: one client and one step are enough
for an outcome of the noise that leads away from the optimum by more than the bound allows.

**Derivation of the corrected form.** Everything from (30) to (43) is true for every outcome, so that (44) plus

.. math:: A_2 = 2\eta_\tau\Bigl\langle\bar w_{\tau E+i} - w^* - \eta_\tau\sum_kp_\tau^k\alpha_{\tau E+i}^k\bar g_{\tau
   E+i}^k,
   \sum_kp_\tau^k\alpha_{\tau E+i}^k(\bar g_{\tau E+i}^k - g_{\tau E+i}^k)\Bigr\rangle

is true for every outcome (``corrected@pathwise``). Given the models of step :math:`i`, the left vector is fixed and
the right one has mean zero. So (44) is true in expectation (``corrected``). It is an equality at the optimum, where
only noise moves the model. In (33) the weight of the second sum is printed :math:`p_k`; it is :math:`p_\tau^k`.

Instances: rounds with noise in which no step is idle, see :mod:`~fltheory.bounds.flexible_participation.round`.

Source: Ruan et al., AISTATS 2021, appendix A.1.3.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, Inner
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import (
    STEPS,
    ascent,
    bounded_coefficients,
    distance,
    drift,
    factor,
    gaps,
    noise_sq,
    shrinking,
    small_rate,
)
from fltheory.bounds.flexible_participation.symbols import active, g_bar_loc, g_loc, gamma_tau, p_tau, theta, w_bar
from fltheory.bounds.symbols import E, L, N, eta, i, k, mu, w_star

bound = (
    shrinking * distance(i)
    + eta**2 * noise_sq(i)
    + (2 + mu * eta) * drift(i)
    + 2 * (2 + theta) * L * eta**2 * gaps(i)
    + gamma_tau * (1 - eta * L) * ascent(i)
)
pull = Sum(p_tau[k] * active[k, i] * g_bar_loc[k, i], (k, 1, N))
noise = Sum(p_tau[k] * active[k, i] * (g_bar_loc[k, i] - g_loc[k, i]), (k, 1, N))

claim = Claim(
    id="ruan.eq-44",
    kind=Kind.LEMMA,
    title="one-step bound before (45)",
    citation=Citation("ruan", "(44)"),
    forms=(
        Form(statement=Le(distance(i + 1), bound), where=(factor,), over=((i, 0, E - 1),)),
        Form(
            variant="corrected",
            statement=Le(EE(distance(i + 1)), EE(bound)),
            where=(factor,),
            over=((i, 0, E - 1),),
            note="expectation over the noise on both sides",
        ),
        Form(
            variant="corrected@pathwise",
            statement=Le(distance(i + 1), bound + 2 * eta * Inner(w_bar[i] - w_star - eta * pull, noise)),
            where=(factor,),
            over=((i, 0, E - 1),),
            note="the term A_2 of (29) kept",
        ),
    ),
    assumptions=(small_rate, bounded_coefficients),
    uses=("ruan.eq-31", "ruan.eq-35", "ruan.eq-38"),
    check=STEPS,
)
