r"""Lemma B.5: deviation of the local models.

.. math:: \Bigl(1 - 5\frac{\beta^2}{\lambda_2^2}\Bigr)\epsilon_t \le \frac{10}{\lambda_2^2}C_{t-1} +
   \frac{10\beta}{\lambda_2^2}\mathbb E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)] +
   \frac{5\lambda_1^2}{\lambda_2^2}d .

The printed proof uses (11) in (36) and (27) in (38), and both fail with the printed memory. The lemma is true all the
same, with :math:`C_{t-1}` made of gradients. Write :math:`m_k^{t-1} = \nabla L_k(\theta_k^{t-1}) + e_k` for what is
stored, :math:`|e_k| \le \lambda_1` in every coordinate. The update is a soft threshold: coordinate by coordinate

.. math:: |\lambda_2(\tilde\theta_k^t - \theta^{t-1})| = \bigl(|m_k^{t-1} - \nabla L_k(\tilde\theta_k^t)| -
   \lambda_1\bigr)_+ \le |\nabla L_k(\theta_k^{t-1}) - \nabla L_k(\tilde\theta_k^t)| ,

so that the l1 term compensates the error of the memory. Then :math:`\lambda_2(\tilde\theta_k^t - \gamma^{t-1})` is this
minus :math:`h^{t-1}`, which is the mean gradient plus a vector of norm at most :math:`\lambda_1\sqrt d`. Going from
:math:`\theta_k^{t-1}` to :math:`\tilde\theta_k^t` over :math:`\theta_*` and :math:`\gamma^{t-1}` makes five terms as
in the printed proof, with the same constants. It is loose: the five terms cannot be aligned.

**Derivation of the corrected form.** The corrected form is stronger than the published one. If line 5 stores gradients
(the subgradient rule), :math:`e_k = 0`, and four terms are left, none of which has :math:`\lambda_1` in it:

.. math:: \Bigl(1 - 4\frac{\beta^2}{\lambda_2^2}\Bigr)\epsilon_t \le \frac{8}{\lambda_2^2}C_{t-1}
   + \frac{8\beta}{\lambda_2^2}\mathbb E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)] .

So FedDyn's lemma survives the l1 term unchanged. With :math:`C_{t-1}` made of what is stored, the same is true of the
printed memory (``corrected@stored``), since then :math:`\|h^{t-1}\|^2 \le C_{t-1}` and
:math:`|\lambda_2(\tilde\theta_k^t - \theta^{t-1})| \le |m_k^{t-1} - \nabla L_k(\tilde\theta_k^t)|`.

**Derivation of the sharp form.** For losses that are sums of functions of one coordinate each, as those of the
instances are. Write :math:`a_k = m_k^{t-1} - \nabla L_k(\theta_*)`, whose mean is :math:`\bar a = h^{t-1}`,
:math:`c_k = \nabla L_k(\gamma^{t-1}) - \nabla L_k(\theta_*)` and :math:`y_k = \tilde\theta_k^t - \gamma^{t-1}`. In
every coordinate :math:`\nabla L_k(\tilde\theta_k^t) - \nabla L_k(\gamma^{t-1}) = \ell_ky_k` with :math:`0 \le \ell_k
\le \beta`, and soft thresholding is a factor :math:`\tau_k \in [0, 1]`, so that :math:`\lambda_2y_k = \tau_k(a_k - c_k
- \ell_ky_k) - \bar a` and

.. math:: (\lambda_2 + \tau_k\ell_k)\,|y_k| = |\tau_k(a_k - c_k) - \bar a| \le \max\{|\bar a|, |a_k - \bar a - c_k|\} .

The mean of :math:`\bar a^2 + 2(a_k - \bar a)^2 + 2c_k^2` over clients is at most that of :math:`2a_k^2 + 2c_k^2`, and
the mean of :math:`\|c_k\|^2` at most :math:`2\beta` times the excess risk, hence

.. math:: \lambda_2^2\,\epsilon_t \le 2C_{t-1} + 4\beta\,\mathbb E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)] .

It is approached for large :math:`\lambda_2` in the first round by one client with curvature :math:`\beta` and many
flat ones, whose gradients at :math:`\theta_*` balance its own and whose :math:`c_k` vanish: there :math:`a_k = -c_k`
for the one client, and the others do not contribute.

Instances: a round after up to two others, :math:`\lambda_2` from :math:`\beta/10` to :math:`100\beta`.

Source: the paper's appendix B.2, (36) to (39).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sympy import Le

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.fen._feddyn import DEVIATIONS, DRIFT, STORED_DEVIATIONS, excess
from fltheory.bounds.fen._round import one_round
from fltheory.bounds.fen._symbols import C_old, beta, d, drift, l1, l2
from fltheory.bounds.space import Params

printed = Le(
    (1 - 5 * beta**2 / l2**2) * drift,
    10 / l2**2 * C_old + 10 * beta / l2**2 * excess + 5 * l1**2 / l2**2 * d,
)
without_l1 = Le((1 - 4 * beta**2 / l2**2) * drift, 8 / l2**2 * C_old + 8 * beta / l2**2 * excess)
ONE_STEEP: Params = {
    "P": 1,
    "m": 3,
    "d": 1,
    "past": 0,
    "who": np.zeros(0, dtype=int),
    "beta": 1.0,
    "centre": np.array([[0.8], [-2.0], [-2.0]]),
    "knot": np.array([[0.0], [-1.6], [-1.6]]),
    "left": np.ones((3, 1)),
    "right": np.array([[1.0], [0.0], [0.0]]),
    "start": np.array([-1.0]),
    "l1": 0.01,
    "l2_over_beta": 100.0,
}
"""One client with curvature, and two whose gradients are constant between the server model and the minimiser."""

alone = Le(drift, 2 / l2**2 * C_old + 4 * beta / l2**2 * excess)

claim = Claim(
    id="fen.lemma-b.5",
    kind=Kind.LEMMA,
    title="deviation of the local models",
    citation=Citation("fen", "Lemma B.5"),
    forms=(
        Form(statement=printed, where=(*DEVIATIONS[:1], DRIFT)),
        Form(
            variant="published@stored",
            statement=printed,
            where=(*STORED_DEVIATIONS[:1], DRIFT),
            note="the name of the gradient read as what line 5 stores",
        ),
        Form(
            variant="corrected",
            statement=without_l1,
            where=(*DEVIATIONS[:1], DRIFT),
            check=one_round("subgradient"),
            note="stronger: no l1 term, if subgradients are stored",
        ),
        Form(
            variant="corrected@stored",
            statement=without_l1,
            where=(*STORED_DEVIATIONS[:1], DRIFT),
            note="stronger: no l1 term, with what is stored",
        ),
        Form(
            variant="sharp",
            statement=alone,
            where=(*DEVIATIONS[:1], DRIFT),
            check=replace(one_round("subgradient"), begin=(ONE_STEEP,)),
            note="coordinates that do not interact, if subgradients are stored",
        ),
        Form(
            variant="sharp@stored",
            statement=alone,
            where=(*STORED_DEVIATIONS[:1], DRIFT),
            check=replace(one_round(), begin=(ONE_STEEP,)),
            note="coordinates that do not interact, with what is stored",
        ),
    ),
    uses=("fen.eq-11", "fen.eq-16", "fen.eq-17", "fen.eq-27"),
    check=one_round(),
)
