r"""(8): how many rounds are needed, as a function of the number of local steps.

As published, the number of rounds until (6) is at most :math:`\epsilon` "is proportional to"

.. math:: \frac{T_\epsilon}{E} \propto \Bigl(1 + \frac1K\Bigr)EG^2 + \frac{\sum_k p_k^2\sigma_k^2 + L\Gamma +
   \kappa G^2}{E} + G^2 ,

from which the paper concludes that there is a best :math:`E` in between.

**Reading.** :math:`T_\epsilon` is what (6) asks for: :math:`\gamma + T_\epsilon - 1 = \frac\kappa\epsilon(\dots)`.
"Proportional" is taken as two laws, from above and from below. What multiplies is left to the reader: constants that
depend on nothing but :math:`\mu` and :math:`\epsilon`, since :math:`L` and :math:`\kappa` are written out; in the
reading ``fixed-condition`` they may depend on :math:`L` as well.

**Where it fails.** As (7), it leaves out the factor :math:`\kappa` of (6): :math:`T_\epsilon` grows by one more power
of the condition number.

**Derivation of the corrected form.** From (7) with :math:`\kappa` and :math:`\gamma = \max\{8\kappa, E\}`, which is
between half of and once :math:`8\kappa + E`, there is nothing else to change; the multiplier is
:math:`\frac{\kappa}{\mu\epsilon}`. From below: the bracket of (6) is at least
:math:`\frac2\mu\bigl(\sum_k p_k^2\sigma_k^2 + 6L\Gamma + \frac4KE^2G^2 + 8(E-1)^2G^2 + \gamma G^2\bigr)`, and
:math:`8(E-1)^2 + \gamma \ge E^2`, since :math:`\gamma \ge 8`.

Instances: the formula (6) at a small :math:`\epsilon` along sweeps of all constants, see
:mod:`fltheory.bounds.li._dominating`.

Source: Li et al., ICLR 2020, section 3.3, (8).
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.li._dominating import COUNTS, CURVATURES, INSIDE, PRECISIONS, SPREAD, WHERE, along
from fltheory.bounds.li._setting import K, gamma, kappa
from fltheory.bounds.quantities import scalar
from fltheory.bounds.symbols import E, G_sq, mu

eps = scalar("eps", r"\epsilon", "accuracy", domain="positive")
T_eps = scalar("T_eps", r"T_\epsilon", "local steps until the bound (6) is at most eps")
WITH_STEPS = (*WHERE, (T_eps, kappa / eps * INSIDE - gamma + 1))

rounds = T_eps / E
printed = (1 + 1 / K) * E * G_sq + (SPREAD + kappa * G_sq) / E + G_sq
repaired = kappa / (mu * eps) * printed
condition = {"condition": CURVATURES["condition"]}

claim = Claim(
    id="li.eq-8",
    kind=Kind.RATE,
    title="number of rounds as a function of local steps",
    citation=Citation("li", "(8)"),
    forms=(
        Form(
            statement=(Le(rounds, BigO(printed)), Le(printed, BigO(rounds))),
            where=WITH_STEPS,
            check=along(condition, COUNTS),
            note="the multiplier depends on mu and eps only",
        ),
        Form(
            variant="published@fixed-condition",
            statement=(Le(rounds, BigO(printed)), Le(printed, BigO(rounds))),
            where=WITH_STEPS,
            check=along(COUNTS),
            note="the multiplier depends on mu, L and eps",
        ),
        Form(
            variant="corrected",
            statement=(Le(rounds, BigO(repaired)), Le(repaired, BigO(rounds))),
            where=WITH_STEPS,
            note="multiplied by kappa / (mu eps)",
        ),
    ),
    uses=("li.eq-7",),
    check=along(CURVATURES, COUNTS, PRECISIONS),
)
