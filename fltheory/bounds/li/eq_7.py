r"""(7): the dominating term of the bound of Theorem 2.

After Theorem 2, as published: since :math:`\mathbb E\|w_1 - w^*\|^2 \le \frac{4G^2}{\mu^2}`, "the dominating term in
(6) is"

.. math:: O\Bigl(\frac{\sum_k p_k^2\sigma_k^2 + L\Gamma + (1 + \frac1K)E^2G^2 + \gamma G^2}{\mu T}\Bigr) .

**Where it fails.** The right-hand side of (6) begins with :math:`\kappa`, which (7) leaves out although :math:`L`,
:math:`\mu` and :math:`\gamma \ge 8\kappa` are written out. For a fixed condition number (reading ``fixed-condition``)
it is a constant, and (7) holds.

**Derivation of the corrected form.** With :math:`\frac{\mu\gamma}2\cdot\frac{4G^2}{\mu^2} = \frac{2\gamma G^2}\mu`,
:math:`(E-1)^2 \le E^2` and :math:`\gamma + T - 1 \ge T`, (6) is at most

.. math:: \frac{\kappa}{\mu T}\Bigl(2\sum_k p_k^2\sigma_k^2 + 12L\Gamma + 16E^2G^2 + \frac8KE^2G^2 + 2\gamma G^2\Bigr)
   \le 16\,\frac{\kappa}{\mu T}\Bigl(\sum_k p_k^2\sigma_k^2 + L\Gamma + \bigl(1 + \tfrac1K\bigr)E^2G^2 + \gamma
   G^2\Bigr) .

**Derivation of the sharp form.** The form ``sharp`` has this constant, 16. It cannot be smaller: for :math:`K, E
\to\infty` with :math:`\gamma \ll E^2` the ratio tends to 16.

Instances: the formula (6) along sweeps of :math:`T`, the condition number, :math:`\mu`, :math:`N, E, K, G, \sigma,
\Gamma`, see :mod:`fltheory.bounds.li._dominating`.

Source: Li et al., ICLR 2020, section 3.3, (7).
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.li._dominating import COUNTS, CURVATURES, DRAWN, INSIDE, SPREAD, TIMES, WHERE, T, along
from fltheory.bounds.li._setting import gamma, kappa
from fltheory.bounds.symbols import G_sq, mu

bound = kappa / (gamma + T - 1) * INSIDE
printed = (SPREAD + DRAWN + gamma * G_sq) / (mu * T)

claim = Claim(
    id="li.eq-7",
    kind=Kind.RATE,
    title="dominating term of the bound with drawn participants",
    citation=Citation("li", "(7)"),
    forms=(
        Form(statement=Le(bound, BigO(printed)), where=WHERE, note="constants depend on none of the symbols"),
        Form(
            variant="published@fixed-condition",
            statement=Le(bound, BigO(printed)),
            where=WHERE,
            check=along(TIMES, COUNTS),
            note="L and mu are fixed",
        ),
        Form(
            variant="corrected",
            statement=Le(bound, BigO(kappa * printed)),
            where=WHERE,
            note="the factor kappa of (6) restored",
        ),
        Form(
            variant="sharp",
            statement=Le(bound, 16 * kappa * printed),
            where=WHERE,
            note="with its constant, which is the best one",
        ),
    ),
    uses=("li.theorem-2", "li.section-3.4"),
    check=along(TIMES, CURVATURES, COUNTS),
)
