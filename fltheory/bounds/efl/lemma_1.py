r"""Lemma 1: the virtual sequence agrees with the server's model at the end of every round.

The virtual model (14) starts at :math:`\bar\omega_0 = \omega_0^G` and adds the clients' steps; the residual of (13)
is said to be absorbed into the gradient, and dropped. As published :math:`\bar\omega_{\tau E} = \omega_{\tau E}^G`
for every :math:`\tau`. The proof (15) uses the aggregation (13) without :math:`R^G`. With compression it fails after
one round: what clients and server leave out is in the virtual model, not in the real one.

**Derivation of the corrected form.** With the bookkeeping in which everybody moves by
:math:`\mathrm{ST}(\Delta\omega^G)` (:mod:`~fltheory.bounds.efl.algorithm_1`), :math:`\omega_{\tau E}^G + R_{\tau E}^G
= \omega_0 + \sum_t\sum_k p_t^k\,\mathrm{ST}(\Delta\omega_t^k)`, and :math:`\mathrm{ST}(\Delta\omega_t^k)` is the
local change plus :math:`R_{tE}^k - R_{(t+1)E}^k`. Hence

.. math:: \bar\omega_{\tau E} = \omega_{\tau E}^G + R_{\tau E}^G + \sum_{t<\tau}\sum_{k=1}^N p_t^k\bigl(R_{(t+1)E}^k -
   R_{tE}^k\bigr) ,

which for constant coefficients is :math:`\omega_{\tau E}^G + R_{\tau E}^G + \sum_k p^k R_{\tau E}^k`. Without
compression (``corrected@uncompressed``) all residuals vanish and the lemma is true as printed.

Instances: up to three rounds of the algorithm on quadratics, coefficients and step counts that change from round to
round, both rules for ties. Residuals carry the number of the round before which they are in force. Inactive clients
have the coefficient 0 and keep their residual.

Source: EFL (long version), appendix A.2.1, (12)-(15).
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._compressor import runs_with
from fltheory.bounds.efl._symbols import coefficient, residual, residual_k, rounds, server, virtual
from fltheory.bounds.symbols import N, i, k, tau

same = Eq(virtual[tau], server[tau], evaluate=False)
every = ((tau, 0, rounds),)
late = Sum(coefficient[i, k] * (residual_k[i + 1, k] - residual_k[i, k]), (k, 1, N), (i, 0, tau - 1))

claim = Claim(
    id="efl.lemma-1",
    kind=Kind.IDENTITY,
    title="virtual sequence, residual absorbed",
    citation=Citation("efl", "Lemma 1, (14), (15) (long version)"),
    forms=(
        Form(
            statement=same,
            over=every,
            check=runs_with("000"),
            note="server moves by the uncompressed update, as in the box",
        ),
        Form(
            variant="published@consistent",
            statement=same,
            over=every,
            note="everybody moves by the compressed update",
        ),
        Form(
            variant="corrected",
            statement=Eq(virtual[tau], server[tau] + residual[tau] + late, evaluate=False),
            over=every,
            note="with the residuals of the server and of the clients",
        ),
        Form(
            variant="corrected@uncompressed",
            statement=same,
            over=every,
            check=runs_with("consistent", compressed=False),
            note="without compression",
        ),
    ),
    uses=("efl.eq-6",),
    check=runs_with("consistent"),
)
