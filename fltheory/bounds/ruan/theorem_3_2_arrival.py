r"""Theorem 3.2, arrival: how far the minimiser moves when a client joins.

Client :math:`l` with :math:`n_l` samples joins clients that have :math:`n` samples together and objective :math:`F`;
the new objective is :math:`\tilde F = \frac{n}{n+n_l} F + \frac{n_l}{n+n_l} F_l`. With
:math:`\Gamma_l = F_l(w^*) - F_l^*`, as published

.. math:: \|w^* - \tilde w^*\| \le \frac{2\sqrt{2L}}{\mu}\,\frac{n_l}{n + n_l}\,\sqrt{\Gamma_l} .

The published form is true and never tight. The last link of its proof has an equality sign where smoothness gives
:math:`\|\nabla F_l(w^*)\| \le \sqrt{2L\Gamma_l}`; at most is meant.

**Derivation of the corrected form.** The proof uses :math:`\|w - \tilde w^*\| \le \frac2\mu\|\nabla\tilde F(w)\|`;
strong convexity gives the same with :math:`\frac1\mu`. Everything else stays, so the constant halves.

**Derivation of the sharp form.** Write :math:`r = n/n_l`, :math:`v = \tilde w^* - w^*` and
:math:`g = \nabla F(\tilde w^*)`. At the new minimiser :math:`\nabla F_l(\tilde w^*) = -r g`. Strong convexity of
:math:`F_l` between :math:`\tilde w^*` and :math:`w^*`, and smoothness between :math:`\tilde w^*` and the minimum of
:math:`F_l`, give

.. math:: F_l(w^*) \ge F_l(\tilde w^*) + r\langle g, v\rangle + \tfrac\mu2\|v\|^2, \qquad
   F_l(\tilde w^*) - F_l^* \ge \tfrac{1}{2L}\|r g\|^2 .

Since :math:`\nabla F(w^*) = 0`, strong convexity of :math:`F` gives :math:`\langle g, v\rangle \ge \mu\|v\|^2` and
:math:`\|g\| \ge \mu\|v\|`. Adding up,

.. math:: \Gamma_l \ge \frac{\mu}{2}\Bigl(1 + 2r + \frac{\mu}{L} r^2\Bigr)\|v\|^2 .

It is attained in one dimension by :math:`F(w) = \frac\mu2 w^2` and an :math:`F_l` with curvature :math:`\mu` up to
:math:`\tilde w^*` and :math:`L` beyond it, so the constant cannot be improved, in any dimension. For equal constants
:math:`L = \mu` it is half the published one; for :math:`L \gg \mu` and small :math:`r` the gain grows like
:math:`\sqrt{L/\mu}`.

Instances: two or three clients, in one or two dimensions, with one kink in the derivative per coordinate; the last
one joins.

Source: Ruan et al., AISTATS 2021, section 3.3, (4), and appendix A.3.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, sqrt

from fltheory.bounds.algebra import Norm
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.objective_shift.clients import SPACE, Gamma_l, n_l, shift, w_new
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import L, mu, w_star

n_old = scalar("n_old", "n", "number of samples of all clients before the shift", domain="positive")


def realise(point: Params) -> dict[str, Any]:
    """Return both minimisers and the gap of the joining client, the last one."""
    found = shift(point)
    return {
        "mu": found.mu,
        "L": found.L,
        "n_old": found.rest,
        "n_l": found.own,
        "w_star": found.at_rest,
        "w_new": found.at_whole,
        "Gamma_l": found.gap_at_rest,
    }


moved = Norm(w_star - w_new)
r = n_old / n_l

claim = Claim(
    id="ruan.theorem-3.2-arrival",
    kind=Kind.LEMMA,
    title="objective shift when a client arrives",
    citation=Citation("ruan", "Theorem 3.2, (4)"),
    forms=(
        Form(statement=Le(moved, 2 * sqrt(2 * L) / mu * n_l / (n_old + n_l) * sqrt(Gamma_l))),
        Form(
            variant="corrected",
            statement=Le(moved, sqrt(2 * L) / mu * n_l / (n_old + n_l) * sqrt(Gamma_l)),
            note="strong convexity gives 1/mu where the proof uses 2/mu",
        ),
        Form(
            variant="sharp",
            statement=Le(moved, sqrt(2 * Gamma_l / mu) / sqrt(1 + 2 * r + mu / L * r**2)),
            note="attained in one dimension",
        ),
    ),
    check=Instances(space=SPACE, realise=realise),
)
