r"""Table 1, scheme B, heterogeneous participation: what remains of the distance.

All work is aggregated with fixed weights. If clients complete different numbers of steps on average, the run is
biased; as published

.. math:: \lim_{\tau\to\infty} \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 \le \frac DE
   = \frac{64\sum_k \mathbb E[p_\tau^k s_\tau^k]\,\Gamma_k}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]} .

With decreasing learning rates the run tends to the minimiser :math:`w_\infty` of :math:`\sum_k a_k F_k`, where
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]`: steps of order :math:`\eta_\tau` are
weighted by these means, fluctuations and drift inside rounds are of higher order. Here :math:`a_k` is proportional to
:math:`p^k\,\mathbb E[s_\tau^k]`.

**Derivation of the sharp form.** :math:`\sum_k a_k F_k` is :math:`\mu`-strongly convex with minimiser
:math:`w_\infty`, so

.. math:: \tfrac\mu2\|w_\infty - w^*\|^2 \le \sum_k a_k\bigl(F_k(w^*) - F_k(w_\infty)\bigr) \le \sum_k a_k\Gamma_k ,

that is 2 in place of 64. Equality needs clients that agree on a minimiser and have curvature :math:`\mu`: it is
approached as the weights :math:`a_k` concentrate on one client with curvature :math:`\mu`.

Instances: up to three clients with quadratics of different curvature and step laws of two values each; the moments
are enumerated, and the limit is computed from them, not simulated.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.2
"""

from __future__ import annotations

from fltheory.bounds._claim import Claim, Kind, Source
from fltheory.bounds.ruan import _rates

claim = Claim(
    id="ruan.table-1-B-heterogeneous",
    kind=Kind.RATE,
    title="scheme B, heterogeneous participation: remaining distance",
    source=Source("ruan", "Corollary 4.0.1, Table 1"),
    forms=_rates.limit_forms(),
    uses=("ruan.theorem-3.1",),
    check=_rates.limits("B"),
)
