r"""Equation (62) for CFL-R in scenario S1: progress of one round.

.. math:: \mathbb E\|\omega_t + \Delta\omega_t - \omega^*\|^2 \le \bigl(1 - \tfrac{\mu\eta}2\bigr)\mathbb E\|\omega_t
   - \omega^*\|^2
   - \eta\,\mathbb E(f(\omega_t) - f^*) + c_1(t)\eta^2 + c_2(t)\eta^3,

.. math:: c_1 = c_{p_G} + \frac{\sum_\tau p_\tau^2\,\sigma^2}{NK}, \qquad c_2 = \frac{12Lc_{p_G}}{\eta_g^2} +
   \frac{12L\sigma^2}{\eta_g^2K}, \qquad c_{p_G} = (G^2 + D^2)\sum_\tau p_\tau^2,

for :math:`\eta = K\eta_l\eta_g` at most half of (61). (In the denominator of :math:`c_1` stands the square of
:math:`\sum_\tau p_{t,i}` for :math:`\sum_\tau p_{\tau,i} = 1`, a misprint, which is also 1 for equal weights.) With
equal weights :math:`\sum_\tau p_\tau^2 = 1/t`.

The proof takes expectations as if the drifts of all :math:`t` rounds were independent of :math:`\omega_t`; but
:math:`\omega_t` has been made with those of the first :math:`t - 1`. After a while :math:`\omega_t \approx \omega^* -
H^{-1}b_t` with :math:`b_t` the mean of the drifts so far, a distance that falls like :math:`1/t` and no faster, while
(62) claims a geometric decrease down to the order of :math:`\eta/t`.

**Derivation of the corrected form.** For quadratics with one Hessian. Along an eigenvalue :math:`\lambda` the round is
:math:`e' = (1 - \lambda P)e - P b + \nu` with :math:`P = \eta\,\frac1K\sum_{k<K}(1 - \eta_l\lambda)^k`, :math:`b` the
clients' mean of the drift in use and :math:`\nu` noise. Since :math:`\eta\lambda \le \frac14` and :math:`\eta_g \ge
1`, :math:`P \ge \frac78\eta`, so that :math:`(1 - \lambda P)^2 \le 1 - \lambda P(2 - \lambda P) \le 1 - \lambda\eta`,
which is at most :math:`1 - \frac{\mu\eta}2 - \frac{\lambda\eta}2`: contraction and gap of (62). :math:`P^2\mathbb
E\|b\|^2 \le \eta^2c_{p_G}` by convexity, and the noise has at most :math:`\eta^2\sum_\tau p_\tau^2\sigma^2/(NK)`. What
is left is the cross term. The part of :math:`b` that is new in this round drops out of it; the part that earlier
rounds have seen, with mean square :math:`V_t`, gives at most :math:`2\eta\sqrt{V_t\,\mathbb E\|e\|^2}` by Cauchy and
Schwarz. For other convex functions, with drifts that do not depend on the model, the same argument works with larger
constants and a step smaller by a constant factor; it is not carried out here.

Here :math:`V_t = \frac{G^2 + D^2}{N}\sum_{\tau<t}p_\tau^2`.

**Derivation of the sharp form.** The argument above never uses the term :math:`c_2\eta^3`, and gives away a third of
the contraction: :math:`x \mapsto x(2 - x)` increases up to 1, so that :math:`\lambda P(2 - \lambda P) \ge
\frac78\lambda\eta(2 - \frac7{32}) > \frac32\lambda\eta`, which is at least :math:`\frac{\mu\eta}2 + \lambda\eta`. So
for quadratics with one Hessian the term of third order can be dropped and the gap counts twice (``sharp``). For the
same reason no instance can show that the corrected form needs :math:`c_2`.

Instances: one or two eigenvalues, up to five clients, four local steps, sixty rounds, no growth (:math:`A = B = 0`),
expectations by the exact engine; the relation is checked in every round.

Source: Guo, Lin, Tang, 2021, appendix B.4, (62), (65).
"""

from __future__ import annotations

from sympy import Sum

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_symbols import D, G
from fltheory.bounds.cfl._recursion import STEP, constants, corrected, p_sq, published, runs, sharp, t_now
from fltheory.bounds.cfl._symbols import s
from fltheory.bounds.claim import Citation, Claim, Form, Kind

CFLR_S1 = constants(Sum(1 / t_now**2, (s, 1, t_now)), (G**2 + D**2) * p_sq)
"""Weights are 1/t for all rounds so far."""

claim = Claim(
    id="cfl.eq-62-cflr-s1",
    kind=Kind.BOUND,
    title="one-round recursion of CFL-R in scenario S1",
    citation=Citation("cfl", "(62)"),
    forms=(
        Form(statement=published, where=CFLR_S1),
        Form(
            variant="corrected",
            statement=corrected,
            where=CFLR_S1,
            note="with the drift that earlier rounds have seen",
        ),
        Form(
            variant="sharp",
            statement=sharp,
            where=CFLR_S1,
            note="twice the gap, without the term of third order, for quadratics with one Hessian",
        ),
    ),
    assumptions=(STEP,),
    uses=("cfl.eq-59", "cfl.eq-61", "cfl.lemma-3.5.3"),
    check=runs("S1", remembers=True),
    observation=_observed.recursion(True),
)
