r"""Equation (55): distances inside a round from below by that at its end.

With :math:`h_{\tau E+j} = \|\sum_k p_\tau^k\alpha_{\tau E+j}^k g_{\tau E+j}^k\|`, as published

.. math:: \Delta_{\tau E+j} \ge \tfrac12\Delta_{(\tau+1)E} - \Bigl(\sum_{i=j}^{E-1}\eta_\tau h_{\tau E+j}\Bigr)^2 \ge
   \tfrac12\Delta_{(\tau+1)E} - \Bigl(\sum_{j=0}^{E-1}\eta_\tau h_{\tau E+j}\Bigr)^2 .

The first sum runs over :math:`i` and its terms carry :math:`j`, in (53) and (54) as well: taken literally it is
:math:`(E - j)\eta_\tau h_{\tau E+j}`, and both inequalities fail when later steps are larger than step :math:`j`, or
smaller.

**Derivation of the corrected form.** With :math:`h_{\tau E+i}` in the sum the first is the triangle inequality and
:math:`(a + b)^2 \le 2a^2 + 2b^2`, the second adds non-negative terms. It holds for every outcome.

Instances: see :mod:`~fltheory.bounds.efl._round`.

Source: EFL (long version), appendix A.2.1, (52)-(55).
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Ge, Sum

from fltheory.bounds.algebra import Norm
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import ROUNDS, distance
from fltheory.bounds.flexible_participation.symbols import active, g_loc, p_tau
from fltheory.bounds.symbols import E, N, eta, i, j, k


def _size(step: Any) -> Expr:
    return Norm(Sum(p_tau[k] * active[k, step] * g_loc[k, step], (k, 1, N)))


def _bounds(step: Any) -> tuple[Ge, Ge]:
    rest = distance(E) / 2 - Sum(eta * _size(step), (i, j, E - 1)) ** 2
    return Ge(distance(j), rest), Ge(rest, distance(E) / 2 - Sum(eta * _size(i), (i, 0, E - 1)) ** 2)


claim = Claim(
    id="efl.eq-55",
    kind=Kind.LEMMA,
    title="distances inside a round from below",
    citation=Citation("efl", "appendix A.2.1, (55) (long version)"),
    forms=(
        Form(statement=_bounds(j), over=((j, 0, E - 1),)),
        Form(
            variant="corrected",
            statement=_bounds(i),
            over=((j, 0, E - 1),),
            note="every step with its own norm",
        ),
    ),
    check=ROUNDS,
)
