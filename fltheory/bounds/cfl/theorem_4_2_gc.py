r"""Theorem 4.2, general convex: rounds that CFL-R needs when every client appears once.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2`, :math:`M = \frac{\sigma}{\sqrt{NK}} + D` and :math:`F = \mathbb
E\|w_0 - w^*\|`,

.. math:: T = \tilde O\Bigl(\frac{(M + G + c_{p_B})F}{\varepsilon} + \frac{\sigma F^2}{\sqrt{K\varepsilon^3}}
   + \frac{\sqrt[3]{(G^2 + D^2)F^4}}{\varepsilon}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the equal weights of the proof, the gap
:math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at least :math:`T`, up to a
constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the paper. ((81) prints the sum
over rounds without :math:`1/T`.)

Two readings of the objective. ``expectation``: :math:`f = \mathbb E f_{t,i}`, drifts independent with mean zero
(Assumptions 5 and 6, and the experiments of section 6). ``over-rounds``: :math:`f` is the finite mean (2) of the
objectives of all :math:`T` rounds, so that the last round knows all of it.

Two faults. First, :math:`c_{p_B}F/\varepsilon` should have :math:`F^2`: without drift and noise the gap after
:math:`T` steps is proportional to :math:`F^2`, so :math:`T` cannot depend on :math:`F/\varepsilon`. The square is lost
between Lemma A.2, which has :math:`d_0 = F^2`, and (82). Second, the mean :math:`b_t` of the drifts so far is treated
as new in every round, see ``cfl.eq-62-cflr-s1``.

**Derivation of the corrected form.** The corrected recursion, shown for quadratics with one Hessian, reads for
:math:`\mu = 0`, with :math:`e_t = w_t - w^*`,

.. math:: \mathbb E\|e_{t+1}\|^2 \le \mathbb E\|e_t\|^2 - \eta\,\mathbb E(f(w_t) - f^*) + c_1\eta^2 + c_2\eta^3
   + 2\eta\sqrt{V_t\,\mathbb E\|e_t\|^2}, \qquad V_t = \frac{V}{t}, \quad V = \frac{G^2 + D^2}{N} .

Let :math:`R^2` be the largest :math:`\mathbb E\|e_t\|^2` for :math:`t \le T` and :math:`a = F^2 + \sum_t (c_1\eta^2 +
c_2\eta^3)`. Since :math:`\sum_{t\le T} t^{-1/2} \le 2\sqrt T`, :math:`R^2 \le a + 4\eta R\sqrt{VT}`, hence :math:`R^2
\le 2a + 16\eta^2VT`. The mean gap is at most :math:`\frac{a}{\eta T} + 4R\sqrt{V/T} \le \frac{3a}{\eta T} + 24\eta V`.
Compared with the published bound there is the additional :math:`\eta V`, and the best step adds :math:`F\sqrt{V/T}` to
the error, :math:`\frac{(G^2+D^2)F^2}{N\varepsilon^2}` to :math:`T`. With the finite mean as objective the rate is the
same: the mean with equal weights of the :math:`b_t - b_T` still has mean square :math:`V/T`.

**Derivation of the sharp form.** For :math:`f(w) = \frac\lambda2(w - w^*)^2` with :math:`|w^*|` of the order of
:math:`F`, :math:`NT` observations of :math:`\lambda w^*` with variance :math:`G^2+D^2` leave a mean square error of at
least the order of :math:`\min(F^2, V/(\lambda^2T))`, whatever the algorithm. At :math:`\lambda = \sqrt{V/T}/F` that is
a gap of the order of :math:`F\sqrt{V/T}`.

The square of :math:`F` is necessary, too (form ``sharp@start``): without drift and noise a constant step
:math:`\eta \le \eta_{\max}` leaves the mean of :math:`T` models on :math:`f(w) = \frac\lambda2 w^2` with
:math:`\lambda = 1/(\eta_{\max}T)` a gap of at least :math:`\frac\lambda2F^2(1 - \frac1T)^{2T}`, of the order of
:math:`\frac{LF^2}T`.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean, with the square of :math:`F` in the
first term, :math:`\frac{\sqrt[3]{D^2F^4}}\varepsilon` is at most :math:`\frac{F^2}{3\varepsilon} +
\frac{2DF}{3\varepsilon}`, and the same is true of :math:`G`. Nor can they show :math:`A`, which is 0 in all of them.
Where the model does not depend on the drifts in use, no constant of growth is needed
(:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: one eigenvalue, the one at which start and drift cost the same, and flatter and steeper ones; best step by
a closed form; every source of error alone, together and none, each swept along :math:`T, N, K, F` and its own size, all
forms of a reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`.

Source: Guo, Lin, Tang, 2021, Theorem 4.2, (82).
"""

from __future__ import annotations

from sympy import Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import remembered_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import D, F, G, K, M, c_pB, constants, eps, far, sigma, soft_general
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import N

setting = RateSetting(remembers=True, scenario="S1", centred=False, strongly=False)
sources = ("D", "G", "sigma")
rest = sigma * F**2 / sqrt(K * eps**3) + ((G**2 + D**2) * F**4) ** Rational(1, 3) / eps
rate = (M + G + c_pB) * F / eps + rest
repaired = ((M + G) * F + c_pB * F**2) / eps + rest + (G**2 + D**2) * F**2 / (N * eps**2)

claim = Claim(
    id="cfl.theorem-4.2-gc",
    kind=Kind.RATE,
    title="rounds of CFL-R in scenario S1, general convex",
    citation=Citation("cfl", "Theorem 4.2"),
    forms=remembered_forms(
        setting,
        sources,
        claimed=soft_general(rate),
        repaired=soft_general(repaired),
        over=soft_general(repaired),
        needed=(G**2 + D**2) * F**2 / (N * eps**2),
        far=far(sqrt(G**2 + D**2)),
        drifts=("D", "G"),
        where=constants,
        note="the square of F, and the mean of all drifts so far stays in the model",
    ),
    uses=("cfl.eq-62-cflr-s1", "cfl.lemma-a.2", "cfl.eq-69", "cfl.eq-70"),
    check=setting.check(*everything(setting, *sources)),
    observation=_observed.rate(True, scenario="S1"),
)
