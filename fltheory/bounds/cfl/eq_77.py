r"""(77): the last step to the strongly convex rate of FedAvg.

With the recursion (62) and the weighted means :math:`c_1, c_2` of (71) and (72), as published

.. math:: f(\omega_F) - f^* \le \frac{\mu\,\mathbb E\|\omega_0 - \omega^*\|^2}2\exp(-\mu\eta_{\max}T) + c_1\eta +
   c_2\eta^2 ,

.. math:: {} = \tilde O\Bigl(\frac{G^2 + D^2}{\mu T} + \frac{\sigma^2}{\mu NKT} + \frac{\sigma^2}{\mu^2\eta_g^2KT^2} +
   \frac{G^2 + D^2}{\mu^2\eta_g^2T^2}
   + \frac{\mu\,\mathbb E\|\omega_0 - \omega^*\|^2}2\exp\bigl(-\tfrac{\mu T}{Lc_{p_B}}\bigr)\Bigr) .

Both lines fail. The recursion contracts by :math:`1 - \frac{\mu\eta}2` per round, so Lemma A.1 applies with
:math:`\mu/2`: the exponent is half of what is printed, and the denominator :math:`1 - (1 - \frac{\mu\eta}2)^T` cannot
be dropped. In the second line, (78) (form ``published@rate``), the factor :math:`L` of :math:`c_2` is lost, and the
largest step is smaller than :math:`1/(Lc_{p_B})` by a constant that matters in an exponent.

**Derivation of the corrected form.** Summing (63) with squares telescopes: with :math:`a = \frac{\mu\eta}2`,
:math:`q_t(1 - a) = q_{t-1}` and :math:`\eta\sum_t q_t = \frac2\mu(1 - a)((1 - a)^{-T} - 1)`,

.. math:: f(\omega_F) - f^* \le \frac{\mu\|\omega_0 - \omega^*\|^2}2\,\frac{(1 - \frac{\mu\eta}2)^T}{1 - (1 -
   \frac{\mu\eta}2)^T} + c_1\eta + c_2\eta^2 .

The smallest value over :math:`\eta \le \eta_{\max}` is, up to logarithms, found at the smaller one of
:math:`\eta_{\max}` and :math:`\frac{2}{\mu T}\ln(\cdot)`, and gives (78) with :math:`L` in front of the terms with
:math:`\mu^2`, and :math:`\exp(-\frac{\mu\eta_{\max}T}2)` (form ``corrected@rate``).

**Derivation of the sharp form.** The rate with constants (``sharp@rate``): for any :math:`\ell \ge 1` take
:math:`\eta = \min(\eta_{\max}, \frac{2\ell}{\mu T})` and write :math:`a = (1 - \frac{\mu\eta}2)^T \le e^{-\mu\eta
T/2}`, which is at most :math:`e^{-\ell}` or :math:`e^{-\mu\eta_{\max}T/2}`.
With :math:`T \ge \frac1{2\mu\eta_{\max}}` and :math:`\ell \ge 1` the exponent
:math:`\frac{\mu\eta T}2` is at least :math:`\frac14`, so :math:`1 - a \ge 1 - e^{-1/4} > \frac15`. Hence, with the
bounds on the means of :math:`c_1` and :math:`c_2`,

.. math:: \frac{\mu\|\omega_0 - \omega^*\|^2}2\,\frac a{1 - a} \le \frac{5\mu}2\|\omega_0 -
   \omega^*\|^2\bigl(e^{-\ell} + e^{-\mu\eta_{\max}T/2}\bigr), \qquad c_1\eta \le \frac{2\ell c_1}{\mu T}, \qquad
   c_2\eta^2 \le \frac{4\ell^2c_2}{\mu^2T^2} .

For :math:`\ell = 1 + \ln(1 + 5\mu\|\omega_0 - \omega^*\|^2/\varepsilon)`, :math:`\varepsilon` the smallest sum of
these terms over all steps, the term with :math:`e^{-\ell}` is less than :math:`\varepsilon/2`, so that
:math:`\varepsilon` is at most twice the other terms: the soft O.

Instances: sequences of models (the start, :math:`\omega_0` in the paper, is :math:`\omega_1` here, the first one that
(63) sums) with the smallest constants for which (62) holds, at the largest step, which is the most favourable reading
of "there is a step"; for the rates, the corrected bound at the best of 2000 steps, swept over :math:`T, N, K, L, \mu,
\eta_g`, the distance of the start and the size of every source of error, each alone. A soft O has one factor
:math:`\ln T`, for the means (67) to (72), and one factor :math:`2 + \ln(1 + \mu\mathbb E\|\omega_0 -
\omega^*\|^2/\varepsilon)` for every power of the step, which has to forget the start; logarithms of :math:`T` alone do
not do, since :math:`\varepsilon` then grows with the distance of the start.

Source: Guo et al., 2021, (77) and (78).
"""

from __future__ import annotations

from fltheory.bounds.cfl._sums import LAST_STEP, last_step
from fltheory.bounds.cfl._symbols import D_sq, G_sq, K, T, eta_g, sigma_sq
from fltheory.bounds.claim import Citation, Claim, Kind
from fltheory.bounds.symbols import N, mu

slow = (G_sq + D_sq) / (mu * T) + sigma_sq / (mu * N * K * T)
fast = sigma_sq / (mu**2 * eta_g**2 * K * T**2) + (G_sq + D_sq) / (mu**2 * eta_g**2 * T**2)
forms, assumptions = last_step("fedavg", slow, fast)

claim = Claim(
    id="cfl.eq-77",
    kind=Kind.LEMMA,
    title="last step to the strongly convex rate, FedAvg",
    citation=Citation("cfl", "(77) and (78)"),
    forms=forms,
    assumptions=assumptions,
    uses=("cfl.eq-71", "cfl.eq-72", "cfl.eq-63", "cfl.lemma-a.1"),
    check=LAST_STEP,
)
