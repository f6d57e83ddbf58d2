r"""Equation (49): the steps of a round added up.

With :math:`\Delta_t = \|\bar w_t - w^*\|^2`, :math:`C_\tau = \sum_iC_{\tau E+i}` and :math:`l` the step at which
:math:`\sum_kp_\tau^k\alpha_{\tau E+i}^kF_k(\bar w_{\tau E+i})` is smallest, as printed, for every outcome,

.. math:: \Delta_{(\tau+1)E} \le \Delta_{\tau E} -
   \tfrac12\mu\eta_\tau\sum_{i=0}^{E-1}\sum_{k=1}^Np_\tau^k\alpha_{\tau E+i}^k\Delta_{\tau E+i}
   + \eta_\tau^2C_\tau + 2\eta_\tau\sum_{k=1}^Np_\tau^ks_\tau^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E+l})\bigr) .

It inherits what is wrong with (46), even in expectation and with (45) repaired (``published@expected``): for :math:`E =
1` both say the same. In addition, :math:`l` does not do what it is meant for. It compares sums over different clients;
a step in which nobody works has the sum 0, the smallest one if the functions are not negative, and adding a constant to
one :math:`F_k` changes :math:`l`. That :math:`\sum_i\sum_kp_\tau^k\alpha_{\tau E+i}^kF_k(\bar w_{\tau E+i}) \ge
\sum_kp_\tau^ks_\tau^kF_k(\bar w_{\tau E+l})` does not follow.

**Derivation of the corrected form.** Add (46) in its corrected form over :math:`i`; the sum over steps stays as it
is,

.. math:: \mathbb E_\xi\Delta_{(\tau+1)E} \le \mathbb E_\xi\Bigl[\Delta_{\tau E} -
   \tfrac12\mu\eta_\tau\sum_{i,k}p_\tau^k\alpha_{\tau E+i}^k\Delta_{\tau E+i} + \eta_\tau^2C_\tau
   + \gamma_\tau(1 - \eta_\tau L)\sum_{i,k}p_\tau^k\alpha_{\tau E+i}^k\bigl(F_k(w^*) - F_k(\bar w_{\tau
   E+i})\bigr)\Bigr] .

How the proof goes on from here is said at (60) and (62).

Instances: rounds with noise and any participation; for ``published@expected``, which for :math:`E = 1` is that of (46),
the first steps described there, in which ``corrected@first-step`` is searched too.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import (
    LONGEST_STEPS,
    ROUNDS,
    ascent,
    bounded_coefficients,
    distance,
    excess,
    factor,
    small_rate,
    working,
)
from fltheory.bounds.flexible_participation.symbols import gamma_tau, p_tau, s_tau, w_best, w_end, w_start
from fltheory.bounds.symbols import E, F, L, N, eta, i, k, mu, w_star

steps = (i, 0, E - 1)
end = NormSq(w_end - w_star)
progress = NormSq(w_start - w_star) - mu * eta / 2 * Sum(working(i) * distance(i), steps)
printed, scaled = (eta**2 * Sum(excess(i, scale), steps) for scale in (1, 1 / eta**2))
at_best = Sum(p_tau[k] * s_tau[k] * (F(k, w_star) - F(k, w_best)), (k, 1, N))

claim = Claim(
    id="ruan.eq-49",
    kind=Kind.LEMMA,
    title="summed over a round",
    citation=Citation("ruan", "(49)"),
    forms=(
        Form(statement=Le(end, progress + printed + 2 * eta * at_best)),
        Form(
            variant="published@expected",
            statement=Le(EE(end), EE(progress + scaled + 2 * eta * at_best)),
            check=LONGEST_STEPS,
            note="expectations, and the missing factor of (45) restored",
        ),
        *(
            Form(
                variant=variant,
                statement=Le(EE(end), EE(progress + scaled + gamma_tau * (1 - eta * L) * Sum(ascent(i), steps))),
                where=(factor,),
                check=check,
                note="expectations, the sum over steps kept, the factor of (44) kept",
            )
            for variant, check in (("corrected", ROUNDS), ("corrected@first-step", LONGEST_STEPS))
        ),
    ),
    assumptions=(small_rate, bounded_coefficients),
    uses=("ruan.eq-46",),
    check=ROUNDS,
)
