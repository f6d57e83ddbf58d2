r"""Equation (73): under scheme C the expected sum of the coefficients, homogeneous participation.

Scheme C sets :math:`p_\tau^k = \frac{E}{s_\tau^k} p^k` for a client that completed :math:`s_\tau^k` of :math:`E`
steps. With one law of :math:`s_\tau` for all clients, as published

.. math:: \mathbb E\Bigl[\sum_{k=1}^N p_\tau^k\Bigr] = E\, \mathbb E\Bigl[\frac1{s_\tau}\Bigr] .

The formula divides by :math:`s_\tau`, so :math:`s_\tau^k \ge 1` is assumed. The section allows inactive clients,
whose coefficient scheme C sets to 0; the reading ``published@inactive`` therefore takes :math:`1/s_\tau` as 0 for
them. It is true in both readings: expectations add up, and :math:`\sum_k p^k = 1`. With the reading for inactive
clients the sum may be below one.

Instances: up to three clients with any weights and up to three steps; one law of the step counts for all clients,
which may depend on a hidden state of the round, so that counts may be dependent; all outcomes are enumerated. With
inactive clients there are up to two steps.

Source: Ruan et al., AISTATS 2021, appendix A.4.3, (73).
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn
from fltheory.bounds.ruan._participation_laws import (
    COEFFICIENTS_C,
    all_active,
    inverse_any,
    s_any,
    scheme_c_homogeneous,
    scheme_c_homogeneous_inactive,
    weights_sum_to_one,
)
from fltheory.bounds.symbols import E, N, k

total = EE(Sum(p_drawn[k], (k, 1, N)))

claim = Claim(
    id="ruan.eq-73",
    kind=Kind.IDENTITY,
    title="scheme C, homogeneous: sum of coefficients",
    citation=Citation("ruan", "appendix A.4.3, (73)"),
    forms=(
        Form(
            statement=Eq(total, E * EE(1 / s_any), evaluate=False),
            where=COEFFICIENTS_C,
        ),
        Form(
            variant="published@inactive",
            statement=Eq(total, E * EE(inverse_any), evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_homogeneous_inactive,
            note="1/s counts as 0 for an inactive client",
        ),
    ),
    assumptions=(weights_sum_to_one, all_active),
    check=scheme_c_homogeneous,
)
