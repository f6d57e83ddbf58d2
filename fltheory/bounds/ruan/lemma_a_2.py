r"""Lemma A.2: the noise of an aggregated step is at most the weighted sum of the clients' variances.

With :math:`g_t^k` the stochastic and :math:`\bar g_t^k` the full gradient of client :math:`k`,

.. math:: \mathbb E\Bigl\|\sum_{k=1}^N p_\tau^k (g_t^k - \bar g_t^k)\Bigr\|^2 \le \sum_{k=1}^N (p_\tau^k)^2 \sigma_k^2 .

The proof expands the square; cross terms vanish because clients draw independently. So it is an equality if every
variance is attained, and holds for any coefficients, whether they sum to one or not. Independence is essential: with
one common draw for all clients the left-hand side is :math:`(\sum_k p_\tau^k \sigma_k)^2`.

Instances: noise of client :math:`k` is :math:`\pm\sigma_k v_k` with a fair coin per client, :math:`v_k` a unit vector
or shorter; all :math:`2^N` outcomes are enumerated.

Source: Ruan et al., AISTATS 2021, appendix A.1.2, (14).
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
    id="ruan.lemma-a.2",
    kind=Kind.LEMMA,
    title="variance of the weighted noise",
    citation=Citation("ruan", "Lemma A.2, (14)"),
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
            "bounded variance (3.3)", Le(EE(NormSq(g[k] - g_bar[k])), sigma_sq[k]), Origin.DECLARED, over=((k, 1, N),)
        ),
    ),
    check=COINS,
)
