r"""Table 1, scheme A, homogeneous participation: rate of convergence.

Only complete clients count, each of them with the same probability. With :math:`K_\tau \ne 0` the number of complete
clients, as published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 = O\Bigl(\frac{\mathbb E[N^2/K_\tau] + \bar\sigma_N^2 +
   \Gamma}{\tau}\Bigr), \qquad
   \bar\sigma_N^2 = \sum_k (p^k\sigma_k)^2 .

The first term is a pure number and the others are not: the bound :math:`G^2` on the gradients is hidden in the
constant, together with :math:`\mu, L, E` and the start. Since :math:`\sigma_k^2 \le G^2` and
:math:`\Gamma_k \le G^2/(2\mu)`, the first term then covers the others, and the rate says no more than
:math:`O(\mathbb E[N^2/K_\tau]/\tau)`.

**Derivation of the sharp form.** By (68) to (70), with :math:`a = \mathbb E[1/K_\tau \mid K_\tau \ne 0]` and
:math:`\sum_k p^k\nabla F_k(w^*) = 0`, a round adds fluctuations with variance

.. math:: E^2\,\frac{N(Na - 1)}{N-1}\sum_k (p^k)^2\|\nabla F_k(w^*)\|^2 + E\,N a\,\bar\sigma_N^2
   \le N a\,\bigl(2LE^2\,\Gamma + E\,\bar\sigma_N^2\bigr) ,

since :math:`\frac{Na-1}{N-1} \le a \le 1` and :math:`\|\nabla F_k(w^*)\|^2 \le 2L\Gamma_k`. To first order in
:math:`1/\tau` the distance is at most :math:`\frac{256}{31\mu^2E^2\tau}` times that. So

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 = O\Bigl(\mathbb
   E\Bigl[\frac{N}{K_\tau}\Bigr]\,\frac{\bar\sigma_N^2 + \Gamma}{\tau}\Bigr)

without :math:`G` in the constant: :math:`N` in place of :math:`N^2`, and a rate that vanishes with noise and
heterogeneity.

The proof uses that participation is independent over rounds, which appendix A.2 denies to need. Without it
(``published@any-dependence``) the rate is false: let a coin decide once which of two clients works
(:mod:`~fltheory.bounds.ruan._dependence`). Each works half of the time, so participation is homogeneous, but runs go to
the minimiser of one client.

Instances: every client is complete with probability :math:`q`, drawn anew while nobody is; sweeps of :math:`\tau`,
:math:`\sigma^2`, :math:`\Gamma`, :math:`N` and :math:`1/q`, in exact expectation.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Min, Sum

from fltheory.bounds.algebra import EE, BigO
from fltheory.bounds.claim import Citation, Claim, Form, Kind, Sweep
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.flexible_participation.observed import table_row
from fltheory.bounds.flexible_participation.symbols import distance, s_drawn
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan import theorem_3_1
from fltheory.bounds.ruan._dependence import any_dependence
from fltheory.bounds.ruan._rates import BASE, MEANS, STEPS, Gamma_all, growing, rates, sigma_bar_sq
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import N, k, tau
from fltheory.participation import Participation
from fltheory.participation.selection import Bernoulli

over_complete = scalar(
    "mean_inverse_K",
    r"\mathbb{E}[1/K_\tau]",
    "expected inverse of the number of complete clients",
    domain="probability",
)


def participation(point: Params) -> Participation:
    """Return clients that are complete once in a while, at least one of them in every round."""
    return Participation(
        num_clients=int(point["N"]), local_steps=STEPS, selection=Bernoulli(probability=1 / point["rarely"])
    )


def inverse_complete(point: Params, env: Any) -> float:
    """Return the expected inverse of the number of complete clients."""
    complete = np.array([np.count_nonzero(steps) for steps in env["s_drawn"]])
    return float(env["chance"] @ (1 / complete))


base = {**BASE, "rarely": 2.0}
definitions = (*MEANS, (over_complete, EE(1 / Sum(Min(s_drawn[k], 1), (k, 1, N)))))

published = Form(
    statement=Le(distance, BigO((N**2 * over_complete + sigma_bar_sq + Gamma_all) / tau)), where=definitions
)

claim = Claim(
    id="ruan.table-1-A-homogeneous",
    kind=Kind.RATE,
    title="scheme A, homogeneous participation: rate",
    citation=Citation("ruan", "Corollary 4.0.1, Table 1"),
    forms=(
        published,
        any_dependence(published, share=1.0),
        Form(
            variant="sharp",
            statement=Le(distance, BigO(N * over_complete * (sigma_bar_sq + Gamma_all) / tau)),
            where=definitions,
            note="N in place of its square, times noise and heterogeneity in place of the gradient bound",
        ),
    ),
    assumptions=(INDEPENDENT,),
    uses=("ruan.theorem-3.1", "ruan.eq-68", "ruan.eq-69", "ruan.eq-70"),
    check=rates(
        "A",
        participation,
        (
            growing("tau", 20, 5, base, factor=2),
            growing("sigma_sq", 1.0, 7, base, factor=8),
            growing("spread", 1.0, 6, base),
            growing("rarely", 1.0, 6, base, factor=2),
            Sweep("N", (2, 3, 4, 5), {"tau": 40, "sigma_sq": 1.0, "spread": 1.0, "rarely": 4.0}),
        ),
        mean_inverse_K=inverse_complete,
    ),
    observation=table_row(theorem_3_1.GAMMA, "A", heterogeneous=False),
)
