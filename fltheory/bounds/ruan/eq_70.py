r"""Equation (70): under scheme A the mean product of two coefficients of equally reliable clients.

Setting and symbols as in (68). For two different clients, as published

.. math::
   \mathbb E[p_\tau^k p_\tau^l \mid K_\tau \ne 0]
   &= N^2 p^k p^l\, \mathbb E\Bigl[\frac{q_\tau^k q_\tau^l}{(\sum_i q_\tau^i)^2} \Big| K_\tau \ne 0\Bigr]
   = N^2 p^k p^l \sum_{i=0}^{N-2} \frac{1}{(2+i)^2} \binom{N-2}{i} \frac{q_\tau^i (1-q_\tau)^{N-2-i} q_\tau^2}{1
   - (1-q_\tau)^N} \\
   &= \frac{N}{N-1} p^k p^l \sum_{i=2}^{N} \frac{i-1}{i} \binom{N}{i} \frac{q_\tau^i (1-q_\tau)^{N-i}}{1
   - (1-q_\tau)^N}
   = \frac{N}{N-1} p^k p^l\, \mathbb E\Bigl[1 - \frac1{K_\tau} \Big| K_\tau \ne 0\Bigr] .

Every link is claimed. The condition :math:`k \ne l`, and with it :math:`N \ge 2`, is not printed but needed: for
:math:`k = l` the value is (69).

Instances: as for (68) with two to five clients; :math:`l` is the last client and :math:`k` any other.

Source: Ruan et al., AISTATS 2021, appendix A.4.1, (70).
"""

from __future__ import annotations

from sympy import Sum, binomial

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn
from fltheory.bounds.ruan._participation_laws import COEFFICIENTS_A, K_drawn, chain, done, q, scheme_a_pairs
from fltheory.bounds.symbols import N, i, k, l, p

somebody = 1 - (1 - q) ** N

claim = Claim(
    id="ruan.eq-70",
    kind=Kind.IDENTITY,
    title="scheme A, homogeneous: mixed moment of two coefficients",
    citation=Citation("ruan", "appendix A.4.1, (70)"),
    forms=(
        Form(
            statement=chain(
                EE(p_drawn[k] * p_drawn[l]),
                N**2 * p[k] * p[l] * EE(done[k] * done[l] / Sum(done[i], (i, 1, N)) ** 2),
                N**2
                * p[k]
                * p[l]
                * Sum(
                    binomial(N - 2, i) / (2 + i) ** 2 * q**i * (1 - q) ** (N - 2 - i) * q**2 / somebody, (i, 0, N - 2)
                ),
                N
                / (N - 1)
                * p[k]
                * p[l]
                * Sum((i - 1) / i * binomial(N, i) * q**i * (1 - q) ** (N - i) / somebody, (i, 2, N)),
                N / (N - 1) * p[k] * p[l] * EE(1 - 1 / K_drawn),
            ),
            where=COEFFICIENTS_A,
            over=((k, 1, N - 1),),
        ),
    ),
    check=scheme_a_pairs,
)
