r"""Theorem 4.1, strongly convex: rounds that CFL-R needs when the same clients work in all rounds.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2` and :math:`M = \frac{\sigma}{\sqrt{NK}} + D`,

.. math:: T = \tilde O\Bigl(\frac{c_{p_B}}{\mu} + \frac{G^2}{\mu\varepsilon} + \frac{M}{\sqrt{\mu\varepsilon}} +
   \frac{G}{\mu\sqrt\varepsilon}
   + \frac{\sigma}{\mu\sqrt{K\varepsilon}} + \sqrt[3]{\frac{D^2}{\mu^2\varepsilon}}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}`
of the proof, the gap :math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at
least :math:`T`, up to a constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the
paper.

Two readings of the objective. ``expectation``: :math:`f = \mathbb E f_{t,i}`, drifts independent with mean zero
(Assumptions 5 and 6, and the experiments of section 6). ``over-rounds``: :math:`f` is the finite mean (2) of the
objectives of all :math:`T` rounds, so that the last round knows all of it.

A third reading, ``drawn``, concerns the clients: Assumptions 5 and 6 and section 6 draw one :math:`\delta_i` per
client with mean zero and keep it. Then the mean :math:`\bar\delta` of :math:`N` draws is not zero, of mean square
:math:`G^2/N`, and does not change later. In the other readings the client drifts sum to zero, as (2) implies.

Why it fails. As in Theorem 4.2 the mean of all round drifts so far stays in the model and costs :math:`\frac{D^2}{\mu
NT}`; here the statement is contradicted in :math:`D` only. :math:`G^2/(\mu\varepsilon)` is more than is needed if
client drifts sum to zero (form ``corrected@cancelling``): memory does not change what they cost, in S2 CFL-R with
drifts over clients alone is FedAvg. With drawn client drifts the model tends to the minimiser of :math:`f +
\langle\bar\delta, \cdot\rangle`, whose gap :math:`\frac12\|\bar\delta\|^2_{H^{-1}}` no number of rounds removes.

**Derivation of the corrected form.** As in Theorem 4.2, for quadratics with one Hessian (instances also have two), with
:math:`V_t = \frac{D^2}{Nt}` for drifts that sum to zero over clients: the additional term is :math:`\frac{D^2}{\mu
N\varepsilon}`; with the finite mean over rounds as objective :math:`\sqrt{L/N}\,D/(\mu\sqrt\varepsilon)` takes the
place of all terms with :math:`D`. For drawn drifts :math:`V_t = \frac{G^2}{N} + \frac{D^2}{Nt}` does not vanish, and
only the error can be bounded:

.. math:: \varepsilon = \tilde O\Bigl(\frac{G^2}{\mu N} + \frac{D^2}{\mu NT} + \frac{G^2}{\mu T} + \frac{M^2}{\mu
   T^2} + \frac{G^2}{\mu^2T^2}
   + \frac{\sigma^2}{\mu^2KT^2} + \frac{D^2}{\mu^2T^3} + \mu F^2 e^{-\mu\eta_{\max}T/2}\Bigr) ,

for :math:`T \ge 1/(\mu\eta_{\max})`, as the first term of the theorem asks.

For drifts that sum to zero at every model :math:`c_1` has no :math:`G^2`, by the argument of Theorem 4.3, strongly
convex: all rounds that client :math:`i` remembers have the same :math:`\delta_i`, so that the clients' mean at
:math:`w_t` has none. :math:`\frac{G^2}{\mu\varepsilon}` goes, the other terms stay.

**Derivation of the sharp form.** As in Theorem 4.2, with variance :math:`D^2`: no algorithm reaches less than about
:math:`\frac{D^2}{2\mu NT}`. For the lasting part: :math:`N` drawn drifts shift the observations of :math:`\mu w^*` of
all rounds together, so that about :math:`\frac{G^2}{2\mu N}` remains for any algorithm. That is what the averaged
loss tends to: :math:`\frac12\|\bar\delta\|^2_{H^{-1}}`, which is between :math:`\frac{G^2}{2LN}` and
:math:`\frac{G^2}{2\mu N}` on average over draws. Both need a start that is further away (:math:`D \le \mu
F\sqrt{NT}`, :math:`G \le \mu F\sqrt N`). For ``sharp@over-rounds`` see Theorem 4.2, for ``sharp@client-drift``
Theorem 4.5, strongly convex.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean
:math:`\sqrt[3]{D^2/(\mu^2\varepsilon)}` is at most :math:`\frac1{3\mu} + \frac{2D}{3\sqrt{\mu\varepsilon}}`, and
:math:`\frac G{\mu\sqrt\varepsilon}` at most :math:`\frac1{2\mu} + \frac{G^2}{2\mu\varepsilon}`. Nor can they show
:math:`A`, which is 0 in all of them. Where the model does not depend on the drifts in use, no constant of growth is
needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`. With drifts that sum to zero the clients
form two groups with different Hessians, so that :math:`G` acts.

Growth: all sources together are also swept with :math:`B > 0`. Growth of the round drift (:math:`A > 0`) multiplies
random drifts with the model; neither the closed form nor the exact engine covers it, so :math:`A = 0` throughout.

Source: Guo, Lin, Tang, 2021, Theorem 4.1, (74).
"""

from __future__ import annotations

from sympy import Rational, exp, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms, remembered_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import D, F, G, K, M, T, c_pB, constants, eps, eta_max, far, sigma, soft
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import L, N, mu

setting = RateSetting(remembers=True)
drawn = RateSetting(remembers=True, centred=False)
sources = ("D", "G", "sigma")
first = G**2 / (mu * eps)
others = (
    M / sqrt(mu * eps) + G / (mu * sqrt(eps)) + sigma / (mu * sqrt(K * eps)) + (D**2 / (mu**2 * eps)) ** Rational(1, 3)
)
rate = first + others
own = first + sigma / sqrt(mu * N * K * eps) + G / (mu * sqrt(eps)) + sigma / (mu * sqrt(K * eps))
over = sqrt(L / N) * D / (mu * sqrt(eps))
error = (
    G**2 / (mu * N)
    + D**2 / (mu * N * T)
    + G**2 / (mu * T)
    + M**2 / (mu * T**2)
    + G**2 / (mu**2 * T**2)
    + sigma**2 / (mu**2 * K * T**2)
    + D**2 / (mu**2 * T**3)
    + mu * F**2 * exp(-mu * eta_max * T / 2)
)
readings = drawn_forms(
    "drawn",
    drawn,
    sources,
    claimed=soft(c_pB / mu + rate),
    error=soft(error),
    remains=G**2 / (mu * N),
    far=far(G, mu, 1),
    where=constants,
)

claim = Claim(
    id="cfl.theorem-4.1-sc",
    kind=Kind.RATE,
    title="rounds of CFL-R in scenario S2, strongly convex",
    citation=Citation("cfl", "Theorem 4.1"),
    forms=(
        *remembered_forms(
            setting,
            sources,
            claimed=soft(c_pB / mu + rate),
            repaired=soft(c_pB / mu + rate, D**2 / (mu * N * eps)),
            over=soft(c_pB / mu + own, over),
            needed=D**2 / (mu * N * eps),
            far=far(D, mu),
            needed_over=over,
            where=constants,
            note="the mean of all round drifts so far stays in the model",
        ),
        *cancelling_forms(setting, sources, soft(c_pB / mu + others, D**2 / (mu * N * eps)), constants),
        *readings,
    ),
    uses=("cfl.eq-62-cflr-s2", "cfl.eq-63", "cfl.eq-67", "cfl.eq-68", "cfl.eq-73"),
    check=setting.check(*everything(setting, *sources)),
    observation=_observed.rate(True, scenario="S2"),
)
