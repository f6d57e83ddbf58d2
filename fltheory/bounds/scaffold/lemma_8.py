r"""Lemma 8: drift of the clients in one round of FedAvg.

For :math:`\eta_l \le \frac1{(1 + B^2)8\beta K\eta_g}`, as published (form ``published@literal``)

.. math:: 3\beta\tilde\eta\mathcal E_r \le \tfrac{2\tilde\eta}3\bigl(\mathbb E[f(x^{r-1})]\bigr) - f(x^*)
   + \frac{\tilde\eta^2\sigma^2}{2K\eta_g^2} + 18\beta\tilde\eta^3G^2 .

As printed the minimum is not multiplied by :math:`\tilde\eta`, so that the right-hand side depends on a constant added
to the objective. The gap must be meant (form ``published@gap``). The printed proof sets :math:`\mathcal E_r = 0` for
:math:`K = 1`, where the definition has :math:`\mathbb E\|y_{i,1} - x\|^2`, and loses a square of :math:`\eta_g`.

**Derivation of the corrected form.** With the relaxed triangle inequality for :math:`a = 1/K`,
:math:`\|\nabla f_i(y)\|^2 \le 2\|\nabla f_i(y) - \nabla f_i(x)\|^2 + 2\|\nabla f_i(x)\|^2`, smoothness and
:math:`\beta\tilde\eta \le \frac1{16}`: with :math:`q = 1 + \frac1K + \frac{2(K+1)}{256K^2} \le 1 + \frac{1.02}{K}`

.. math:: \mathbb E\|y_{i,k} - x\|^2 \le q\,\mathbb E\|y_{i,k-1} - x\|^2 + 2(K+1)\eta_l^2\|\nabla f_i(x)\|^2 +
   \eta_l^2\sigma^2 ,

and the mean over :math:`k` of :math:`\sum_{j<k}q^j` is at most :math:`\frac{K+1}2e^{1.02} \le 1.39(K+1)`. So
:math:`\mathcal E_r \le \frac{\tilde\eta^2}{\eta_g^2}\bigl(1.39\cdot2\frac{(K+1)^2}{K^2}\frac1N\sum_i\|\nabla
f_i(x)\|^2 + 1.39\frac{K+1}{K}\frac{\sigma^2}K\bigr)`. For :math:`K = 1` directly :math:`\mathcal E_r \le
\frac{\tilde\eta^2}{\eta_g^2}(\frac1N\sum_i\|\nabla f_i(x)\|^2 + \sigma^2)`; for :math:`K \ge 2` the factors are at
most 6.3 and 2.1. With :math:`3 \cdot 6.3 \le 19` and :math:`3 \cdot 2.1\beta\tilde\eta \le 6.3/16 \le \frac25`,

.. math:: 3\beta\tilde\eta\mathcal E_r \le \frac1{\eta_g^2}\Bigl(\tfrac{2\tilde\eta}3\bigl(\mathbb E[f(x^{r-1})] -
   f(x^*)\bigr) + \frac{2\tilde\eta^2\sigma^2}{5K} + 19\beta\tilde\eta^3G^2\Bigr) ,

where :math:`38\beta^2\tilde\eta^2B^2 \le \frac{38}{64}\cdot\frac{B^2}{(1+B^2)^2} \le \frac{38}{256} \le \frac23`.

Instances: those of Lemma 7.

Source: Karimireddy et al., 2020, Lemma 8, page 21 of the supplement.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._round import drift, gap
from fltheory.bounds.scaffold._symbols import G_sq, K, beta, eta_g, sigma_sq, step
from fltheory.bounds.scaffold.lemma_7 import ASSUMPTIONS, ROUNDS, f_before, f_star

left = 3 * beta * step * drift
rest = step**2 * sigma_sq / (2 * K * eta_g**2) + 18 * beta * step**3 * G_sq

claim = Claim(
    id="scaffold.lemma-8",
    kind=Kind.LEMMA,
    title="drift of the clients in one round of FedAvg",
    citation=Citation("scaffold", "Lemma 8"),
    forms=(
        Form(
            variant="published@literal",
            statement=Le(left, 2 * step / 3 * f_before - f_star + rest),
            note="the minimum outside of the bracket, as printed",
        ),
        Form(variant="published@gap", statement=Le(left, 2 * step / 3 * gap + rest), note="the gap in the bracket"),
        Form(
            variant="corrected",
            statement=Le(
                left,
                (2 * step / 3 * gap + 2 * step**2 * sigma_sq / (5 * K) + 19 * beta * step**3 * G_sq) / eta_g**2,
            ),
            note="the gap in the bracket; all of it falls with the squared global step-size",
        ),
    ),
    assumptions=ASSUMPTIONS,
    uses=("scaffold.lemma-3",),
    check=ROUNDS,
)
