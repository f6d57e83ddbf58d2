r"""Theorem 4.1, general convex: rounds that CFL-R needs when the same clients work in all rounds.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2`, :math:`M = \frac{\sigma}{\sqrt{NK}} + D` and :math:`F = \mathbb
E\|w_0 - w^*\|`,

.. math:: T = \tilde O\Bigl(\frac{G^2F^2}{\varepsilon^2} + \frac{(M + c_{p_B})F}{\varepsilon} + \frac{(\sqrt KG +
   \sigma)F^2}{\sqrt{K\varepsilon^3}}
   + \frac{\sqrt[3]{D^2F^4}}{\varepsilon}\Bigr) .

In the scan the root of the third denominator may end after :math:`K`; ``short-root`` has :math:`\sqrt K\varepsilon^3`,
all other forms :math:`\sqrt{K\varepsilon^3}`, which is what (80) gives.

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the equal weights of the proof, the gap
:math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at least :math:`T`, up to a
constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the paper. ((79) prints the sum
over rounds without :math:`1/T`.)

Two readings of the objective. ``expectation``: :math:`f = \mathbb E f_{t,i}`, drifts independent with mean zero
(Assumptions 5 and 6, and the experiments of section 6). ``over-rounds``: :math:`f` is the finite mean (2) of the
objectives of all :math:`T` rounds, so that the last round knows all of it.

A third reading, ``drawn``, concerns the clients: Assumptions 5 and 6 and section 6 draw one :math:`\delta_i` per
client with mean zero and keep it. Then the mean :math:`\bar\delta` of :math:`N` draws is not zero, of mean square
:math:`G^2/N`, and does not change later. In the other readings the client drifts sum to zero, as (2) implies.

Faults as in Theorem 4.2, general convex: :math:`c_{p_B}F/\varepsilon` should have :math:`F^2`, and the mean of the
round drifts so far is treated as new in every round. With drawn client drifts the gap does not tend to zero uniformly
over the class.

**Derivation of the corrected form.** As for Theorem 4.2, for quadratics with one Hessian (instances also have two),
with :math:`V = D^2/N`: the additional term is :math:`\frac{D^2F^2}{N\varepsilon^2}`. For drawn drifts :math:`V_t =
\frac{G^2}{N} + \frac{D^2}{Nt}` in the recursion; the lasting part gives :math:`R \le \sqrt{2a} + 2\eta TG/\sqrt N` and
a gap of the order of :math:`\frac{a}{\eta T} + \eta T\frac{G^2}{N}`, for the best step :math:`GF/\sqrt N`. So only

.. math:: \varepsilon = \tilde O\Bigl(\frac{GF}{\sqrt N} + \frac{GF + DF/\sqrt N}{\sqrt T} + \frac{MF + c_{p_B}F^2}{T}
   + \sqrt[3]{\frac{(KG^2 + \sigma^2)F^4}{KT^2}} + \frac{\sqrt[3]{D^2F^4}}{T}\Bigr)

remains. For drifts that sum to zero :math:`\frac{G^2F^2}{\varepsilon^2}` is not needed, as in the strongly convex case
(form ``corrected@cancelling``).

**Derivation of the sharp form.** As for Theorem 4.2, general convex, with variance :math:`D^2`. For the lasting part:
the curvature :math:`\lambda = G/(F\sqrt N)` makes a drift of :math:`G/\sqrt N` as costly as the distance from the
start, :math:`GF/\sqrt N`. For ``sharp@client-drift`` see Theorem 4.5, general convex.

The square of :math:`F` is necessary, too (form ``sharp@start``): without drift and noise a constant step
:math:`\eta \le \eta_{\max}` leaves the mean of :math:`T` models on :math:`f(w) = \frac\lambda2 w^2` with
:math:`\lambda = 1/(\eta_{\max}T)` a gap of at least :math:`\frac\lambda2F^2(1 - \frac1T)^{2T}`, of the order of
:math:`\frac{LF^2}T`.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean, with the square of :math:`F` in the
first term, :math:`\frac{\sqrt[3]{D^2F^4}}\varepsilon` is at most :math:`\frac{F^2}{3\varepsilon} +
\frac{2DF}{3\varepsilon}`, and :math:`\frac{GF^2}{\sqrt{\varepsilon^3}}` at most :math:`\frac{F^2}{2\varepsilon} +
\frac{G^2F^2}{2\varepsilon^2}`. Nor can they show :math:`A`, which is 0 in all of them. Where the model does not depend
on the drifts in use, no constant of growth is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: one eigenvalue, the one at which start and drift cost the same, and flatter and steeper ones; best step by a
closed form; every source of error alone, together and none, each swept along :math:`T, N, K, F` and its own size, all
forms of a reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`. With drifts that sum to zero the
clients form two groups with different Hessians, so that :math:`G` acts.

Growth: all sources together are also swept with :math:`B > 0`. Growth of the round drift (:math:`A > 0`) multiplies
random drifts with the model; neither the closed form nor the exact engine covers it, so :math:`A = 0` throughout.

Source: Guo, Lin, Tang, 2021, Theorem 4.1, (80).
"""

from __future__ import annotations

from sympy import Le, Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms, remembered_forms
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import D, F, G, K, M, T, c_pB, constants, eps, far, sigma, soft_general
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.symbols import N

setting = RateSetting(remembers=True, strongly=False)
drawn = RateSetting(remembers=True, centred=False, strongly=False)
sources = ("D", "G", "sigma")
third = (sqrt(K) * G + sigma) * F**2 / sqrt(K * eps**3)
third_short = (sqrt(K) * G + sigma) * F**2 / (sqrt(K) * eps**3)
ends = G**2 * F**2 / eps**2, (D**2 * F**4) ** Rational(1, 3) / eps
rate = ends[0] + (M + c_pB) * F / eps + third + ends[1]
cancelling = (M * F + c_pB * F**2) / eps + third + ends[1] + D**2 * F**2 / (N * eps**2)
repaired = ends[0] + cancelling
error = (
    G * F / sqrt(N)
    + (G * F + D * F / sqrt(N)) / sqrt(T)
    + (M * F + c_pB * F**2) / T
    + ((K * G**2 + sigma**2) * F**4 / (K * T**2)) ** Rational(1, 3)
    + (D**2 * F**4) ** Rational(1, 3) / T
)
readings = drawn_forms(
    "drawn",
    drawn,
    sources,
    claimed=soft_general(rate),
    error=soft_general(error),
    remains=G * F / sqrt(N),
    far=far(G, rounds=1),
    where=constants,
)

claim = Claim(
    id="cfl.theorem-4.1-gc",
    kind=Kind.RATE,
    title="rounds of CFL-R in scenario S2, general convex",
    citation=Citation("cfl", "Theorem 4.1"),
    forms=(
        *remembered_forms(
            setting,
            sources,
            claimed=soft_general(rate),
            repaired=soft_general(repaired),
            over=soft_general(repaired),
            needed=D**2 * F**2 / (N * eps**2),
            far=far(D),
            where=constants,
            note="the square of F, and the mean of all round drifts so far stays in the model",
        ),
        Form(
            variant="published@short-root",
            statement=Le(T, soft_general(ends[0] + (M + c_pB) * F / eps + third_short + ends[1])),
            where=constants,
            note="the root of the third denominator ends after K",
        ),
        *cancelling_forms(setting, sources, soft_general(cancelling), constants),
        *readings,
    ),
    uses=("cfl.eq-62-cflr-s2", "cfl.lemma-a.2", "cfl.eq-67", "cfl.eq-68"),
    check=setting.check(*everything(setting, *sources)),
    observation=_observed.rate(True, scenario="S2"),
)
