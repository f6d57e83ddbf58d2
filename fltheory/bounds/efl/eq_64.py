r"""Equation (64): the recursion over one round.

With :math:`\overline B_\tau = \mathbb E_\xi[B_\tau]`, the sum of (47) over the round, and :math:`\overline H_\tau =
\mathbb E_\xi[(\sum_jh_{\tau E+j})^2]`, as published

.. math:: \mathbb E[\overline\Delta_{(\tau+1)E}] \le \Bigl(1 - \tfrac18\mu\eta_\tau\,\mathbb E\Bigl[\sum_k p_\tau^k
   s_\tau^k\Bigr]\Bigr)\overline\Delta_{\tau E} + \eta_\tau^2\,\mathbb E[\overline B_\tau + 2\overline H_\tau] +
   2\eta_\tau r_\tau\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k .

Readings: ``published@defined`` takes :math:`\overline B_\tau` and :math:`\overline H_\tau` as they are defined, with
the drift of (47) divided by :math:`\eta_\tau^2` as (49) uses it (:mod:`~fltheory.bounds.efl.eq_48`);
``published@literal`` without that division; ``published@59`` puts in the right-hand sides of (59) and (58), as Theorem
1 does. The last one inherits the slip of (59): its :math:`\overline B_\tau` may be negative
(:mod:`~fltheory.bounds.efl.lemma_3`), so that from the optimum the round moves away, and the right-hand side is below
zero.

For the quantities as defined the proof has gaps all the same: the factor :math:`2\eta_\tau` in (48), the expectation in
(62), and (63) divides by :math:`1 + \frac14\mu\eta_\tau\sum_k p_\tau^k s_\tau^k`, which is random and correlated with
the sum it divides, so that its terms no longer average to :math:`c_\tau p^k`. These are gaps of the argument; whether
the statement itself fails is another matter, and the search is about that. Both sides approach each other where hardly
anybody works.

**Derivation of the corrected form.** Sum (46) over the round, with :math:`\kappa = \gamma_\tau(1 - \eta_\tau L) \in
[0, 2\eta_\tau]`. Bound distances from below by the one at the start, :math:`\Delta_{\tau E+j} \ge \frac12\Delta_{\tau
E} - \|\bar\omega_{\tau E+j} - \bar\omega_{\tau E}\|^2`, which does not depend on who works; with
:math:`\frac12\mu\eta_\tau\sum_k p_\tau^k s_\tau^k \le 2` (from :math:`\eta_\tau \le \frac{4}{\mu E\theta}`) and (58)
the squares cost :math:`2\eta_\tau^2\overline H_\tau`. If :math:`r_\tau = 1`, the last sum is at most
:math:`2\eta_\tau\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k`. If :math:`r_\tau = 0`, convexity at the start of the round
gives :math:`\widetilde F_k(\bar\omega_{\tau E+j}) \ge \widetilde F_k(\bar\omega_{\tau E}) + \langle\nabla\widetilde
F_k(\bar\omega_{\tau E}), \bar\omega_{\tau E+j} - \bar\omega_{\tau E}\rangle`; the values add up to a non-positive
number by the corrected (62), and the inner products cost at most :math:`2\eta_\tau^2(E-1)G^2\,\mathbb
E\sum_k\frac{(p_\tau^k)^2}{p^k}s_\tau^k` by the inequality of Cauchy and Schwarz with (28) and (57). Together

.. math:: \mathbb E[\overline\Delta_{(\tau+1)E}] \le \Bigl(1 - \tfrac14\mu\eta_\tau\,\mathbb E\Bigl[\sum_k p_\tau^k
   s_\tau^k\Bigr]\Bigr)\overline\Delta_{\tau E} + \eta_\tau^2\,\mathbb E[\hat B_\tau] + 2\eta_\tau r_\tau\sum_k\mathbb
   E[p_\tau^k s_\tau^k]D_k ,

where :math:`\hat B_\tau` has the bracket :math:`\sum_k p_\tau^k s_\tau^k + \theta(\sum_k p_\tau^k - 2)_+\sum_k
p_\tau^k s_\tau^k`, and :math:`(4E - 2)G^2` in place of :math:`2EG^2`. The contraction is twice the published one.

Instances: rounds with drawn participation and noise of :mod:`~fltheory.bounds.efl._round`, where :math:`G^2` is the
largest expected square of a gradient given participation.

Source: EFL (long version), appendix A.2.1, (50)-(64).
"""

from __future__ import annotations

from typing import Any

from sympy import Gt, Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.efl._round import (
    DRAWN_ROUNDS,
    LENGTH,
    SUMS,
    bounded_coefficients_drawn,
    bounded_gradients_drawn,
    gaps_drawn,
    second_order_sum,
    work_drawn,
)
from fltheory.bounds.efl._symbols import r_tau
from fltheory.bounds.efl.theorem_1 import B_PRINTED, B_PROVED
from fltheory.bounds.flexible_participation.round import small_rate, small_rate_of_round
from fltheory.bounds.flexible_participation.symbols import w_end, w_start
from fltheory.bounds.symbols import eta, mu, w_star

after = EE(NormSq(w_end - w_star))
before = NormSq(w_start - w_star)
bias = 2 * eta * r_tau * gaps_drawn


def _recursion(second: Any) -> Le:
    return Le(after, (1 - mu * eta * work_drawn / 8) * before + eta**2 * second + bias)


claim = Claim(
    id="efl.eq-64",
    kind=Kind.LEMMA,
    title="recursion over one round",
    citation=Citation("efl", "appendix A.2.1, (64) (long version)"),
    forms=(
        Form(
            variant="published@defined",
            statement=_recursion(EE(second_order_sum(1 / eta**2) + 2 * LENGTH)),
            where=SUMS,
            note="B and H as defined, the drift divided by the squared rate",
        ),
        Form(
            variant="published@literal",
            statement=_recursion(EE(second_order_sum(1) + 2 * LENGTH)),
            where=SUMS,
            note="B and H as defined, the drift as printed in (47)",
        ),
        Form(
            variant="published@59",
            statement=_recursion(EE(B_PRINTED)),
            note="the right-hand sides of (59) and (58) for B and H",
        ),
        Form(
            variant="corrected",
            statement=Le(after, (1 - mu * eta * work_drawn / 4) * before + eta**2 * EE(B_PROVED) + bias),
            note="twice the contraction; product, positive part, and 4E - 2 for 2E in the second-order term",
        ),
    ),
    assumptions=(
        Assumption("some updates are aggregated", Gt(work_drawn, 0)),
        small_rate,
        small_rate_of_round,
        bounded_gradients_drawn,
        bounded_coefficients_drawn,
    ),
    uses=("efl.eq-48", "efl.eq-55", "efl.eq-58", "efl.eq-59", "efl.eq-62"),
    check=DRAWN_ROUNDS,
)
