r"""Theorem V, general convex: rate of FedAvg.

For :math:`\eta_l \le \frac1{(1+B^2)8\beta K\eta_g}`, :math:`\eta_g \ge 1` and :math:`R \ge 1`, with equal weights, as
published,

.. math:: \mathbb E[f(\bar x^R)] - f(x^*) \le O\Bigl(\frac{MD}{\sqrt{RKS}} + \frac{D^{4/3}(\beta
   G^2)^{1/3}}{(R+1)^{2/3}} + \frac{B^2\beta D^2}R\Bigr), \qquad
   M^2 = \sigma^2\bigl(1 + \tfrac S{\eta_g^2}\bigr) + K\bigl(1 - \tfrac SN\bigr)G^2 .

Instances: see :mod:`fltheory.bounds.scaffold._fedavg`, with the step of :mod:`~fltheory.bounds.scaffold.lemma_2`; all
clients take part (:math:`S = N`). The curvature of the flat axis is the one at which the start is just not forgotten.

Source: Karimireddy et al., 2020, Theorem V, page 19 of the supplement (Theorem I in the text), with an unmatched
bracket in the last term.
"""

from __future__ import annotations

from sympy import Ge, Le, Rational, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind, Sweep, Sweeps
from fltheory.bounds.scaffold._fedavg import NOISY, QUIET, STILL, D, M_sq, error, general, instances
from fltheory.bounds.scaffold._observed import observed
from fltheory.bounds.scaffold._symbols import INDEPENDENT, B_sq, G_sq, K, R, S, beta
from fltheory.bounds.scaffold.theorem_v_sc import variance
from fltheory.problems.problem import Origin

ROUNDS = (2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0)

claim = Claim(
    id="scaffold.theorem-v-gc",
    kind=Kind.RATE,
    title="rate of FedAvg, general convex",
    citation=Citation("scaffold", "Theorem V"),
    forms=(
        Form(
            statement=Le(
                error,
                BigO(
                    sqrt(M_sq) * D / sqrt(R * K * S)
                    + D ** Rational(4, 3) * (beta * G_sq) ** Rational(1, 3) / (R + 1) ** Rational(2, 3)
                    + B_sq * beta * D**2 / R
                ),
            ),
            where=(variance,),
        ),
    ),
    assumptions=(Assumption("rounds", Ge(R, 1), Origin.DECLARED), INDEPENDENT),
    uses=("scaffold.lemma-2", "scaffold.lemma-7", "scaffold.lemma-8"),
    check=Sweeps(
        instances=instances(general),
        sweeps=(
            *(Sweep("R", ROUNDS, base) for base in (NOISY, QUIET, STILL)),
            *(Sweep("start", (1.0, 2.0, 4.0, 8.0, 16.0), base) for base in (NOISY, QUIET, STILL)),
            *(Sweep("K", (8.0, 16.0, 32.0, 64.0, 128.0, 256.0), base) for base in (NOISY, QUIET)),
            Sweep("sigma", (8.0, 16.0, 32.0, 64.0, 128.0), NOISY),
            Sweep("pull", (4.0, 16.0, 64.0, 256.0), QUIET),
        ),
    ),
    observation=observed(convex=True),
)
