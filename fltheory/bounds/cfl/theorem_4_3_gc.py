r"""Theorem 4.3, general convex: rounds that FedAvg needs with drifts over clients and rounds.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2`, :math:`\tilde M = \frac{\sigma^2}{NK} + D^2` and :math:`F = \mathbb
E\|w_0 - w^*\|`,

.. math:: T = \tilde O\Bigl(\frac{c_{p_B}F}{\varepsilon} + \frac{(\tilde M + G^2)F^2}{\varepsilon^2} + \frac{\sigma
   F^2}{\sqrt{K\varepsilon^3}}
   + \frac{(G + D)F^2}{\sqrt{\varepsilon^3}}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the equal weights of the proof, the gap
:math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at least :math:`T`, up to a
constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the paper. ((83) prints the sum
over rounds without :math:`1/T`.)

Readings. ``s1``: new clients in every round. ``s2``: the same clients, drifts summing to zero as (2) implies.
``s2-drawn``: the same clients, one draw of :math:`\delta_i` with mean zero per client that stays, as Assumptions 5 and
6 and section 6 have it; the mean of :math:`N` draws is not zero.

The first term fails in all of them: without drift and noise the gap after :math:`T` rounds is proportional to
:math:`F^2`, so it has to be :math:`c_{p_B}F^2/\varepsilon`. The square is lost between Lemma A.2, which has :math:`d_0
= F^2`, and (84).

**Derivation of the corrected form.** Lemma A.2 with :math:`d_0 = F^2` and :math:`\eta_{\max}` of the order of
:math:`1/(Lc_{p_B})` gives :math:`\frac{Lc_{p_B}F^2}{T}` in place of :math:`\frac{c_{p_B}F}{T}`; the other terms of (84)
stay. For drawn drifts the recursion, shown for quadratics with one Hessian, has :math:`2\eta\sqrt{G^2/N}\,\sqrt{\mathbb
E\|w_t - w^*\|^2}` in addition; as for Theorem 4.1, general convex, the best step leaves :math:`GF/\sqrt N`. For drifts
that sum to zero :math:`c_1 = \frac{D^2}N + \frac{\sigma^2}{NK}` as in the strongly convex case, so that Lemma A.2 gives

.. math:: T = \tilde O\Bigl(\frac{c_{p_B}F^2}{\varepsilon} + \frac{(D^2 + \sigma^2/K)F^2}{N\varepsilon^2} + \frac{\sigma
   F^2}{\sqrt{K\varepsilon^3}} + \frac{(G + D)F^2}{\sqrt{\varepsilon^3}}\Bigr) .

**Derivation of the sharp form.** :math:`f(w) = \frac\lambda2(w - w^*)^2` with :math:`\lambda = G/(F\sqrt N)` makes a
mean drift of :math:`G/\sqrt N` as costly as the distance from the start, :math:`GF/\sqrt N`. For drifts that sum to
zero see Theorem 4.5, general convex: :math:`GF^2/\varepsilon^{3/2}` is attained.

The square of :math:`F` is necessary, too (form ``sharp@start``): without drift and noise a constant step
:math:`\eta \le \eta_{\max}` leaves the mean of :math:`T` models on :math:`f(w) = \frac\lambda2 w^2` with
:math:`\lambda = 1/(\eta_{\max}T)` a gap of at least :math:`\frac\lambda2F^2(1 - \frac1T)^{2T}`, of the order of
:math:`\frac{LF^2}T`.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean, unless drifts sum to zero, and with
the square of :math:`F` in the first term, :math:`\frac{(G + D)F^2}{\sqrt{\varepsilon^3}}` is at most
:math:`\frac{F^2}\varepsilon + \frac{(D^2 + G^2)F^2}{2\varepsilon^2}`. Nor can they show :math:`A`, which is 0 in all of
them. Where the model does not depend on the drifts in use, no constant of growth is needed
(:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: one eigenvalue, the one at which start and drift cost the same, and flatter and steeper ones; best step by a
closed form; every source of error alone, together and none, each swept along :math:`T, N, K, F` and its own size, all
forms of a reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`. With drifts that sum to zero the
clients form two groups with different Hessians, so that :math:`G` acts.

Growth: all sources together are also swept with :math:`B > 0`. Growth of the round drift (:math:`A > 0`) multiplies
random drifts with the model; neither the closed form nor the exact engine covers it, so :math:`A = 0` throughout.

Source: Guo, Lin, Tang, 2021, Theorem 4.3, (84).
"""

from __future__ import annotations

from sympy import Le, Rational, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms, start_form
from fltheory.bounds.cfl._rate_sweeps import everything
from fltheory.bounds.cfl._rate_symbols import (
    D,
    F,
    G,
    K,
    M_tilde,
    T,
    c_pB,
    constants_fedavg,
    eps,
    far,
    sigma,
    soft_general,
)
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.symbols import N

sources = ("D", "G", "sigma")
fresh = RateSetting(remembers=False, scenario="S1", centred=False, strongly=False)
same = RateSetting(remembers=False, strongly=False)
drawn = RateSetting(remembers=False, centred=False, strongly=False)
rest = (M_tilde + G**2) * F**2 / eps**2 + sigma * F**2 / sqrt(K * eps**3) + (G + D) * F**2 / sqrt(eps**3)
rate = c_pB * F / eps + rest
cancelling = (
    c_pB * F**2 / eps
    + (D**2 + sigma**2 / K) * F**2 / (N * eps**2)
    + sigma * F**2 / sqrt(K * eps**3)
    + (G + D) * F**2 / sqrt(eps**3)
)
error = (
    G * F / sqrt(N)
    + c_pB * F**2 / T
    + sqrt(M_tilde + G**2) * F / sqrt(T)
    + (sigma**2 * F**4 / (K * T**2)) ** Rational(1, 3)
    + ((G**2 + D**2) * F**4 / T**2) ** Rational(1, 3)
)
readings = drawn_forms(
    "s2-drawn",
    drawn,
    sources,
    claimed=soft_general(rate),
    error=soft_general(error),
    remains=G * F / sqrt(N),
    far=far(G, rounds=1),
    where=constants_fedavg,
)

claim = Claim(
    id="cfl.theorem-4.3-gc",
    kind=Kind.RATE,
    title="rounds of FedAvg with drifts, general convex",
    citation=Citation("cfl", "Theorem 4.3"),
    forms=(
        Form(variant="published@s1", statement=Le(T, soft_general(rate)), where=constants_fedavg),
        Form(
            variant="published@s2",
            statement=Le(T, soft_general(rate)),
            where=constants_fedavg,
            check=same.check(*everything(same, *sources)),
        ),
        Form(
            variant="corrected",
            statement=Le(T, soft_general(c_pB * F**2 / eps + rest)),
            where=constants_fedavg,
            note="the square of F",
        ),
        Form(
            variant="corrected@s2",
            statement=Le(T, soft_general(c_pB * F**2 / eps + rest)),
            where=constants_fedavg,
            check=same.check(*everything(same, *sources)),
            note="the same with client drifts that sum to zero",
        ),
        start_form(fresh),
        *cancelling_forms(same, sources, soft_general(cancelling), constants_fedavg),
        *readings,
    ),
    uses=("cfl.eq-62-fedavg", "cfl.lemma-a.2", "cfl.eq-71", "cfl.eq-72"),
    check=fresh.check(*everything(fresh, *sources)),
    observation=_observed.rate(False),
)
