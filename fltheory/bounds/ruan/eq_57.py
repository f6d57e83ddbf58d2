r"""Equation (57): the expected second-order term of a round.

With :math:`C_\tau = \sum_i C_{\tau E+i}` and :math:`C_{\tau E+i}` from (45), as printed

.. math:: \mathbb E_\xi[C_\tau] = \sum_{k=1}^N(p_\tau^k)^2s_\tau^k\sigma_k^2 +
   2(2+\theta)L\sum_{k=1}^Np_\tau^ks_\tau^k\Gamma_k
   + \Bigl(2 + \frac{\mu}{2(1+\theta)L}\Bigr)E(E-1)G^2\Bigl(1 + \theta\Bigl(\sum_{k=1}^Np_\tau^k -
   2\Bigr)_+\Bigr)\sum_{k=1}^Np_\tau^ks_\tau^k .

The equality sign stands for an upper bound, since Lemma A.3 is one. Reading it so (``published@inequality``) is not
enough: (45) lacks the factor :math:`1/\eta_\tau^2` on its first term, so that the two sides scale differently, and
the bound fails where :math:`\eta_\tau > 1`.

**Derivation of the corrected form.** In (44) the drift enters without :math:`\eta_\tau^2`; so
:math:`\eta_\tau^2C_{\tau E+i}` contains it only if (45) carries :math:`1/\eta_\tau^2` there. Lemma A.2 bounds the
noise by :math:`\sum_k(p_\tau^k)^2\alpha_{\tau E+i}^k\sigma_k^2`. Lemma A.3 bounds the drift of those who work by
:math:`(E-1)G^2\eta_\tau^2(\sum_kp_\tau^ks_\tau^k + (\sum_kp_\tau^k-2)_+\sum_k\frac{(p_\tau^k)^2}{p^k}s_\tau^k)`, and
:math:`p_\tau^k/p^k \le \theta`. Sum over :math:`i`. The sum over steps could use :math:`i` in place of :math:`E - 1`
in the lemma, so :math:`E(E-1)` loses about a factor of two. For :math:`E = 1` it is an equality.

Instances: rounds with noise, see :mod:`~fltheory.bounds.flexible_participation.round`. The conditions of the proof
allow :math:`\eta_\tau > 1` only for
:math:`L < \frac14`, so curvatures go down to :math:`\frac1{128}`, for all forms.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from sympy import Eq, Le, Sum

from fltheory.bounds.algebra import EE, Pos
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import (
    ROUNDS,
    bounded_coefficients,
    bounded_gradients,
    excess,
    small_rate,
    steps_weighted,
)
from fltheory.bounds.flexible_participation.symbols import p_tau, s_tau, theta
from fltheory.bounds.symbols import E, G_sq, Gamma, L, N, eta, i, k, mu, sigma_sq

bound = (
    Sum(p_tau[k] ** 2 * s_tau[k] * sigma_sq[k], (k, 1, N))
    + 2 * (2 + theta) * L * Sum(p_tau[k] * s_tau[k] * Gamma[k], (k, 1, N))
    + (2 + mu / (2 * (1 + theta) * L))
    * E
    * (E - 1)
    * G_sq
    * (steps_weighted + theta * Pos(Sum(p_tau[k], (k, 1, N)) - 2) * steps_weighted)
)
printed, scaled = (Sum(EE(excess(i, scale)), (i, 0, E - 1)) for scale in (1, 1 / eta**2))

claim = Claim(
    id="ruan.eq-57",
    kind=Kind.LEMMA,
    title="bound on E[C]",
    citation=Citation("ruan", "(57) with (45)"),
    forms=(
        Form(statement=Eq(printed, bound, evaluate=False)),
        Form(
            variant="published@inequality",
            statement=Le(printed, bound),
            note="at most instead of equal",
        ),
        Form(
            variant="corrected",
            statement=Le(scaled, bound),
            note="at most, and the drift in (45) divided by the squared learning rate",
        ),
    ),
    assumptions=(small_rate, bounded_gradients, bounded_coefficients),
    uses=("ruan.lemma-a.2", "ruan.lemma-a.3"),
    check=ROUNDS,
)
