r"""Algorithm 1: the copies of the model at the server and at the clients stay equal.

The analysis starts from :math:`\omega_{\tau E}^k = \bar\omega_{\tau E} = \omega_{\tau E}^G` for all :math:`k` (Lemma
1 and the first line of the proof of Lemma 3). In the box of the long version the server moves by
:math:`\Delta\omega^G`, the clients by :math:`\mathrm{ST}(\Delta\omega^G)`; then

.. math:: \omega_{\tau E}^G - \omega_{\tau E}^k = \sum_{t=1}^{\tau} R_{tE}^G ,

so the copies part as soon as something is left out, and the residual, part of :math:`\Delta\omega^G` already, is
counted again in every round. In the box of the short version everybody moves by the uncompressed
:math:`\Delta\omega^G`; the copies agree, at the price that nothing is compressed and that the residual is still
counted twice. That is what the second relation tells: the model and the residual hold exactly what was received,

.. math:: \omega_{\tau E}^G + R_{\tau E}^G = \omega_0^G + \sum_{t<\tau} U_t, \qquad U_t = \text{weighted sum of the
   messages} .

With a server that moves by :math:`\Delta\omega^G = R_{\tau E}^G + U_\tau`, as in both boxes, the left-hand side is
too large by :math:`\sum_{t\le\tau}R_{tE}^G`, and the relation fails as soon as something is left out
(``published@000-residual``, ``published@003-residual``). The text of both versions is a third way
(``published@text``): :math:`\mathrm{ST}(\Delta\omega^G)` is broadcast, and in the next sentence the clients add
:math:`\Delta\omega^G`, which they have not been sent; clients send compressed updates. The copies agree as in the short
box, and the residual is counted twice as well (``published@text-residual``).

**Derivation of the corrected form.** Let the server move by :math:`\mathrm{ST}(\Delta\omega^G)` like the clients.
Copies that start equal stay equal, and :math:`\mathrm{ST}(\Delta\omega^G) + R_{(\tau+1)E}^G = \Delta\omega^G =
R_{\tau E}^G + U_\tau` telescopes to the second relation.

Instances: up to three rounds of the algorithm on quadratics, one or two clients, any fraction, both rules for ties.
Residuals carry the number of the round before which they are in force. Inactive clients have the coefficient 0.

Source: EFL, Algorithm 1 and the steps in section 3.1, both versions.
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._compressor import runs_with
from fltheory.bounds.efl._symbols import client, received, residual, rounds, server
from fltheory.bounds.symbols import i, tau

copies = Eq(server[tau], client[tau], evaluate=False)
nothing_lost = Eq(server[tau] + residual[tau], server[0] + Sum(received[i], (i, 0, tau - 1)), evaluate=False)
every = ((tau, 1, rounds),)
ways = (("000", "box of the long version"), ("003", "box of the short version"), ("text", "text of both versions"))

claim = Claim(
    id="efl.algorithm-1",
    kind=Kind.IDENTITY,
    title="server and client copies of the model stay equal",
    citation=Citation("efl", "Algorithm 1 (both versions)"),
    forms=(
        *(
            Form(
                variant=f"published@{books}",
                statement=copies,
                over=every,
                check=runs_with(books),
                note=note,
                intended=("published@000",) if books == "text" else (),
            )
            for books, note in ways
        ),
        *(
            Form(
                variant=f"published@{books}-residual",
                statement=nothing_lost,
                over=every,
                check=runs_with(books),
                note=f"{note}; that the residual is what is still to be applied",
            )
            for books, note in ways
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
