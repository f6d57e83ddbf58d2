r"""Equation (71): under scheme A the expected coefficient of the one client that never fails.

Client :math:`k_0` completes all steps in every round, all others with probability :math:`q_\tau`, independently. So
:math:`K_\tau \ge 1`, and as published

.. math:: \mathbb E[p_\tau^{k_0} \mid K_\tau \ne 0] = \mathbb E[p_\tau^{k_0}]
   = N p^{k_0}\, \mathbb E\Bigl[\frac{q_\tau^{k_0}}{(\sum_i q_\tau^i)^2}\Bigr]
   = p^{k_0}\, \frac{1 - (1-q_\tau)^N}{q_\tau} .

The square in the middle is a misprint: a coefficient is :math:`N p^{k_0} q_\tau^{k_0} / \sum_i q_\tau^i`. Both ends
are right, so nothing that follows depends on it. With a single client the square makes no difference.

**Derivation of the corrected form.** The number of other complete clients is binomial with :math:`N - 1` trials,
hence

.. math:: \mathbb E\Bigl[\frac{1}{K_\tau}\Bigr] = \sum_{i=0}^{N-1}
   \frac{1}{1+i}\binom{N-1}{i} q_\tau^i (1-q_\tau)^{N-1-i}
   = \frac{1}{N q_\tau} \sum_{i=1}^{N} \binom{N}{i} q_\tau^i (1-q_\tau)^{N-i} = \frac{1 - (1-q_\tau)^N}{N q_\tau} .

Instances: up to five clients with any weights, :math:`q_\tau \in [0.01, 1]`, the first client reliable; all sets of
complete clients.

Source: Ruan et al., AISTATS 2021, appendix A.4.1, (71).
"""

from __future__ import annotations

from sympy import Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn
from fltheory.bounds.ruan._participation_laws import COEFFICIENTS_A, chain, done, k_0, q, scheme_a_reliable
from fltheory.bounds.symbols import N, i, p

complete = Sum(done[i], (i, 1, N))
mean = EE(p_drawn[k_0])
value = p[k_0] * (1 - (1 - q) ** N) / q

claim = Claim(
    id="ruan.eq-71",
    kind=Kind.IDENTITY,
    title="scheme A, one reliable client: its mean coefficient",
    citation=Citation("ruan", "appendix A.4.1, (71)"),
    forms=(
        Form(statement=chain(mean, N * p[k_0] * EE(done[k_0] / complete**2), value), where=COEFFICIENTS_A),
        Form(
            variant="corrected",
            intended=("published",),
            statement=chain(mean, N * p[k_0] * EE(done[k_0] / complete), value),
            where=COEFFICIENTS_A,
            note="no square in the middle expression",
        ),
    ),
    check=scheme_a_reliable,
)
