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

import itertools
from typing import Any

import numpy as np
from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.symbols import g, g_bar, p_tau
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import N, k, sigma_sq
from fltheory.problems.problem import Origin


def realise(point: Params) -> dict[str, Any]:
    """Return weights, gradients and all outcomes of independent coins."""
    clients = point["N"]
    noise = point["noise"]
    signs = np.array(list(itertools.product((-1, 1), repeat=clients)))
    return {
        "N": clients,
        "p_tau": point["p_tau"],
        "g_bar": point["gradient"],
        "g": [point["gradient"] + sign[:, None] * noise for sign in signs],
        "sigma_sq": (noise * noise).sum(axis=1) * point["slack"],
        "chance": [ratio(point, 1, len(signs))] * len(signs),
    }


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
    check=Instances(
        space=Space(
            {
                "N": Integer(1, 4),
                "d": Integer(1, 3),
                "p_tau": Real(0, 5, shape=("N",)),
                "gradient": Real(-3, 3, shape=("N", "d")),
                "noise": Real(-3, 3, shape=("N", "d")),
                "slack": Real(1, 2),
            }
        ),
        realise=realise,
    ),
)
