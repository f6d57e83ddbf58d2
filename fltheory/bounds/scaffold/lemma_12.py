r"""Lemma 12: change of the control-lag in one round of SCAFFOLD.

For :math:`\tilde\eta = \eta_l\eta_gK \in [0, 1/\beta]`, as published,

.. math:: \mathcal C_r \le \bigl(1 - \tfrac SN\bigr)\mathcal C_{r-1} + \tfrac SN\bigl(4\beta(\mathbb E[f(x^{r-1})] -
   f(x^*)) + 2\beta^2\mathcal E_r\bigr) .

True with :math:`\mathbb E[c_i^r]` inside of the square, as :math:`\mathcal C_r` is defined: the expected control
variate is a convex combination, and Jensen's inequality does the rest, for any step. The last line of the printed
proof has :math:`\beta^2\mathcal E_r` without the factor of two. Lemmas 11 and 13 are about
:math:`\hat{\mathcal C}_r`, of the control variates without their noise, see
:mod:`~fltheory.bounds.scaffold.lemma_11`. For it the lemma is true as well (form ``published@minibatches``):
:math:`\hat c_i^r` is what it was with probability :math:`1 - \frac SN`, else the mean over steps of
:math:`\nabla f_i(y_{i,k-1})`, whose mean squared distance from :math:`\nabla f_i(x^*)` is at most
:math:`2\|\nabla f_i(x) - \nabla f_i(x^*)\|^2 + 2\beta^2\|y_{i,k-1} - x\|^2`; then (9).

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 12, page 27 of the supplement.
"""

from __future__ import annotations

from typing import Any

from sympy import Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import rounds
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
            note="last line of the printed proof, without the factor of two",
        ),
    ),
    assumptions=(Assumption("step", Le(step, 1 / beta), Origin.DECLARED),),
    uses=("scaffold.lemma-3", "scaffold.eq-9"),
    check=rounds(1, any_state=True),
)
