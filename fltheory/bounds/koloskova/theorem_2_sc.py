r"""Theorem 2, strongly convex: number of iterations to an accuracy.

For mixing matrices such as in Assumption 4 and any :math:`\epsilon > 0` there are a constant step size and positive
weights :math:`w_t` with sum :math:`W_T` for which :math:`\sum_{t=0}^T\frac{w_t}{W_T}(\mathbb E f(\bar x^{(t)}) -
f^\star) + \mu\,\mathbb E\|\bar x^{(T+1)} - x^\star\|^2 \le \epsilon` after, as published,

.. math:: \tilde O\Bigl(\frac{\bar\sigma^2}{\mu n\epsilon} + \frac{\sqrt L(\bar\zeta\tau +
   \bar\sigma\sqrt{p\tau})}{\mu p\sqrt\epsilon} + \frac{L\tau}{\mu p}\log\frac1\epsilon\Bigr)

iterations, under Assumptions 1a, 3a and 2 with :math:`\mu > 0`. :math:`\tilde O` allows a logarithm of what the start
shrinks by. The weights are :math:`(1 - \frac{\mu\eta}2)^{-(t+1)}`.

The step in the proof of Lemma 13 has the logarithm of :math:`a^2r_0T^2/c`, which is infinite without noise, :math:`c =
0`, and ignores the heterogeneity; the step here is such that noise and heterogeneity add :math:`\frac\epsilon6` each at
most. As in the convex case a factor :math:`\frac\tau p` is lost on the way and present in the theorem, and weights and
steps are referred to Proposition 4, which has no geometric weights (:mod:`~fltheory.bounds.koloskova.proposition_4`).

**Derivation of the corrected form** with constants, :mod:`fltheory.bounds.koloskova._runs`: for steps :math:`\eta \le
\frac p{30\tau L}`

.. math:: \sum_{t=0}^T\frac{w_t}{W_T}(\mathbb E f(\bar x^{(t)}) - f^\star) \le \frac{2R_0^2}{\eta W_T} +
   \frac{42}{19}\cdot\frac{\eta\bar\sigma^2}n + \frac{144L\tau}p\,\eta^2\Bigl(\bar\sigma^2 +
   \frac{3\tau}p\bar\zeta^2\Bigr), \qquad W_T = \frac{(1 - \mu\eta/2)^{-(T+1)} - 1}{\mu\eta/2} .

It can be read on experiments with gossip SGD and FedAvg.

Form ``published@drawn`` is the same for random matrices, which Assumption 4 allows since it is about expectations.

Instances: see :mod:`fltheory.bounds.koloskova._periods`; swept over accuracy, number of clients, local steps, consensus
rate, noise, heterogeneity and curvature, each where the terms that contain it are the largest.

Source: Koloskova et al., 2020, Theorem 2, page 6.
"""

from __future__ import annotations

from sympy import Gt, Le, log, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind, Sweep, Sweeps
from fltheory.bounds.koloskova._periods import (
    ALONE,
    MANY,
    NOISY,
    QUIET,
    R_0,
    STILL,
    T_eps,
    eps,
    instances,
    sigma_bar,
)
from fltheory.bounds.koloskova._runs import SMALL, observed, runs, with_constants
from fltheory.bounds.koloskova._symbols import INDEPENDENT, T, error, n, p, step, tau
from fltheory.bounds.koloskova.theorem_2_gc import PROBABILITY, SIZES, second
from fltheory.bounds.quantities import scalar
from fltheory.bounds.symbols import L, mu
from fltheory.problems.problem import Origin

CURVED = Assumption("strong convexity", Gt(mu, 0), Origin.DECLARED)
W_T = scalar("W_T", "W_T", "sum of the weights", domain="positive")
ell = scalar("ell", r"\ell", "logarithm of what the start shrinks by", domain="positive")

FAR = {"start": 1e4}
noisy, many, quiet, still = ({**base, **FAR} for base in (NOISY, MANY, QUIET, STILL))
"""From far away, where logarithms change slowly."""

CLAIMED = Le(
    T_eps,
    BigO(
        ell * (sigma_bar**2 / (mu * n * eps) + second / (mu * p * sqrt(eps))) + ell * L * tau / (mu * p) * log(1 / eps)
    ),
)
DRAWN = Sweeps(
    instances=instances(strongly=True, drawn=True),
    sweeps=(
        *(Sweep("finer", (1e3, 1e4, 1e5, 1e6, 1e7), base) for base in (many, quiet, still)),
        *(Sweep("tau", SIZES, base) for base in (many, quiet, still)),
        *(Sweep("inverse", SIZES, base) for base in (many, quiet, still)),
        Sweep("zeta", (16.0, 64.0, 256.0, 1024.0), quiet),
    ),
)

claim = Claim(
    id="koloskova.theorem-2-sc",
    kind=Kind.RATE,
    title="iterations of decentralised SGD, strongly convex",
    citation=Citation("koloskova", "Theorem 2"),
    forms=(
        Form(
            statement=CLAIMED,
            where=((ell, log(2 + L * R_0**2 / eps)),),
            note="a logarithm of L R_0^2 over the accuracy for the tilde",
        ),
        Form(
            variant="published@drawn",
            statement=CLAIMED,
            where=((ell, log(2 + L * R_0**2 / eps)),),
            check=DRAWN,
            note="matrices that are drawn: the mean after some local steps if a coin shows so, else nothing",
        ),
        Form(
            variant="corrected@constants",
            statement=Le(error, with_constants(W_T)),
            where=((W_T, ((1 - mu * step / 2) ** (-T - 1) - 1) / (mu * step / 2)),),
            assumptions=(PROBABILITY, CURVED, INDEPENDENT, SMALL),
            check=runs(strongly=True),
            observation=observed(strongly=True),
            note="with constants, for gossip SGD and local SGD, steps up to p/(30 tau L)",
        ),
    ),
    assumptions=(PROBABILITY, CURVED, INDEPENDENT),
    uses=(
        "koloskova.proposition-4",
        "koloskova.lemma-8",
        "koloskova.lemma-9",
    ),
    check=Sweeps(
        instances=instances(strongly=True),
        sweeps=(
            *(Sweep("finer", (1e3, 1e4, 1e5, 1e6, 1e7), base) for base in (noisy, many, quiet, still)),
            *(Sweep("tau", SIZES, base) for base in (many, quiet, still)),
            *(Sweep("inverse", SIZES, base) for base in (many, quiet, still)),
            *(Sweep("condition", SIZES, base) for base in (noisy, many, quiet, still)),
            Sweep("L", SIZES, still),
            Sweep("n", (2.0, 8.0, 32.0, 128.0), {**noisy, "finer": 1e6, **ALONE}),
            *(Sweep("sigma", (16.0, 64.0, 256.0, 1024.0), base) for base in (noisy, many)),
            Sweep("zeta", (16.0, 64.0, 256.0, 1024.0), quiet),
        ),
    ),
)
