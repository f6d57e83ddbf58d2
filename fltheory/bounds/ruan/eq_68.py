r"""Equation (68): under scheme A the expected coefficient of equally reliable clients is their objective weight.

Every client completes all :math:`E` steps with probability :math:`q_\tau`, independently; :math:`K_\tau` of them do,
and scheme A sets :math:`p_\tau^k = \frac{N p^k}{K_\tau} q_\tau^k` with the indicator :math:`q_\tau^k`. As published

.. math::
   \mathbb E[p_\tau^k \mid K_\tau \ne 0]
   &= N p^k\, \mathbb E\Bigl[\frac{q_\tau^k}{\sum_i q_\tau^i} \Big| K_\tau \ne 0\Bigr]
   = N p^k \sum_{i=0}^{N-1} \frac{1}{1+i} \binom{N-1}{i} \frac{q_\tau^i (1-q_\tau)^{N-1-i} q_\tau}{1
   - (1-q_\tau)^N} \\
   &= N p^k \sum_{i=1}^{N} \frac1i \binom{N-1}{i-1} \frac{q_\tau^i (1-q_\tau)^{N-i}}{1 - (1-q_\tau)^N}
   = p^k \sum_{i=1}^{N} \binom{N}{i} \frac{q_\tau^i (1-q_\tau)^{N-i}}{1 - (1-q_\tau)^N} \\
   &= p^k\, \frac{1 - \binom N0 q_\tau^0 (1-q_\tau)^N}{1 - (1-q_\tau)^N} = p^k .

Every link is claimed; SymPy cancels the last fraction while reading it. The last value also follows by symmetry:
given :math:`K_\tau`, each client is complete with probability :math:`K_\tau/N`. So it needs exchangeable clients
only, not independent ones; (71) and (72) show what happens without. Without the condition the value is
:math:`p^k (1 - (1-q_\tau)^N)`, because discarded rounds count as coefficient 0.

Instances: up to five clients with any weights and any :math:`q_\tau \in [0.01, 1]`; all sets of complete clients are
enumerated, with their probabilities given :math:`K_\tau \ne 0`, so that :math:`\mathbb E` below is the conditional
expectation.

Source: Ruan et al., AISTATS 2021, appendix A.4.1, (68). The paper uses :math:`q_\tau^k` for the indicator and
:math:`(q_\tau)^i` for powers.
"""

from __future__ import annotations

from sympy import Sum, binomial, factorial

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn
from fltheory.bounds.ruan._participation_laws import COEFFICIENTS_A, chain, done, q, scheme_a
from fltheory.bounds.symbols import N, i, k, p

somebody = 1 - (1 - q) ** N

claim = Claim(
    id="ruan.eq-68",
    kind=Kind.IDENTITY,
    title="scheme A, homogeneous: mean coefficient",
    citation=Citation("ruan", "appendix A.4.1, (68)"),
    forms=(
        Form(
            statement=chain(
                EE(p_drawn[k]),
                N * p[k] * EE(done[k] / Sum(done[i], (i, 1, N))),
                N
                * p[k]
                * Sum(binomial(N - 1, i) / (1 + i) * q**i * (1 - q) ** (N - 1 - i) * q / somebody, (i, 0, N - 1)),
                N * p[k] * Sum(binomial(N - 1, i - 1) / i * q**i * (1 - q) ** (N - i) / somebody, (i, 1, N)),
                N
                * p[k]
                * Sum(
                    factorial(N - 1) / (factorial(i - 1) * factorial(N - i)) / i * q**i * (1 - q) ** (N - i) / somebody,
                    (i, 1, N),
                ),
                p[k] * Sum(binomial(N, i) * q**i * (1 - q) ** (N - i) / somebody, (i, 1, N)),
                p[k],
            ),
            where=COEFFICIENTS_A,
            over=((k, 1, N),),
        ),
    ),
    check=scheme_a,
)
