r"""Lemma A.3: how far local models drift from the virtual one inside a round.

For :math:`i = 0, \dots, E-1`, with :math:`x_+ = \max(x, 0)`,

.. math:: \mathbb E_\xi\Bigl[\sum_{k=1}^N p_\tau^k\|\bar w_{\tau E+i} - w_{\tau E+i}^k\|^2\Bigr] \le
   (E-1)G^2\eta_\tau^2\Bigl(
   \sum_{k=1}^N p_\tau^k s_\tau^k + \Bigl(\sum_{k=1}^N p_\tau^k - 2\Bigr)_+ \sum_{k=1}^N
   \frac{(p_\tau^k)^2}{p^k}s_\tau^k\Bigr) .

The proof rests on the identity (22): the left-hand side is :math:`(\sum_k p_\tau^k - 2)\|\bar w_{\tau E+i} - \bar
w_{\tau E}\|^2 + \sum_k p_\tau^k\|w_{\tau E+i}^k - \bar w_{\tau E}\|^2`, in which both squares are sums of at most
:math:`E - 1` steps; Jensen's inequality with the weights :math:`p^k` bounds the first one. The positive part drops a
negative term where :math:`\sum_k p_\tau^k < 2`, so the bound is nearly attained only for :math:`\sum_k p_\tau^k \ge
2`, short steps (gradients that hardly change) and clients that stop after :math:`E - 1` steps.

Instances: one round with any coefficients, see :mod:`~fltheory.bounds.flexible_participation.round`; all outcomes of
the noise are enumerated.

Source: Ruan et al., AISTATS 2021, appendix A.1.2, (18).
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq, Pos
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.flexible_participation.round import ROUNDS, bounded_gradients, steps_weighted
from fltheory.bounds.flexible_participation.symbols import p_tau, s_tau, w_bar, w_loc
from fltheory.bounds.symbols import E, G_sq, N, eta, i, k, p

claim = Claim(
    id="ruan.lemma-a.3",
    kind=Kind.LEMMA,
    title="drift of local models inside a round",
    citation=Citation("ruan", "Lemma A.3, (18)"),
    forms=(
        Form(
            statement=Le(
                EE(Sum(p_tau[k] * NormSq(w_bar[i] - w_loc[k, i]), (k, 1, N))),
                (E - 1)
                * G_sq
                * eta**2
                * (
                    steps_weighted + Pos(Sum(p_tau[k], (k, 1, N)) - 2) * Sum(p_tau[k] ** 2 / p[k] * s_tau[k], (k, 1, N))
                ),
            ),
            over=((i, 0, E - 1),),
        ),
    ),
    assumptions=(bounded_gradients,),
    check=ROUNDS,
)
