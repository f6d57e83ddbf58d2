r"""Lemma B.2: the server memory is the mean of the local gradients.

.. math:: h^t = \frac1m\sum_{k\in[m]}\nabla L_k(\theta_k^t) .

The proof inserts (11), which fails on coordinates that the l1 term holds: there line 5 of Algorithm 3 stores a vector
that is wrong by up to :math:`\lambda_1`, and so is :math:`h^t`. The first line of the proof moreover sums over
:math:`[m]` where line 11 of the algorithm sums over the participants; for clients that are absent,
:math:`\theta_k^t - \theta^{t-1}` is no update.

With :math:`\nabla L_k(\theta_k^t)` read as the name of what line 5 stores (``published@stored``) it is bookkeeping
and true. That reading is no help later on, where convexity and smoothness need gradients. It also needs that the
server sees the updates as they are; with the cut of the experiments (``published@cut``: entries of at most
:math:`\epsilon` are sent as 0) the server's sum and the clients' vectors part.

**Derivation of the corrected form.** Let line 5 use the subgradient :math:`s_k` of the optimality condition,
:math:`m_k^t = m_k^{t-1} - \lambda_2\Delta_k - \lambda_1 s_k`, and line 11 the same. Then
:math:`m_k^t = \nabla L_k(\theta_k^t)` for those who take part, :math:`m_k^t = m_k^{t-1} = \nabla L_k(\theta_k^{t-1})`
for the others, and :math:`h^t - h^{t-1}` is the mean of :math:`m_k^t - m_k^{t-1}`. Since
:math:`h^0 = 0 = \nabla L_k(\theta_k^0)`, summing up proves the lemma. It costs a message: the server cannot work out
:math:`s_k` from a zero update.

**Derivation of the corrected form for the printed memory.** What is stored is :math:`\nabla L_k(\theta_k^t) + e_k`
with :math:`|e_k| \le \lambda_1` in every coordinate, so :math:`h^t` differs from the mean gradient by at most
:math:`\lambda_1` in every coordinate.

**Derivation of the corrected form for the cut.** Where a participant's update is not 0 but at most :math:`\epsilon`, it
takes :math:`\lambda_2\Delta_k + \lambda_1\operatorname{sign}(\Delta_k)` off what it stores, and the server nothing. So
in every round the two part by at most :math:`\frac Pm(\lambda_2\epsilon + \lambda_1)` per coordinate, and after
:math:`t` rounds by :math:`t` times that: attained, up to :math:`t = m/P`, as long as every round draws clients for the
first time whose updates are just :math:`\epsilon`, all of one sign.

Instances: up to three rounds from the printed start; the lemma is read for every choice of participants.

Source: the paper's appendix B.2, (22).
"""

from __future__ import annotations

from sympy import Abs, Eq, Le

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._feddyn import mean
from fltheory.bounds.fen._round import one_round
from fltheory.bounds.fen._symbols import P, epsilon, grad, h_new, l1, l2, local_new, m, passed, stored_new
from fltheory.bounds.space import Real, Space
from fltheory.bounds.symbols import k

rounds = one_round()
cut = Instances(space=Space({**rounds.space.parameters, "epsilon": Real(0.001, 1, log=True)}), realise=rounds.realise)
gradients = mean(grad(k, local_new[k]))

claim = Claim(
    id="fen.lemma-b.2",
    kind=Kind.IDENTITY,
    title="the server memory is the mean of the local gradients",
    citation=Citation("fen", "Lemma B.2, (22)"),
    forms=(
        Form(statement=Eq(h_new, gradients, evaluate=False)),
        Form(
            variant="published@stored",
            statement=Eq(h_new, mean(stored_new[k]), evaluate=False),
            note="the name of the gradient read as what line 5 stores",
        ),
        Form(
            variant="published@cut",
            statement=Eq(h_new, mean(stored_new[k]), evaluate=False),
            check=cut,
            note="the same with small updates sent as 0",
        ),
        Form(
            variant="corrected",
            statement=Eq(h_new, gradients, evaluate=False),
            check=one_round("subgradient"),
            note="a subgradient in place of the sign in lines 5 and 11",
        ),
        Form(
            variant="corrected@sign-memory",
            statement=Le(Abs(h_new - gradients), l1),
            note="the printed memory, wrong by at most lambda_1 per coordinate",
        ),
        Form(
            variant="corrected@cut",
            statement=Le(Abs(h_new - mean(stored_new[k])), passed * P / m * (l2 * epsilon + l1)),
            check=cut,
            note="small updates sent as 0: an error that may grow with the rounds",
        ),
    ),
    uses=("fen.eq-11",),
    check=rounds,
)
