r"""Theorem 4.5, general convex: rounds of FedAvg without drift over rounds.

As published, for :math:`A = D = 0`, :math:`\eta_g = 1`, all clients selected and :math:`F = \mathbb E\|w_0 - w^*\|`,

.. math:: T = \tilde O\Bigl(\frac{(B^2 + 1)F}{\varepsilon} + \frac{\sigma^2F^2}{NK\varepsilon^2} +
   \frac{G^2F^2}{\varepsilon^2}
   + \frac{\sigma F^2}{\sqrt{K\varepsilon^3}} + \frac{GF^2}{\sqrt{\varepsilon^3}}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the equal weights of the proof, the gap
:math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at least :math:`T`, up to a
constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the paper.

Readings. ``mean``: client drifts sum to zero, as in classical federated learning. ``drawn``: one draw with mean zero
per client that stays (Assumptions 5 and 6); the mean of :math:`N` draws is not zero. The scenario with all clients
selected is called scenario 1 in the theorem and scenario 2 everywhere else.

As in Theorem 4.3, :math:`F/\varepsilon` should be :math:`F^2/\varepsilon`, and with drawn drifts the gap does not tend
to zero.

If client drifts sum to zero :math:`G^2F^2/\varepsilon^2` is not needed (form ``corrected@cancelling``), and
:math:`GF^2/\varepsilon^{3/2}` is, whatever :math:`K` and :math:`N` (form ``sharp@client-drift``).

**Derivation of the corrected form.** As for Theorem 4.3, general convex, with :math:`D = 0`.

**Derivation of the sharp form.** Drawn drifts as for Theorem 4.3, general convex: the curvature :math:`G/(F\sqrt N)`.

Drifts that sum to zero, with constants. Take the two groups of :mod:`fltheory.bounds.cfl._rates` with :math:`K \ge 2`
and the flat curvature :math:`\lambda = (m/(F^2T^2))^{1/3}`, :math:`m = h\bigl(\frac{K-1}{4K}BG\bigr)^2`, or
:math:`1/(\eta_{\max}T)` if that is larger. A step :math:`\eta \le 1/(\lambda T)` leaves :math:`\frac\lambda2F^2(1 -
\lambda\eta)^{2T} \ge \frac\lambda2F^2e^{-2.153} \ge 0.058\,\lambda F^2` on the flat axis. With a larger one,
:math:`T(1 - \rho_s) \ge 0.931\,\eta hT > 0.931\,h/\lambda \ge 2` if :math:`3BG \le LFT`, so that as in the strongly
convex case at least half of :math:`x_\infty` is reached on average: a gap of at least :math:`\frac
h2\bigl(\frac12\cdot 0.862\,\frac{K-1}{4K}\,\eta BG\bigr)^2 \ge 0.092\,m\eta^2 \ge 0.092\,\lambda F^2`. So
:math:`\varepsilon \ge 0.058\,\lambda F^2` in either case, and with :math:`m \ge LB^2G^2/128`

.. math:: T \ge \frac1{810}\,\frac{\sqrt L\,BGF^2}{\varepsilon^{3/2}} \qquad\text{if}\qquad 3BG \le LFT .

The square of :math:`F` is necessary, too (form ``sharp@start``): without drift and noise a constant step
:math:`\eta \le \eta_{\max}` leaves the mean of :math:`T` models on :math:`f(w) = \frac\lambda2 w^2` with
:math:`\lambda = 1/(\eta_{\max}T)` a gap of at least :math:`\frac\lambda2F^2(1 - \frac1T)^{2T}`, of the order of
:math:`\frac{LF^2}T`.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean, unless drifts sum to zero, and with
the square of :math:`F` in the first term, :math:`\frac{GF^2}{\sqrt{\varepsilon^3}}` is at most
:math:`\frac{F^2}{2\varepsilon} + \frac{G^2F^2}{2\varepsilon^2}`. Where the model does not depend on the drifts in use,
no constant of growth is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: one eigenvalue, the one at which start and drift cost the same, and flatter and steeper ones; best step by a
closed form; every source of error alone, together and none, each swept along :math:`T, N, K, F` and its own size, all
forms of a reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`. With drifts that sum to zero the
clients form two groups with different Hessians, so that :math:`G` acts.

Growth: all sources together are also swept with :math:`B > 0`. Growth of the round drift (:math:`A > 0`) multiplies
random drifts with the model; neither the closed form nor the exact engine covers it, so :math:`A = 0` throughout.

Source: Guo, Lin, Tang, 2021, Theorem 4.5.
"""

from __future__ import annotations

from sympy import Le, Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms, start_form
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import B, F, G, K, T, eps, far, sigma, soft_general
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.symbols import N

sources = ("G", "sigma")
same = RateSetting(remembers=False, strongly=False)
drawn = RateSetting(remembers=False, centred=False, strongly=False)
others = sigma**2 * F**2 / (N * K * eps**2) + sigma * F**2 / sqrt(K * eps**3) + G * F**2 / sqrt(eps**3)
rest = G**2 * F**2 / eps**2 + others
rate = (B**2 + 1) * F / eps + rest
error = (
    G * F / sqrt(N)
    + (B**2 + 1) * F**2 / T
    + sqrt(sigma**2 / (N * K) + G**2) * F / sqrt(T)
    + ((sigma**2 / K + G**2) * F**4 / T**2) ** Rational(1, 3)
)
readings = drawn_forms(
    "drawn",
    drawn,
    sources,
    claimed=soft_general(rate),
    error=soft_general(error),
    remains=G * F / sqrt(N),
    far=far(G, rounds=1),
)

claim = Claim(
    id="cfl.theorem-4.5-gc",
    kind=Kind.RATE,
    title="rounds of FedAvg without round drift, general convex",
    citation=Citation("cfl", "Theorem 4.5"),
    forms=(
        Form(variant="published@mean", statement=Le(T, soft_general(rate))),
        Form(
            variant="corrected",
            statement=Le(T, soft_general((B**2 + 1) * F**2 / eps + rest)),
            note="the square of F",
        ),
        start_form(same),
        *cancelling_forms(same, sources, soft_general((B**2 + 1) * F**2 / eps + others)),
        *readings,
    ),
    uses=("cfl.theorem-4.3-gc",),
    check=same.check(*everything(same, *sources)),
    observation=_observed.rate(False, without=("D",)),
)
