r"""Theorem 2, convex: number of iterations to an accuracy.

For mixing matrices such as in Assumption 4 and any :math:`\epsilon > 0` there is a constant step size for which
:math:`\frac1{T+1}\sum_{t=0}^T(\mathbb E f(\bar x^{(t)}) - f^\star) \le \epsilon` after, as published,

.. math:: O\Bigl(\frac{\bar\sigma^2}{n\epsilon^2} + \frac{\sqrt L(\bar\zeta\tau +
   \bar\sigma\sqrt{p\tau})}{p\,\epsilon^{3/2}} + \frac{L\tau}{p\epsilon}\Bigr)\cdot R_0^2

iterations, under Assumptions 1a, 3a and 2 with :math:`\mu \ge 0`. Heterogeneity is that at the minimiser,
:math:`\bar\zeta^2 = \frac1n\sum_i\|\nabla f_i(x^\star)\|^2`, which quadratics of different Hessians have too; a bound
over all models is not assumed. That the noises of two clients are independent, without which the first term is no
smaller for many clients, is: no assumption lists it (:mod:`~fltheory.bounds.koloskova.proposition_5`).

The appendix has lost a factor :math:`\frac\tau p` in front of :math:`A` between Lemma 12 and (17), (18), Lemmas 13 and
14; the theorem has it. Its proof uses Lemma 8, which needs a larger constant
(:mod:`~fltheory.bounds.koloskova.lemma_8`); a rate does not notice.

**Derivation of the corrected form** with constants, :mod:`fltheory.bounds.koloskova._runs`: for steps :math:`\eta \le
\frac p{30\tau L}` and equal weights, :math:`W_T = T + 1`,

.. math:: \frac1{T+1}\sum_{t=0}^T(\mathbb E f(\bar x^{(t)}) - f^\star) \le \frac{2R_0^2}{\eta(T+1)} +
   \frac{42}{19}\cdot\frac{\eta\bar\sigma^2}n + \frac{144L\tau}p\,\eta^2\Bigl(\bar\sigma^2 +
   \frac{3\tau}p\bar\zeta^2\Bigr) .

Form ``corrected@tuned`` has the step of the sharp form of Lemma 15 for :math:`r_0 = 2R_0^2`, :math:`d = \frac{30\tau
L}p` and the other two factors as :math:`b` and :math:`e`. It can be read on experiments with gossip SGD and FedAvg.

Form ``published@drawn`` is the same for random matrices, which Assumption 4 allows since it is about expectations.

Instances: see :mod:`fltheory.bounds.koloskova._periods`; swept over accuracy, number of clients, local steps, consensus
rate, noise, heterogeneity, smoothness and start, each where the terms that contain it are the largest.

Source: Koloskova et al., 2020, Theorem 2, page 6.
"""

from __future__ import annotations

from sympy import Le, Rational, sqrt

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
    zeta_bar,
)
from fltheory.bounds.koloskova._runs import DRIFT, NOISE, SMALL, observed, runs, with_constants
from fltheory.bounds.koloskova._symbols import INDEPENDENT, T, error, far_sq, n, p, tau
from fltheory.bounds.koloskova.lemma_15 import BEST
from fltheory.bounds.quantities import scalar
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

share = scalar("share", r"\rho", "twice the squared distance of the start, per iteration", domain="nonnegative")
b = scalar("b", "b", "constant in front of the step", domain="nonnegative")
e = scalar("e", "e", "constant in front of the squared step", domain="nonnegative")
d = scalar("d", "d", "inverse of the largest step", domain="positive")

PROBABILITY = Assumption("consensus rate", Le(p, 1), Origin.DECLARED)
SIZES = (1.0, 4.0, 16.0, 64.0, 256.0)
second = sqrt(L) * (zeta_bar * tau + sigma_bar * sqrt(p * tau))

CLAIMED = Le(
    T_eps,
    BigO((sigma_bar**2 / (n * eps**2) + second / (p * eps ** Rational(3, 2)) + L * tau / (p * eps)) * R_0**2),
)
DRAWN = Sweeps(
    instances=instances(strongly=False, drawn=True),
    sweeps=(
        *(Sweep("finer", (1e3, 1e4, 1e5, 1e6), base) for base in (MANY, QUIET, STILL)),
        *(Sweep("tau", SIZES, base) for base in (MANY, QUIET, STILL)),
        *(Sweep("inverse", SIZES, base) for base in (MANY, QUIET, STILL)),
        Sweep("zeta", (16.0, 64.0, 256.0, 1024.0), QUIET),
    ),
)

claim = Claim(
    id="koloskova.theorem-2-gc",
    kind=Kind.RATE,
    title="iterations of decentralised SGD, convex",
    citation=Citation("koloskova", "Theorem 2"),
    forms=(
        Form(
            statement=CLAIMED,
        ),
        Form(
            variant="published@drawn",
            statement=CLAIMED,
            check=DRAWN,
            note="matrices that are drawn: the mean after some local steps if a coin shows so, else nothing",
        ),
        Form(
            variant="corrected@constants",
            statement=Le(error, with_constants(T + 1)),
            assumptions=(PROBABILITY, INDEPENDENT, SMALL),
            check=runs(strongly=False),
            observation=observed(strongly=False),
            note="with constants, for gossip SGD and local SGD, steps up to p/(30 tau L)",
        ),
        Form(
            variant="corrected@tuned",
            statement=Le(error, 2 * sqrt(b * share) + BEST * e ** Rational(1, 3) * share ** Rational(2, 3) + d * share),
            where=(
                (b, NOISE),
                (e, DRIFT),
                (d, 30 * tau * L / p),
                (share, 2 * far_sq / (T + 1)),
            ),
            assumptions=(PROBABILITY, INDEPENDENT, SMALL),
            check=runs(strongly=False, largest=False),
            observation=observed(strongly=False, tuned=True),
            note="with constants, and the step that balances the three terms",
        ),
    ),
    assumptions=(PROBABILITY, INDEPENDENT),
    uses=("koloskova.proposition-4", "koloskova.lemma-8", "koloskova.lemma-9", "koloskova.lemma-15"),
    check=Sweeps(
        instances=instances(strongly=False),
        sweeps=(
            Sweep("finer", (16.0, 64.0, 256.0, 1024.0, 4096.0), NOISY),
            *(Sweep("finer", (1e3, 1e4, 1e5, 1e6), base) for base in (MANY, QUIET, STILL)),
            *(Sweep("start", SIZES, base) for base in (NOISY, MANY, QUIET, STILL)),
            *(Sweep("tau", SIZES, base) for base in (MANY, QUIET, STILL)),
            *(Sweep("inverse", SIZES, base) for base in (MANY, QUIET, STILL)),
            *(Sweep("L", SIZES, base) for base in (MANY, QUIET, STILL)),
            Sweep("n", (2.0, 4.0, 8.0, 16.0, 32.0), {**NOISY, "finer": 1e4, **ALONE}),
            *(Sweep("sigma", (16.0, 64.0, 256.0, 1024.0), base) for base in (NOISY, MANY)),
            Sweep("zeta", (16.0, 64.0, 256.0, 1024.0), QUIET),
        ),
    ),
)
