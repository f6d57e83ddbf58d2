r"""Lemma 5: variance of the mean of the drawn models.

As published, for rates that do not increase with :math:`\eta_t \le 2\eta_{t+E}`, if models are averaged at
:math:`t + 1`, for participants drawn by scheme I and by scheme II

.. math:: \mathbb E\|\bar v_{t+1} - \bar w_{t+1}\|^2 \le \frac4K\eta_t^2E^2G^2 , \qquad
   \mathbb E\|\bar v_{t+1} - \bar w_{t+1}\|^2 \le \frac{N-K}{N-1}\,\frac4K\eta_t^2E^2G^2 .

**Derivation of the sharp forms.** The left-hand side is :math:`\frac1K` (scheme II: :math:`\frac{N-K}{K(N-1)}`) times
the mean square of the local models around their mean, at most that around the common model of :math:`E` steps ago, and
at most :math:`\rho^2\eta_t^2E^2G^2` for rates of at most :math:`\rho\eta_t`. Attained by two clients with opposite
gradients.

Instances: see :mod:`fltheory.bounds.li._drawn`; all draws are enumerated.

Source: Li et al., ICLR 2020, appendix A, Lemma 5; as it is commonly quoted, not yet compared with the print.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.li import _steps
from fltheory.bounds.li._drawn import drawn, w_next
from fltheory.bounds.li._setting import K
from fltheory.bounds.li._steps import growth, i, local, rate, rates, since, v_bar
from fltheory.bounds.symbols import E, G_sq, N, k, p
from fltheory.problems.problem import Origin

MEAN = ((v_bar, Sum(p[k] * local[k], (k, 1, N))),)
left = EE(NormSq(v_bar - w_next))
fewer = (N - K) / (N - 1)


def slow(factor: Any) -> tuple[Assumption, ...]:
    """Return the assumptions, with rates since the last averaging that are at most so much larger."""
    return (
        _steps.BOUNDED,
        Assumption("rates fall slowly", Le(rates[i], factor * rate), Origin.DECLARED, ((i, 1, since),)),
        Assumption("averaged every E steps", Le(since, E), Origin.DECLARED),
    )


claim = Claim(
    id="li.lemma-5",
    kind=Kind.LEMMA,
    title="variance of the mean of the drawn models",
    citation=Citation("li", "Lemma 5"),
    forms=(
        Form(
            variant="published@with-replacement",
            statement=Le(left, 4 / K * rate**2 * E**2 * G_sq),
            where=MEAN,
            note="scheme I",
        ),
        Form(
            variant="published@without-replacement",
            statement=Le(left, fewer * 4 / K * rate**2 * E**2 * G_sq),
            where=MEAN,
            check=drawn("II"),
            note="scheme II",
        ),
        Form(
            variant="sharp@with-replacement",
            statement=Le(left, growth**2 / K * rate**2 * E**2 * G_sq),
            where=MEAN,
            assumptions=slow(growth),
            check=drawn("I", any_growth=True),
            note="scheme I; the factor by which rates fall in place of 2",
        ),
        Form(
            variant="sharp@without-replacement",
            statement=Le(left, fewer * growth**2 / K * rate**2 * E**2 * G_sq),
            where=MEAN,
            assumptions=slow(growth),
            check=drawn("II", any_growth=True),
            note="scheme II; the factor by which rates fall in place of 2",
        ),
    ),
    assumptions=slow(2),
    check=drawn("I"),
)
