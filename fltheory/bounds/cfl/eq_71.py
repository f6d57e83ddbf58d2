r"""(71): the weighted mean of :math:`c_1(t)` for FedAvg.

As published, with :math:`q_t = (1 - \frac{\mu\eta}2)^{1-t}`,

.. math:: \frac1{\eta\sum_{t=1}^T q_t}\sum_{t=1}^T q_tc_1(t) \le \frac1\eta\tilde O\Bigl(G^2 + D^2 +
   \frac{\sigma^2}{NK}\Bigr) .

The constant does not depend on the round, so its mean is itself.
The factor :math:`1/\eta` on both sides is that of (63), where it is misplaced.

**Derivation of the sharp form.** The mean of a constant; an equality.

Instances: the rate is swept over :math:`T` from 2, with steps that hardly contract, so that no round dominates, and
with steps that do; over :math:`\mu` and :math:`\eta`, the number of clients and steps, :math:`L`, :math:`\eta_g` and
the sizes of noise and drifts, together and each alone; the sharp form is searched.

Source: Guo et al., 2021, (71), with the constants defined above (62).
"""

from __future__ import annotations

from fltheory.bounds.cfl._sums import CHECK, forms, scenario
from fltheory.bounds.cfl._symbols import D_sq, G_sq, K, sigma_sq
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import N

case = scenario("fedavg")
published, sharp = forms(case["c_1"], case["mean_1"], G_sq + D_sq + sigma_sq / (N * K))

claim = Claim(
    id="cfl.eq-71",
    kind=Kind.IDENTITY,
    title="weighted mean of c_1, FedAvg",
    citation=Citation("cfl", "(71)"),
    forms=(published, sharp),
    uses=("cfl.lemma-a.6", "cfl.eq-63"),
    check=CHECK,
)
