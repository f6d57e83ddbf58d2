r"""Lemma 13: drift of the clients in one round of SCAFFOLD.

For :math:`\eta_l \le \frac1{81\beta K\eta_g}` and :math:`\eta_g \ge 1`, as published,

.. math:: 3\beta\tilde\eta\mathcal E_r \le \tfrac{2\tilde\eta^2}3\mathcal C_{r-1} +
   \tfrac{\tilde\eta}{25\eta_g^2}\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) +
   \tfrac{\tilde\eta^2}{K\eta_g^2}\sigma^2 .

**Reading.** As in :mod:`~fltheory.bounds.scaffold.lemma_11`. With the inner expectation of :math:`\mathcal C_{r-1}`
over everything (forms ``published@two-rounds``, ``published@many-rounds``) it fails with sampled clients: from
:math:`x^0 = x^*` with control variates that are all off by the same vector, all clients but one are put right in the
first round, and :math:`\mathcal C_1` is :math:`\frac1N` of the mean square by which control variates are off. With 20
or more clients that is too little. Over the noise in the control variates only (form ``published@minibatches``) it is
true. The printed proof takes :math:`\mathcal E_r = 0` for :math:`K = 1`, which (23) is not.

**Derivation of the sharp form.** A gradient step of client :math:`i`, :math:`y \mapsto y - \eta_l\nabla f_i(y)`, does
not expand distances (Lemma 6), and at :math:`x` the whole step moves by :math:`\eta_lv_i` with
:math:`v_i = c - c_i + \nabla f_i(x)`. So with :math:`a_k^2 = \frac1N\sum_i\mathbb E\|y_{i,k} - x\|^2`,
:math:`V = \frac1N\sum_i\mathbb E\|v_i\|^2` and Minkowski's inequality

.. math:: a_k^2 \le \bigl(a_{k-1} + \eta_l\sqrt V\bigr)^2 + \eta_l^2\sigma^2 , \qquad a_0 = 0 .

For :math:`K = 1` that is :math:`\mathcal E_r \le \eta_l^2(V + \sigma^2)`. For :math:`K \ge 2` the relaxed triangle
inequality with :math:`\frac1{K-1}` and :math:`\rho = \frac K{K-1}` gives :math:`a_1^2 \le \eta_l^2(V + \sigma^2)` and
:math:`a_k^2 \le \rho a_{k-1}^2 + \eta_l^2(KV + \sigma^2)`, so that the mean over :math:`k` of :math:`a_k^2` is at most

.. math:: \eta_l^2\Bigl(\bigl((K^2 - K + 1)(\rho^K - 1)\tfrac{K-1}K - K^2 + K\bigr)V + (K - 1)(\rho^K - 2)\sigma^2\Bigr)
   \le \eta_l^2(K^2V + K\sigma^2) .

The last step: :math:`\rho^K` is 4 for :math:`K = 2` and falls to :math:`e`. As
:math:`(K^2 - K + 1)\frac{K-1}K \le K^2 - K`, the first factor is at most :math:`(K^2 - K)(\rho^K - 2)`, which is below
:math:`K^2` where :math:`(K - 1)(\rho^K - 2) \le K`, and that is :math:`2 \le 2` for :math:`K = 2`, at most
:math:`1.375(K-1) \le K` for :math:`K = 3`, :math:`1.161(K-1) \le K` for :math:`4 \le K \le 7`, and :math:`0.911(K-1)`
from there on. Hence for any :math:`K`

.. math:: \mathcal E_r \le \frac{\tilde\eta^2}{\eta_g^2}\Bigl(V + \frac{\sigma^2}K\Bigr) , \qquad
   \sqrt V \le \sqrt{2\beta(\mathbb E[f(x^{r-1})] - f(x^*))} + \sqrt{\hat{\mathcal C}_{r-1}} + \frac\sigma{\sqrt K} ,

where :math:`v_i` is split as in Lemma 11, and what has mean zero over clients is a variance. It is attained by
one local step, by each term alone.

**Derivation of the corrected form.** :math:`V \le \frac52\cdot2\beta(\mathbb E[f(x^{r-1})] - f(x^*)) +
\frac52\hat{\mathcal C}_{r-1} + 5\frac{\sigma^2}K` as in Lemma 11, and :math:`\beta\tilde\eta \le \frac1{81}`:

.. math:: 3\beta\tilde\eta\mathcal E_r \le \frac1{\eta_g^2}\Bigl(\tfrac{5\tilde\eta^2}{54}\hat{\mathcal C}_{r-1} +
   \tfrac{5\tilde\eta}{2187}\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) + \tfrac{2\tilde\eta^2}{9K}\sigma^2\Bigr) .

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 13, page 28 of the supplement.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Rational, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import lasting, rounds, second
from fltheory.bounds.scaffold._round import calm_lag, drift, gap, lag
from fltheory.bounds.scaffold._symbols import K, beta, eta_g, sigma_sq, step
from fltheory.bounds.scaffold.lemma_11 import CHANGE, RESTLESS, first_two
from fltheory.problems.problem import Origin

MANY, ANY = lasting(81), rounds(81, any_state=True)
left = 3 * beta * step * drift
alone = sigma_sq / K


def published(control_lag: Any) -> Le:
    """Return the published form for one reading of the control-lag."""
    return Le(left, 2 * step**2 / 3 * control_lag + step / (25 * eta_g**2) * gap + step**2 / (K * eta_g**2) * sigma_sq)


corrected = Le(
    left,
    (Rational(5, 54) * step**2 * calm_lag + Rational(5, 2187) * step * gap + Rational(2, 9) * step**2 * alone)
    / eta_g**2,
)

claim = Claim(
    id="scaffold.lemma-13",
    kind=Kind.LEMMA,
    title="drift of the clients in one round of SCAFFOLD",
    citation=Citation("scaffold", "Lemma 13"),
    forms=(
        Form(
            variant="published@two-rounds",
            statement=published(lag),
            check=second(81),
            note="inner expectation over everything; the second round, one local step",
        ),
        Form(
            variant="published@many-rounds",
            statement=published(lag),
            check=MANY,
            note="inner expectation over everything; many rounds, one local step",
        ),
        Form(
            variant="published@minibatches",
            statement=published(calm_lag),
            intended=("published@two-rounds", "published@many-rounds"),
            note="inner expectation over the noise in the control variates only",
        ),
        Form(variant="corrected", statement=corrected, note=CHANGE),
        Form(variant="corrected@many-rounds", statement=corrected, check=MANY, note=f"{CHANGE}; many rounds"),
        Form(
            variant="sharp",
            statement=Le(left, 3 * beta * step**3 / eta_g**2 * ((first_two + sqrt(alone)) ** 2 + alone)),
            note="roots in place of constants; attained by each term alone, with one local step",
        ),
    ),
    assumptions=(
        Assumption("step", Le(step, 1 / (81 * beta)), Origin.DECLARED),
        Assumption("global step", Le(1, eta_g), Origin.DECLARED),
        RESTLESS,
    ),
    uses=("scaffold.lemma-3", "scaffold.lemma-6", "scaffold.eq-9"),
    check=ANY,
)
