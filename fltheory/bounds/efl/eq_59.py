r"""Equation (59): the second-order term of a round on average.

:math:`B_\tau` is the sum of (47) over the round. As published, with an equality sign,

.. math:: \mathbb E_\xi[B_\tau] = \sum_k (p_\tau^k)^2 s_\tau^k\sigma_k^2 + 2(2+\theta)L\sum_k p_\tau^k s_\tau^k D_k +
   \Bigl(2 + \frac{\mu}{2(1+\theta)L}\Bigr)E(E-1)G^2\Bigl(\sum_k p_\tau^k s_\tau^k + \theta\Bigl(\sum_k p_\tau^k -
   2\Bigr) + \sum_k p_\tau^k s_\tau^k\Bigr) .

It comes from (49), an inequality, by :math:`(p_\tau^k)^2/p^k \le \theta p_\tau^k`; the reading ``published@bound``
takes it as one, with :math:`B_\tau` as (49) uses it, that is with the drift divided by :math:`\eta_\tau^2` (see
:mod:`~fltheory.bounds.efl.eq_48`). It inherits the sum in place of a product from Lemma 3, and fails for the same
reason: for :math:`\sum_k p_\tau^k < 2` and few steps the right-hand side may be negative.

The sign after :math:`\theta(\sum_k p_\tau^k - 2)` may be that of a positive part, a subscript that the print has lost,
so that nothing is added and the last sum is a factor; the paper on flexible participation has the formula with it. That
is the reading ``published@positive-part``, which is also the corrected form.

**Derivation of the corrected form.** Lemma 2, the corrected Lemma 3 in each of the :math:`E` steps, and
:math:`(p_\tau^k)^2/p^k \le \theta p_\tau^k`: the last bracket becomes :math:`\sum_k p_\tau^k s_\tau^k + \theta(\sum_k
p_\tau^k - 2)_+\sum_k p_\tau^k s_\tau^k`.

Instances: see :mod:`~fltheory.bounds.efl._round`.

Source: EFL (long version), appendix A.2.1, (47), (49), (59); short version, :math:`B_t` in Theorem 1.
"""

from __future__ import annotations

from sympy import Eq, Le, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._round import (
    bounded_coefficients,
    bounded_gradients,
    inner_printed,
    inner_proved,
    second_order,
)
from fltheory.bounds.flexible_participation.round import ROUNDS, excess
from fltheory.bounds.flexible_participation.symbols import p_tau, s_tau
from fltheory.bounds.symbols import E, eta, i

printed = second_order(p_tau, s_tau, inner_printed(p_tau, s_tau))
scaled = EE(Sum(excess(i, 1 / eta**2), (i, 0, E - 1)))

claim = Claim(
    id="efl.eq-59",
    kind=Kind.LEMMA,
    title="second-order term of a round",
    citation=Citation("efl", "appendix A.2.1, (59) (long version)"),
    forms=(
        Form(statement=Eq(EE(Sum(excess(i), (i, 0, E - 1))), printed, evaluate=False)),
        Form(
            variant="published@bound",
            statement=Le(scaled, printed),
            note="as an inequality, with the drift divided by the squared rate",
        ),
        Form(
            variant="published@positive-part",
            intended=("published@bound",),
            statement=Le(scaled, second_order(p_tau, s_tau, inner_proved(p_tau, s_tau))),
            note="the sign after the bracket read as that of a positive part, which multiplies what follows",
        ),
        Form(
            variant="corrected",
            statement=Le(scaled, second_order(p_tau, s_tau, inner_proved(p_tau, s_tau))),
            note="an inequality, with a product and the positive part",
        ),
    ),
    assumptions=(bounded_gradients, bounded_coefficients),
    uses=("efl.lemma-2", "efl.lemma-3"),
    check=ROUNDS,
)
