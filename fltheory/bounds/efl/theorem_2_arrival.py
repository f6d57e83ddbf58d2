r"""Theorem 2, arrival: how far the minimiser moves when a client joins.

:math:`F` becomes :math:`\hat F = \frac{n}{n + n_a}F + \frac{n_a}{n + n_a}\widetilde F_a`. As published, in both
versions,

.. math:: \|\omega^* - \hat\omega^*\|^2 \le \frac{8Ln_a^2\hat D_a}{\mu^2(n + n_a)^2}, \qquad \hat D_a = \widetilde
   F_a(\hat\omega^*) - \widetilde F_a^* .

False for a client with more samples than all others together: the new minimiser is near its own, so that :math:`\hat
D_a` is small however far the old one was. The proof (67) bounds :math:`\|\nabla\widetilde F_a(\omega^*)\|^2`, which
is the gap :math:`D_a` at the old minimiser; that reading (``published@proof``) is true, with a constant four times
too large.

**Derivation of the corrected form.** Since :math:`\nabla F(\hat\omega^*) = -\frac{n_a}{n}\nabla\widetilde
F_a(\hat\omega^*)`, strong convexity of :math:`F` and smoothness of :math:`\widetilde F_a` give

.. math:: \|\omega^* - \hat\omega^*\|^2 \le \frac{2Ln_a^2\hat D_a}{\mu^2n^2} .

**Derivation of the sharp form.** The corrected one is attained in one dimension by a quadratic :math:`F` of curvature
:math:`\mu` and a quadratic :math:`\widetilde F_a` of curvature :math:`L`; so the published constant is enough exactly
for :math:`n_a \le n`.

**Derivation of the corrected form for the gap at the old minimiser.** :math:`\|\omega^* - \hat\omega^*\| \le
\frac1\mu\|\nabla\hat F(\omega^*)\|` and :math:`\nabla\hat F(\omega^*) = \frac{n_a}{n + n_a}\nabla\widetilde
F_a(\omega^*)`: 2 in place of 8.

**Derivation of the sharp form for the gap at the old minimiser.** See
:mod:`~fltheory.bounds.ruan.theorem_3_2_arrival`: with :math:`\rho = n/n_a`, :math:`D_a \ge \frac\mu2(1 + 2\rho +
\frac\mu L\rho^2)\|\omega^* - \hat\omega^*\|^2`.

Instances: two or three clients, in one or two dimensions, with one kink in the derivative per coordinate; shares from
:math:`10^{-5}` to nearly one.

Source: EFL, Theorem 2, (11), both versions; long version, appendix A.2.2, (67).
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._shift import ARRIVALS, D_new, D_old, n_a, n_before, w_hat
from fltheory.bounds.symbols import L, mu, w_star

moved = NormSq(w_star - w_hat)
rho = n_before / n_a

claim = Claim(
    id="efl.theorem-2-arrival",
    kind=Kind.LEMMA,
    title="objective shift when a client arrives",
    citation=Citation("efl", "Theorem 2, (11) (both versions)"),
    forms=(
        Form(statement=Le(moved, 8 * L * n_a**2 * D_new / (mu**2 * (n_before + n_a) ** 2))),
        Form(
            variant="published@proof",
            intended=("published",),
            statement=Le(moved, 8 * L * n_a**2 * D_old / (mu**2 * (n_before + n_a) ** 2)),
            note="gap at the old minimiser, as the proof uses it",
        ),
        Form(
            variant="sharp",
            statement=Le(moved, 2 * L * n_a**2 * D_new / (mu**2 * n_before**2)),
            note="the samples before the shift in the denominator; attained by quadratics",
        ),
        Form(
            variant="corrected@proof",
            statement=Le(moved, 2 * L * n_a**2 * D_old / (mu**2 * (n_before + n_a) ** 2)),
            note="strong convexity gives 1/mu where the proof uses 2/mu",
        ),
        Form(
            variant="sharp@proof",
            statement=Le(moved, 2 * D_old / mu / (1 + 2 * rho + mu / L * rho**2)),
            note="attained in one dimension",
        ),
    ),
    check=ARRIVALS,
)
