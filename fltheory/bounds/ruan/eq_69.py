r"""Equation (69): under scheme A the mean squared coefficient of equally reliable clients.

Setting and symbols as in (68). As published

.. math::
   \mathbb E[(p_\tau^k)^2 \mid K_\tau \ne 0]
   &= (N p^k)^2\, \mathbb E\Bigl[\frac{q_\tau^k}{(\sum_i q_\tau^i)^2} \Big| K_\tau \ne 0\Bigr]
   = (N p^k)^2 \sum_{i=0}^{N-1} \frac{1}{(1+i)^2} \binom{N-1}{i} \frac{q_\tau^i (1-q_\tau)^{N-1-i} q_\tau}{1
   - (1-q_\tau)^N} \\
   &= (N p^k)^2 \sum_{i=1}^{N} \frac1{i^2} \binom{N-1}{i-1} \frac{q_\tau^i (1-q_\tau)^{N-i}}{1 - (1-q_\tau)^N}
   = N (p^k)^2 \sum_{i=1}^{N} \frac1i \binom{N}{i} \frac{q_\tau^i (1-q_\tau)^{N-i}}{1 - (1-q_\tau)^N}
   = N (p^k)^2\, \mathbb E\Bigl[\frac1{K_\tau} \Big| K_\tau \ne 0\Bigr] .

Every link is claimed. As in (68), exchangeable clients would do: given :math:`K_\tau` the indicator has mean
:math:`K_\tau/N`. Since :math:`\mathbb E[1/K_\tau] \ge 1/\mathbb E[K_\tau]`, rarely complete clients make the second
moment up to :math:`N` times that of full participation.

Instances: as for (68).

Source: Ruan et al., AISTATS 2021, appendix A.4.1, (69).
"""

from __future__ import annotations

from sympy import Sum, binomial

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn
from fltheory.bounds.ruan._participation_laws import COEFFICIENTS_A, K_drawn, chain, done, q, scheme_a
from fltheory.bounds.symbols import N, i, k, p

somebody = 1 - (1 - q) ** N

claim = Claim(
    id="ruan.eq-69",
    kind=Kind.IDENTITY,
    title="scheme A, homogeneous: second moment of a coefficient",
    citation=Citation("ruan", "appendix A.4.1, (69)"),
    forms=(
        Form(
            statement=chain(
                EE(p_drawn[k] ** 2),
                (N * p[k]) ** 2 * EE(done[k] / Sum(done[i], (i, 1, N)) ** 2),
                (N * p[k]) ** 2
                * Sum(binomial(N - 1, i) / (1 + i) ** 2 * q**i * (1 - q) ** (N - 1 - i) * q / somebody, (i, 0, N - 1)),
                (N * p[k]) ** 2 * Sum(binomial(N - 1, i - 1) / i**2 * q**i * (1 - q) ** (N - i) / somebody, (i, 1, N)),
                N * p[k] ** 2 * Sum(binomial(N, i) / i * q**i * (1 - q) ** (N - i) / somebody, (i, 1, N)),
                N * p[k] ** 2 * EE(1 / K_drawn),
            ),
            where=COEFFICIENTS_A,
            over=((k, 1, N),),
        ),
    ),
    check=scheme_a,
)
