r"""Theorem 4.6, strongly convex: rounds of continual learning, CFL-R with one client.

As published, for :math:`N = 1` and :math:`G = B = 0`,

.. math:: T = \tilde O\Bigl(\frac{1 + A^2}{\mu} + \frac{\sigma}{\sqrt{\mu K\varepsilon}} +
   \frac{D}{\sqrt{\mu\varepsilon}} + \frac{\sigma}{\mu\sqrt{K\varepsilon}}
   + \sqrt[3]{\frac{D^2}{\mu^2\varepsilon}}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}`
of the proof, the gap :math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at
least :math:`T`, up to a constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the
paper.

Two readings of the objective. ``expectation``: :math:`f = \mathbb E f_{t,i}`, drifts independent with mean zero
(Assumptions 5 and 6, and the experiments of section 6). ``over-rounds``: :math:`f` is the finite mean (2) of the
objectives of all :math:`T` rounds, so that the last round knows all of it.

It fails as Theorem 4.2 does: the mean of the drifts of all tasks so far stays in the model.

**Derivation of the corrected form.** That of Theorem 4.2 with :math:`N = 1` and :math:`G = 0`: the additional term is
:math:`\frac{D^2}{\mu\varepsilon}`; with the finite mean over tasks as objective :math:`\sqrt
L\,D/(\mu\sqrt\varepsilon)` takes the place of all terms with :math:`D`.

**Derivation of the sharp form.** That of Theorem 4.2: :math:`T` tasks are :math:`T` observations of :math:`\mu w^*`
with variance :math:`D^2`; with the finite mean as objective CFL-R attains the corrected rate.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean
:math:`\sqrt[3]{D^2/(\mu^2\varepsilon)}` is at most :math:`\frac1{3\mu} + \frac{2D}{3\sqrt{\mu\varepsilon}}`. Nor can
they show :math:`A`, which is 0 in all of them. Where the model does not depend on the drifts in use, no constant of
growth is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`.

Source: Guo, Lin, Tang, 2021, Theorem 4.6.
"""

from __future__ import annotations

from sympy import Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import remembered_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import A, D, K, eps, far, sigma, soft
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import L, mu

setting = RateSetting(remembers=True, scenario="S1", centred=False, clients=1)
sources = ("D", "sigma")
rate = (
    sigma / sqrt(mu * K * eps)
    + D / sqrt(mu * eps)
    + sigma / (mu * sqrt(K * eps))
    + (D**2 / (mu**2 * eps)) ** Rational(1, 3)
)
noise = sigma / sqrt(mu * K * eps) + sigma / (mu * sqrt(K * eps))
over = sqrt(L) * D / (mu * sqrt(eps))

claim = Claim(
    id="cfl.theorem-4.6-sc",
    kind=Kind.RATE,
    title="rounds of continual learning, strongly convex",
    citation=Citation("cfl", "Theorem 4.6"),
    forms=remembered_forms(
        setting,
        sources,
        claimed=soft((1 + A**2) / mu + rate),
        repaired=soft((1 + A**2) / mu + rate, D**2 / (mu * eps)),
        over=soft((1 + A**2) / mu + noise, over),
        needed=D**2 / (mu * eps),
        far=far(D, mu),
        needed_over=over,
        note="the mean of all drifts so far stays in the model",
    ),
    uses=("cfl.theorem-4.2-sc",),
    check=setting.check(*everything(setting, *sources)),
    observation=_observed.rate(True, without=("G",), clients=1),
)
