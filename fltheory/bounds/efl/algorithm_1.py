r"""Algorithm 1: the copies of the model at the server and at the clients stay equal.

The analysis starts from :math:`\omega_{\tau E}^k = \bar\omega_{\tau E} = \omega_{\tau E}^G` for all :math:`k` (Lemma
1 and the first line of the proof of Lemma 3). In the box of the long version the server moves by
:math:`\Delta\omega^G`, the clients by :math:`\mathrm{ST}(\Delta\omega^G)`; then

.. math:: \omega_{\tau E}^G - \omega_{\tau E}^k = \sum_{t=1}^{\tau} R_{tE}^G ,

so the copies part as soon as something is left out, and the residual, part of :math:`\Delta\omega^G` already, is
counted again in every round. In the box of the short version everybody moves by the uncompressed
:math:`\Delta\omega^G`; the copies agree, at the price that nothing is compressed and that the residual is still
counted twice: the second relation, which says that the model and the residual hold exactly what was received,

.. math:: \omega_{\tau E}^G + R_{\tau E}^G = \omega_0^G + \sum_{t<\tau} U_t, \qquad U_t = \text{weighted sum of the
   messages},

fails in both. (The text of the short version says that :math:`\mathrm{ST}(\Delta\omega^G)` is broadcast.)

**Derivation of the corrected form.** Let the server move by :math:`\mathrm{ST}(\Delta\omega^G)` like the clients.
Copies that start equal stay equal, and :math:`\mathrm{ST}(\Delta\omega^G) + R_{(\tau+1)E}^G = \Delta\omega^G =
R_{\tau E}^G + U_\tau` telescopes to the second relation.

Instances: up to three rounds of the algorithm on quadratics, one or two clients, any fraction, both rules for ties.
Residuals carry the number of the round before which they are in force.

Source: EFL, Algorithm 1 of both versions.
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds._claim import Claim, Form, Kind, Source
from fltheory.bounds._symbols import i, tau
from fltheory.bounds.efl._compressor import runs_with
from fltheory.bounds.efl._symbols import client, received, residual, rounds, server

copies = Eq(server[tau], client[tau], evaluate=False)
nothing_lost = Eq(server[tau] + residual[tau], server[0] + Sum(received[i], (i, 0, tau - 1)), evaluate=False)
every = ((tau, 1, rounds),)

claim = Claim(
    id="efl.algorithm-1",
    kind=Kind.IDENTITY,
    title="server and client copies of the model stay equal",
    source=Source("efl", "Algorithm 1 (both versions)"),
    forms=(
        Form(
            variant="published@000",
            statement=copies,
            over=every,
            check=runs_with("000"),
        ),
        Form(
            variant="published@003",
            statement=copies,
            over=every,
            check=runs_with("003"),
        ),
        Form(
            variant="published@003-residual",
            statement=nothing_lost,
            over=every,
            check=runs_with("003"),
            note="that the residual is what is still to be applied",
        ),
        Form(
            variant="corrected",
            statement=(copies, nothing_lost),
            over=every,
            note="the server moves by the compressed update as well",
        ),
    ),
    check=runs_with("consistent"),
)
