r"""Theorem B.6: one round of the potential.

.. math:: \kappa_0\,\mathbb E[\mathcal R(\gamma^{t-1}) - \mathcal R(\theta_*)] \le (\mathbb E\|\gamma^{t-1} -
   \theta_*\|^2 + \kappa C_{t-1}) - (\mathbb E\|\gamma^t - \theta_*\|^2 + \kappa C_t) + \kappa\frac P{2m}\lambda_1^2 -
   \frac{2\lambda_1}{\lambda_2}\Bigl\langle\gamma^{t-1} - \theta_*, \frac1m\sum_{k\in[m]}\mathbb
   E[\operatorname{sign}(\tilde\theta_k^t - \theta^{t-1})]\Bigr\rangle,

with the constants of (41). No condition on :math:`\lambda_2` is printed here (``published``); that of Theorem B.1,
:math:`\lambda_2 > 27\beta`, does not help (``published@27``), nor does it to read :math:`C_t` as made of what line 5
stores (``published@stored``). Two things are wrong beyond the missing condition
:math:`\lambda_2 > 5\beta`. The factor :math:`d` of the l1 term is lost between the proof and the statement. And the
signs come from Lemma B.3: on coordinates that the l1 term holds they are 0 where a subgradient belongs. If all
clients are held, the right-hand side is of the order :math:`\lambda_1^2/\lambda_2^2`, while the excess risk with
gradient :math:`\lambda_1` and small curvature :math:`c` is :math:`\lambda_1^2/(2c)`.

**Derivation of the corrected form.** Printed memory, printed constants, :math:`C_t` made of gradients, subgradients
:math:`s_k^t` in place of signs, the factor :math:`d`, and :math:`\lambda_2 > 5\beta`. Lemma B.4 holds with
subgradients; (28) and (29) hold; Lemma B.5 holds (its page has a proof for this memory). Adding :math:`\kappa` times
(28) to Lemma B.4 and inserting (29), Lemma B.5 and the algebra of (41) proves it.

**Derivation of the corrected form for stored subgradients.** Then Lemma B.5 holds without its l1 term, with the
constants :math:`4, 8, 8`; multiplied by :math:`\frac54` it implies
:math:`(1 - 5\beta^2/\lambda_2^2)\epsilon_t \le
\frac{10}{\lambda_2^2}C_{t-1} + \frac{10\beta}{\lambda_2^2}\mathbb E[\dots]`,
and the rest is as before. So the term :math:`\kappa\frac P{2m}\lambda_1^2 d` is not there at all.

**Derivation of the sharp form.** For stored subgradients and :math:`\lambda_2 \ge 2(1 + \sqrt2)\beta`. Write
:math:`f_k = \nabla L_k(\tilde\theta_k^t) - \nabla L_k(\theta_*)` and :math:`F` for the mean of :math:`\mathbb
E\|f_k\|^2`. A drawn client has the deviation :math:`f_k` afterwards, so (28) is an equality if :math:`F` is kept,
:math:`C_t = (1 - \frac Pm)C_{t-1} + \frac PmF`. In Lemma B.4 convexity of :math:`L_k` between :math:`\tilde\theta_k^t`
and :math:`\theta_*` may be replaced by what smoothness adds to it, :math:`\frac1{2\beta}\|f_k\|^2`; this leaves
:math:`-\frac F{\lambda_2\beta}` on the right. Finally, soft thresholding is a factor in :math:`[0, 1]` in every
coordinate, so that with the deviations :math:`a_k` of the stored gradients every coordinate of
:math:`\lambda_2(\tilde\theta_k^t - \gamma^{t-1})` lies between those of :math:`-\bar a` and :math:`a_k - f_k - \bar a`.
The squares of both, with :math:`\|a_k - \bar a - f_k\|^2 \le 2\|a_k - \bar a\|^2 + 2\|f_k\|^2`, have a mean of at
most

.. math:: \lambda_2^2\,\epsilon_t \le 2C_{t-1} + 2F .

The deviations :math:`C_{t-1}` cancel for :math:`\frac Pm\kappa = \frac2{\lambda_2^2}(1 + \frac\beta{\lambda_2})`, and
:math:`F` is left with twice that less :math:`\frac1{\lambda_2\beta}`, which is not positive if :math:`\lambda_2^2 \ge
4\beta(\lambda_2 + \beta)`. So the theorem is true with

.. math:: \kappa = \frac{2m}P\,\frac{\lambda_2 + \beta}{\lambda_2^3}, \qquad \kappa_0 = \frac2{\lambda_2},

for :math:`\lambda_2 \ge 4.83\,\beta` in place of :math:`26.86\,\beta`, and the excess risk has the factor that it has
in Lemma B.4.

Instances: a round after up to two others, all participants enumerated; given the state before the round.

Source: the paper's appendix B.2, Theorem B.6.
"""

from __future__ import annotations

from typing import Any

from sympy import Gt, Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.fen._feddyn import (
    DEVIATIONS,
    FORCES,
    KAPPA,
    KAPPA_0,
    KAPPA_0_STORED,
    KAPPA_STORED,
    LARGE,
    STORED_DEVIATIONS,
    excess,
    pull,
)
from fltheory.bounds.fen._round import BEYOND_5, BEYOND_27, one_round
from fltheory.bounds.fen._symbols import (
    C_new,
    C_old,
    P,
    beta,
    d,
    gamma_new,
    gamma_old,
    kappa,
    kappa_0,
    kick,
    l1,
    l2,
    m,
    sign,
    theta_star,
)
from fltheory.bounds.space import Real
from fltheory.bounds.symbols import k


def potential(extra: Any, force: Any) -> Le:
    """Return the theorem with an l1 term and with signs or subgradients."""
    return Le(
        kappa_0 * excess,
        (EE(NormSq(gamma_old - theta_star)) + kappa * C_old)
        - (EE(NormSq(gamma_new - theta_star)) + kappa * C_new)
        + extra
        - 2 * l1 / l2 * pull(force),
    )


printed = potential(kappa * P / (2 * m) * l1**2, sign[k])
definitions = (KAPPA, KAPPA_0, *DEVIATIONS, *FORCES)
condition = (Assumption("large quadratic penalty", Gt(l2, 5 * beta)),)
beyond_5 = Real(5.01, 300, log=True)
beyond_27 = (Assumption("large quadratic penalty", Gt(l2, 27 * beta)),)
at_27 = one_round(l2_over_beta=BEYOND_27)

claim = Claim(
    id="fen.theorem-b.6",
    kind=Kind.LEMMA,
    title="one round of the potential",
    citation=Citation("fen", "Theorem B.6"),
    forms=(
        Form(statement=printed, where=definitions),
        Form(
            variant="published@27",
            statement=printed,
            where=definitions,
            assumptions=beyond_27,
            check=at_27,
            note="with the condition of Theorem B.1",
        ),
        Form(
            variant="published@stored",
            statement=printed,
            where=(KAPPA, KAPPA_0, *STORED_DEVIATIONS, *FORCES),
            assumptions=beyond_27,
            check=at_27,
            note="with that condition, and C made of what line 5 stores",
        ),
        Form(
            variant="corrected",
            statement=potential(kappa * P / (2 * m) * l1**2 * d, kick[k]),
            where=definitions,
            assumptions=condition,
            check=one_round(l2_over_beta=beyond_5),
            note="printed memory; subgradients in place of signs, the factor d, lambda_2 > 5 beta",
        ),
        Form(
            variant="corrected@subgradient",
            statement=potential(0, kick[k]),
            where=definitions,
            assumptions=condition,
            check=one_round("subgradient", l2_over_beta=beyond_5),
            note="subgradients stored: no l1 term",
        ),
        Form(
            variant="sharp",
            statement=potential(0, kick[k]),
            where=(KAPPA_STORED, KAPPA_0_STORED, *DEVIATIONS, *FORCES),
            assumptions=(LARGE,),
            check=one_round("subgradient", l2_over_beta=BEYOND_5),
            note="smaller constants if subgradients are stored",
        ),
    ),
    uses=("fen.lemma-b.4", "fen.lemma-b.5", "fen.eq-28", "fen.eq-29", "fen.eq-41"),
    check=one_round(),
)
