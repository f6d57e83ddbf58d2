r"""Table 1, scheme B, heterogeneous participation: what remains of the distance.

All work is aggregated with fixed weights. If clients complete different numbers of steps on average, the run is
biased; as published

.. math:: \lim_{\tau\to\infty} \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 \le \frac DE
   = \frac{64\sum_k \mathbb E[p_\tau^k s_\tau^k]\,\Gamma_k}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]} .

The run tends to the minimiser :math:`w_\infty` of :math:`\sum_k a_k F_k`, where
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]` is proportional to
:math:`p^k\,\mathbb E[s_\tau^k]` (:mod:`~fltheory.bounds.ruan.theorem_3_1`, ``sharp@limit``).

**Derivation of the sharp form.** As for scheme A (:mod:`~fltheory.bounds.ruan.table_1_a_heterogeneous`): strong
convexity of :math:`\sum_k a_k F_k` gives 2 in place of 64.

Instances: up to three clients with quadratics of different curvature and step laws of two values each, absent clients
among them, with moments enumerated; for ``sharp@limit`` runs, see :mod:`~fltheory.bounds.ruan._rates`.

Participation is independent over rounds, an assumption that the paper does not list; see
:mod:`~fltheory.bounds.ruan._dependence` for rates that fail without it.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.2.
"""

from __future__ import annotations

from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.ruan import _limit, _rates

claim = Claim(
    id="ruan.table-1-B-heterogeneous",
    kind=Kind.RATE,
    title="scheme B, heterogeneous participation: remaining distance",
    citation=Citation("ruan", "Corollary 4.0.1, Table 1"),
    forms=_rates.limit_forms("B"),
    assumptions=(INDEPENDENT,),
    uses=("ruan.theorem-3.1",),
    check=_rates.limits("B"),
    observation=_limit.remaining(_rates.heterogeneous("B")),
)
