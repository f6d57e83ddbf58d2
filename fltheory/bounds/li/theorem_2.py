r"""Theorem 2: FedAvg with participants drawn with replacement (scheme I).

In every round :math:`K` indices are drawn independently with the probabilities :math:`p_k`, and
:math:`w_t \leftarrow \frac1K\sum_{k\in S_t}w_t^k`. As published, with
:math:`\kappa, \gamma, \eta_t, B` of :mod:`~fltheory.bounds.li.theorem_1`,

.. math:: \mathbb E[F(w_T)] - F^* \le \frac{\kappa}{\gamma + T - 1}\Bigl(\frac{2(B + C)}{\mu} + \frac{\mu\gamma}{2}\,
   \mathbb E\|w_1 - w^*\|^2\Bigr), \qquad C = \frac4K E^2G^2 .

**Reading.** How time is counted, and what the instances are: :mod:`fltheory.bounds.li._setting`.

**Derivation of the sharp form.** Given the local models, the mean of the drawn ones has the mean over all clients as
its expectation, and the variance :math:`\frac1K\sum_k p_k\|w_{t+1}^k - \bar w_{t+1}\|^2`. Local models left a common
one at most :math:`E` steps ago with rates of at most :math:`2\eta_t`, so that this is at most
:math:`\frac4K\eta_t^2E^2G^2 = \eta_t^2C` in expectation. It adds to the one-step inequality of Theorem 1, and the
induction there gives the maximum of the two terms with :math:`B + C` in place of :math:`B`. Rates fall by
:math:`\rho = 1 + \frac{E-1}\gamma` in a round at most, not by 2: by the sharp form of Lemma 5
(:mod:`~fltheory.bounds.li.lemma_5`) :math:`C = \frac{\rho^2}KE^2G^2`.

Source: Li et al., ICLR 2020, Theorem 2, (6).
"""

from __future__ import annotations

from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.li import _setting
from fltheory.bounds.li._setting import K
from fltheory.bounds.symbols import E, G_sq

C_PRINTED = 4 / K * E**2 * G_sq

claim = Claim(
    id="li.theorem-2",
    kind=Kind.BOUND,
    title="convergence of FedAvg, participants drawn with replacement",
    citation=Citation("li", "Theorem 2, (6)"),
    forms=_setting.forms("I", C_PRINTED),
    assumptions=_setting.ASSUMPTIONS,
    uses=("li.theorem-1", "li.lemma-4", "li.lemma-5"),
    check=_setting.runs("I", later=1),
    observation=_setting.observed("I", later=1),
)
