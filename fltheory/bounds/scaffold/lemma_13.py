r"""Lemma 13: drift of the clients in one round of SCAFFOLD.

For :math:`\eta_l \le \frac1{81\beta K\eta_g}` and :math:`\eta_g \ge 1`, as published,

.. math:: 3\beta\tilde\eta\mathcal E_r \le \tfrac{2\tilde\eta^2}3\mathcal C_{r-1} +
   \tfrac{\tilde\eta}{25\eta_g^2}\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) +
   \tfrac{\tilde\eta^2}{K\eta_g^2}\sigma^2 .

It fails with sampled clients, for the reason of :mod:`~fltheory.bounds.scaffold.lemma_11`: the control-lag
:math:`\mathcal C_{r-1}` of the expected control variates may be zero while all of them are wrong. The printed proof
takes :math:`\mathcal E_r = 0` for :math:`K = 1`, which (23) is not, and a variance of :math:`\sigma^2/K` for
:math:`c_i`.

**Derivation of the corrected form.** With :math:`\mathcal C'_{r-1}` of Lemma 11, the relaxed triangle inequality for
:math:`a = 1/K` and Lemma 6,

.. math:: \tfrac1N\sum_i\mathbb E\|y_{i,k} - x\|^2 \le \bigl(1 + \tfrac1K\bigr)\tfrac1N\sum_i\mathbb E\|y_{i,k-1} -
   x\|^2 + (K + 1)\eta_l^2T + \eta_l^2\sigma^2, \qquad
   T = \tfrac1N\sum_i\mathbb E\|c - c_i + \nabla f_i(x)\|^2 \le 2\mathcal C'_{r-1} + 4\beta(\mathbb E[f(x)] - f^*),

where :math:`T` is split at :math:`\nabla f_i(x^*)`: the first part is a variance over clients, and (9) bounds the
second. Since :math:`\sum_{j<k}(1 + \frac1K)^j \le K(e - 1)` and :math:`K + 1 \le 2K`,
:math:`\mathcal E_r \le 1.72\frac{\tilde\eta^2}{\eta_g^2}(2T + \sigma^2/K)`, and :math:`\beta\tilde\eta \le \frac1{81}`
gives

.. math:: 3\beta\tilde\eta\mathcal E_r \le \frac1{\eta_g^2}\Bigl(\tfrac{\tilde\eta^2}3\mathcal C'_{r-1} +
   \tfrac{\tilde\eta}{150}\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) + \tfrac{\tilde\eta^2}{15K}\sigma^2\Bigr) .

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 13, page 28 of the supplement.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import lasting, rounds
from fltheory.bounds.scaffold._round import drift, full_lag, gap, lag
from fltheory.bounds.scaffold._symbols import K, beta, eta_g, sigma_sq, step
from fltheory.problems.problem import Origin

MANY, ANY = lasting(81), rounds(81, any_state=True)
left = 3 * beta * step * drift
published = Le(left, 2 * step**2 / 3 * lag + step / (25 * eta_g**2) * gap + step**2 / (K * eta_g**2) * sigma_sq)
corrected = Le(left, (step**2 / 3 * full_lag + step / 150 * gap + step**2 / (15 * K) * sigma_sq) / eta_g**2)
CHANGE = "control-lag with the expectation outside of the square; smaller constants"

claim = Claim(
    id="scaffold.lemma-13",
    kind=Kind.LEMMA,
    title="drift of the clients in one round of SCAFFOLD",
    citation=Citation("scaffold", "Lemma 13"),
    forms=(
        Form(variant="published@many-rounds", statement=published, check=MANY, note="many rounds, one local step"),
        Form(
            variant="published@two-rounds",
            statement=published,
            note="first and second rounds only, few clients, kinks and noise",
        ),
        Form(variant="corrected", statement=corrected, check=ANY, note=CHANGE),
        Form(variant="corrected@many-rounds", statement=corrected, check=MANY, note=f"{CHANGE}; many rounds"),
    ),
    assumptions=(
        Assumption("step", Le(step, 1 / (81 * beta)), Origin.DECLARED),
        Assumption("global step", Le(1, eta_g), Origin.DECLARED),
    ),
    uses=("scaffold.lemma-3", "scaffold.lemma-6", "scaffold.eq-9"),
    check=rounds(81),
)
