r"""Equation (78): under scheme C the expected sum of squared coefficients, heterogeneous participation.

As (74), with a law of the step counts per client. As published

.. math:: \mathbb E\Bigl[\sum_{k=1}^N (p_\tau^k)^2\Bigr] = E^2 \sum_{k=1}^N
   \Bigl(p^k\, \mathbb E\Bigl[\frac1{s_\tau^k}\Bigr]\Bigr)^2 .

The square has slipped out of the expectation, and by Jensen's inequality the right-hand side is too small unless all
:math:`s_\tau^k` are constant.

The formula divides by :math:`s_\tau^k`, so :math:`s_\tau^k \ge 1` is assumed. The section allows inactive clients,
whose coefficient scheme C sets to 0; the reading ``published@inactive`` therefore takes :math:`1/s_\tau` as 0 for
them. It fails in the same way.

**Derivation of the corrected form.** :math:`(p_\tau^k)^2 = E^2 (p^k)^2 / (s_\tau^k)^2`; take expectations and add up.

Instances: up to three clients with any weights and up to three steps; a law of the step counts per client, which may
depend on a hidden state of the round, so that counts may be dependent; all outcomes are enumerated. With inactive
clients there are up to two steps.

Source: Ruan et al., AISTATS 2021, appendix A.4.3, (78).
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn, s_drawn
from fltheory.bounds.ruan._participation_laws import (
    COEFFICIENTS_C,
    all_active,
    inverse,
    scheme_c_heterogeneous,
    scheme_c_heterogeneous_inactive,
    weights_sum_to_one,
)
from fltheory.bounds.symbols import E, N, k, p

total = EE(Sum(p_drawn[k] ** 2, (k, 1, N)))

claim = Claim(
    id="ruan.eq-78",
    kind=Kind.IDENTITY,
    title="scheme C, heterogeneous: sum of squared coefficients",
    citation=Citation("ruan", "appendix A.4.3, (78)"),
    forms=(
        Form(
            statement=Eq(total, E**2 * Sum((p[k] * EE(1 / s_drawn[k])) ** 2, (k, 1, N)), evaluate=False),
            where=COEFFICIENTS_C,
        ),
        Form(
            variant="published@inactive",
            statement=Eq(total, E**2 * Sum((p[k] * EE(inverse[k])) ** 2, (k, 1, N)), evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_heterogeneous_inactive,
            note="1/s counts as 0 for an inactive client",
        ),
        Form(
            variant="corrected",
            intended=("published",),
            statement=Eq(total, E**2 * Sum(p[k] ** 2 * EE(1 / s_drawn[k] ** 2), (k, 1, N)), evaluate=False),
            where=COEFFICIENTS_C,
            note="the square belongs inside the expectation",
        ),
        Form(
            variant="corrected@inactive",
            intended=("published@inactive",),
            statement=Eq(total, E**2 * Sum(p[k] ** 2 * EE(inverse[k] ** 2), (k, 1, N)), evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_heterogeneous_inactive,
            note="the square belongs inside the expectation; 1/s counts as 0 for an inactive client",
        ),
    ),
    assumptions=(weights_sum_to_one, all_active),
    check=scheme_c_heterogeneous,
)
