r"""Theorem 2, departure: how far the minimiser moves when a client leaves.

:math:`F = \frac{n - n_a}{n}\hat F + \frac{n_a}{n}\widetilde F_a` becomes :math:`\hat F`. As published

.. math:: \|\omega^* - \hat\omega^*\|^2 \le \frac{8Ln_a^2\hat D_a}{\mu^2n^2} ,

with :math:`\hat D_a = \widetilde F_a(\hat\omega^*) - \widetilde F_a^*` in the long version, and :math:`D_a =
\widetilde F_a(\omega^*) - \widetilde F_a^*` in the formula of the short one (its text introduces :math:`\hat D_k`).
The first is true, with a constant four times too large; the second is false for a client with more than half of the
samples: the old minimiser is near its own, and :math:`D_a` is small, while the rest is free to go elsewhere.

**Derivation of the corrected form, long version.** Strong convexity gives :math:`\|\hat\omega^* - \omega^*\| \le
\frac1\mu\|\nabla F(\hat\omega^*)\|` where the proof has :math:`\frac2\mu`; :math:`\nabla F(\hat\omega^*) =
\frac{n_a}{n}\nabla\widetilde F_a(\hat\omega^*)`, and :math:`\|\nabla\widetilde F_a(\hat\omega^*)\|^2 \le 2L\hat D_a`.
So 2 in place of 8.

**Derivation of the sharp form, long version.** With :math:`\rho = (n - n_a)/n_a`, as in
:mod:`~fltheory.bounds.ruan.theorem_3_2_arrival` read backwards: :math:`\hat D_a \ge \frac\mu2(1 + 2\rho + \frac\mu
L\rho^2)\|\omega^* - \hat\omega^*\|^2`, attained in one dimension.

**Derivation of the corrected form, short version.** At the old minimiser :math:`\nabla\hat F(\omega^*) =
-\frac{n_a}{n - n_a}\nabla\widetilde F_a(\omega^*)`. Strong convexity of :math:`\hat F` and smoothness of
:math:`\widetilde F_a` give

.. math:: \|\omega^* - \hat\omega^*\|^2 \le \frac{2Ln_a^2D_a}{\mu^2(n - n_a)^2} .

**Derivation of the sharp form, short version.** The corrected one: equality in one dimension for a quadratic
:math:`\hat F` of curvature :math:`\mu` and a quadratic :math:`\widetilde F_a` of curvature :math:`L`. So for
:math:`n_a > n/2` the published constant fails, and not before.

Instances: two or three clients, in one or two dimensions, with one kink in the derivative per coordinate; shares from
:math:`10^{-5}` to nearly one.

Source: EFL, Theorem 2, (10), both versions; long version, appendix A.2.2, (66).
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._shift import DEPARTURES, D_new, D_old, n_a, n_before, w_hat
from fltheory.bounds.symbols import L, mu, w_star

moved = NormSq(w_star - w_hat)
rho = (n_before - n_a) / n_a

claim = Claim(
    id="efl.theorem-2-departure",
    kind=Kind.LEMMA,
    title="objective shift when a client departs",
    citation=Citation("efl", "Theorem 2, (10) (both versions)"),
    forms=(
        Form(
            variant="published@000",
            intended=("published@003",),
            statement=Le(moved, 8 * L * n_a**2 * D_new / (mu**2 * n_before**2)),
        ),
        Form(
            variant="published@003",
            statement=Le(moved, 8 * L * n_a**2 * D_old / (mu**2 * n_before**2)),
            note="gap at the old minimiser",
        ),
        Form(
            variant="corrected@000",
            statement=Le(moved, 2 * L * n_a**2 * D_new / (mu**2 * n_before**2)),
            note="strong convexity gives 1/mu where the proof uses 2/mu",
        ),
        Form(
            variant="sharp@000",
            statement=Le(moved, 2 * D_new / mu / (1 + 2 * rho + mu / L * rho**2)),
            note="attained in one dimension",
        ),
        Form(
            variant="sharp@003",
            statement=Le(moved, 2 * L * n_a**2 * D_old / (mu**2 * (n_before - n_a) ** 2)),
            note="the samples that stay in the denominator; attained by quadratics",
        ),
    ),
    check=DEPARTURES,
)
