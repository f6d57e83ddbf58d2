r"""Theorem 1: convergence when participation is random and changes over time.

With :math:`\eta_\tau = \frac{16E}{\mu((\tau+1)E+\gamma)\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}`,

.. math:: \mathbb E\|\omega_{\tau E}^G - \omega^*\|^2 \le \frac{C_\tau}{(\tau E+\gamma)^2} + \frac{H_\tau J}{\tau
   E+\gamma} .

The short version defines the constants in the theorem, the long one only in its proof. Readings:

* ``published@003``: :math:`C_\tau = \max\{\gamma^2\,\mathbb E\|\omega_0^G - \omega^*\|^2,
  (\frac{16E}{\mu})^2\sum_{t<\tau}\mathbb E[B_t]/(\mathbb E[\sum_k p_\tau^k s_\tau^k])^2\}` (with :math:`\tau` in the
  denominator), :math:`J = \max_\tau 32E\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k/\mathbb E[\sum_k p_\tau^k s_\tau^k]`
  (the print is garbled, but has no :math:`\mu`), :math:`H_\tau` the number of rounds whose ratios :math:`\mathbb
  E[p_t^k s_t^k]/p^k` differ;
* ``published@003-literal``: the same with :math:`r_t = 1` where the ratio *has the same value* for all clients, as
  the sentence says;
* ``published@000``: constants from the proof, :math:`C_{\tau+1} = C_\tau + \dots`, :math:`J` with :math:`\mu` in the
  denominator.

:math:`B_t` is printed with :math:`\theta(\sum_k p_t^k - 2)` added instead of multiplied
(:mod:`~fltheory.bounds.efl.eq_59`). With few active clients it is negative, so that the bound of a run that starts at
the optimum is zero or less, whereas noise moves it away. The missing :math:`\mu` of :math:`J` matters for :math:`\mu
< \frac1{32}` or so: :math:`J` must have the units of a squared distance. The literal reading claims convergence to
:math:`\omega^*` where participation is heterogeneous.

**Derivation of the corrected form.** The corrected recursion of :mod:`~fltheory.bounds.efl.eq_64`, with contraction
:math:`1 - \frac14\mu\eta_\tau\mathbb E[\sum_k p_\tau^k s_\tau^k] = 1 - \frac{4E}{(\tau+1)E+\gamma} \le 1 -
\frac{2E}{(\tau+1)E+\gamma}`, and the induction of :mod:`~fltheory.bounds.efl.eq_65` with a sum:

.. math:: C_\tau = \gamma^2\,\mathbb E\|\omega_0^G - \omega^*\|^2 +
   \Bigl(\frac{16E}\mu\Bigr)^2\sum_{t<\tau}\frac{\mathbb E[\hat B_t]}{(\mathbb E[\sum_k p_t^k s_t^k])^2}, \qquad J =
   \max_\tau\frac{32E\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]} .

:math:`\gamma` as printed gives :math:`\eta_\tau \le \min\{\frac1{2(1+\theta)L}, \frac4{\mu E\theta}\}` in every
round. The form is loose: constants are worst cases of every step.

Instances: one or two clients with quadratics, step counts with two values per client whose law changes once in 24
rounds, coefficients :math:`p_\tau^k = Ep^k/s_\tau^k`, noise from none to large, starts at or away from the optimum;
in exact expectation.

Source: EFL, Theorem 1, (7), both versions.
"""

from __future__ import annotations

from sympy import Gt, Le, Max

from fltheory.bounds._claim import Assumption, Claim, Experiments, Form, Kind, Source
from fltheory.bounds._space import Space
from fltheory.bounds._symbols import E, mu, tau
from fltheory.bounds.efl import _theorem
from fltheory.bounds.efl._symbols import C, H, J, distance, gamma, start

offset = (gamma, _theorem.GAMMA)
bound = Le(distance, C / (tau * E + gamma) ** 2 + H * J / (tau * E + gamma))
bound_literal = Le(distance, C / (tau * E + gamma) ** 2 + _theorem.H_same * J / (tau * E + gamma))
first, scale = gamma**2 * start, (16 * E / mu) ** 2
printed = (offset, (C, Max(first, scale * _theorem.B_sum_tau)), (J, 32 * E * _theorem.gaps))
with_mu = (J, 32 * E * _theorem.gaps / mu)

claim = Claim(
    id="efl.theorem-1",
    kind=Kind.BOUND,
    title="convergence with random participation",
    source=Source("efl", "Theorem 1, (7) (both versions)"),
    forms=(
        Form(variant="published@003", statement=bound, where=printed, note="constants of the short version"),
        Form(
            variant="published@003-literal",
            statement=bound_literal,
            where=printed,
            note="rounds counted whose ratios agree",
        ),
        Form(
            variant="published@000",
            statement=bound,
            where=(offset, (C, first + scale * _theorem.B_sum), with_mu),
            note="constants of the proof in the long version",
        ),
        Form(
            variant="corrected",
            statement=bound,
            where=(offset, (C, first + scale * _theorem.B_sum_proved), with_mu),
            note="sum in place of the maximum, own denominators, mu in J, product and positive part in B",
        ),
    ),
    assumptions=(Assumption("some updates are aggregated", Gt(_theorem.least, 0)),),
    uses=("efl.lemma-1", "efl.eq-64", "efl.eq-65"),
    check=Experiments(
        effort=4,
        space=Space(_theorem.clients()),
        experiment=_theorem.experiment,
        quantities=_theorem.quantities,
        moments=True,
    ),
)
