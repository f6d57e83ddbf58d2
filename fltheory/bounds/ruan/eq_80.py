r"""Equation (80): under scheme C the expected product of two sums, heterogeneous participation.

As (76), with a law of the step counts per client. As published

.. math:: \mathbb E\Bigl[\Bigl(\sum_{k=1}^N p_\tau^k\Bigr)\Bigl(\sum_{k=1}^N p_\tau^k s_\tau^k\Bigr)\Bigr]
   = E^2 \sum_{k=1}^N p^k\, \mathbb E\Bigl[\frac1{s_\tau^k}\Bigr] .

The formula divides by :math:`s_\tau^k`, so :math:`s_\tau^k \ge 1` is assumed. The section allows inactive clients,
whose coefficient scheme C sets to 0; the reading ``published@inactive`` therefore takes :math:`1/s_\tau` as 0 for
them. Without inactive clients the second sum is the constant :math:`E`, and (77) gives the rest. With inactive ones
the second sum is :math:`E` times the weight of the active clients, at most :math:`E`, so the right-hand side is too
large. This is the case that the rate of scheme C for heterogeneous participation is about; as an upper bound the
formula stays true.

**Derivation of the corrected form.** With inactive clients :math:`p_\tau^k = E p^k \mathbf 1[s_\tau^k > 0]/s_\tau^k`
and :math:`p_\tau^l s_\tau^l = E p^l \mathbf 1[s_\tau^l > 0]`. Multiply and take expectations; for independent clients
those with :math:`k \ne l` factorise.

.. math:: E^2 \sum_{k=1}^N \sum_{l=1}^N p^k p^l\,
   \mathbb E\Bigl[\frac{\mathbf 1[s_\tau^k > 0]}{s_\tau^k} \mathbf 1[s_\tau^l > 0]\Bigr] .

Instances: up to three clients with any weights and up to three steps; a law of the step counts per client, which may
depend on a hidden state of the round, so that counts may be dependent; all outcomes are enumerated. With inactive
clients there are up to two steps.

Source: Ruan et al., AISTATS 2021, appendix A.4.3, (80).
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
    inverse,
    scheme_c_heterogeneous,
    scheme_c_heterogeneous_inactive,
    weights_sum_to_one,
)
from fltheory.bounds.symbols import E, N, k, l, p

total = EE(Sum(p_drawn[k], (k, 1, N)) * Sum(p_drawn[k] * s_drawn[k], (k, 1, N)))

claim = Claim(
    id="ruan.eq-80",
    kind=Kind.IDENTITY,
    title="scheme C, heterogeneous: product of the two sums",
    citation=Citation("ruan", "appendix A.4.3, (80)"),
    forms=(
        Form(
            statement=Eq(total, E**2 * Sum(p[k] * EE(1 / s_drawn[k]), (k, 1, N)), evaluate=False),
            where=COEFFICIENTS_C,
        ),
        Form(
            variant="published@inactive",
            statement=Eq(total, E**2 * Sum(p[k] * EE(inverse[k]), (k, 1, N)), evaluate=False),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_heterogeneous_inactive,
            note="1/s counts as 0 for an inactive client",
        ),
        Form(
            variant="corrected@inactive",
            statement=Eq(
                total, E**2 * Sum(p[k] * p[l] * EE(inverse[k] * active[l]), (k, 1, N), (l, 1, N)), evaluate=False
            ),
            where=COEFFICIENTS_C,
            assumptions=(weights_sum_to_one,),
            check=scheme_c_heterogeneous_inactive,
            note="some clients inactive",
        ),
    ),
    assumptions=(weights_sum_to_one, all_active),
    check=scheme_c_heterogeneous,
)
