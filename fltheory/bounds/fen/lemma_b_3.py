r"""Lemma B.3: expected drift of the mean of local models in a round.

.. math:: \mathbb E[\gamma^t - \gamma^{t-1}] = \frac{1}{\lambda_2 m}\sum_{k\in[m]}\mathbb E[-\nabla
   L_k(\tilde\theta_k^t)] - \frac{\lambda_1}{\lambda_2 m}\sum_{k\in[m]}\mathbb E[\operatorname{sign}(\tilde\theta_k^t
   - \theta^{t-1})] .

Step (23) inserts (11), which fails on coordinates that the l1 term holds.

**Derivation of the corrected form.** With the subgradient :math:`s_k^t` of the optimality condition,
:math:`\lambda_2(\tilde\theta_k^t - \theta^{t-1}) = m_k^{t-1} - \nabla L_k(\tilde\theta_k^t) - \lambda_1 s_k^t`. Every
client is equally likely to be drawn, so :math:`\mathbb E\gamma^t - \theta^{t-1}` is the mean of this over
:math:`[m]`, divided by :math:`\lambda_2`; and :math:`\gamma^{t-1} = \theta^{t-1} + h^{t-1}/\lambda_2` takes away the
mean of the :math:`m_k^{t-1}`, because :math:`h^{t-1} = \frac1m\sum_k m_k^{t-1}` for both memories. So it holds for
the printed memory, too. If line 5 stores
:math:`m_k^{t-1} - \lambda_2\Delta_k - \lambda_1\operatorname{sign}(\Delta_k)`, the printed identity is true with what
would be stored in place of the gradient (``published@stored``).

Instances: a round after up to two others, all participants enumerated; given the state before the round.

Source: the paper's appendix B.2, (23) to (26).
"""

from __future__ import annotations

from typing import Any

from sympy import Eq

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._feddyn import FORCES, mean
from fltheory.bounds.fen._round import one_round, realise
from fltheory.bounds.fen._symbols import gamma_new, gamma_old, grad, kick, l1, l2, server, sign, stored_old, tilde
from fltheory.bounds.quantities import family
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import k

would_store = family(
    "would_store", r"\tilde m_{<0>}^t", "vector that a client would store, were it drawn", shape=("clients", "dim")
)


def realise_stored(point: Params) -> dict[str, Any]:
    """Return a round with what every client would store."""
    env = realise(point, "sign")
    moved = env["tilde"] - env["server"]
    return env | {"would_store": env["stored_old"] - env["lambda_2"] * moved - env["lambda_1"] * env["sign"]}


def drifts(gradient: Any, force: Any) -> Eq:
    """Return the identity for a gradient and a subgradient."""
    return Eq(
        EE(gamma_new - gamma_old),
        mean(EE(-gradient)) / l2 - l1 / l2 * mean(EE(force)),
        evaluate=False,
    )


rounds = one_round()

claim = Claim(
    id="fen.lemma-b.3",
    kind=Kind.IDENTITY,
    title="drift of the mean of local models",
    citation=Citation("fen", "Lemma B.3, (26)"),
    forms=(
        Form(statement=drifts(grad(k, tilde[k]), sign[k]), where=FORCES),
        Form(
            variant="published@stored",
            statement=drifts(would_store[k], sign[k]),
            where=(
                *FORCES,
                (would_store[k], stored_old[k] - l2 * (tilde[k] - server) - l1 * sign[k]),
            ),
            check=Instances(space=rounds.space, realise=realise_stored),
            note="the name of the gradient read as what line 5 stores",
        ),
        Form(
            variant="corrected",
            statement=drifts(grad(k, tilde[k]), kick[k]),
            where=FORCES,
            note="a subgradient in place of the sign; either memory",
        ),
    ),
    uses=("fen.eq-11", "fen.lemma-b.2"),
    check=rounds,
)
