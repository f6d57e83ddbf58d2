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

In the first step, where :math:`w_{\tau E}^k = \bar w_{\tau E}`, that reading is true for :math:`\theta^2 \le 2`, and
for no larger :math:`\theta`. Write :math:`\delta = \bar w_{\tau E} - w^*`, :math:`g` and :math:`a` for the gradients of
a client at :math:`\bar w_{\tau E}` and :math:`w^*`, and :math:`u = g - a`. The noise is the same on both sides.
Jensen's inequality with the weights :math:`p^k` bounds the square of the aggregated gradient by
:math:`\theta\sum_kp_\tau^k\alpha_{\tau E}^k\|g\|^2`, so that it is enough to show for every client

.. math:: \eta_\tau\theta\|g\|^2 + \tfrac12\mu\|\delta\|^2 + 2\bigl(F_k(\bar w_{\tau E}) - F_k(w^*) - \langle g,
   \delta\rangle\bigr) - 2(2+\theta)L\eta_\tau\Gamma_k \le 0 .

Here :math:`2L\Gamma_k \ge \|a\|^2`, and :math:`\theta\|a + u\|^2 - (2+\theta)\|a\|^2 \le (\theta +
\frac12\theta^2)\|u\|^2`. With :math:`r = \mu/L < 1` the bracket is at most :math:`-\frac{1}{2(1-r)}(\frac1L\|u\|^2 +
\mu\|\delta\|^2 - 2r\langle u, \delta\rangle)`, by the interpolation inequality of smooth and strongly convex functions.
For :math:`\eta_\tau \le \frac{1}{2(1+\theta)L}` and :math:`\theta^2 \le 2` one has :math:`\eta_\tau(\theta +
\frac12\theta^2) \le \frac{1}{2L}`, with equality at the ends. So with :math:`y = \|u\|/(L\|\delta\|)` it remains to
see, after multiplication by :math:`2(1-r)/(L\|\delta\|^2)`, that :math:`(1-r)(y^2 + r) \le 2(y^2 + r - 2ry)`, that is
:math:`(1+r)y^2 - 4ry + r + r^2 \ge 0`. The smallest value of this is :math:`r(1-r)^2/(1+r)`. The case :math:`r = 1` is
the limit.

For larger :math:`\theta` take one working client with curvature :math:`\mu = L`, objective weight close
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

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import (
    LONGEST_STEPS,
    STEPS,
    ascent,
    bounded_coefficients,
    distance,
    excess,
    factor,
    shrinking,
    small_rate,
)
from fltheory.bounds.flexible_participation.symbols import gamma_tau
from fltheory.bounds.symbols import E, L, eta, i

steps = ((i, 0, E - 1),)
scaled = excess(i, 1 / eta**2)

claim = Claim(
    id="ruan.eq-46",
    kind=Kind.LEMMA,
    title="one-step bound with the quantity of (45)",
    citation=Citation("ruan", "(46) with (45)"),
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
    assumptions=(small_rate, bounded_coefficients),
    uses=("ruan.eq-44",),
    check=STEPS,
)
