r"""Table 1, scheme C, homogeneous participation: rate of convergence.

Work is weighted inversely to the number of completed steps, and all clients have the same law. As published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 = O\Bigl(\frac{\bar\sigma_N^2 + \Gamma}{\tau\,(\mathbb
   E[1/s_\tau])^{-1}}\Bigr), \qquad
   \bar\sigma_N^2 = \sum_k (p^k\sigma_k)^2 .

A client that may be inactive makes :math:`\mathbb E[1/s_\tau]` infinite and the claim empty, so every client
completes at least one step here. Constants and limit are as for scheme B.

**Derivation of the sharp form.** If everybody is active,
:math:`\sum_k p_\tau^k s_\tau^k\nabla F_k(w^*) = E\sum_k p^k\nabla F_k(w^*) = 0` in every round: step counts add no
fluctuation. Only noise is left to first order in :math:`1/\tau`, with variance
:math:`E^2\,\mathbb E[1/s_\tau]\,\bar\sigma_N^2` per round, which gives
:math:`\frac{256}{31\mu^2}\cdot\frac{\bar\sigma_N^2\,\mathbb E[1/s_\tau]}{\tau}` for the curvature :math:`\mu` in all
directions, and less otherwise. Drift inside rounds is of order :math:`1/\tau^2`. So :math:`\Gamma` drops out of the
rate as long as there is noise.

Instances: sweeps of :math:`\tau`, :math:`\sigma^2`, :math:`\Gamma` and :math:`\mathbb E[1/s_\tau]` with two clients
that complete all steps or, with probability one half, a fraction of them, in exact expectation; the last one with
rounds in proportion to the inverse of that fraction, as is the offset of the learning rate, see
:mod:`~fltheory.bounds.ruan._rates`. The sharp
form is not swept in :math:`\Gamma`, whose part dies out with :math:`\tau` only.

Participation is independent over rounds, an assumption that the paper does not list; see
:mod:`~fltheory.bounds.ruan._dependence` for rates that fail without it.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sympy import Le

from fltheory.bounds.algebra import EE, BigO
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.flexible_participation.observed import table_row
from fltheory.bounds.flexible_participation.symbols import distance, s_drawn
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan import theorem_3_1
from fltheory.bounds.ruan._rates import BASE, MEANS, STEPS, Gamma_all, growing, rates, sigma_bar_sq
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import tau
from fltheory.participation import Participation, StepCounts

mean_inverse = scalar(
    "mean_inverse",
    r"\mathbb{E}[1/s_\tau]",
    "expected inverse of the steps that a client completes",
    domain="probability",
)


def participation(point: Params) -> Participation:
    """Return clients that complete all steps or a fraction of them."""
    pmf = np.zeros(STEPS + 1)
    pmf[STEPS] += 0.5
    pmf[STEPS // int(point["slow"])] += 0.5
    return Participation(num_clients=int(point["N"]), local_steps=STEPS, steps=StepCounts(pmf=pmf))


base = {**BASE, "slow": 2}
definitions = (*MEANS, (mean_inverse, EE(1 / s_drawn[1])))
extra = {"mean_inverse": lambda point, env: (1 + point["slow"]) / (2 * STEPS)}
in_time, in_noise = growing("tau", 20, 5, base, factor=2), growing("sigma_sq", 1.0, 7, base, factor=8)
in_spread, in_slowness = growing("spread", 1.0, 6, base), growing("slow", 1, 5, {**base, "times": "slow"}, factor=2)
runs = rates("C", participation, (in_time, in_noise, in_slowness), **extra)

claim = Claim(
    id="ruan.table-1-C-homogeneous",
    kind=Kind.RATE,
    title="scheme C, homogeneous participation: rate",
    citation=Citation("ruan", "Corollary 4.0.1, Table 1"),
    forms=(
        Form(
            statement=Le(distance, BigO((sigma_bar_sq + Gamma_all) / (tau * mean_inverse**-1))),
            where=definitions,
            check=replace(runs, sweeps=(in_time, in_noise, in_spread, in_slowness)),
        ),
        Form(
            variant="sharp",
            statement=Le(distance, BigO(sigma_bar_sq * mean_inverse / tau)),
            where=definitions,
            note="heterogeneity does not matter to first order",
        ),
    ),
    assumptions=(INDEPENDENT,),
    uses=("ruan.theorem-3.1", "ruan.eq-73", "ruan.eq-74", "ruan.eq-75", "ruan.eq-76"),
    check=runs,
    observation=table_row(theorem_3_1.GAMMA, "C", heterogeneous=False),
)
