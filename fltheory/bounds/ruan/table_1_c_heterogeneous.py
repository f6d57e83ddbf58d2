r"""Table 1, scheme C, heterogeneous participation: rate of convergence.

Work is weighted inversely to the number of completed steps; clients have different laws. With :math:`I_t` telling
whether some client is inactive in round :math:`t`, as published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 =
   O\Bigl(\frac{\sum_{t=0}^{\tau-1} I_t D + \sum_k (p^k\sigma_k)^2\,\mathbb E[1/s_\tau^k] + \Gamma}{\tau}\Bigr) .

**Reading.** :math:`I_t` is random; its sum is replaced by the expectation. :math:`\mathbb E[1/s_\tau^k]` would be
infinite for a client that may be inactive, and the row empty, although the caption of the table allows inactive
clients; it is taken over the rounds in which the client is active. Appendix A.4.3 says that :math:`z_\tau = 0` only if
:math:`I_\tau = 1`; :math:`z_\tau = 1` is meant.

**What is true.** Let clients be independent, active with probability :math:`A_k`, and
:math:`m = \mathbb E[\sum_k p_\tau^k s_\tau^k] = E\sum_k p^k A_k`. The run tends to the minimiser :math:`w_\infty` of
:math:`\sum_k p^k A_k F_k` (:mod:`~fltheory.bounds.ruan.theorem_3_1`, ``sharp@limit``), and to first order in
:math:`1/\tau` its squared distance from there is at most

.. math:: \frac{256}{31\mu^2\tau}\,\frac{E^2}{m^2}\sum_k (p^k)^2\Bigl(\sigma_k^2\,\mathbb E\Bigl[\frac{\mathbf
   1[s_\tau^k > 0]}{s_\tau^k}\Bigr] + A_k(1-A_k)\,\|\nabla F_k(w_\infty)\|^2\Bigr) .

*Bias.* With :math:`\iota` the probability that some client is inactive, :math:`1 - \iota \le A_k \le 1`, so
:math:`a_k = E p^k A_k/m` and :math:`p^k` differ by at most :math:`\frac{\iota}{1-\iota}a_k`, and

.. math:: \|w_\infty - w^*\|^2 \le \frac1{\mu^2}\Bigl\|\sum_k (a_k - p^k)\nabla F_k(w^*)\Bigr\|^2
   \le \frac{2L}{\mu^2}\,\frac{\iota^2}{(1-\iota)^2}\sum_k a_k\Gamma_k ,

next to which :math:`\frac2\mu\sum_k a_k\Gamma_k` holds always. So it is of order :math:`\iota^2` where the claim has
:math:`\iota D`: this part of the published rate is right, and generous. Inactivity that is equally likely for all
clients leaves no bias at all.

*Fluctuations.* Without inactive clients :math:`m = E`, and the claim is right, even without :math:`\Gamma`. With
inactive ones the factor :math:`E^2/m^2` is missing: the appendix takes
:math:`\mathbb E[p_\tau^k s_\tau^k]/p^k = E` from the active rounds, but the learning rate and :math:`V` of Theorem 3.1
have the :math:`m` of all rounds. With equal data on all clients (:math:`\Gamma = D = 0`) that are active with
probability :math:`A`, the distance is :math:`1/A` times as large as claimed.

**Derivation of the corrected form.** The two displays, with :math:`\|\nabla F_k(w_\infty)\|^2 \le
4L\Gamma_k + 2L^2\|w_\infty - w^*\|^2`, of which the second part is covered by the bias:

.. math:: O\Bigl(\frac1\tau\Bigl(\sum_{t=0}^{\tau-1} I_t D + \frac{E^2}{m^2}\Bigl(\sum_k (p^k\sigma_k)^2\,\mathbb
   E\Bigl[\frac{\mathbf 1[s_\tau^k > 0]}{s_\tau^k}\Bigr] + \Gamma\Bigr)\Bigr)\Bigr) .

**Derivation of the sharp form for the limit.** See :mod:`~fltheory.bounds.ruan.theorem_3_1`; here
:math:`a_k \propto p^k A_k`, so :math:`w_\infty = w^*` without inactive clients, whatever their step counts.

Instances: two clients; one completes all steps, the other one all or, with probability one half, a fraction of them,
and none with probability :math:`\iota`; or both are idle with the same probability :math:`1 - A`. Sweeps of
:math:`\tau`, :math:`\sigma^2`, :math:`\Gamma`, :math:`\mathbb E[1/s]`, :math:`1/\iota` and :math:`1/A`, in exact
expectation, see :mod:`~fltheory.bounds.ruan._rates`. As :math:`\iota` falls, the claimed side falls like
:math:`\iota D` until the other terms
take over at :math:`\iota \approx \Gamma/(\tau D) = 1/(64E\tau) \approx 5\cdot10^{-6}`, while the measured side has long
been at the level of its fluctuations; their ratio grows up to there and is flat beyond. So the grid of
:math:`1/\iota` ends at :math:`2.7\cdot10^8`, well beyond. The sweep of :math:`1/A` has equal data. Inactivity that
stops after some rounds is not swept.

Participation is independent over rounds, an assumption that the paper does not list; see
:mod:`~fltheory.bounds.ruan._dependence` for rates that fail without it.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Max, Min, Sum

from fltheory.bounds.algebra import EE, BigO, Smallest
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.flexible_participation.observed import table_row
from fltheory.bounds.flexible_participation.symbols import D, distance, mean_ps, s_drawn
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.ruan import theorem_3_1
from fltheory.bounds.ruan._rates import (
    BASE,
    MEANS,
    RELIABLE,
    Gamma_all,
    growing,
    limit_of_runs,
    rates,
    rounds_of,
    unequal,
)
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import E, N, k, p, sigma_sq, tau

inactive = scalar(
    "inactive", r"\sum_{t=0}^{\tau-1} I_t", "expected number of rounds with an inactive client", domain="nonnegative"
)
mean_inverse_of = family(
    "mean_inverse_of",
    r"\mathbb{E}[1/s_\tau^{<0>}]",
    "expected inverse of a client's steps",
    shape=("clients",),
    domain="probability",
)
mean_inverse_all = family(
    "mean_inverse_all",
    r"\mathbb{E}\left[\frac{\mathbf{1}[s_\tau^{<0>} > 0]}{s_\tau^{<0>}}\right]",
    "expected inverse of a client's steps, 0 if it is inactive",
    shape=("clients",),
    domain="probability",
)


def absences(point: Params, env: Any) -> float:
    """Return the expected number of rounds with an inactive client."""
    return float(rounds_of(point) * (env["chance"] @ (np.array(env["s_drawn"]).min(axis=1) == 0)))


def inverses(point: Params, env: Any) -> Any:
    """Return the expected inverse of the steps of both clients, 0 where they are inactive."""
    steps = np.array(env["s_drawn"])
    return env["chance"] @ ((steps > 0) / np.maximum(steps, 1))


def inverses_if_active(point: Params, env: Any) -> Any:
    """Return the expected inverse of the steps of both clients, given that they are active."""
    return inverses(point, env) / (env["chance"] @ (np.array(env["s_drawn"]) > 0))


def claimed(factor: Any, inverse: Any) -> Any:
    """Return the rate with a factor on what fluctuates."""
    noise = Sum(p[k] ** 2 * sigma_sq[k] * inverse[k], (k, 1, N))
    return Le(distance, BigO((inactive * D + factor * (noise + Gamma_all)) / tau))


definitions = (
    *MEANS,
    (mean_ps, theorem_3_1.MEAN_PS),
    (D, theorem_3_1.D_PRINTED),
    (inactive, tau * EE(1 - Smallest(Min(s_drawn[k], 1), (k, 1, N)))),
    (mean_inverse_all[k], EE(Min(s_drawn[k], 1) / Max(s_drawn[k], 1))),
    (mean_inverse_of[k], mean_inverse_all[k] / EE(Min(s_drawn[k], 1))),
)
reliable = {**BASE, **RELIABLE}
at_times = {**reliable, "seldom": 4.0}

claim = Claim(
    id="ruan.table-1-C-heterogeneous",
    kind=Kind.RATE,
    title="scheme C, heterogeneous participation: rate",
    citation=Citation("ruan", "Corollary 4.0.1, Table 1"),
    forms=(
        Form(
            statement=claimed(1, mean_inverse_of),
            where=definitions,
            note="inverse step counts are taken over active rounds",
        ),
        Form(
            variant="corrected",
            statement=claimed((E / mean_ps) ** 2, mean_inverse_all),
            where=definitions,
            note="fluctuations grow as clients are inactive more often",
        ),
        limit_of_runs("C"),
    ),
    assumptions=(INDEPENDENT,),
    uses=("ruan.theorem-3.1", "ruan.eq-77", "ruan.eq-78", "ruan.eq-79", "ruan.eq-80"),
    check=rates(
        "C",
        unequal,
        (
            growing("tau", 20, 5, {**reliable, "sigma_sq": 1000.0}, factor=2),
            growing("sigma_sq", 1.0, 7, reliable, factor=8),
            growing("spread", 1.0, 6, reliable),
            growing("slow", 1, 5, {**reliable, "spread": 0.01, "times": "slow"}, factor=2),
            growing("tau", 20, 5, {**at_times, "seldom": 1.25}, factor=2),
            growing("spread", 1.0, 6, at_times),
            growing("seldom", 16.0, 7, at_times, factor=16),
            growing("idle", 1.0, 5, {**reliable, "spread": 0.0, "times": "idle"}, factor=2),
        ),
        inactive=absences,
        mean_inverse_of=inverses_if_active,
        mean_inverse_all=inverses,
    ),
    observation=table_row(theorem_3_1.GAMMA, "C", heterogeneous=True),
)
