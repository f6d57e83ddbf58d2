r"""Theorem 4.5, strongly convex: rounds of FedAvg without drift over rounds.

As published, for :math:`A = D = 0`, :math:`\eta_g = 1` and all clients selected,

.. math:: T = \tilde O\Bigl(\frac{B^2 + 1}{\mu} + \frac{\sigma^2}{\mu NK\varepsilon} + \frac{G^2}{\mu\varepsilon} +
   \frac{\sigma}{\mu\sqrt{K\varepsilon}}
   + \frac{G}{\mu\sqrt{K\varepsilon}}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}`
of the proof, the gap :math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at
least :math:`T`, up to a constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the
paper.

Readings. ``mean``: client drifts sum to zero, as in classical federated learning. ``drawn``: one draw with mean zero
per client that stays (Assumptions 5 and 6); the mean of :math:`N` draws is not zero. The scenario with all clients
selected is called scenario 1 in the theorem and scenario 2 everywhere else.

The :math:`K` in the last term disagrees with (78), which gives :math:`G/(\mu\sqrt\varepsilon)`. This has no
consequences: by the inequality of the arithmetic and geometric means :math:`\frac1\mu + \frac{G^2}{\mu\varepsilon} \ge
\frac{2G}{\mu\sqrt\varepsilon}`, so that the term is never needed. But :math:`G^2/(\mu\varepsilon)` is not needed either
if client drifts sum to zero (form ``corrected@cancelling``). Without it the last term is the one that counts, it is
attained, and it must not contain :math:`K`: more local steps do not lower what client drift costs (form
``sharp@client-drift``, along :math:`K` and :math:`N` as well). With drawn drifts the gap does not tend to zero.

**Derivation of the corrected form.** As for Theorem 4.3 with :math:`D = 0`: the published error plus
:math:`\frac{8G^2}{\mu N}`.

For drifts that sum to zero as for Theorem 4.3, strongly convex: :math:`c_1` has no :math:`G^2`, so
:math:`\frac{G^2}{\mu\varepsilon}` goes, and :math:`\frac{G}{\mu\sqrt\varepsilon}` stays.

**Derivation of the sharp form.** Drawn drifts as for Theorem 4.3: the limit has the gap
:math:`\frac12\|\bar\delta\|^2_{H^{-1}}`.

Drifts that sum to zero, with constants. Take the two groups of :mod:`fltheory.bounds.cfl._rates`, :math:`K \ge 2`, any
step :math:`\eta \le \eta_{\max} < 0.138/L`, and write :math:`y = \mu F^2/\varepsilon`. Flat axis: :math:`\rho \ge 1 -
\mu\eta`, and a weighted mean of the models is at least the last one, so :math:`\varepsilon \ge \frac\mu2F^2(1 -
\mu\eta)^{2T} \ge \frac\mu2F^2e^{-2.153\mu\eta T}`: the start is forgotten only with :math:`\mu\eta T \ge
\ln(y/2)/2.153`. Steep axis: the gain :math:`P(h)` is convex and decreasing with :math:`-P'(L) \ge
\frac{K-1}{2K}\eta^2(1 - \eta L)`, and :math:`\frac1N\sum P_ih_i \le \eta h`, so that :math:`x_\infty \ge
0.862\,\frac{K-1}{4K}\,\eta BG`. By round :math:`t` the share :math:`1 - \rho_s^t` of it is reached, on weighted
average at least :math:`1 - \frac1{T(1 - \rho_s)} \ge \frac12` if :math:`y \ge 220`, since :math:`T(1 - \rho_s) \ge
0.931\,\eta hT \ge 0.931\,\mu\eta T \ge 2` then. With :math:`h \ge L/2`: :math:`\sqrt\varepsilon \ge 0.0269\sqrt
L\,\eta BG`. Both together,

.. math:: T \ge \frac1{82}\,\frac{\sqrt L\,BG}{\mu\sqrt\varepsilon}\,\ln\Bigl(1 + \frac{\mu F^2}{2\varepsilon}\Bigr)
   \qquad\text{if}\qquad \sqrt L\,BG \le \mu^{3/2}FT ;

for :math:`y < 220` the condition alone makes the right-hand side at most :math:`\frac{\sqrt{220}\ln 111}{82}T`. So the
corrected rate is attained with its logarithm. Conversely, Assumption 3 far away from :math:`w^*` gives
:math:`\frac1N\sum_i(h_i - h)^2 \le B^2h^2` on every axis, so that by the inequality of Cauchy and Schwarz no
quadratics whose Hessians commute have a gap above :math:`\frac18\eta^2LB^2G^2` to first order.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean :math:`\frac
G{\mu\sqrt{K\varepsilon}}` is at most :math:`\frac1{2\mu} + \frac{G^2}{2\mu\varepsilon}` as published. Where the model
does not depend on the drifts in use, no constant of growth is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`. With drifts that sum to zero the clients
form two groups with different Hessians, so that :math:`G` acts.

Growth: all sources together are also swept with :math:`B > 0`. Growth of the round drift (:math:`A > 0`) multiplies
random drifts with the model; neither the closed form nor the exact engine covers it, so :math:`A = 0` throughout.

Source: Guo, Lin, Tang, 2021, Theorem 4.5.
"""

from __future__ import annotations

from sympy import Le, exp, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import B, F, G, K, T, eps, eta_max, far, sigma, soft
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.symbols import N, mu

sources = ("G", "sigma")
same = RateSetting(remembers=False)
drawn = RateSetting(remembers=False, centred=False)
noise = sigma**2 / (mu * N * K * eps) + sigma / (mu * sqrt(K * eps))
rate = noise + G**2 / (mu * eps) + G / (mu * sqrt(K * eps))
error = (
    G**2 / (mu * N)
    + (sigma**2 / (N * K) + G**2) / (mu * T)
    + (sigma**2 / K + G**2) / (mu**2 * T**2)
    + mu * F**2 * exp(-mu * eta_max * T / 2)
)
readings = drawn_forms(
    "drawn",
    drawn,
    sources,
    claimed=soft((B**2 + 1) / mu + rate),
    error=soft(error),
    remains=G**2 / (mu * N),
    far=far(G, mu, 1),
)

claim = Claim(
    id="cfl.theorem-4.5-sc",
    kind=Kind.RATE,
    title="rounds of FedAvg without round drift, strongly convex",
    citation=Citation("cfl", "Theorem 4.5"),
    forms=(
        Form(variant="published@mean", statement=Le(T, soft((B**2 + 1) / mu + rate))),
        *cancelling_forms(same, sources, soft((B**2 + 1) / mu + noise + G / (mu * sqrt(eps)))),
        *readings,
    ),
    uses=("cfl.theorem-4.3-sc",),
    check=same.check(*everything(same, *sources)),
    observation=_observed.rate(False, without=("D",)),
)
