r"""Table 1, scheme A, heterogeneous participation: what remains of the distance.

Clients that do not complete all steps are dropped. If they complete them with different probabilities, the run is
biased; as published

.. math:: \lim_{\tau\to\infty} \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 \le \frac DE
   = \frac{64\sum_k \mathbb E[p_\tau^k s_\tau^k]\,\Gamma_k}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]} .

The run tends to the minimiser :math:`w_\infty` of :math:`\sum_k a_k F_k`, where
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]` is proportional to
:math:`p^k\,\mathbb E[\mathbf 1[s_\tau^k = E]/K_\tau]` (:mod:`~fltheory.bounds.ruan.theorem_3_1`, ``sharp@limit``).
Given a complete client or not makes no difference to :math:`a_k`.

**Derivation of the sharp form.** :math:`\sum_k a_k F_k` is :math:`\mu`-strongly convex with minimiser
:math:`w_\infty`, so

.. math:: \tfrac\mu2\|w_\infty - w^*\|^2 \le \sum_k a_k\bigl(F_k(w^*) - F_k(w_\infty)\bigr) \le \sum_k a_k\Gamma_k ,

that is 2 in place of 64. Equality needs clients that agree on a minimiser and have curvature :math:`\mu`: it is
approached as the weights :math:`a_k` concentrate on one client with curvature :math:`\mu`.

Instances: up to three clients with quadratics of different curvature and step laws of two values each, absent clients
among them, with moments enumerated; for ``sharp@limit`` runs, see :mod:`~fltheory.bounds.ruan._rates`.

Participation is independent over rounds, an assumption that the paper does not list; see
:mod:`~fltheory.bounds.ruan._dependence` for rates that fail without it.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.1.
"""

from __future__ import annotations

from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.ruan import _limit, _rates

claim = Claim(
    id="ruan.table-1-A-heterogeneous",
    kind=Kind.RATE,
    title="scheme A, heterogeneous participation: remaining distance",
    citation=Citation("ruan", "Corollary 4.0.1, Table 1"),
    forms=_rates.limit_forms("A"),
    assumptions=(INDEPENDENT,),
    uses=("ruan.theorem-3.1", "ruan.eq-71", "ruan.eq-72"),
    check=_rates.limits("A"),
    observation=_limit.remaining(_rates.heterogeneous("A")),
)
