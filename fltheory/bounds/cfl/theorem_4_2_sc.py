r"""Theorem 4.2, strongly convex: rounds that CFL-R needs when every client appears once.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2` and :math:`M = \frac{\sigma}{\sqrt{NK}} + D`,

.. math:: T = \tilde O\Bigl(\frac{c_{p_B}}{\mu} + \frac{M + G}{\sqrt{\mu\varepsilon}} +
   \frac{\sigma}{\mu\sqrt{K\varepsilon}}
   + \sqrt[3]{\frac{G^2 + D^2}{\mu^2\varepsilon}}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}`
of the proof, the gap :math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at
least :math:`T`, up to a constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the
paper.

Two readings of the objective. ``expectation``: :math:`f = \mathbb E f_{t,i}`, drifts independent with mean zero
(Assumptions 5 and 6, and the experiments of section 6). ``over-rounds``: :math:`f` is the finite mean (2) of the
objectives of all :math:`T` rounds, so that the last round knows all of it.

Why it fails. In round :math:`t` the clients work on the mean of the objectives seen so far, whose gradient is off by
:math:`b_t = \frac1t\sum_{\tau\le t}\zeta_\tau`, the mean of all drifts so far (:math:`\zeta_\tau` is the clients' mean
in round :math:`\tau`). The model has seen all but the last of them, while the proof takes the expectation as if they
were new: in ``cfl.eq-62-cflr-s1`` the term :math:`-2\eta\langle b_t, w_t - w^*\rangle` is lost. The gap falls like
:math:`1/T`, not like :math:`1/T^2`.

**Derivation of the corrected form.** In the corrected recursion, shown for quadratics with one Hessian, Young's
inequality and :math:`f - f^* \ge \frac\mu2\|w - w^*\|^2` give

.. math:: 2\eta\sqrt{V_t\,\mathbb E\|w_t - w^*\|^2} \le \tfrac{\mu\eta}4\,\mathbb E\|w_t - w^*\|^2 + \tfrac{4\eta}\mu
   V_t \le \tfrac\eta2\,\mathbb E(f(w_t) - f^*) + \tfrac{4\eta}\mu V_t ,

so that half of the gap compensates for it. The contraction stays, and with it the weights of the proof telescope:

.. math:: \mathbb E\|w_{t+1} - w^*\|^2 \le (1 - \tfrac{\mu\eta}2)\,\mathbb E\|w_t - w^*\|^2 - \tfrac\eta2\,\mathbb
   E(f(w_t) - f^*) + c_1\eta^2 + c_2\eta^3 + \tfrac{4\eta}{\mu} V_t, \qquad V_t = \frac{G^2 + D^2}{N t} .

Summed with these weights, which grow, the mean of :math:`V_t` is at most that with equal weights,
:math:`\frac{G^2+D^2}{N}\,\frac{1 + \ln T}{T}`. So the published error (76) gets the additional term :math:`\tilde
O\bigl(\frac{G^2 + D^2}{\mu N T}\bigr)`, and :math:`T` the additional :math:`\frac{G^2+D^2}{\mu N\varepsilon}`.

With the finite mean as objective only :math:`b_t - b_T` counts, whose mean square is :math:`\frac{G^2+D^2}{N}(\frac1t
- \frac1T)`. Claimed for quadratics with one Hessian: along an eigenvalue :math:`\lambda` the model follows
:math:`-b_t/\lambda` with a delay of :math:`1/(\lambda\eta)` rounds and the weights look back :math:`2/(\mu\eta)`
rounds, over which :math:`\frac1t - \frac1T` is of the order of :math:`\frac{1}{\mu\eta T^2}`. So the gap is of the
order of :math:`\frac{G^2+D^2}{\mu^2\eta N T^2}`; with :math:`\eta` of the order of :math:`1/L` drifts cost
:math:`\sqrt{L(G^2+D^2)/N}\,/(\mu\sqrt\varepsilon)` rounds, in place of all published terms with :math:`G` and
:math:`D`, which are too small by :math:`\sqrt{\kappa/N}`.

**Derivation of the sharp form.** The new term belongs to every algorithm. Take :math:`f(w) = \frac\mu2(w - w^*)^2` and
normal drifts: :math:`T` rounds of :math:`N` clients give :math:`NT` observations of :math:`\mu w^*` with variance
:math:`G^2 + D^2`. With a normal prior of variance :math:`s^2` on :math:`w^*` every estimate has mean square error at
least :math:`(s^{-2} + \mu^2NT/(G^2+D^2))^{-1}`, so that for large :math:`s` the gap is at least about :math:`\frac{G^2
+ D^2}{2\mu N T}`, whatever the algorithm does. The start has to be further away than the drifts alone would bring the
model, :math:`\sqrt{G^2 + D^2} \le \mu F\sqrt{NT}`; otherwise it is the better estimate.

With the finite mean as objective an algorithm that keeps all it has seen knows the minimiser after the last round, so
no bound for all algorithms exists; ``sharp@over-rounds`` says that CFL-R with the weights of the proof attains the
corrected rate: the delays above are those of every step, and :math:`\eta_{\max}` is the best one.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean
:math:`\sqrt[3]{D^2/(\mu^2\varepsilon)}` is at most :math:`\frac1{3\mu} + \frac{2D}{3\sqrt{\mu\varepsilon}}`, and the
same is true of :math:`G`. Nor can they show :math:`A`, which is 0 in all of them. Where the model does not depend on
the drifts in use, no constant of growth is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`.

Source: Guo, Lin, Tang, 2021, Theorem 4.2, (76).
"""

from __future__ import annotations

from sympy import Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import remembered_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import D, G, K, M, c_pB, constants, eps, far, sigma, soft
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import L, N, mu

setting = RateSetting(remembers=True, scenario="S1", centred=False)
sources = ("D", "G", "sigma")
rate = (M + G) / sqrt(mu * eps) + sigma / (mu * sqrt(K * eps)) + ((G**2 + D**2) / (mu**2 * eps)) ** Rational(1, 3)
noise = sigma / sqrt(mu * N * K * eps) + sigma / (mu * sqrt(K * eps))
over = sqrt(L * (G**2 + D**2) / N) / (mu * sqrt(eps))

claim = Claim(
    id="cfl.theorem-4.2-sc",
    kind=Kind.RATE,
    title="rounds of CFL-R in scenario S1, strongly convex",
    citation=Citation("cfl", "Theorem 4.2"),
    forms=remembered_forms(
        setting,
        sources,
        claimed=soft(c_pB / mu + rate),
        repaired=soft(c_pB / mu + rate, (G**2 + D**2) / (mu * N * eps)),
        over=soft(c_pB / mu + noise, over),
        needed=(G**2 + D**2) / (mu * N * eps),
        far=far(sqrt(G**2 + D**2), mu),
        drifts=("D", "G"),
        needed_over=over,
        where=constants,
        note="the mean of all drifts so far stays in the model",
    ),
    uses=("cfl.eq-62-cflr-s1", "cfl.eq-63", "cfl.eq-69", "cfl.eq-70", "cfl.eq-75"),
    check=setting.check(*everything(setting, *sources)),
    observation=_observed.rate(True, scenario="S1"),
)
