r"""Lemma 1: progress of one round of local SGD, per round.

With :math:`A_t = \frac1\tau\sum_{k=1}^\tau F(\bar x^{t,k}) - F^*`, as published, for convex :math:`L`-smooth
:math:`F_i` and :math:`\eta \le \frac1{4L}`

.. math:: \mathbb E_t[A_t] \le \frac{\|\bar x^{t,0} - x^*\|^2 - \mathbb E_t\|\bar x^{t,\tau} - x^*\|^2}{2\eta\tau} +
   \frac{\eta\sigma^2}{M} + \frac{L}{M\tau}\sum_{i=1}^M\sum_{k=0}^{\tau-1}\mathbb E_t\|x_i^{t,k} - \bar x^{t,k}\|^2 .

**Derivation of the sharp form.** Let :math:`\bar g = \frac1M\sum_i\nabla F_i(x_i^{t,k})` and
:math:`V = \frac1M\sum_i\|x_i^{t,k} - \bar x^{t,k}\|^2`. By smoothness and convexity of every :math:`F_i`

.. math:: \bigl\langle\bar g, \bar x^{t,k+1} - x^*\bigr\rangle \ge F(\bar x^{t,k+1}) - F^* - \tfrac{L}{2M}\sum_i
   \|\bar x^{t,k+1} - x_i^{t,k}\|^2 ,

where the mean of the squares is :math:`\|\bar x^{t,k+1} - \bar x^{t,k}\|^2 + V`, since :math:`\bar x^{t,k}` is the mean
of the :math:`x_i^{t,k}`. The step is :math:`\bar x^{t,k+1} = \bar x^{t,k} - \eta(\bar g + \bar\xi)` with
:math:`\mathbb E\|\bar\xi\|^2 \le \sigma^2/M`, and
:math:`\mathbb E\langle\bar\xi, \bar x^{t,k+1} - x^*\rangle = -\eta\,\mathbb E\|\bar\xi\|^2`. Expanding
:math:`\|\bar x^{t,k} - x^*\|^2` around :math:`\bar x^{t,k+1}`,

.. math:: \frac{\|\bar x^{t,k} - x^*\|^2 - \mathbb E\|\bar x^{t,k+1} - x^*\|^2}{2\eta} \ge \mathbb E[F(\bar x^{t,k+1})]
   - F^* + \Bigl(\frac1{2\eta} - \frac L2\Bigr)\mathbb E\|\bar x^{t,k+1} - \bar x^{t,k}\|^2 - \frac L2V -
   \frac{\eta\sigma^2}{M} .

For :math:`\eta \le \frac1L` the factor of the third term is not negative, and its expectation is at least
:math:`\eta^2` times that of :math:`\|\bar\xi\|^2`, which takes :math:`\frac\eta2(1 - \eta L)\frac{\sigma^2}M` off the
last one. So half of the last term of the lemma suffices, the noise costs
:math:`\frac{\eta(1+\eta L)}2\frac{\sigma^2}M`, and step sizes four times as long are allowed.

Instances: see :mod:`fltheory.bounds.fieldguide._round`.

Source: Wang et al., 2021, section 6.1, Lemma 1.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.fieldguide import _round
from fltheory.bounds.fieldguide._symbols import (
    M,
    eta,
    i,
    k,
    local,
    mean,
    risk,
    round_gap,
    sigma_sq,
    spread,
    steps,
    x_star,
)
from fltheory.bounds.symbols import L

WHERE = (
    (mean[k], Sum(local[i, k], (i, 1, M)) / M),
    (round_gap, Sum(risk(mean[k]), (k, 1, steps)) / steps - risk(x_star)),
    (spread, Sum(NormSq(local[i, k] - mean[k]), (i, 1, M), (k, 0, steps - 1))),
)
gaps = EE(round_gap)
progress = (NormSq(mean[0] - x_star) - NormSq(mean[steps] - x_star)) / (2 * eta * steps)

claim = Claim(
    id="fieldguide.lemma-1",
    kind=Kind.LEMMA,
    title="progress of one round of local SGD",
    citation=Citation("fieldguide", "Section 6.1, Lemma 1"),
    forms=(
        Form(
            statement=Le(gaps, EE(progress) + eta * sigma_sq / M + L / (M * steps) * EE(spread)),
            where=WHERE,
        ),
        Form(
            variant="sharp",
            statement=Le(
                gaps, EE(progress) + eta * (1 + eta * L) * sigma_sq / (2 * M) + L / (2 * M * steps) * EE(spread)
            ),
            where=WHERE,
            assumptions=(*_round.NOISE, Assumption("step size", Le(eta, 1 / L))),
            check=_round.rounds(longest=4),
            note="half of the last term, little more than half of the noise, and step sizes up to 1 / L",
        ),
    ),
    assumptions=(*_round.NOISE, _round.STEP),
    check=_round.rounds(),
)
