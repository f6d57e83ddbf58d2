r"""Theorem 1: FedAvg with full participation converges at the rate :math:`1/T`.

Every client takes :math:`E` steps of SGD on its own objective :math:`F_k`, then models are averaged with the weights
:math:`p_k`. With :math:`\kappa = L/\mu`, :math:`\gamma = \max\{8\kappa, E\}` and the learning rate
:math:`\eta_t = \frac{2}{\mu(\gamma + t)}`, which decays with every local step, as published

.. math:: \mathbb E[F(w_T)] - F^* \le \frac{\kappa}{\gamma + T - 1}\Bigl(\frac{2B}{\mu} + \frac{\mu\gamma}{2}\,
   \mathbb E\|w_1 - w^*\|^2\Bigr), \qquad
   B = \sum_{k=1}^N p_k^2\sigma_k^2 + 6L\Gamma + 8(E-1)^2G^2, \qquad \Gamma = F^* - \sum_k p_k F_k^* .

**Reading.** How time is counted, and what the instances are: :mod:`fltheory.bounds.li._setting`. The bound is stated
for averaged models, :math:`T - 1 = \tau E` after :math:`\tau` rounds.

**What the proof uses.** The noises of two clients are independent, which A1 to A4 do not say. It is an assumption here.
Without it (``published@any-dependence``) the theorem is false: :mod:`fltheory.bounds.li._common_noise`. Clients that
draw from data of their own are understood to draw independently, so the plain reading is the intended one.

**Derivation of the sharp form.** Write :math:`\Delta_t` for the mean squared distance of the averaged model from
:math:`w^*`. The paper's one-step inequality is
:math:`\Delta_{t+1} \le (1 - \eta_t\mu)\Delta_t + \eta_t^2 B`, for :math:`\eta_t \le \frac1{4L}` and
:math:`\eta_t \le 2\eta_{t+E}`. Let :math:`v = \max\{4B/\mu^2, \gamma\Delta_1\}`. Then
:math:`\Delta_t \le \frac{v}{\gamma + t - 1}` for :math:`t = 1`, and with :math:`x = \gamma + t` from :math:`t` to
:math:`t + 1`

.. math:: \Delta_{t+1} \le \Bigl(1 - \frac2x\Bigr)\frac{v}{x - 1} + \frac{v}{x^2} = \frac{x^2 - x - 1}{x^2(x-1)}\,v
   \le \frac vx .

By smoothness :math:`\mathbb E[F(w_T)] - F^* \le \frac L2\Delta_T`: a maximum in place of the sum. If the first rate is
:math:`\frac2{\mu\gamma}` (reading ``first-rate``), :math:`x = \gamma + t - 1`, and
:math:`\bigl(1 - \frac2x\bigr)\frac vx + \frac v{x^2} = \frac{x-1}{x^2}v \le \frac{v}{x+1}`.

**Rates within a round.** Lemma 3 allows rates to fall by half from one averaging to the next. These fall less:
:math:`\frac{\eta_{t_0}}{\eta_t} \le 1 + \frac{E-1}\gamma =: \rho` within a round, in both readings. So the sharp form
of Lemma 3 (:mod:`~fltheory.bounds.li.lemma_3`) gives :math:`B = \sum_kp_k^2\sigma_k^2 + 6L\Gamma + 2\rho^2(E-1)^2G^2`.

**Where it is tight.** Without noise, with equal clients and one local step the second term leads; it is an equality at
the start for :math:`\mu = L`. The constant in front of
:math:`(E-1)^2G^2` is not attained.

Instances: quadratics, 20 rounds, or one if it has hundreds of steps. Without :math:`8(E-1)^2G^2` the bound fails for a
round of 400 steps that begins at the minimiser, in which two clients move to their own minimisers.

Source: Li, Huang, Yang, Wang, Zhang, On the convergence of FedAvg on non-IID data, ICLR 2020, Theorem 1, (4), (5).
"""

from __future__ import annotations

from dataclasses import replace

from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.li import _setting
from fltheory.bounds.li._common_noise import COMMON

PLAIN, *OTHERS = _setting.forms("all")
MEANT = replace(PLAIN, intended=("published@any-dependence",))
SHARED = replace(
    PLAIN,
    variant="published@any-dependence",
    assumptions=tuple(one for one in _setting.ASSUMPTIONS if one is not _setting.INDEPENDENT),
    check=COMMON,
    note="without the independence of clients, which no assumption lists",
)

claim = Claim(
    id="li.theorem-1",
    kind=Kind.BOUND,
    title="convergence of FedAvg with full participation",
    citation=Citation("li", "Theorem 1, (4), (5)"),
    forms=(MEANT, *OTHERS, SHARED),
    assumptions=_setting.ASSUMPTIONS,
    uses=("li.lemma-1", "li.lemma-2", "li.lemma-3", "li.induction"),
    check=_setting.runs("all", later=1),
    observation=_setting.observed("all", later=1),
)
