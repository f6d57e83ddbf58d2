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

For drifts that are new in every round, or sum to zero, nothing contradicts it, and it is generous: on these instances
:math:`D^2` and :math:`G^2` count with a factor :math:`1/N`. Drawn drifts that stay move the limit to the minimiser of
:math:`f + \langle\bar\delta, \cdot\rangle`.

**Derivation of the corrected form.** In the corrected recursion of ``cfl.eq-62-fedavg`` the seen drift has :math:`V_t
= \|\bar\delta\|^2`, in expectation :math:`G^2/N`. Young's inequality and the weighted sum give the published error
(78) plus :math:`\frac4\mu\cdot\frac{G^2}{N}`.

**Derivation of the sharp form.** FedAvg with a common Hessian :math:`H` tends in mean to :math:`w^* -
H^{-1}\bar\delta`, with a gap of :math:`\frac12\|\bar\delta\|^2_{H^{-1}}`; for :math:`H = \mu` that is
:math:`\frac{G^2}{2\mu N}` on average over draws.

Instances: two eigenvalues :math:`\mu` and :math:`L = 1`, normal drifts and noise, best step by a closed form; every
source of error alone, together and none, each swept along :math:`T, N, K, F, \mu` and its own size, all forms of a
reading along the same points, see :mod:`fltheory.bounds.cfl._rates`. Client drifts that sum to zero do not act with
one Hessian for all, so :math:`G` is only swept there.

Source: Guo, Lin, Tang, 2021, Theorem 4.3, (78).
"""

from __future__ import annotations

from sympy import Le, exp, sqrt

from fltheory.bounds._claim import Claim, Form, Kind, Source
from fltheory.bounds._symbols import N, mu
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
from fltheory.bounds.cfl._rates import Setting

sources = ("D", "G", "sigma")
fresh = Setting(remembers=False, scenario="S1", centred=False)
same = Setting(remembers=False)
drawn = Setting(remembers=False, centred=False)
others = sigma / (mu * sqrt(K * eps)) + (G + D) / (mu * sqrt(eps))
rate = (M_tilde + G**2) / (mu * eps) + others
cancelling = c_pB / mu + (D**2 + sigma**2 / K) / (mu * N * eps) + others
error = (
    G**2 / (mu * N)
    + (M_tilde + G**2) / (mu * T)
    + sigma**2 / (mu**2 * K * T**2)
    + (G**2 + D**2) / (mu**2 * T**2)
    + mu * F**2 * exp(-mu * eta_max * T / 4)
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
    source=Source("cfl", "Theorem 4.3"),
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
)
