r"""Lemma 3: how far local models are from the virtual one inside a round.

As published, for :math:`0 \le j < E`,

.. math:: \mathbb E_\xi\Bigl[\sum_{k=1}^N p_\tau^k\|\bar\omega_{\tau E+j} - \omega_{\tau E+j}^k\|^2\Bigr] \le
   (E-1)G^2\eta_\tau^2\Bigl(\sum_k p_\tau^k s_\tau^k + \Bigl(\sum_k p_\tau^k - 2\Bigr) + \sum_k\frac{(p_\tau^k)^2
   s_\tau^k}{p^k}\Bigr) .

The proof multiplies :math:`(\sum_k p_\tau^k - 2)` with the last sum, see (24) and (28); the print adds them. So the
right-hand side is negative if clients are inactive and :math:`\sum_k p_\tau^k < 2`, and too small if coefficients are
large, where :math:`\sum_k p_\tau^k` factors are lost. (The left-hand side of (29) is printed with
:math:`\bar\omega_{\tau E+j}` for :math:`\bar\omega_{\tau E}`.)

The sign after the bracket may be that of a positive part, a subscript that the print has lost, as the paper on flexible
participation has it. That is the reading ``published@positive-part``, which is also the corrected form.

**Derivation of the corrected form.** By (24) the left-hand side is the expectation of :math:`(\sum_k p_\tau^k -
2)\|\bar\omega_{\tau E+j} - \bar\omega_{\tau E}\|^2 + \sum_k p_\tau^k\|\omega_{\tau E+j}^k - \bar\omega_{\tau E}\|^2`.
A negative factor may be dropped, not multiplied with an upper bound; (28) and (29) bound the rest:

.. math:: \dots \le (E-1)G^2\eta_\tau^2\Bigl(\sum_k p_\tau^k s_\tau^k + \Bigl(\sum_k p_\tau^k -
   2\Bigr)_+\sum_k\frac{(p_\tau^k)^2 s_\tau^k}{p^k}\Bigr) .

Tight for clients with opposite gradients of equal size that stop one step before the end.

Instances: see :mod:`~fltheory.bounds.efl._round`.

Source: EFL (long version), appendix A.2.1, Lemma 3, (20)-(30).
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq, Pos
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._round import bounded_gradients, squares, work_fixed
from fltheory.bounds.flexible_participation.round import ROUNDS
from fltheory.bounds.flexible_participation.symbols import p_tau, s_tau, w_bar, w_loc
from fltheory.bounds.symbols import E, G_sq, N, eta, j, k

spread = EE(Sum(p_tau[k] * NormSq(w_bar[j] - w_loc[k, j]), (k, 1, N)))
scale = (E - 1) * G_sq * eta**2
above = Sum(p_tau[k], (k, 1, N)) - 2
inside = ((j, 0, E - 1),)

claim = Claim(
    id="efl.lemma-3",
    kind=Kind.LEMMA,
    title="local models inside a round",
    citation=Citation("efl", "Lemma 3, (20) (long version)"),
    forms=(
        Form(statement=Le(spread, scale * (work_fixed + above + squares(p_tau, s_tau))), over=inside),
        Form(
            variant="published@positive-part",
            intended=("published",),
            statement=Le(spread, scale * (work_fixed + Pos(above) * squares(p_tau, s_tau))),
            over=inside,
            note="the sign after the bracket read as that of a positive part, which multiplies what follows",
        ),
        Form(
            variant="corrected",
            statement=Le(spread, scale * (work_fixed + Pos(above) * squares(p_tau, s_tau))),
            over=inside,
            note="a product in place of a sum, and the positive part",
        ),
    ),
    assumptions=(bounded_gradients,),
    check=ROUNDS,
)
