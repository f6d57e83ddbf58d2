r"""Theorem 3.6: ProxSkip converges linearly, with few proximal steps.

With :math:`\Psi_t = \|x_t - x_\star\|^2 + \frac{\gamma^2}{p^2}\|h_t - h_\star\|^2`, as published, for
:math:`0 < \gamma \le \frac1L` and :math:`0 < p \le 1`

.. math:: \mathbb E[\Psi_T] \le (1 - \zeta)^T\,\Psi_0, \qquad \zeta = \min\{\gamma\mu, p^2\} .

**Where it is tight.** In the factor of the control variates, :math:`1 - p^2`. A gradient step contracts by
:math:`(1-\gamma\mu)^2`, of which the proof uses :math:`1-\gamma\mu`.

**Derivation of the sharp form.** Lemma 3.5 holds with the square (its sharp form), for
:math:`\gamma \le \frac{2}{L+\mu}`. Together with Lemma 3.4

.. math:: \mathbb E[\Psi_{t+1}] \le (1-\gamma\mu)^2\|x_t - x_\star\|^2 + (1-p^2)\frac{\gamma^2}{p^2}\|h_t - h_\star\|^2
   \le (1-\zeta)\,\Psi_t, \qquad \zeta = \min\{\gamma\mu(2-\gamma\mu), p^2\} .

So :math:`p` may be larger by about :math:`\sqrt2` before it stops helping. For :math:`p = 1` and
:math:`f = \frac\mu2\|\cdot\|^2` with :math:`\psi = 0` it is an equality.

Instances: ProxSkip with all coins enumerated, three steps, :math:`f` with a kink, regularisers of
:mod:`fltheory.bounds.proxskip._prox`, any :math:`h_0`, in exact arithmetic. Readings ``scaffnew``: up to three clients
with quadratics, up to 60 steps, second moments propagated through the coin
(:mod:`fltheory.bounds.proxskip._scaffnew`).

Source: Mishchenko et al., ICML 2022, Theorem 3.6, (15).
"""

from __future__ import annotations

from sympy import Le, Min

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.proxskip import _runs
from fltheory.bounds.proxskip._symbols import T, gamma, psi_0, psi_T, q, zeta
from fltheory.bounds.symbols import L, mu

PRINTED = (zeta, Min(gamma * mu, q**2))
SHARP = (zeta, Min(gamma * mu * (2 - gamma * mu), q**2))
STEP = Assumption("step size", Le(gamma, 1 / L))
bound = Le(psi_T, (1 - zeta) ** T * psi_0)
clients = _runs.scaffnew()

claim = Claim(
    id="proxskip.theorem-3.6",
    kind=Kind.BOUND,
    title="linear convergence of ProxSkip",
    citation=Citation("proxskip", "Theorem 3.6, (15)"),
    forms=(
        Form(statement=bound, where=(PRINTED,), note="any regulariser"),
        Form(
            variant="published@scaffnew",
            statement=bound,
            where=(PRINTED,),
            check=clients,
            note="the regulariser that asks for consensus",
        ),
        Form(variant="sharp", statement=bound, where=(SHARP,), note="gamma mu (2 - gamma mu) in place of gamma mu"),
        Form(
            variant="sharp@scaffnew",
            statement=bound,
            where=(SHARP,),
            check=clients,
            note="gamma mu (2 - gamma mu) in place of gamma mu, on Scaffnew",
        ),
    ),
    assumptions=(STEP,),
    uses=("proxskip.lemma-3.4", "proxskip.lemma-3.5"),
    check=_runs.proxskip(),
    observation=_runs.observed(noise=False),
)
