r"""Theorem 3.1: lower bound for FedAvg with equal clients.

As published: for any :math:`K \ge 2, R, M, \sigma, D` there is an objective with a distribution satisfying Assumption 1
such that for some start closer than :math:`D` to the minimiser the final iterate of FedAvg with any step size satisfies

.. math:: \mathbb E[F(x^{(R,0)})] - F(x^\star) \ge \Omega\Bigl(\frac{HD^2}{KR} + \frac{\sigma D}{\sqrt{MKR}} +
   \min\Bigl\{\frac{\sigma D}{\sqrt{KR}}, \frac{H^{1/3}\sigma^{2/3}D^{4/3}}{K^{1/3}R^{2/3}}\Bigr\}\Bigr) .

The problem (B.1) is :func:`fltheory.bent_valley_with_pulls` without pulls; here its curvatures are halved, since the
printed ones reach :math:`2H`, and the third axis has curvature :math:`H`.

**Where it fails.** For extreme noise, whatever the problem: if it is :math:`H`-smooth, step sizes close to zero reach
:math:`\frac H2D^2`, while the second and the third term grow with :math:`\sigma` without bound. Form
``published@moderate-noise`` leaves that case out: :math:`\sigma \le HD\sqrt{KR}`, so that one run of SGD can average
the noise out. That is an assumption which the paper does not state: the theorem is for any :math:`\sigma` and
:math:`D`, and only Table 1 leaves out terms "as :math:`R \to \infty`". The printed bound then holds, on the problem of
the corrected form. On (B.1) it does not: there all noise is along the bent axis, which is strongly convex, and with
many rounds and one client small step sizes reach less than :math:`\frac{\sigma D}{\sqrt{MKR}}`. The proof recalls that
some problem has this term, and takes the maximum of both, which needs a problem that has both. In the proof, Lemma B.16
has :math:`(1-2\eta\mu)^{2KR} \ge e^{-2\eta\mu KR}`, which holds with :math:`e^{-4\eta\mu KR}` for small steps, and a
smaller constant.

**Derivation of the corrected form.** A fifth axis :math:`\frac\nu2x_5^2` from :math:`\frac D2` takes half of the
variance. As for :mod:`~fltheory.bounds.woodworth.theorem_3`, with :math:`\nu = \frac\sigma{D\sqrt{MKR}}`, at most
:math:`H`, its gap is at least a constant times :math:`\min\{\frac{\sigma D}{\sqrt{MKR}}, HD^2\}` for any step size. The
flat axis has the curvature of the paper, cut to :math:`H`: with :math:`\mu D^2` for the largest one of the other terms,
each cut to :math:`HD^2`, step sizes below :math:`\frac1{\mu KR}` leave a constant part of :math:`\mu D^2`, and for
larger ones Lemma B.4 gives the third term, as in the printed proof. For equal clients

.. math:: \mathbb E[F(x^{(R,0)})] - F(x^\star) \ge \Omega\Bigl(\frac{HD^2}{KR} +
   \min\Bigl\{\frac{\sigma D}{\sqrt{MKR}}, HD^2\Bigr\} + \min\Bigl\{\frac{\sigma D}{\sqrt{KR}},
   \frac{H^{1/3}\sigma^{2/3}D^{4/3}}{K^{1/3}R^{2/3}}, HD^2\Bigr\}\Bigr) .

Instances: sweeps of all parameters with the step size that is best on a grid, see
:mod:`fltheory.bounds.glasgow._fedavg`; errors are overestimated for the published form and underestimated for the
corrected one.

Source: Glasgow et al., 2022, Theorem 3.1, page 7, and Theorem B.1 with its proof, pages 20 and 34 to 37.
"""

from __future__ import annotations

from sympy import Ge, Le, Min, Rational, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind, Sweep
from fltheory.bounds.glasgow._fedavg import ALIKE, SERIAL, STILL, law, overestimated, read, underestimated
from fltheory.bounds.glasgow._symbols import D, H, K, M, R, error, sigma
from fltheory.problems.problem import Origin

third = Rational(1, 3)
start, most = H * D**2 / (K * R), H * D**2
noise, serial = sigma * D / sqrt(M * K * R), sigma * D / sqrt(K * R)
drift = H**third * sigma ** (2 * third) * D ** (4 * third) / (K**third * R ** (2 * third))
FINAL = Assumption("several local steps", Ge(K, 2), Origin.DECLARED)
MODERATE = Assumption("moderate noise", Le(serial, most), Origin.DECLARED)
ROUNDS = (64.0, 128.0, 256.0, 512.0)
LOUD = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)

claim = Claim(
    id="glasgow.theorem-3.1",
    kind=Kind.LOWER,
    title="lower bound for FedAvg with equal clients",
    citation=Citation("glasgow", "Theorem 3.1"),
    forms=(
        Form(
            statement=Le(start + noise + Min(serial, drift), BigO(error)),
            observation=read(pulls=False, fifth=False),
            note="the problem (B.1)",
        ),
        Form(
            variant="published@moderate-noise",
            statement=Le(start + noise + Min(serial, drift), BigO(error)),
            assumptions=(FINAL, MODERATE),
            check=law(
                underestimated,
                *(Sweep("R", ROUNDS, base) for base in (ALIKE, SERIAL, STILL)),
                *(Sweep("K", (2.0, 4.0, 8.0, 16.0), base) for base in (ALIKE, STILL)),
                Sweep("M", (1.0, 1e2, 1e4, 1e6, 1e8, 1e10), ALIKE),
                *(Sweep("sigma", (1.0, 4.0, 16.0, 64.0, 256.0), {**base, "R": 2**14}) for base in (ALIKE, SERIAL)),
                Sweep("D", (0.1, 1.0, 10.0, 100.0), ALIKE),
            ),
            note="noise that one run can average out, on the problem of the corrected form",
        ),
        Form(
            variant="corrected",
            statement=Le(start + Min(noise, most) + Min(serial, drift, most), BigO(error)),
            check=law(
                underestimated,
                *(Sweep("R", ROUNDS, base) for base in (ALIKE, SERIAL, STILL)),
                *(Sweep("K", (2.0, 4.0, 8.0, 16.0), base) for base in (ALIKE, STILL)),
                Sweep("M", (1.0, 1e2, 1e4, 1e6, 1e8, 1e10), ALIKE),
                *(Sweep("sigma", LOUD, base) for base in (ALIKE, SERIAL)),
                Sweep("D", (0.01, 0.1, 1.0, 10.0, 100.0, 1e3), ALIKE),
            ),
            observation=read(pulls=False, fifth=True),
            note="H D^2 in all minima, and a fifth axis with noise of its own",
        ),
    ),
    assumptions=(FINAL,),
    uses=("glasgow.lemma-b.4",),
    check=law(
        overestimated,
        Sweep("sigma", LOUD, SERIAL),
        Sweep("R", (1e3, 1e4, 1e5, 1e6), SERIAL),
    ),
)
