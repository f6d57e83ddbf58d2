r"""Theorem 4.3, strongly convex: rounds that FedAvg needs with drifts over clients and rounds.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2` and :math:`\tilde M = \frac{\sigma^2}{NK} + D^2`,

.. math:: T = \tilde O\Bigl(\frac{c_{p_B}}{\mu} + \frac{\tilde M + G^2}{\mu\varepsilon} +
   \frac{\sigma}{\mu\sqrt{K\varepsilon}} + \frac{G + D}{\mu\sqrt\varepsilon}\Bigr) .

Read as: with the best constant step :math:`\eta \le \eta_{\max}` and the weights :math:`q_t = (1 - \mu\eta/2)^{1-t}`
of the proof, the gap :math:`\varepsilon` of the weighted mean after :math:`T` rounds makes the right-hand side at
least :math:`T`, up to a constant and one logarithm. The smoothness :math:`L` is hidden in the constant, as in the
paper.

Readings. ``s1``: new clients in every round. ``s2``: the same clients, drifts summing to zero as (2) implies.
``s2-drawn``: the same clients, one draw of :math:`\delta_i` with mean zero per client that stays, as Assumptions 5 and
6 and section 6 have it; the mean of :math:`N` draws is not zero.

For drifts that are new in every round, or sum to zero, nothing contradicts it, and it is generous: drifts that are new
count with a factor :math:`1/N`, and drifts that sum to zero not with their square (form ``corrected@cancelling``).
Drawn drifts that stay move the limit to the minimiser of :math:`f + \langle\bar\delta, \cdot\rangle`.

**Derivation of the corrected form.** In the corrected recursion of ``cfl.eq-62-fedavg`` the seen drift has :math:`V_t
= \|\bar\delta\|^2`, in expectation :math:`G^2/N`. As for Theorem 4.2, strongly convex, Young's inequality and the
weighted sum give, up to constants, the published error (78) with the exponent :math:`-\frac{\mu\eta_{\max}T}2` plus
:math:`\frac8\mu\cdot\frac{G^2}{N}`. Shown for quadratics with one Hessian.

For drifts that sum to zero at every model, for all convex objectives. The published proof bounds the step of a round by
the mean square of single clients' gradients, (50), which contains :math:`G^2`. But the server takes their mean: up to
noise, :math:`\frac1{NK}\sum_{i,k}\nabla f_{t,i}(w_{t,i,k}) = \nabla f(w_t) + \bar\xi_t + e_t` with :math:`\|e_t\|^2 \le
L^2E_t`, :math:`E_t = \frac1{NK}\sum_{i,k}\|w_{t,i,k} - w_t\|^2`, so that its mean square is at most :math:`3\|\nabla
f\|^2 + \frac3N(D^2 + A^2\|\nabla f\|^2) + 3L^2\mathbb EE_t + \frac{\sigma^2}{NK}`. In (44) clients are summed anyway.
So :math:`G` enters through :math:`E_t` only, which (58) bounds by the order of :math:`\eta^2(G^2 + D^2 +
\frac{\sigma^2}K + c_{p_B}\|\nabla f\|^2)`: up to constants the recursion (62) has :math:`c_1 = \frac{D^2}N +
\frac{\sigma^2}{NK}` and the published :math:`c_2`. (63) then gives

.. math:: T = \tilde O\Bigl(\frac{c_{p_B}}{\mu} + \frac{D^2 + \sigma^2/K}{\mu N\varepsilon} +
   \frac{\sigma}{\mu\sqrt{K\varepsilon}} + \frac{G + D}{\mu\sqrt\varepsilon}\Bigr) .

For :math:`D = 0` that is the known rate of FedAvg when all clients are selected, with :math:`S = N` in Table 1.

**Derivation of the sharp form.** FedAvg with a common Hessian :math:`H` tends in mean to :math:`w^* -
H^{-1}\bar\delta`, with a gap of :math:`\frac12\|\bar\delta\|^2_{H^{-1}}`; for :math:`H = \mu` that is
:math:`\frac{G^2}{2\mu N}` on average over draws. For drifts that sum to zero see Theorem 4.5, strongly convex: what
remains of :math:`G` is attained.

What sweeps cannot show: by the inequality of the arithmetic and the geometric mean, unless drifts sum to zero,
:math:`\frac{G + D}{\mu\sqrt\varepsilon}` is at most :math:`\frac1\mu + \frac{D^2 + G^2}{2\mu\varepsilon}`. Nor can they
show :math:`A`, which is 0 in all of them. Where the model does not depend on the drifts in use, no constant of growth
is needed (:mod:`~fltheory.bounds.cfl.eq_59`).

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rate_sweeps`. With drifts that sum to zero the clients
form two groups with different Hessians, so that :math:`G` acts.

Growth: all sources together are also swept with :math:`B > 0`. Growth of the round drift (:math:`A > 0`) multiplies
random drifts with the model; neither the closed form nor the exact engine covers it, so :math:`A = 0` throughout.

Source: Guo, Lin, Tang, 2021, Theorem 4.3, (78).
"""

from __future__ import annotations

from sympy import Le, exp, sqrt

from fltheory.bounds.cfl import _observed
from fltheory.bounds.cfl._rate_forms import cancelling_forms, drawn_forms
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
    eta_max,
    far,
    sigma,
    soft,
)
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.symbols import N, mu

sources = ("D", "G", "sigma")
fresh = RateSetting(remembers=False, scenario="S1", centred=False)
same = RateSetting(remembers=False)
drawn = RateSetting(remembers=False, centred=False)
others = sigma / (mu * sqrt(K * eps)) + (G + D) / (mu * sqrt(eps))
rate = (M_tilde + G**2) / (mu * eps) + others
cancelling = c_pB / mu + (D**2 + sigma**2 / K) / (mu * N * eps) + others
error = (
    G**2 / (mu * N)
    + (M_tilde + G**2) / (mu * T)
    + sigma**2 / (mu**2 * K * T**2)
    + (G**2 + D**2) / (mu**2 * T**2)
    + mu * F**2 * exp(-mu * eta_max * T / 2)
)
readings = drawn_forms(
    "s2-drawn",
    drawn,
    sources,
    claimed=soft(c_pB / mu + rate),
    error=soft(error),
    remains=G**2 / (mu * N),
    far=far(G, mu, 1),
    where=constants_fedavg,
)

claim = Claim(
    id="cfl.theorem-4.3-sc",
    kind=Kind.RATE,
    title="rounds of FedAvg with drifts, strongly convex",
    citation=Citation("cfl", "Theorem 4.3"),
    forms=(
        Form(variant="published@s1", statement=Le(T, soft(c_pB / mu + rate)), where=constants_fedavg),
        Form(
            variant="published@s2",
            statement=Le(T, soft(c_pB / mu + rate)),
            where=constants_fedavg,
            check=same.check(*everything(same, *sources)),
        ),
        *cancelling_forms(same, sources, soft(cancelling), constants_fedavg),
        *readings,
    ),
    uses=("cfl.eq-62-fedavg", "cfl.eq-63", "cfl.eq-71", "cfl.eq-72", "cfl.eq-77"),
    check=fresh.check(*everything(fresh, *sources)),
    observation=_observed.rate(False),
)
