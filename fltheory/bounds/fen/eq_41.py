r"""(41): the algebra of kappa and kappa_0, and when they are positive.

With :math:`\kappa = \frac{10m}{P}\frac1{\lambda_2}\frac{\lambda_2+\beta}{\lambda_2^2-25\beta^2}` the factor of
:math:`\epsilon_t` is

.. math:: \kappa\frac{2\beta^2P}{m} + \frac\beta{\lambda_2} + 1 = \frac{20(\lambda_2+\beta)\beta^2 +
   \beta(\lambda_2^2-25\beta^2) + \lambda_2(\lambda_2^2-25\beta^2)}{\lambda_2(\lambda_2^2-25\beta^2)} =
   \frac{\lambda_2(\lambda_2+\beta)}{\lambda_2^2-25\beta^2}\Bigl(1 - 5\frac{\beta^2}{\lambda_2^2}\Bigr),

Lemma B.5 turns it into :math:`\kappa\frac Pm C_{t-1} + \kappa\frac{\beta P}m(\dots) + \kappa\frac P{2m}\lambda_1^2d`,
and the excess risk is left with
:math:`-\frac2{\lambda_2} + \kappa\frac{4\beta P}m + \kappa\frac{\beta P}m = -\kappa_0`. All of that is right, for
every :math:`\lambda_2 \ne 5\beta`; multiplying the lemma needs :math:`\lambda_2 > 5\beta`.

``published@threshold``: :math:`\lambda_2 > 27\beta` makes :math:`\kappa` and :math:`\kappa_0` positive. The text says
so of :math:`\kappa`, which is positive from :math:`5\beta` on; what the division by :math:`\kappa_0` needs is
:math:`\kappa_0 > 0`.

**Derivation of the sharp form.** For :math:`\lambda_2 > 5\beta` the sign of :math:`\kappa_0` is that of
:math:`\lambda_2^2 - 25\lambda_2\beta - 50\beta^2`, whose positive root is
:math:`\frac{25 + 5\sqrt{33}}2\beta \approx 26.86\,\beta`. So 27 is the right number rounded up (``sharp``), and
between :math:`5\beta` and the root :math:`\kappa_0` is not positive (``sharp@necessary``), where a bound divided by
:math:`\kappa_0` says nothing.

Instances: numbers, with :math:`\lambda_2` on both sides of the thresholds.

Source: the paper's appendix B.2, (41) and the lines after it.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Gt, Le, Lt, sqrt

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._feddyn import KAPPA, KAPPA_0, KAPPA_PRIME
from fltheory.bounds.fen._symbols import P, beta, kappa, kappa_0, kappa_prime, l2, m
from fltheory.bounds.space import Integer, Params, Real, Space


def realise(point: Params) -> dict[str, Any]:
    """Return the constants of the theorem."""
    return {
        "m": point["m"],
        "P": min(point["P"], point["m"]),
        "beta": point["beta"],
        "lambda_2": point["beta"] * point["l2_over_beta"],
    }


bottom = l2**2 - 25 * beta**2
factor = l2 * (l2 + beta) / bottom
before = kappa * 2 * beta**2 * P / m + beta / l2 + 1
root = (25 + 5 * sqrt(33)) / 2 * beta

claim = Claim(
    id="fen.eq-41",
    kind=Kind.IDENTITY,
    title="algebra and signs of kappa and kappa_0",
    citation=Citation("fen", "(41)"),
    forms=(
        Form(
            statement=(
                Eq(
                    before,
                    (20 * (l2 + beta) * beta**2 + beta * bottom + l2 * bottom) / (l2 * bottom),
                    evaluate=False,
                ),
                Eq(before, factor * (1 - 5 * beta**2 / l2**2), evaluate=False),
                Eq(factor * 10 / l2**2, kappa * P / m, evaluate=False),
                Eq(factor * 10 * beta / l2**2, kappa * beta * P / m, evaluate=False),
                Eq(factor * 5 / l2**2, kappa * P / (2 * m), evaluate=False),
                Eq(kappa_prime, kappa * P / (2 * m), evaluate=False),
                Eq(-2 / l2 + kappa * 4 * beta * P / m + kappa * beta * P / m, -kappa_0, evaluate=False),
            ),
            where=(KAPPA, KAPPA_0, KAPPA_PRIME),
        ),
        Form(
            variant="published@threshold",
            statement=(Gt(kappa, 0), Gt(kappa_0, 0)),
            where=(KAPPA, KAPPA_0),
            premises=(Gt(l2, 27 * beta),),
            note="beyond the printed threshold both constants are positive",
        ),
        Form(
            variant="sharp",
            statement=(Gt(kappa, 0), Gt(kappa_0, 0)),
            where=(KAPPA, KAPPA_0),
            premises=(Gt(l2, root),),
            note="the smallest threshold, about 26.86 beta",
        ),
        Form(
            variant="sharp@necessary",
            statement=Le(kappa_0, 0),
            where=(KAPPA_0,),
            premises=(Lt(5 * beta, l2), Le(l2, root)),
            note="below it kappa_0 is not positive",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "m": Integer(1, 10),
                "P": Integer(1, 10),
                "beta": Real(0.001, 100, log=True),
                "l2_over_beta": Real(5.01, 144, log=True),
            }
        ),
        realise=realise,
    ),
)
