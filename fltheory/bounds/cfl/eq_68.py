r"""(68): the weighted mean of :math:`c_2(t)` for CFL-R, scenario S2.

As published, with :math:`q_t = (1 - \frac{\mu\eta}2)^{1-t}`,

.. math:: \frac1{\eta\sum_{t=1}^T q_t}\sum_{t=1}^T q_tc_2(t) \le \frac1\eta\tilde O\Bigl(\frac{L(KG^2 +
   \sigma^2)}{\eta_g^2K} + \frac{LD^2\ln T}{\eta_g^2T}\Bigr) .

The weights :math:`q_t` increase, so Lemma A.6 bounds the mean of :math:`1/t` by that of uniform weights,
:math:`H_T/T`. The factor :math:`1/\eta` on both sides is that of (63), where it is misplaced.

**Derivation of the sharp form.** Lemma A.6 with :math:`H_T/T` kept, where :math:`H_T = \sum_{t \le T} 1/t`, and the
factor 12 of :math:`c_2(t)` where it occurs. Uniform weights, :math:`\mu\eta \to 0`, attain it; for :math:`\mu\eta T
\gg 1` late rounds dominate and the logarithm is not needed.

The rate itself follows: :math:`H_T \le (1 + 1/\ln 2)\ln T` for :math:`T \ge 2`, term by term, so it holds with the
constant 2.45 (times the 12 of :math:`c_2`). Measured over claimed falls like :math:`1 + \gamma/\ln T`, which a finer
grid would not change; along the sizes of noise and drifts it passes from the constant of one term to that of another,
so these are swept far enough to see the last one.

Instances: the rate is swept over :math:`T` from 2, with steps that hardly contract, so that no round dominates, and
with steps that do; over :math:`\mu` and :math:`\eta`, the number of clients and steps, :math:`L`, :math:`\eta_g` and
the sizes of noise and drifts, together and each alone; the sharp form is searched.

Source: Guo et al., 2021, (68), with the constants defined above (62).
"""

from __future__ import annotations

from fltheory.bounds.cfl._sums import CHECK, forms, log_over_T, scenario
from fltheory.bounds.cfl._symbols import D_sq, G_sq, K, eta_g, sigma_sq
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import L

case = scenario("s2")
published, sharp = forms(
    case["c_2"], case["mean_2"], L * (K * G_sq + sigma_sq) / (eta_g**2 * K) + L * D_sq * log_over_T / eta_g**2
)

claim = Claim(
    id="cfl.eq-68",
    kind=Kind.IDENTITY,
    title="weighted mean of c_2, CFL-R, scenario S2",
    citation=Citation("cfl", "(68)"),
    forms=(published, sharp),
    uses=("cfl.lemma-a.6", "cfl.eq-63"),
    check=CHECK,
)
