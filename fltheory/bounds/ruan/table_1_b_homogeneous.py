r"""Table 1, scheme B, homogeneous participation: rate of convergence.

All work is aggregated with fixed weights, and all clients have the same law of step counts. As published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 = O\Bigl(\frac{\bar\sigma_N^2 + \Gamma}{\tau\,\mathbb
   E[s_\tau]}\Bigr), \qquad
   \bar\sigma_N^2 = \sum_k (p^k\sigma_k)^2 .

The constant may depend on :math:`\mu, L, E, G` and the start, and the rate is one for :math:`\tau \to \infty`:
without noise and heterogeneity the claimed side is zero, while a run needs time to forget its start. To first order
in :math:`1/\tau` the distance is at most :math:`\frac{256}{31\mu^2\tau}` times

.. math:: \frac{\bar\sigma_N^2}{\mathbb E[s_\tau]} + \frac{\operatorname{Var}(s_\tau)}{\mathbb E[s_\tau]^2}\sum_k
   (p^k)^2\|\nabla F_k(w^*)\|^2 ,

and :math:`\operatorname{Var}(s_\tau) \le E\,\mathbb E[s_\tau]`, so both dependences are right; heterogeneity enters
only through randomness of the step counts.

The proof uses that participation is independent over rounds, which appendix A.2 denies to need. Without it
(``published@any-dependence``) the rate is false: let a coin decide once which of two clients works
(:mod:`~fltheory.bounds.ruan._dependence`). Each works half of the time, so participation is homogeneous, but runs go to
the minimiser of one client.

**Derivation of the corrected form.** It is the published one with that assumption, to first order by the display above.

Instances: sweeps of :math:`\tau`, :math:`\sigma^2`, :math:`\Gamma` and :math:`1/\mathbb E[s_\tau]` with two clients
that complete all steps or none, in exact expectation; the last one with rounds in proportion to
:math:`1/\mathbb E[s_\tau]`, as is the offset of the learning rate, see :mod:`~fltheory.bounds.ruan._rates`.

Source: Ruan et al., AISTATS 2021, section 4.1, Table 1, and appendix A.4.2.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Le

from fltheory.bounds.algebra import EE, BigO
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.flexible_participation.observed import table_row
from fltheory.bounds.flexible_participation.symbols import distance, s_drawn
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan import theorem_3_1
from fltheory.bounds.ruan._dependence import any_dependence
from fltheory.bounds.ruan._rates import BASE, MEANS, STEPS, Gamma_all, growing, rates, sigma_bar_sq
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import tau
from fltheory.participation import BernoulliSteps, Participation

mean_s = scalar(
    "mean_s", r"\mathbb{E}[s_\tau]", "expected number of steps that a client completes", domain="nonnegative"
)


def participation(point: Params) -> Participation:
    """Return clients that complete all steps once in a while."""
    return Participation(
        num_clients=int(point["N"]), local_steps=STEPS, steps=BernoulliSteps(probability=1 / point["rarely"])
    )


base = {**BASE, "rarely": 2.0}

published = Form(
    statement=Le(distance, BigO((sigma_bar_sq + Gamma_all) / (tau * mean_s))), where=(*MEANS, (mean_s, EE(s_drawn[1])))
)

claim = Claim(
    id="ruan.table-1-B-homogeneous",
    kind=Kind.RATE,
    title="scheme B, homogeneous participation: rate",
    citation=Citation("ruan", "Corollary 4.0.1, Table 1"),
    forms=(
        published,
        any_dependence(published, share=0.5),
        replace(published, variant="corrected", note="participation is independent over rounds"),
    ),
    assumptions=(INDEPENDENT,),
    uses=("ruan.theorem-3.1",),
    check=rates(
        "B",
        participation,
        (
            growing("tau", 20, 5, {**base, "rarely": 1.5}, factor=2),
            growing("sigma_sq", 1.0, 7, base, factor=8),
            growing("spread", 1.0, 6, base),
            growing("rarely", 4.0, 4, {**base, "tau": 8, "times": "rarely"}, factor=2),
        ),
        mean_s=lambda point, env: STEPS / point["rarely"],
    ),
    observation=table_row(theorem_3_1.GAMMA, "B", heterogeneous=False),
)
