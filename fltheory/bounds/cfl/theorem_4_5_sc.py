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

The :math:`K` in the last term disagrees with (78), which gives :math:`G/(\mu\sqrt\varepsilon)`. It does no harm: by
the inequality of the arithmetic and geometric means :math:`\frac1\mu + \frac{G^2}{\mu\varepsilon} \ge
\frac{2G}{\mu\sqrt\varepsilon}`, so that the term is never needed. With drawn drifts the gap does not tend to zero.

**Derivation of the corrected form.** As for Theorem 4.3 with :math:`D = 0`: the published error plus
:math:`\frac{4G^2}{\mu N}`.

**Derivation of the sharp form.** As for Theorem 4.3: the limit has the gap :math:`\frac12\|\bar\delta\|^2_{H^{-1}}`.

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rates`. With one Hessian for all, client drifts that sum
to zero do not act at all; the sweep in :math:`G` says no more than that.

Source: Guo, Lin, Tang, 2021, Theorem 4.5.
"""

from __future__ import annotations

from sympy import Le, exp, sqrt

from fltheory.bounds._claim import Claim, Form, Kind, Source
from fltheory.bounds._symbols import N, mu
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import B, F, G, K, T, eps, eta_max, far, sigma, soft
from fltheory.bounds.cfl._rates import Setting

sources = ("G", "sigma")
same = Setting(remembers=False)
drawn = Setting(remembers=False, centred=False)
noise = sigma**2 / (mu * N * K * eps) + sigma / (mu * sqrt(K * eps))
rate = noise + G**2 / (mu * eps) + G / (mu * sqrt(K * eps))
error = (
    G**2 / (mu * N)
    + (sigma**2 / (N * K) + G**2) / (mu * T)
    + (sigma**2 / K + G**2) / (mu**2 * T**2)
    + mu * F**2 * exp(-mu * eta_max * T / 4)
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
    source=Source("cfl", "Theorem 4.5"),
    forms=(
        Form(variant="published@mean", statement=Le(T, soft((B**2 + 1) / mu + rate))),
        *cancelling_forms(same, sources, soft((B**2 + 1) / mu + noise + G / (mu * sqrt(eps)))),
        *readings,
    ),
    uses=("cfl.theorem-4.3-sc",),
    check=same.check(*everything(same, *sources)),
)
