r"""(29): the mean of local models moves at most as far as they deviate.

.. math:: \mathbb E\|\gamma^t - \gamma^{t-1}\|^2 \le \frac1m\sum_{k\in[m]}\mathbb E\|\tilde\theta_k^t -
   \gamma^{t-1}\|^2 = \epsilon_t .

Convexity over the participants, then equal chances of being drawn. Nothing else is used, so it holds for either memory;
an equality for one participant, or for one client.

Instances: a round after up to two others, all participants enumerated.

Source: the paper's appendix B.2; said to be taken over from FedDyn without proof.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.fen._feddyn import DRIFT
from fltheory.bounds.fen._round import one_round
from fltheory.bounds.fen._symbols import drift, gamma_new, gamma_old

claim = Claim(
    id="fen.eq-29",
    kind=Kind.LEMMA,
    title="movement of the mean against deviation of local models",
    citation=Citation("fen", "(29)"),
    forms=(
        Form(
            statement=Le(EE(NormSq(gamma_new - gamma_old)), drift),
            where=(DRIFT,),
        ),
    ),
    check=one_round(),
)
