r"""Theorem 4.6, general convex: rounds of continual learning, CFL-R with one client.

As published, for :math:`N = 1`, :math:`G = B = 0` and :math:`F = \mathbb E\|w_0 - w^*\|`,

.. math:: T = \tilde O\Bigl(\frac{\sigma F}{\sqrt{K\varepsilon}} + \frac{(D + 1 + A^2)F}{\varepsilon} + \frac{\sigma
   F^2}{\sqrt{K\varepsilon^3}}
   + \frac{\sqrt[3]{D^2F^4}}{\varepsilon}\Bigr) .

Table 1 has :math:`\frac{\sigma F}{\sqrt K\varepsilon}` as the first term, which is what (82) gives, and
:math:`\frac{\sigma F^2}{\sqrt K\varepsilon^3}` as the third; the reading ``table-1`` takes both, ``table-1-long-root``
the first only.

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the equal weights of the proof, the gap
:math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at least :math:`T`, up to a
constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the paper.

Two readings of the objective. ``expectation``: :math:`f = \mathbb E f_{t,i}`, drifts independent with mean zero
(Assumptions 5 and 6, and the experiments of section 6). ``over-rounds``: :math:`f` is the finite mean (2) of the
objectives of all :math:`T` rounds, so that the last round knows all of it.

Faults as in Theorem 4.2, general convex: :math:`F/\varepsilon` for :math:`F^2/\varepsilon`, and stored drifts treated
as new. The rate :math:`\tilde O(1/T)` that section 4.2 reads off for full gradients is right in :math:`T`, not in
:math:`F`.

**Derivation of the corrected form.** That of Theorem 4.2, general convex, with :math:`N = 1` and :math:`G = 0`: the
additional term is :math:`\frac{D^2F^2}{\varepsilon^2}`.

**Derivation of the sharp form.** That of Theorem 4.2, general convex.

The square of :math:`F` is necessary, too (form ``sharp@start``): without drift and noise a constant step
:math:`\eta \le \eta_{\max}` leaves the mean of :math:`T` models on :math:`f(w) = \frac\lambda2 w^2` with
:math:`\lambda = 1/(\eta_{\max}T)` a gap of at least :math:`\frac\lambda2F^2(1 - \frac1T)^{2T}`, of the order of
:math:`\frac{LF^2}T`.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean, with the square of :math:`F` in the
first term, :math:`\frac{\sqrt[3]{D^2F^4}}\varepsilon` is at most :math:`\frac{F^2}{3\varepsilon} +
\frac{2DF}{3\varepsilon}`. Nor can they show :math:`A`, which is 0 in all of them. Where the model does not depend on
the drifts in use, no constant of growth is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: one eigenvalue, the one at which start and drift cost the same, and flatter and steeper ones; best step by
a closed form; every source of error alone, together and none, each swept along :math:`T, N, K, F` and its own size, all
forms of a reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`.

Source: Guo, Lin, Tang, 2021, Theorem 4.6, Table 1.
"""

from __future__ import annotations

from sympy import Le, Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import remembered_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import A, D, F, K, T, eps, far, sigma, soft_general
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Form, Kind

setting = RateSetting(remembers=True, scenario="S1", centred=False, strongly=False, clients=1)
sources = ("D", "sigma")
sigma_first = sigma * F / sqrt(K * eps)
cube = (D**2 * F**4) ** Rational(1, 3) / eps
rest = sigma * F**2 / sqrt(K * eps**3) + cube
second = (D + 1 + A**2) * F / eps
table = sigma * F / (sqrt(K) * eps)
repaired = table + (D * F + (1 + A**2) * F**2) / eps + rest + D**2 * F**2 / eps**2

claim = Claim(
    id="cfl.theorem-4.6-gc",
    kind=Kind.RATE,
    title="rounds of continual learning, general convex",
    citation=Citation("cfl", "Theorem 4.6"),
    forms=(
        *remembered_forms(
            setting,
            sources,
            claimed=soft_general(sigma_first + second + rest),
            repaired=soft_general(repaired),
            over=soft_general(repaired),
            needed=D**2 * F**2 / eps**2,
            far=far(D),
            note="the square of F, and the mean of all drifts so far stays in the model",
        ),
        Form(
            variant="published@table-1",
            statement=Le(T, soft_general(table + second + sigma * F**2 / (sqrt(K) * eps**3) + cube)),
            note="as in Table 1, both roots short",
        ),
        Form(
            variant="published@table-1-long-root",
            statement=Le(T, soft_general(table + second + rest)),
            note="the first term as in Table 1, the third as in the theorem",
        ),
    ),
    uses=("cfl.theorem-4.2-gc",),
    check=setting.check(*everything(setting, *sources)),
    observation=_observed.rate(True, without=("G",), clients=1),
)
