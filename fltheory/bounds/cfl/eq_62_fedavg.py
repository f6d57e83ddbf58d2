r"""Equation (62) for FedAvg: progress of one round.

.. math:: \mathbb E\|\omega_t + \Delta\omega_t - \omega^*\|^2 \le \bigl(1 - \tfrac{\mu\eta}2\bigr)\mathbb E\|\omega_t
   - \omega^*\|^2
   - \eta\,\mathbb E(f(\omega_t) - f^*) + c_1(t)\eta^2 + c_2(t)\eta^3,

.. math:: c_1 = c_{p_G} + \frac{\sum_{\tau=1}^tp_\tau^2\,\sigma^2}{NK(\sum_{\tau=1}^tp_t)^2}, \qquad c_2 =
   \frac{12Lc_{p_G}}{\eta_g^2} + \frac{12L\sigma^2}{\eta_g^2K}, \qquad c_{p_G} = G^2 + D^2,

for :math:`\eta = K\eta_l\eta_g` at most half of (61). FedAvg has :math:`p_t = 1` and :math:`p_\tau = 0` for earlier
rounds. So the sum in the denominator of :math:`c_1`, as printed, is :math:`t`, and the noise is claimed to die out like
:math:`1/t^2` (form ``published@literal``). With a constant step it does not: without drifts and close to the
minimiser, later rounds have more variance than that. The other forms take :math:`\sum_\tau p_\tau = 1` for it, which
must be meant.

Readings of the client drift. ``centred``: new clients in every round, or the same clients with drifts that sum to
zero. ``drawn``: the same clients, one draw with mean zero each that stays. Then the model moves towards
:math:`\omega^* - H^{-1}\bar\delta` and keeps a distance there, while (62) lets it shrink further as long as
:math:`\eta\lambda G^2 < \|\bar\delta\|^2`.

**Derivation of the corrected form.** That of ``cfl.eq-62-cflr-s1``, for quadratics with one Hessian; the argument is
the same for every law of the drifts, only the part that earlier rounds have seen differs. Here :math:`V_t =
\|\bar\delta\|^2` for drifts that stay, 0 otherwise.

**Derivation of the sharp form.** As for ``cfl.eq-62-cflr-s1``, for quadratics with one Hessian, but with gradients that
are :math:`\rho_i = 1 \pm A` times that of the objective, by a coin for every client and round.
Along an eigenvalue :math:`\lambda` of the objective, client :math:`i` keeps :math:`1 - \lambda P_i` of :math:`e` and
passes on :math:`Q_i` of its drift, with

.. math:: Q_i = \frac\eta K\sum_{k<K}(1 - \eta_l\rho_i\lambda)^k \in [0, \eta], \qquad
   \eta\rho_i\bigl(1 - \tfrac12\eta\rho_i\lambda\bigr) \le P_i = \rho_iQ_i \le \eta\rho_i .

The largest step is at most :math:`\frac1{4Lc_{p_B}}`, and :math:`\mathbb E\rho_i^2 = 1 + A^2 = c_{p_B}`, so
:math:`\lambda\eta c_{p_B} \le \frac14`. For the mean :math:`P` of all :math:`P_i` therefore :math:`\mathbb EP \ge
\frac78\eta`, and :math:`\mathbb EP^2 \le \eta^2c_{p_B}` by convexity:

.. math:: \mathbb E(1 - \lambda P)^2 \le 1 - \tfrac74\lambda\eta + \lambda^2\eta^2c_{p_B}
   \le 1 - \tfrac32\lambda\eta \le 1 - \tfrac{\mu\eta}2 - \lambda\eta ,

contraction and twice the gap. Squares of drifts and noise are as before since :math:`0 \le Q_i \le \eta`. In the cross
term drifts that are new have mean zero, given the coins; drifts that stay have the factor :math:`\mathbb E(1 - \lambda
P)Q_i`, which is the same for all clients and at most :math:`\eta`, so only :math:`\bar\delta` is left. Hence no term of
third order, and twice the gap (``sharp@drawn``). As a consequence, no instance of these checks can show that the other
forms need :math:`c_2`, or that their contraction or gap must not be doubled.

Instances: one or two eigenvalues, up to five clients, four local steps, sixty rounds, expectations by the exact engine,
for drawn drifts over a draw and its mirror image; the relation is checked in every round. In ``published@centred``,
``corrected@drawn`` and ``sharp@drawn`` the round drift grows with the gradient: a gradient is :math:`1 \pm A` times
that of the objective, with a coin for every client and round, so that :math:`L = 1 + A` for the largest eigenvalue 1,
and the largest step is smaller by :math:`c_{p_B} = 1 + A^2`. Else there is no growth (:math:`A = B = 0`). Drifts rarely
are small enough for ``published@literal`` to fail, so it is searched twice as hard as usual, as are the other forms.

Source: Guo, Lin, Tang, 2021, appendix B.4, (62), (66).
"""

from __future__ import annotations

from sympy import Integer

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_symbols import D, G
from fltheory.bounds.cfl._recursion import STEP, constants, corrected, p_now, published, runs, sharp, t_now
from fltheory.bounds.claim import Citation, Claim, Form, Kind

FEDAVG = constants(Integer(1), G**2 + D**2)
FEDAVG_PRINTED = ((p_now, t_now), *constants(Integer(1), G**2 + D**2, p_now))
"""The weight of the current round is 1, of all earlier ones 0."""
CASES = ("S1", "S1-centred", "S2", "S2-centred")

claim = Claim(
    id="cfl.eq-62-fedavg",
    kind=Kind.BOUND,
    title="one-round recursion of FedAvg",
    citation=Citation("cfl", "(62)"),
    forms=(
        Form(
            variant="published@literal",
            statement=published,
            where=FEDAVG_PRINTED,
            check=runs("S1", "S1-centred", "S2-centred", remembers=False, effort=6),
            note="p_t under the sum over tau in c_1, as printed; drifts as in centred",
        ),
        Form(
            variant="published@centred",
            intended=("published@literal",),
            statement=published,
            where=FEDAVG,
            check=runs("S1", "S1-centred", "S2-centred", remembers=False, growing=True),
            note="sum of p_tau, which is 1, in c_1; new clients, or drifts that sum to zero",
        ),
        Form(
            variant="published@drawn",
            statement=published,
            where=FEDAVG,
            check=runs("S2", remembers=False),
            note="sum of p_tau in c_1; one draw of the drift per client, kept for ever",
        ),
        Form(
            variant="corrected@drawn",
            statement=corrected,
            where=FEDAVG,
            check=runs(*CASES, remembers=False, growing=True),
            note="with the drift that earlier rounds have seen",
        ),
        Form(
            variant="sharp@drawn",
            statement=sharp,
            where=FEDAVG,
            check=runs(*CASES, remembers=False, growing=True),
            note="twice the gap, without the term of third order, for quadratics with one Hessian",
        ),
    ),
    assumptions=(STEP,),
    uses=("cfl.eq-59", "cfl.eq-61"),
    check=runs("S1", "S1-centred", "S2-centred", remembers=False),
    observation=_observed.recursion(False),
)
