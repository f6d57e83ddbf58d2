r"""Equation (75): under scheme C the expected sum of squared coefficients times steps, homogeneous participation.

Setting as in (73). As published

.. math:: \mathbb E\Bigl[\sum_{k=1}^N (p_\tau^k)^2 s_\tau^k\Bigr]
   = E^2\, \mathbb E\Bigl[\frac1{s_\tau}\Bigr] \sum_{k=1}^N (p^k)^2 .

The formula divides by :math:`s_\tau`, so :math:`s_\tau^k \ge 1` is assumed. The section allows inactive clients,
whose coefficient scheme C sets to 0; the reading ``published@inactive`` therefore takes :math:`1/s_\tau` as 0 for
them. It is true in both readings, since :math:`(p_\tau^k)^2 s_\tau^k = E^2 (p^k)^2 / s_\tau^k`. The bound of Theorem
3.1 needs this moment, and not the wrong one of (74).

Instances: up to three clients with any weights and up to three steps; one law of the step counts for all clients,
which may depend on a hidden state of the round, so that counts may be dependent; all outcomes are enumerated. With
inactive clients there are up to two steps.

Source: Ruan et al., AISTATS 2021, appendix A.4.3, (75).
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn, s_drawn
from fltheory.bounds.ruan._participation_laws import (
    COEFFICIENTS_C,
    all_active,
    inverse_any,
    s_any,
    scheme_c_homogeneous,
    scheme_c_homogeneous_inactive,
    weights_sum_to_one,
)
from fltheory.bounds.symbols import E, N, k, p

total = EE(Sum(p_drawn[k] ** 2 * s_drawn[k], (k, 1, N)))
weights = Sum(p[k] ** 2, (k, 1, N))

claim = Claim(
    id="ruan.eq-75",
    kind=Kind.IDENTITY,
    title="scheme C, homogeneous: squared coefficients times steps",
    citation=Citation("ruan", "appendix A.4.3, (75)"),
    forms=(
        Form(
            statement=Eq(total, E**2 * EE(1 / s_any) * weights, evaluate=False),
            where=COEFFICIENTS_C,
        ),
        Form(
            variant="published@inactive",
            statement=Eq(total, E**2 * EE(inverse_any) * weights, evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_homogeneous_inactive,
            note="1/s counts as 0 for an inactive client",
        ),
    ),
    assumptions=(weights_sum_to_one, all_active),
    check=scheme_c_homogeneous,
)
