r"""Equation (40): a local model's distance to the optimum from below.

.. math:: \|\omega_{\tau E+j}^k - \omega^*\|^2 \ge \tfrac12\|\bar\omega_{\tau E+j} - \omega^*\|^2 - \|\omega_{\tau
   E+j}^k - \bar\omega_{\tau E+j}\|^2 .

True: :math:`2\langle a, b\rangle \ge -2\|a\|^2 - \frac12\|b\|^2`. Equality if the local model is half way between the
optimum and the virtual model.

Instances: see :mod:`~fltheory.bounds.efl._round`.

Source: EFL (long version), appendix A.2.1, (40).
"""

from __future__ import annotations

from sympy import Ge

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import QUIET_STEPS, distance
from fltheory.bounds.flexible_participation.symbols import w_bar, w_loc
from fltheory.bounds.symbols import E, N, j, k, w_star

claim = Claim(
    id="efl.eq-40",
    kind=Kind.LEMMA,
    title="distance of a local model from below",
    citation=Citation("efl", "appendix A.2.1, (40) (long version)"),
    forms=(
        Form(
            statement=Ge(NormSq(w_loc[k, j] - w_star), distance(j) / 2 - NormSq(w_loc[k, j] - w_bar[j])),
            over=((k, 1, N), (j, 0, E)),
        ),
    ),
    check=QUIET_STEPS,
)
