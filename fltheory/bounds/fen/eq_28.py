r"""(28): one-round recursion of the gradient deviation.

.. math:: C_t \le \Bigl(1 - \frac Pm\Bigr)C_{t-1} + \frac{2\beta^2P}{m}\epsilon_t
   + \frac{4\beta P}{m}\mathbb E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)],

with :math:`C_t` of (20) and :math:`\epsilon_t` of (21). A client is drawn with probability :math:`P/m`; its new
gradient is compared with the one at :math:`\gamma^{t-1}` (smoothness) and that one with the one at :math:`\theta_*`
(16). No optimality condition is used, so it holds whatever the clients store, for :math:`C_t` made of gradients. It
is an equality for equal curvatures :math:`\beta` and
:math:`\tilde\theta_k^t - \gamma^{t-1} = \gamma^{t-1} - \theta_*`.

With :math:`C_t` made of what line 5 stores (``published@stored``, the reading that (27) needs) the error of the
memory is missing.

**Derivation of the corrected form.** What a drawn client stores is :math:`\nabla L_k(\tilde\theta_k^t) + e_k` with
:math:`\|e_k\| \le \lambda_1\sqrt d`. By Minkowski's inequality over clients and draws, the mean square deviation of
what the drawn clients store is at most :math:`(\sqrt A + \lambda_1\sqrt d)^2`, where :math:`A = 2\beta^2\epsilon_t +
4\beta\,\mathbb E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)]` is the printed bound without :math:`e_k`:

.. math:: C_t \le \Bigl(1 - \frac Pm\Bigr)C_{t-1} + \frac Pm\bigl(\sqrt A + \lambda_1\sqrt d\bigr)^2 .

For :math:`\lambda_1 \to 0` this is (28).

Instances: a round after up to two others, all participants enumerated.

Source: the paper's appendix B.2; said to be taken over from FedDyn without proof.
"""

from __future__ import annotations

from sympy import Le, sqrt

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.fen._feddyn import DEVIATIONS, DRIFT, STORED_DEVIATIONS, excess
from fltheory.bounds.fen._round import one_round
from fltheory.bounds.fen._symbols import C_new, C_old, P, beta, d, drift, l1, m

printed = Le(C_new, (1 - P / m) * C_old + 2 * beta**2 * P / m * drift + 4 * beta * P / m * excess)

claim = Claim(
    id="fen.eq-28",
    kind=Kind.LEMMA,
    title="recursion of the gradient deviation",
    citation=Citation("fen", "(28)"),
    forms=(
        Form(statement=printed, where=(*DEVIATIONS, DRIFT)),
        Form(
            variant="published@stored",
            statement=printed,
            where=(*STORED_DEVIATIONS, DRIFT),
            note="the name of the gradient read as what line 5 stores",
        ),
        Form(
            variant="corrected@stored",
            statement=Le(
                C_new,
                (1 - P / m) * C_old + P / m * (sqrt(2 * beta**2 * drift + 4 * beta * excess) + l1 * sqrt(d)) ** 2,
            ),
            where=(*STORED_DEVIATIONS, DRIFT),
            note="with the error of the stored vector",
        ),
    ),
    uses=("fen.eq-16", "fen.eq-17"),
    check=one_round(),
)
