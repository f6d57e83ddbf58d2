r"""Theorem 5.5: ProxSkip with stochastic gradients.

With unbiased gradients and expected smoothness
:math:`\mathbb E\|g_t(x_t) - \nabla f(x_\star)\|^2 \le 2A\,D_f(x_t, x_\star) + C`, as published, for
:math:`0 < \gamma \le \frac1A` and :math:`0 < p \le 1`

.. math:: \mathbb E[\Psi_T] \le (1 - \zeta)^T\,\Psi_0 + \frac{\gamma^2C}{\zeta}, \qquad \zeta = \min\{\gamma\mu, p^2\} .

**Where it is tight.** For :math:`T\to\infty` in the last term, if control variates contract slower than models.

**Derivation of the sharp form.** The recursion :math:`\mathbb E\Psi_{t+1} \le (1-\zeta)\mathbb E\Psi_t + \gamma^2C`
adds up to :math:`\gamma^2C\,\frac{1-(1-\zeta)^T}{\zeta}`: form ``sharp@growing``. For noise that grows with the
distance from the minimiser, so that :math:`A > L`, :math:`1 - \gamma\mu` cannot be smaller:
:math:`f = \frac\mu2\|\cdot\|^2` with noise of variance :math:`v\|x - x_\star\|^2`, :math:`A = \mu + \frac v\mu` and
:math:`\gamma = \frac1A` attains it. If the variance is at most :math:`\sigma^2` everywhere, :math:`A = L` and
:math:`C = \sigma^2` by Lemma 5.4, and :math:`\mathbb E\|w_t - w_\star\|^2` is at most that of exact gradients plus
:math:`\gamma^2\sigma^2`; so the sharp form of Lemma 3.5 gives :math:`\zeta = \min\{\gamma\mu(2-\gamma\mu), p^2\}`. That
is an assumption of the form ``sharp``.

Instances: as for :mod:`~fltheory.bounds.proxskip.theorem_3_6`, with noise of either sign in every step, and
Scaffnew with noise. :math:`A = L`, :math:`C = \sigma^2`, the sum over clients. Readings ``growing``: with noise
that grows, of another sign.

Source: Mishchenko et al., ICML 2022, Theorem 5.5, and (42) in appendix C.3. :math:`C` is not that of other papers.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.proxskip import _runs
from fltheory.bounds.proxskip._symbols import A, C, T, gamma, psi_0, psi_T, spread_sq, zeta
from fltheory.bounds.proxskip.theorem_3_6 import PRINTED, SHARP
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

printed = Le(psi_T, (1 - zeta) ** T * psi_0 + gamma**2 * C / zeta)
summed = Le(psi_T, (1 - zeta) ** T * psi_0 + gamma**2 * C * (1 - (1 - zeta) ** T) / zeta)
clients, growing = _runs.scaffnew(noisy=True), _runs.growing()
STEP = Assumption("step size", Le(gamma, 1 / A), Origin.DECLARED)
BOUNDED = (
    Assumption("step size", Le(gamma, 1 / L), Origin.DECLARED),
    Assumption("bounded variance (5.3)", Le(spread_sq, C), Origin.DECLARED),
)

claim = Claim(
    id="proxskip.theorem-5.5",
    kind=Kind.BOUND,
    title="ProxSkip with stochastic gradients",
    citation=Citation("proxskip", "Theorem 5.5, (42)"),
    forms=(
        Form(statement=printed, where=(PRINTED,), note="any regulariser"),
        Form(
            variant="published@scaffnew",
            statement=printed,
            where=(PRINTED,),
            check=clients,
            note="the regulariser that asks for consensus",
        ),
        Form(
            variant="published@growing",
            statement=printed,
            where=(PRINTED,),
            check=growing,
            note="noise that grows with the distance from the minimiser, A > L",
        ),
        Form(
            variant="sharp",
            statement=summed,
            where=(SHARP,),
            assumptions=BOUNDED,
            note="the finite sum, and gamma mu (2 - gamma mu) in place of gamma mu; additive noise",
        ),
        Form(
            variant="sharp@scaffnew",
            statement=summed,
            where=(SHARP,),
            assumptions=BOUNDED,
            check=clients,
            note="the finite sum, and gamma mu (2 - gamma mu) in place of gamma mu, on Scaffnew",
        ),
        Form(
            variant="sharp@growing",
            statement=summed,
            where=(PRINTED,),
            check=growing,
            note="the finite sum; any expected smoothness",
        ),
    ),
    assumptions=(STEP,),
    uses=("proxskip.lemma-3.4", "proxskip.lemma-3.5"),
    check=_runs.proxskip(noisy=True),
    observation=_runs.observed(noise=True),
)
