r"""Lemma 12: change of the control-lag in one round of SCAFFOLD.

For :math:`\tilde\eta = \eta_l\eta_gK \in [0, 1/\beta]`, as published,

.. math:: \mathcal C_r \le \bigl(1 - \tfrac SN\bigr)\mathcal C_{r-1} + \tfrac SN\bigl(4\beta(\mathbb E[f(x^{r-1})] -
   f(x^*)) + 2\beta^2\mathcal E_r\bigr) .

True with :math:`\mathbb E[c_i^r]` inside of the square, as :math:`\mathcal C_r` is defined: the expected control
variate is a convex combination, and Jensen's inequality does the rest, for any step. The last line of the printed
proof has :math:`\beta^2\mathcal E_r` without the factor of two. What Lemmas 11 and 13 need is another quantity, see
there.

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 12, page 27 of the supplement.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import rounds
from fltheory.bounds.scaffold._round import drift, gap, lag, lag_next
from fltheory.bounds.scaffold._symbols import S, beta, step
from fltheory.bounds.symbols import N
from fltheory.problems.problem import Origin

claim = Claim(
    id="scaffold.lemma-12",
    kind=Kind.LEMMA,
    title="change of the control-lag of SCAFFOLD",
    citation=Citation("scaffold", "Lemma 12"),
    forms=(
        Form(statement=Le(lag_next, (1 - S / N) * lag + S / N * (4 * beta * gap + 2 * beta**2 * drift))),
        Form(
            variant="published@proof",
            statement=Le(lag_next, (1 - S / N) * lag + S / N * (4 * beta * gap + beta**2 * drift)),
            note="last line of the printed proof, without the factor of two",
        ),
    ),
    assumptions=(Assumption("step", Le(step, 1 / beta), Origin.DECLARED),),
    uses=("scaffold.lemma-3", "scaffold.eq-9"),
    check=rounds(1, any_state=True),
)
