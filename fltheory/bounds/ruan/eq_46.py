r"""Equation (46): the step of (44) with its small terms put together.

With :math:`C_{\tau E+i}` of (45), which (46) calls :math:`B_{\tau E+i}`, as printed, for every outcome,

.. math:: \|\bar w_{\tau E+i+1} - w^*\|^2 \le \Bigl(1 - \tfrac12\mu\eta_\tau\sum_kp_\tau^k\alpha_{\tau
   E+i}^k\Bigr)\|\bar w_{\tau E+i} - w^*\|^2
   + \eta_\tau^2C_{\tau E+i} + 2\eta_\tau\sum_kp_\tau^k\alpha_{\tau E+i}^k\bigl(F_k(w^*) - F_k(\bar w_{\tau
   E+i})\bigr) .

Three things go wrong. The noise term of (29) is missing, as in (44). The drift in (45) lacks :math:`1/\eta_\tau^2`.
And :math:`\kappa = \gamma_\tau(1 - \eta_\tau L)` is replaced by its upper bound :math:`2\eta_\tau`, although the sum
that it multiplies is usually negative. The reading ``published@expected`` repairs the first two, so that only the
third is left.

With :math:`w_{\tau E}^k = \bar w_{\tau E}`, as in the first step, that reading can be proved for :math:`\theta^2 \le
2`, and for no larger :math:`\theta`. Take one working client with curvature :math:`\mu = L`, objective weight close
to 1, :math:`p_\tau = \theta p`, gradient :math:`a` at :math:`w^*` and the model at distance :math:`\delta` beyond it.
Up to the factor :math:`\eta_\tau p_\tau` left minus right is :math:`-2\eta_\tau a^2 + 2\eta_\tau\theta\mu a\delta +
(\eta_\tau\theta\mu^2 - \frac12\mu)\delta^2`, which can be positive if and only if :math:`\eta_\tau\mu(\theta^2 +
2\theta) > 1`; at :math:`\eta_\tau = \frac{1}{2(1+\theta)L}` this says :math:`\theta^2 > 2`.

**Derivation of the corrected form.** Take (44) in expectation, :math:`\mu\eta_\tau \le \frac{\mu}{2(1+\theta)L}`,
divide the drift in (45) by :math:`\eta_\tau^2`, and keep :math:`\kappa`. Nothing is lost: :math:`\kappa` is the same
in all steps of the round, :math:`0 \le \kappa \le 2\eta_\tau`, and only its upper bound is needed later, where it
multiplies :math:`\Gamma_k \ge 0`.

Instances: rounds with noise in which no step is idle. By this computation ``published@expected`` can fail only for a
rate near its largest value, a coefficient well above the objective weight, curvatures close to each other and a model
close to :math:`w^*`, and noise only hides it. So it is searched among first steps at the largest rate, with condition
numbers up to 2, without noise; ``corrected@first-step`` is searched there too.

Source: Ruan et al., AISTATS 2021, appendix A.1.3.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds._algebra import EE
from fltheory.bounds._claim import Claim, Form, Kind, Source
from fltheory.bounds._symbols import E, L, eta, i
from fltheory.bounds.ruan._round import LONGEST_STEPS, STEPS, ascent, distance, excess, factor, shrinking, small_rate
from fltheory.bounds.ruan._symbols import gamma_tau

steps = ((i, 0, E - 1),)
scaled = excess(i, 1 / eta**2)

claim = Claim(
    id="ruan.eq-46",
    kind=Kind.LEMMA,
    title="one-step bound with the quantity of (45)",
    source=Source("ruan", "(46) with (45)"),
    forms=(
        Form(
            statement=Le(distance(i + 1), shrinking * distance(i) + eta**2 * excess(i) + 2 * eta * ascent(i)),
            over=steps,
        ),
        Form(
            variant="published@expected",
            statement=Le(EE(distance(i + 1)), EE(shrinking * distance(i) + eta**2 * scaled + 2 * eta * ascent(i))),
            over=steps,
            check=LONGEST_STEPS,
            note="expectations, and the missing factor of (45) restored",
        ),
        *(
            Form(
                variant=variant,
                statement=Le(
                    EE(distance(i + 1)),
                    EE(shrinking * distance(i) + eta**2 * scaled + gamma_tau * (1 - eta * L) * ascent(i)),
                ),
                where=(factor,),
                over=steps,
                check=check,
                note="expectations, the missing factor of (45) restored, the factor of (44) kept",
            )
            for variant, check in (("corrected", STEPS), ("corrected@first-step", LONGEST_STEPS))
        ),
    ),
    assumptions=(small_rate,),
    uses=("ruan.eq-44",),
    check=STEPS,
)
