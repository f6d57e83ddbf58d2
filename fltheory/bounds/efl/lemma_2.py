r"""Lemma 2: the noise of an aggregated step is at most the weighted sum of the clients' variances.

.. math:: \mathbb E_\xi\Bigl\|\sum_{k=1}^N p_\tau^k (g_t^k - \bar g_t^k)\Bigr\|^2 \le \sum_{k=1}^N (p_\tau^k)^2
   \sigma_k^2 .

True for any coefficients, with equality if every variance is attained, as in :mod:`~fltheory.bounds.ruan.lemma_a_2`.
The printed proof is wrong: (17) and (18) take squared norms of products where inner products belong, see
:mod:`~fltheory.bounds.efl.eq_18`.

Instances: noise of client :math:`k` is :math:`\pm\sigma_k v_k` with a fair coin per client; all outcomes are
enumerated.

Source: EFL (long version), appendix A.2.1, Lemma 2, (16).
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import g, g_bar, p_tau
from fltheory.bounds.flexible_participation.weighted_noise import COINS
from fltheory.bounds.symbols import N, k, sigma_sq
from fltheory.problems.problem import Origin

claim = Claim(
    id="efl.lemma-2",
    kind=Kind.LEMMA,
    title="variance of the weighted noise",
    citation=Citation("efl", "Lemma 2, (16) (long version)"),
    forms=(
        Form(
            statement=Le(
                EE(NormSq(Sum(p_tau[k] * (g[k] - g_bar[k]), (k, 1, N)))),
                Sum(p_tau[k] ** 2 * sigma_sq[k], (k, 1, N)),
            ),
        ),
    ),
    assumptions=(
        Assumption(
            "bounded variance (Assumption 3)",
            Le(EE(NormSq(g[k] - g_bar[k])), sigma_sq[k]),
            Origin.DECLARED,
            over=((k, 1, N),),
        ),
    ),
    uses=("efl.eq-18",),
    check=COINS,
)
