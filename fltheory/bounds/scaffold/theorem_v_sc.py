r"""Theorem V, strongly convex: rate of FedAvg.

For :math:`\eta_l \le \frac1{8(1+B^2)\beta K\eta_g}`, :math:`\eta_g \ge 1` and :math:`R \ge \frac{8(1+B^2)\beta}\mu`
there are weights such that the output :math:`\bar x^R`, one of :math:`x^0, \dots, x^R` drawn with them, satisfies, as
published,

.. math:: \mathbb E[f(\bar x^R)] - f(x^*) \le \tilde O\Bigl(\frac{M^2}{\mu RKS} + \frac{\beta G^2}{\mu^2R^2} +
   \mu D^2\exp\bigl(-\tfrac\mu{16(1+B^2)\beta}R\bigr)\Bigr), \qquad
   M^2 = \sigma^2\bigl(1 + \tfrac S{\eta_g^2}\bigr) + K\bigl(1 - \tfrac SN\bigr)G^2 .

:math:`\tilde O` allows a logarithm of what the start shrinks by in front of the first term and its square in front of
the second. The step of the printed proof, :math:`\log(\max(1, \mu^2Rd/c_1))/(\mu R)`, does not give the rate: the
start shrinks by :math:`\exp(-\frac12\mu\tilde\eta R)`, so that only the square root of what has to vanish does. It is
also zero for :math:`\mu^2Rd \le c_1`, and ignores :math:`c_2`. Here the step is twice the logarithm, at least
:math:`2\log2/(\mu R)`, and the smaller one of what both terms ask for; the theorem promises no more than that such a
step exists.

Instances: see :mod:`fltheory.bounds.scaffold._fedavg`; all clients take part (:math:`S = N`). Swept over rounds, noise,
pull, local steps, server rate and curvature.

Source: Karimireddy et al., 2020, Theorem V, page 19 of the supplement (Theorem I in the text).
"""

from __future__ import annotations

from sympy import Ge, Le, exp, log

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind, Sweep, Sweeps
from fltheory.bounds.scaffold._fedavg import NOISY, QUIET, D, M_sq, ell, error, instances, strongly_convex
from fltheory.bounds.scaffold._observed import observed
from fltheory.bounds.scaffold._symbols import INDEPENDENT, B_sq, G_sq, K, R, S, beta, eta_g, sigma_sq
from fltheory.bounds.symbols import N, mu
from fltheory.problems.problem import Origin

variance = (M_sq, sigma_sq * (1 + S / eta_g**2) + K * (1 - S / N) * G_sq)

FAR = {"start": 1000.0}
noisy, quiet = {**NOISY, **FAR}, {**QUIET, **FAR}
"""From far away, where logarithms change slowly."""

claim = Claim(
    id="scaffold.theorem-v-sc",
    kind=Kind.RATE,
    title="rate of FedAvg, strongly convex",
    citation=Citation("scaffold", "Theorem V"),
    forms=(
        Form(
            statement=Le(
                error,
                BigO(
                    ell * M_sq / (mu * R * K * S)
                    + ell**2 * beta * G_sq / (mu**2 * R**2)
                    + mu * D**2 * exp(-mu / (16 * (1 + B_sq) * beta) * R)
                ),
            ),
            where=(variance, (ell, log(2 + beta * D**2 / error))),
            note="a logarithm of beta D^2 over the error for the tilde",
        ),
    ),
    assumptions=(Assumption("enough rounds", Ge(R, 8 * (1 + B_sq) * beta / mu), Origin.DECLARED), INDEPENDENT),
    uses=("scaffold.lemma-1", "scaffold.lemma-7", "scaffold.lemma-8"),
    check=Sweeps(
        instances=instances(strongly_convex),
        sweeps=(
            *(Sweep("R", (1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0), base) for base in (noisy, quiet)),
            *(Sweep("K", (8.0, 16.0, 32.0, 64.0, 128.0, 256.0), base) for base in (noisy, quiet)),
            *(Sweep("condition", (2.0, 4.0, 8.0, 16.0, 32.0), {**base, "R": 65536}) for base in (noisy, quiet)),
            Sweep("sigma", (8.0, 16.0, 32.0, 64.0, 128.0), noisy),
            Sweep("eta_g", (8.0, 16.0, 32.0, 64.0), noisy),
            Sweep("pull", (4.0, 16.0, 64.0, 256.0), quiet),
        ),
    ),
    observation=observed(convex=False),
)
