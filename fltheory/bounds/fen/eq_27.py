r"""(27): the server memory is bounded by the deviation of the local gradients.

.. math:: \mathbb E\|h^t\|^2 \le C_t, \qquad C_t = \frac1m\sum_{k\in[m]}\mathbb E\|\nabla L_k(\theta_k^t) - \nabla
   L_k(\theta_*)\|^2 .

In FedDyn it follows from Lemma B.2 by convexity, since :math:`\sum_k\nabla L_k(\theta_*) = 0`. With the l1 term and
the printed memory that lemma fails, and so does this: a client that has moved once and is then held keeps an old
gradient in :math:`h^t`, while its gradient has become smaller. With :math:`C_t` made of what is stored
(``published@stored``) it is true.

**Derivation of the corrected form.** With subgradients in lines 5 and 11 Lemma B.2 holds, and FedDyn's proof applies:
:math:`\|h^t\|^2 = \|\frac1m\sum_k(\nabla L_k(\theta_k^t) - \nabla L_k(\theta_*))\|^2`, at most the mean of the
squares. An equality if all deviations agree, for one client say.

**Derivation of the corrected form for the printed memory.** There :math:`h^t` is the mean gradient plus a vector of
norm at most :math:`\lambda_1\sqrt d` (Lemma B.2). Minkowski's inequality gives
:math:`\mathbb E\|h^t\|^2 \le (\sqrt{C_t} + \lambda_1\sqrt d)^2`.

Instances: a round after up to two others, all participants enumerated.

Source: the paper's appendix B.2; said to be taken over from FedDyn without proof.
"""

from __future__ import annotations

from sympy import Le, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.fen._feddyn import DEVIATIONS, STORED_DEVIATIONS
from fltheory.bounds.fen._round import one_round
from fltheory.bounds.fen._symbols import C_new, d, h_new, l1

size = EE(NormSq(h_new))

claim = Claim(
    id="fen.eq-27",
    kind=Kind.LEMMA,
    title="server memory against gradient deviation",
    citation=Citation("fen", "(27)"),
    forms=(
        Form(statement=Le(size, C_new), where=DEVIATIONS[1:]),
        Form(
            variant="published@stored",
            statement=Le(size, C_new),
            where=STORED_DEVIATIONS[1:],
            note="the name of the gradient read as what line 5 stores",
        ),
        Form(
            variant="corrected",
            statement=Le(size, C_new),
            where=DEVIATIONS[1:],
            check=one_round("subgradient"),
            note="a subgradient in place of the sign in lines 5 and 11",
        ),
        Form(
            variant="corrected@sign-memory",
            statement=Le(size, (sqrt(C_new) + l1 * sqrt(d)) ** 2),
            where=DEVIATIONS[1:],
            note="the printed memory, with its error",
        ),
    ),
    uses=("fen.lemma-b.2",),
    check=one_round(),
)
