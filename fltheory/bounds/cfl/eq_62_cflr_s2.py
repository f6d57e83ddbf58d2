r"""Equation (62) for CFL-R in scenario S2: progress of one round.

.. math:: \mathbb E\|\omega_t + \Delta\omega_t - \omega^*\|^2 \le \bigl(1 - \tfrac{\mu\eta}2\bigr)\mathbb E\|\omega_t
   - \omega^*\|^2
   - \eta\,\mathbb E(f(\omega_t) - f^*) + c_1(t)\eta^2 + c_2(t)\eta^3,

.. math:: c_1 = c_{p_G} + \frac{\sum_\tau p_\tau^2\,\sigma^2}{NK}, \qquad c_2 = \frac{12Lc_{p_G}}{\eta_g^2} +
   \frac{12L\sigma^2}{\eta_g^2K}, \qquad c_{p_G} = G^2 + D^2\sum_\tau p_\tau^2,

for :math:`\eta = K\eta_l\eta_g` at most half of (61). (In the denominator of :math:`c_1` stands the square of
:math:`\sum_\tau p_{t,i}` for :math:`\sum_\tau p_{\tau,i} = 1`, a misprint, which is also 1 for equal weights.) With
equal weights :math:`\sum_\tau p_\tau^2 = 1/t`.

Readings of the client drift: ``centred``, drifts that sum to zero over clients; ``drawn``, one draw with mean zero per
client that stays. Both fail: the model has seen the round drifts of all earlier rounds, see ``cfl.eq-62-cflr-s1``, and
in the second reading the mean client drift too. With drifts that sum to zero the term :math:`G^2\eta^2`, which is not
there on these instances, hides the failure unless :math:`G` is small.

**Derivation of the corrected form.** That of ``cfl.eq-62-cflr-s1``, for quadratics with one Hessian; the argument is
the same for every law of the drifts, only the part that earlier rounds have seen differs. Here :math:`V_t =
\|\bar\delta\|^2 + \frac{D^2}{N}\sum_{\tau<t}p_\tau^2`.

**Derivation of the sharp form.** As for ``cfl.eq-62-cflr-s1``: for quadratics with one Hessian the term of third order
can be dropped and the gap counts twice (``sharp``).

Instances: one or two eigenvalues, up to five clients, four local steps, sixty rounds, no growth (:math:`A = B = 0`),
expectations by the exact engine, for drawn drifts over a draw and its mirror image; the relation is checked in every
round.

Source: Guo, Lin, Tang, 2021, appendix B.4, (62), (64).
"""

from __future__ import annotations

from sympy import Sum

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_symbols import D, G
from fltheory.bounds.cfl._recursion import STEP, constants, corrected, p_sq, published, runs, sharp, t_now
from fltheory.bounds.cfl._symbols import s
from fltheory.bounds.claim import Citation, Claim, Form, Kind

CFLR_S2 = constants(Sum(1 / t_now**2, (s, 1, t_now)), G**2 + D**2 * p_sq)
"""Weights are 1/t for all rounds so far."""
EVERY_CASE = runs("S2", "S2-centred", remembers=True)

claim = Claim(
    id="cfl.eq-62-cflr-s2",
    kind=Kind.BOUND,
    title="one-round recursion of CFL-R in scenario S2",
    citation=Citation("cfl", "(62)"),
    forms=(
        Form(variant="published@centred", statement=published, where=CFLR_S2),
        Form(
            variant="published@drawn",
            statement=published,
            where=CFLR_S2,
            check=runs("S2", remembers=True),
            note="one draw of the drift per client, kept for ever",
        ),
        Form(
            variant="corrected",
            statement=corrected,
            where=CFLR_S2,
            check=EVERY_CASE,
            note="with the drift that earlier rounds have seen",
        ),
        Form(
            variant="sharp",
            statement=sharp,
            where=CFLR_S2,
            check=EVERY_CASE,
            note="twice the gap, without the term of third order, for quadratics with one Hessian",
        ),
    ),
    assumptions=(STEP,),
    uses=("cfl.eq-59", "cfl.eq-61", "cfl.lemma-3.5.2"),
    check=runs("S2-centred", remembers=True),
    observation=_observed.recursion(True),
)
