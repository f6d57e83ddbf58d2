r"""Table 1, scheme C, heterogeneous participation: rate of convergence.

Work is weighted inversely to the number of completed steps; clients have different laws. With :math:`I_t` telling
whether some client is inactive in round :math:`t`, as published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 =
   O\Bigl(\frac{\sum_{t=0}^{\tau-1} I_t D + \sum_k (p^k\sigma_k)^2\,\mathbb E[1/s_\tau^k] + \Gamma}{\tau}\Bigr) .

**Reading.** :math:`I_t` is random; its sum is replaced by the expectation. :math:`\mathbb E[1/s_\tau^k]` would be
infinite for a client that may be inactive; it is taken over rounds in which the client is active, which claims more.

Without inactive clients the scheme is unbiased, and to first order in :math:`1/\tau` the distance is at most
:math:`\frac{256}{31\mu^2\tau}\sum_k (p^k\sigma_k)^2\,\mathbb E[1/s_\tau^k]`. An inactive client in a constant
fraction :math:`\iota` of the rounds leaves a bias: the limit is that of
:mod:`~fltheory.bounds.ruan.table_1_b_heterogeneous` with :math:`a_k` proportional to :math:`p^k` times the
probability of being active, of order :math:`\iota^2` for small :math:`\iota` where the claim has :math:`\iota`.
Inactivity that is equally likely for all clients leaves no bias at all.

Instances: two clients; one completes all steps, the other one all or, with probability one half, a fraction of them,
and none with probability :math:`\iota`. Sweeps of :math:`\tau`, :math:`\sigma^2`, :math:`\Gamma`,
:math:`\mathbb E[1/s]` and :math:`\iota`, in exact expectation. Inactivity that stops after some rounds is not swept.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Sum

from fltheory.bounds._algebra import BigO, family, scalar
from fltheory.bounds._claim import Claim, Form, Kind, Source
from fltheory.bounds._space import Params
from fltheory.bounds._symbols import N, k, p, sigma_sq, tau
from fltheory.bounds.ruan import _theorem
from fltheory.bounds.ruan._rates import BASE, MEANS, STEPS, Gamma_all, growing, limit_of_runs, rates, unequal
from fltheory.bounds.ruan._symbols import D, distance

inactive = scalar("ruan_inactive", r"\sum_{t=0}^{\tau-1} I_t", "number of rounds with an inactive client")
mean_inverse_of = family("ruan_mean_inverse_of", r"\mathbb{E}[1/s_\tau^{<0>}]", "expected inverse of a client's steps")


def inverses(point: Params, env: Any) -> Any:
    """Return the expected inverse of the steps of both clients, given that they are active."""
    return np.array([1 / STEPS, (1 + point["slow"]) / (2 * STEPS)])


reliable = {**BASE, "slow": 2, "seldom": float("inf")}
at_times = {**reliable, "seldom": 4.0}

claim = Claim(
    id="ruan.table-1-C-heterogeneous",
    kind=Kind.RATE,
    title="scheme C, heterogeneous participation: rate",
    source=Source("ruan", "Corollary 4.0.1, Table 1"),
    forms=(
        Form(
            statement=Le(
                distance,
                BigO((inactive * D + Sum((p[k] ** 2 * sigma_sq[k]) * mean_inverse_of[k], (k, 1, N)) + Gamma_all) / tau),
            ),
            where=(*MEANS, (D, _theorem.D_PRINTED)),
            note="inverse step counts are taken over active rounds",
        ),
        limit_of_runs("C"),
    ),
    uses=("ruan.theorem-3.1", "ruan.eq-77", "ruan.eq-78", "ruan.eq-79", "ruan.eq-80"),
    check=rates(
        "C",
        unequal,
        (
            growing("tau", 20, 5, {**reliable, "sigma_sq": 1000.0}, factor=2),
            growing("sigma_sq", 1.0, 7, reliable, factor=8),
            growing("spread", 1.0, 6, reliable),
            growing("slow", 1, 6, {**reliable, "spread": 0.01}, factor=2),
            growing("tau", 40, 5, {**at_times, "seldom": 1.25}, factor=2),
            growing("spread", 1.0, 6, at_times),
            growing("seldom", 16.0, 9, at_times, factor=8),
        ),
        ruan_inactive=lambda point, env: point["tau"] / point["seldom"],
        ruan_mean_inverse_of=inverses,
    ),
)
