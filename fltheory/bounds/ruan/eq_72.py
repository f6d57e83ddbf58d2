r"""Equation (72): under scheme A the expected coefficient of the others when one client never fails.

Setting and symbols as in (71). For :math:`k \ne k_0`, as published

.. math::
   \mathbb E[p_\tau^k \mid K_\tau \ne 0] = \mathbb E[p_\tau^k]
   &= N p^k\, \mathbb E\Bigl[\frac{q_\tau^k}{(\sum_i q_\tau^i)^2}\Bigr]
   = \frac{p^k}{(N-1) q_\tau} \sum_{i=2}^{N} (i-1) \binom Ni q_\tau^i (1-q_\tau)^{N-i} \\
   &= \frac{p^k}{(N-1) q_\tau} \Bigl(N q_\tau - N q_\tau (1-q_\tau)^{N-1} - \bigl(1 - (1-q_\tau)^N
   - N q_\tau (1-q_\tau)^{N-1}\bigr)\Bigr)
   = p^k\, \frac{N q_\tau + (1-q_\tau)^N - 1}{(N-1) q_\tau} .

The square is a misprint, as in (71); every other expression is right. Coefficients over weights therefore differ
between :math:`k_0` and the others for :math:`q_\tau < 1`: scheme A is biased.

**Derivation of the corrected form.** Of the :math:`N - 2` remaining clients :math:`i` are complete with binomial
probability, so that

.. math:: N\, \mathbb E\Bigl[\frac{q_\tau^k}{K_\tau}\Bigr] = N \sum_{i=0}^{N-2}
   \frac{1}{2+i} \binom{N-2}{i} q_\tau^{i+1} (1-q_\tau)^{N-2-i}
   = \frac{1}{(N-1) q_\tau} \sum_{i=2}^{N} (i-1) \binom Ni q_\tau^i (1-q_\tau)^{N-i} ,

because :math:`\frac1i\binom{N-2}{i-2} = \frac{i-1}{N(N-1)}\binom Ni`. The sum is :math:`N q_\tau - 1 + (1-q_\tau)^N`:
with the terms 0 and 1 it would be the mean of :math:`i - 1`, and those are :math:`-(1-q_\tau)^N` and 0.

Instances: as for (71), with two to five clients.

Source: Ruan et al., AISTATS 2021, appendix A.4.1, (72).
"""

from __future__ import annotations

from sympy import Sum, binomial

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn
from fltheory.bounds.ruan._participation_laws import COEFFICIENTS_A, chain, done, q, scheme_a_reliable_pairs
from fltheory.bounds.symbols import N, i, k, p

complete = Sum(done[i], (i, 1, N))
mean = EE(p_drawn[k])
factor = p[k] / ((N - 1) * q)
values = (
    factor * Sum((i - 1) * binomial(N, i) * q**i * (1 - q) ** (N - i), (i, 2, N)),
    factor * (N * q - N * q * (1 - q) ** (N - 1) - (1 - (1 - q) ** N - N * q * (1 - q) ** (N - 1))),
    factor * (N * q + (1 - q) ** N - 1),
)

claim = Claim(
    id="ruan.eq-72",
    kind=Kind.IDENTITY,
    title="scheme A, one reliable client: mean coefficient of the others",
    citation=Citation("ruan", "appendix A.4.1, (72)"),
    forms=(
        Form(
            statement=chain(mean, N * p[k] * EE(done[k] / complete**2), *values),
            where=COEFFICIENTS_A,
            over=((k, 2, N),),
        ),
        Form(
            variant="corrected",
            intended=("published",),
            statement=chain(mean, N * p[k] * EE(done[k] / complete), *values),
            where=COEFFICIENTS_A,
            over=((k, 2, N),),
            note="no square in the middle expression",
        ),
    ),
    check=scheme_a_reliable_pairs,
)
