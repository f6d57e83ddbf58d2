r"""Theorem 3.2, departure: how far the minimiser moves when a client leaves.

Client :math:`l` leaves; the objective :math:`F` of all :math:`n` samples is replaced by :math:`\tilde F` of the
others, :math:`F = \frac{n-n_l}{n}\tilde F + \frac{n_l}{n} F_l`. With
:math:`\tilde\Gamma_l = F_l(\tilde w^*) - F_l^*`, as published

.. math:: \|w^* - \tilde w^*\| \le \frac{2\sqrt{2L}}{\mu}\,\frac{n_l}{n}\,\sqrt{\tilde\Gamma_l} .

It is (4) read backwards: the minimiser of the clients that stay is now :math:`\tilde w^*`, and :math:`n` counts all
clients. True, and never tight.

**Derivation of the corrected form.** The proof uses :math:`\|w - w^*\| \le \frac2\mu\|\nabla F(w)\|` at
:math:`w = \tilde w^*`; strong convexity gives the same with :math:`\frac1\mu`. There
:math:`\nabla F(\tilde w^*) = \frac{n_l}{n}\nabla F_l(\tilde w^*)`, and smoothness of :math:`F_l` gives
:math:`\|\nabla F_l(\tilde w^*)\|^2 \le 2L\tilde\Gamma_l`, as published.

**Derivation of the sharp form.** Write :math:`r = (n - n_l)/n_l`, :math:`v = w^* - \tilde w^*` and
:math:`g = \nabla\tilde F(w^*)`. Since :math:`w^*` minimises :math:`r\tilde F + F_l`, :math:`\nabla F_l(w^*) = -r g`.
Strong convexity of :math:`F_l` between :math:`w^*` and :math:`\tilde w^*`, and smoothness between :math:`w^*` and the
minimum of :math:`F_l`, give

.. math:: F_l(\tilde w^*) \ge F_l(w^*) + r\langle g, v\rangle + \tfrac\mu2\|v\|^2, \qquad
   F_l(w^*) - F_l^* \ge \tfrac{1}{2L}\|r g\|^2 .

Since :math:`\nabla\tilde F(\tilde w^*) = 0`, strong convexity of :math:`\tilde F` gives
:math:`\langle g, v\rangle \ge \mu\|v\|^2` and :math:`\|g\| \ge \mu\|v\|`. Adding up,

.. math:: \tilde\Gamma_l \ge \frac{\mu}{2}\Bigl(1 + 2r + \frac{\mu}{L} r^2\Bigr)\|v\|^2 ,

with equality in one dimension for :math:`\tilde F(w) = \frac\mu2 w^2` and an :math:`F_l` with curvature :math:`\mu`
up to :math:`w^*` and :math:`L` beyond it.

Instances: two or three clients, in one or two dimensions, with one kink in the derivative per coordinate; the last
one leaves.

Source: Ruan et al., AISTATS 2021, section 3.3, (5), and appendix A.3.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, sqrt

from fltheory.bounds.algebra import Norm
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.objective_shift.clients import SPACE, n_l, shift, w_new
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import L, mu, w_star

n_all = scalar("n_all", "n", "number of samples of all clients, the departing one included", domain="positive")
Gamma_left = scalar(
    "Gamma_left", r"\tilde\Gamma_l", "gap of the departing client at the new minimiser", domain="nonnegative"
)


def realise(point: Params) -> dict[str, Any]:
    """Return both minimisers and the gap of the departing client, the last one."""
    found = shift(point)
    return {
        "mu": found.mu,
        "L": found.L,
        "n_all": found.rest + found.own,
        "n_l": found.own,
        "w_star": found.at_whole,
        "w_new": found.at_rest,
        "Gamma_left": found.gap_at_rest,
    }


moved = Norm(w_star - w_new)
r = (n_all - n_l) / n_l

claim = Claim(
    id="ruan.theorem-3.2-departure",
    kind=Kind.LEMMA,
    title="objective shift when a client departs",
    citation=Citation("ruan", "Theorem 3.2, (5)"),
    forms=(
        Form(statement=Le(moved, 2 * sqrt(2 * L) / mu * n_l / n_all * sqrt(Gamma_left))),
        Form(
            variant="corrected",
            statement=Le(moved, sqrt(2 * L) / mu * n_l / n_all * sqrt(Gamma_left)),
            note="strong convexity gives 1/mu where the proof uses 2/mu",
        ),
        Form(
            variant="sharp",
            statement=Le(moved, sqrt(2 * Gamma_left / mu) / sqrt(1 + 2 * r + mu / L * r**2)),
            note="attained in one dimension",
        ),
    ),
    check=Instances(space=SPACE, realise=realise),
)
