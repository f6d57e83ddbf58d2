r"""Theorem 3.3: lower bound for FedAvg with clients that differ.

As published: for any :math:`K \ge 2, R, M, H, D, \sigma, \zeta_*` there are an objective and distributions, satisfying
Assumption 1 and together :math:`\frac1M\sum_m\|\nabla F_m(x^\star)\|^2 \le \zeta_*^2` (Assumption 3), such that for
some start closer than :math:`D` to the minimiser the final iterate of FedAvg with any step size satisfies

.. math:: \mathbb E[F(x^{(R,0)})] - F(x^\star) \ge \Omega\Bigl(\frac{HD^2}{KR} + \frac{\sigma D}{\sqrt{MKR}} +
   \min\Bigl\{\frac{\sigma D}{\sqrt{KR}}, \frac{H^{1/3}\sigma^{2/3}D^{4/3}}{K^{1/3}R^{2/3}}\Bigr\} +
   \min\Bigl\{\frac{\zeta_*^2}H, \frac{H^{1/3}\zeta_*^{2/3}D^{4/3}}{R^{2/3}}\Bigr\}\Bigr) .

**Where it fails.** With one client there is no heterogeneity: :math:`\nabla F_1(x^\star) = 0`, and without noise FedAvg
is gradient descent with :math:`KR` steps, whose error vanishes with growing :math:`K`, while the last term does not
depend on :math:`K` (form ``published``, which allows any :math:`M`). The proof supposes that :math:`M` is even (form
``published@even``). Then it fails for extreme noise, as :mod:`~fltheory.bounds.glasgow.theorem_3_1` does, and for
extreme :math:`\zeta_*`: step sizes close to zero reach :math:`\frac H2D^2`. Form ``published@moderate`` leaves these
cases out: two clients or more, :math:`\sigma \le HD\sqrt{KR}` and :math:`\zeta_* \le HDR`. There the printed bound
holds, on the problem of the corrected form. The paper states no such assumption; it says "for any :math:`K \ge 2, R, M,
H, D, \sigma`, and :math:`\zeta_*`".

**Derivation of the corrected form.** For :math:`M \ge 2` clients in pairs, with one left over that has no pull if
:math:`M` is odd, a third of the clients or more pull either way. What is shown for the fourth axis in the proof holds
up to a constant; the flat axis has :math:`\mu D^2` for the largest one of the terms, each cut to :math:`HD^2`. For step
sizes above :math:`\frac1{\mu KR}` the drift along the fourth axis costs :math:`\Omega(\frac{\zeta_*^2}H\min\{1, (\eta
HK)^2\})`, at least :math:`\Omega(\min\{\frac{\zeta_*^2}H, \frac{H\zeta_*^2}{\mu^2R^2}\})`; where the last term is the
largest one and is not cut, :math:`\mu = \frac{H^{1/3}\zeta_*^{2/3}}{D^{2/3}R^{2/3}}` gives it back, and where it is
cut, :math:`\zeta_*^2 \ge H^2D^2R^2` and :math:`\frac{\zeta_*^2}{HR^2} \ge HD^2`.

Instances: see :mod:`~fltheory.bounds.glasgow.theorem_3_1`; the rounds of both sorts of clients along the fourth axis in
closed form.

Source: Glasgow et al., 2022, Theorem 3.3, page 7, and Theorem B.1 with its proof, pages 20 and 34 to 37.
"""

from __future__ import annotations

from sympy import Ge, Le, Min

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind, Sweep
from fltheory.bounds.glasgow._fedavg import APART, SERIAL, law, overestimated, read, underestimated
from fltheory.bounds.glasgow._symbols import D, H, M, R, error, zeta
from fltheory.bounds.glasgow.theorem_3_1 import FINAL, LOUD, MODERATE, ROUNDS, drift, most, noise, serial, start, third
from fltheory.problems.problem import Origin

pulls = H**third * zeta ** (2 * third) * D ** (4 * third) / R ** (2 * third)
printed = start + noise + Min(serial, drift) + Min(zeta**2 / H, pulls)
PAIR = Assumption("two clients", Ge(M, 2), Origin.DECLARED)
STEPS = (2.0, 8.0, 32.0, 128.0, 512.0)

claim = Claim(
    id="glasgow.theorem-3.3",
    kind=Kind.LOWER,
    title="lower bound for FedAvg with clients that differ",
    citation=Citation("glasgow", "Theorem 3.3"),
    forms=(
        Form(
            statement=Le(printed, BigO(error)),
            observation=read(pulls=True, fifth=False),
            note="any number of clients",
        ),
        Form(
            variant="published@even",
            statement=Le(printed, BigO(error)),
            assumptions=(FINAL, PAIR),
            check=law(
                overestimated,
                Sweep("zeta", LOUD, APART),
                Sweep("sigma", LOUD, {**APART, "zeta": 0.0}),
            ),
            observation=read(pulls=True, fifth=False),
            note="an even number of clients",
        ),
        Form(
            variant="published@moderate",
            statement=Le(printed, BigO(error)),
            assumptions=(FINAL, PAIR, MODERATE, Assumption("moderate heterogeneity", Le(pulls, most), Origin.DECLARED)),
            check=law(
                underestimated,
                Sweep("R", ROUNDS, APART),
                Sweep("K", STEPS, APART),
                Sweep("M", (2.0, 3.0, 5.0, 9.0), APART),
                Sweep("zeta", (0.3, 1.0, 3.0, 10.0, 30.0, 100.0), {**APART, "R": 2**14}),
                Sweep("D", (1e3, 1e4, 1e5, 1e6), APART),
                Sweep("sigma", (0.032, 0.32, 3.2, 32.0), {**APART, "K": 8}),
            ),
            note="two clients or more, neither noise nor heterogeneity extreme, on the problem of the corrected form",
        ),
        Form(
            variant="corrected",
            statement=Le(
                start + Min(noise, most) + Min(serial, drift, most) + Min(zeta**2 / H, pulls, most), BigO(error)
            ),
            assumptions=(FINAL, PAIR),
            check=law(
                underestimated,
                Sweep("R", ROUNDS, APART),
                Sweep("K", STEPS, APART),
                Sweep("M", (2.0, 3.0, 5.0, 9.0), APART),
                Sweep("zeta", (0.01, 0.1, *LOUD), APART),
                Sweep("D", (1e2, 1e3, 1e4, 1e5, 1e6), APART),
                Sweep("sigma", (0.01, 0.1, *LOUD), {**APART, "K": 8}),
            ),
            observation=read(pulls=True, fifth=True),
            note="two clients or more, and H D^2 in all minima",
        ),
    ),
    assumptions=(FINAL,),
    uses=("glasgow.theorem-3.1",),
    check=law(
        overestimated,
        Sweep("K", STEPS, {**SERIAL, "sigma": 0.0, "zeta": 1.0}),
    ),
)
