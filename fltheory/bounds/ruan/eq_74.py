r"""Equation (74): under scheme C the expected sum of squared coefficients, homogeneous participation.

Setting as in (73). As published

.. math:: \mathbb E\Bigl[\sum_{k=1}^N (p_\tau^k)^2\Bigr] = \Bigl(E\, \mathbb E\Bigl[\frac1{s_\tau}\Bigr]\Bigr)^2
   \sum_{k=1}^N (p^k)^2 .

The square has slipped out of the expectation. By Jensen's inequality the right-hand side is too small unless
:math:`s_\tau` is constant.

The formula divides by :math:`s_\tau`, so :math:`s_\tau^k \ge 1` is assumed. The section allows inactive clients,
whose coefficient scheme C sets to 0; the reading ``published@inactive`` therefore takes :math:`1/s_\tau` as 0 for
them. It fails in the same way.

**Derivation of the corrected form.** :math:`(p_\tau^k)^2 = E^2 (p^k)^2 / (s_\tau^k)^2`, so that
:math:`\mathbb E[1/s_\tau^2]` takes the place of :math:`(\mathbb E[1/s_\tau])^2`. The ratio of the two is at most
:math:`\frac{(E+1)^2}{4E}` (Kantorovich), which laws on the values 1 and :math:`E` attain.

Instances: up to three clients with any weights and up to three steps; one law of the step counts for all clients,
which may depend on a hidden state of the round, so that counts may be dependent; all outcomes are enumerated. With
inactive clients there are up to two steps.

Source: Ruan et al., AISTATS 2021, appendix A.4.3, (74).
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
from fltheory.bounds.symbols import E, N, k, p

total = EE(Sum(p_drawn[k] ** 2, (k, 1, N)))
weights = Sum(p[k] ** 2, (k, 1, N))

claim = Claim(
    id="ruan.eq-74",
    kind=Kind.IDENTITY,
    title="scheme C, homogeneous: sum of squared coefficients",
    citation=Citation("ruan", "appendix A.4.3, (74)"),
    forms=(
        Form(
            statement=Eq(total, (E * EE(1 / s_any)) ** 2 * weights, evaluate=False),
            where=COEFFICIENTS_C,
        ),
        Form(
            variant="published@inactive",
            statement=Eq(total, (E * EE(inverse_any)) ** 2 * weights, evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_homogeneous_inactive,
            note="1/s counts as 0 for an inactive client",
        ),
        Form(
            variant="corrected",
            intended=("published",),
            statement=Eq(total, E**2 * EE(1 / s_any**2) * weights, evaluate=False),
            where=COEFFICIENTS_C,
            note="the square belongs inside the expectation",
        ),
        Form(
            variant="corrected@inactive",
            intended=("published@inactive",),
            statement=Eq(total, E**2 * EE(inverse_any**2) * weights, evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_homogeneous_inactive,
            note="the square belongs inside the expectation; 1/s counts as 0 for an inactive client",
        ),
    ),
    assumptions=(weights_sum_to_one, all_active),
    check=scheme_c_homogeneous,
)
