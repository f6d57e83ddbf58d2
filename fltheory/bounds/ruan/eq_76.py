r"""Equation (76): under scheme C the expected product of two sums, homogeneous participation.

Setting as in (73). As published

.. math:: \mathbb E\Bigl[\Bigl(\sum_{k=1}^N p_\tau^k\Bigr)\Bigl(\sum_{k=1}^N p_\tau^k s_\tau^k\Bigr)\Bigr]
   = E^2\, \mathbb E\Bigl[\frac1{s_\tau}\Bigr] .

The formula divides by :math:`s_\tau`, so :math:`s_\tau^k \ge 1` is assumed. The section allows inactive clients,
whose coefficient scheme C sets to 0; the reading ``published@inactive`` therefore takes :math:`1/s_\tau` as 0 for
them. Without inactive clients the second sum is the constant :math:`E`, and (73) gives the rest. With inactive ones
the second sum is :math:`E` times the weight of the active clients, which is random and at most 1, so the right-hand
side is too large.

**Derivation of the corrected form.** Let :math:`a = \mathbb P(s_\tau > 0)` and let clients be independent, which is
what the paper means by homogeneous. The product is
:math:`E^2 \sum_{k,l} p^k p^l\, \frac{\mathbf 1[s^k > 0]}{s^k} \mathbf 1[s^l > 0]`. Terms with :math:`k = l` have the
mean :math:`\mathbb E[\mathbf 1[s_\tau > 0]/s_\tau]`, the others :math:`a` times it, and
:math:`\sum_{k \ne l} p^k p^l = 1 - \sum_k (p^k)^2`:

.. math:: E^2\, \mathbb E\Bigl[\frac{\mathbf 1[s_\tau > 0]}{s_\tau}\Bigr] \Bigl(a + (1 - a)
   \sum_{k=1}^N (p^k)^2\Bigr) .

Instances: up to three clients with any weights and up to three steps; one law of the step counts for all clients,
which may depend on a hidden state of the round, so that counts may be dependent; all outcomes are enumerated. With
inactive clients there are up to two steps, and clients are independent.

Source: Ruan et al., AISTATS 2021, appendix A.4.3, (76).
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.symbols import p_drawn, s_drawn
from fltheory.bounds.ruan._participation_laws import (
    COEFFICIENTS_C,
    active,
    all_active,
    inverse_any,
    s_any,
    scheme_c_homogeneous,
    scheme_c_iid_inactive,
    weights_sum_to_one,
)
from fltheory.bounds.symbols import E, N, k, p

total = EE(Sum(p_drawn[k], (k, 1, N)) * Sum(p_drawn[k] * s_drawn[k], (k, 1, N)))
share = EE(active[1])

claim = Claim(
    id="ruan.eq-76",
    kind=Kind.IDENTITY,
    title="scheme C, homogeneous: product of the two sums",
    citation=Citation("ruan", "appendix A.4.3, (76)"),
    forms=(
        Form(
            statement=Eq(total, E**2 * EE(1 / s_any), evaluate=False),
            where=COEFFICIENTS_C,
        ),
        Form(
            variant="published@inactive",
            statement=Eq(total, E**2 * EE(inverse_any), evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_iid_inactive,
            note="1/s counts as 0 for an inactive client",
        ),
        Form(
            variant="corrected@inactive",
            statement=Eq(
                total, E**2 * EE(inverse_any) * (share + (1 - share) * Sum(p[k] ** 2, (k, 1, N))), evaluate=False
            ),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_iid_inactive,
            note="independent clients, some of them inactive",
        ),
    ),
    assumptions=(weights_sum_to_one, all_active),
    check=scheme_c_homogeneous,
)
