r"""Lemma B.4: one round in terms of the distance to the minimiser.

.. math:: \mathbb E\|\gamma^t - \theta_*\|^2 \le \mathbb E\|\gamma^{t-1} - \theta_*\|^2 - \frac2{\lambda_2}\mathbb
   E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)] + \frac\beta{\lambda_2}\epsilon_t + \mathbb E\|\gamma^t -
   \gamma^{t-1}\|^2 - \frac{2\lambda_1}{\lambda_2 m}\Bigl\langle\gamma^{t-1} - \theta_*, \sum_{k\in[m]}\mathbb
   E[\operatorname{sign}(\tilde\theta_k^t - \theta^{t-1})]\Bigr\rangle

(the inner product is printed without its brackets in the statement, with them in the proof). It rests on Lemma B.3
and fails with it. The plainest case: in the first round the l1 term holds all clients. Nothing moves, both squared
distances agree, the sum of signs vanishes, and what is left says
:math:`0 \le -\frac2{\lambda_2}(\mathcal R(\theta^0) - \mathcal R(\theta_*))`.

**Derivation of the corrected form.** With the subgradients :math:`s_k^t` in place of the signs Lemma B.3 holds, for
either memory, and the proof goes through: expand the square, insert the lemma, and use (15) with
:math:`x = \tilde\theta_k^t`, :math:`z = \gamma^{t-1}`, :math:`y = \theta_*`.

Instances: a round after up to two others, all participants enumerated; given the state before the round.

Source: the paper's appendix B.2, (30), (31).
"""

from __future__ import annotations

from typing import Any

from sympy import Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.fen._feddyn import DRIFT, FORCES, excess, pull
from fltheory.bounds.fen._round import one_round
from fltheory.bounds.fen._symbols import beta, drift, gamma_new, gamma_old, kick, l1, l2, sign, theta_star
from fltheory.bounds.symbols import k


def distances(force: Any) -> Le:
    """Return the lemma for signs or subgradients."""
    return Le(
        EE(NormSq(gamma_new - theta_star)),
        EE(NormSq(gamma_old - theta_star))
        - 2 / l2 * excess
        + beta / l2 * drift
        + EE(NormSq(gamma_new - gamma_old))
        - 2 * l1 / l2 * pull(force),
    )


claim = Claim(
    id="fen.lemma-b.4",
    kind=Kind.LEMMA,
    title="one round in terms of the distance to the minimiser",
    citation=Citation("fen", "Lemma B.4, (30), (31)"),
    forms=(
        Form(statement=distances(sign[k]), where=(DRIFT, *FORCES)),
        Form(
            variant="corrected",
            statement=distances(kick[k]),
            where=(DRIFT, *FORCES),
            note="a subgradient in place of the sign; either memory",
        ),
    ),
    uses=("fen.lemma-b.3", "fen.eq-15"),
    check=one_round(),
)
