r"""Lemma 12: change of the control-lag in one round of SCAFFOLD.

For :math:`\tilde\eta = \eta_l\eta_gK \in [0, 1/\beta]`, as published,

.. math:: \mathcal C_r \le \bigl(1 - \tfrac SN\bigr)\mathcal C_{r-1} + \tfrac SN\bigl(4\beta(\mathbb E[f(x^{r-1})] -
   f(x^*)) + 2\beta^2\mathcal E_r\bigr) .

True with :math:`\mathbb E[c_i^r]` inside of the square, as :math:`\mathcal C_r` is defined: the expected control
variate is a convex combination, and Jensen's inequality does the rest, for any step. Lemmas 11 and 13 are about
:math:`\hat{\mathcal C}_r`, of the control variates without their noise, see
:mod:`~fltheory.bounds.scaffold.lemma_11`. For it the lemma is true as well (form ``published@minibatches``):
:math:`\hat c_i^r` is what it was with probability :math:`1 - \frac SN`, else the mean over steps of
:math:`\nabla f_i(y_{i,k-1})`, whose mean squared distance from :math:`\nabla f_i(x^*)` is at most
:math:`2\|\nabla f_i(x) - \nabla f_i(x^*)\|^2 + 2\beta^2\|y_{i,k-1} - x\|^2`; then (9).

**The last line of the printed proof** has :math:`\beta^2\mathcal E_r` without the factor of two (form
``published@proof``). That holds for few local steps and fails for many. Let all clients be sampled and one of them have
the objective :math:`\frac\beta2(x - x^*)^2`, the others none, with control variates that push this client away from
:math:`x` by about :math:`\frac dK\|x - x^*\|` a step, and the others back, each by little if they are many. Then
:math:`\|\frac1K\sum_k\nabla f_i(y_{i,k-1})\| \approx (1 + \frac d2)\beta\|x - x^*\|`, the gap counts
:math:`2\beta^2\|x - x^*\|^2` and the drift :math:`\frac{d^2}3\beta^2\|x - x^*\|^2`, and :math:`(1 + \frac d2)^2 > 2 +
\frac{d^2}3` for :math:`d` from 1.11 to 10.89.

**Derivation of the corrected form** ``corrected@proof``, the lemma as stated. :math:`\|\nabla f_i(y_{i,k-1}) - \nabla
f_i(x^*)\|^2 \le 2\|\nabla f_i(x) - \nabla f_i(x^*)\|^2 + 2\beta^2\|y_{i,k-1} - x\|^2`; the mean over clients and steps
of the first term is at most :math:`4\beta` times the gap by (9), that of the second one :math:`2\beta^2\mathcal E_r`.

**Derivation of the sharp form.** Minkowski's inequality in place of :math:`(a + b)^2 \le 2a^2 + 2b^2`, for the root of
the mean over clients, steps and outcomes:

.. math:: \hat{\mathcal C}_r \le \bigl(1 - \tfrac SN\bigr)\hat{\mathcal C}_{r-1} + \tfrac SN\Bigl(
   \sqrt{2\beta(\mathbb E[f(x^{r-1})] - f(x^*))} + \beta\sqrt{\mathcal E_r}\Bigr)^2 .

Where nothing drifts one local step attains it, and from :math:`x^{r-1} = x^*` many steps do so in the limit.

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 12, page 27 of the supplement.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import curved, rounds
from fltheory.bounds.scaffold._round import calm_lag, calm_lag_next, drift, gap, lag, lag_next
from fltheory.bounds.scaffold._symbols import S, beta, step
from fltheory.bounds.symbols import N
from fltheory.problems.problem import Origin


def change(after: Any, before: Any, factor: int) -> Le:
    """Return the statement for one reading of the control-lag, with a factor of the drift."""
    return Le(after, (1 - S / N) * before + S / N * (4 * beta * gap + factor * beta**2 * drift))


claim = Claim(
    id="scaffold.lemma-12",
    kind=Kind.LEMMA,
    title="change of the control-lag of SCAFFOLD",
    citation=Citation("scaffold", "Lemma 12"),
    forms=(
        Form(statement=change(lag_next, lag, 2), note="inner expectation over everything"),
        Form(
            variant="published@minibatches",
            statement=change(calm_lag_next, calm_lag, 2),
            note="inner expectation over the noise in the control variates only",
        ),
        Form(
            variant="published@proof",
            statement=change(lag_next, lag, 1),
            check=curved(1),
            note="last line of the printed proof, without the factor of two",
        ),
        Form(
            variant="corrected@proof",
            statement=change(lag_next, lag, 2),
            intended=("published@proof",),
            note="the factor of two restored",
        ),
        Form(
            variant="sharp",
            statement=Le(
                calm_lag_next, (1 - S / N) * calm_lag + S / N * (sqrt(2 * beta * gap) + beta * sqrt(drift)) ** 2
            ),
            note="a sum of roots, squared; each constant is the best one",
        ),
    ),
    assumptions=(Assumption("step", Le(step, 1 / beta), Origin.DECLARED),),
    uses=("scaffold.lemma-3", "scaffold.eq-9"),
    check=rounds(1, any_state=True),
)
