r"""(61): the condition on the step that is called equivalent to (60), and the bounds that follow.

With :math:`\eta = K\eta_l\eta_g`, (60) says that the factor of the gap in (59) is not positive, and is said to be
equivalent to

.. math:: \eta \le \frac{\sqrt{6\eta_g^2 + c_{p_B}\eta_g^4} - \sqrt{c_{p_B}\eta_g^4}}{6L\sqrt{c_{p_B}}} .

Multiplying (60) by its denominator :math:`1 - 2K^2\eta_l^2L^2c_{p_B}` gives the quadratic :math:`6c_{p_B}y^2/\eta_g^2
+ 2c_{p_B}y \le 1` for :math:`y = \eta L`, and its root is the right-hand side. That needs a positive denominator.
Where it is negative, (60) holds for every large step, so that (60) does not imply (61) (form ``published``); (61)
implies (60) (form ``published@converse``).

For half that step (form ``published@half-step``) the paper derives

.. math:: 1 - 2K^2\eta_l^2L^2c_{p_B} \ge \frac{15 - s + \sqrt{6s + s^2}}{72}, \qquad
   \frac{1 + \eta Lc_{p_B}}{1 - 2K^2\eta_l^2L^2c_{p_B}} \le 12 - \frac{108}{15 + \sqrt{6s + s^2} - s} \le 12, \qquad s
   = \eta_g^2c_{p_B} ,

which are true and far from tight.

**Derivation of the corrected form.** With the premise that the denominator is positive, the two conditions are
equivalent.

**Derivation of the sharp form.** Write :math:`u = \sqrt{6s + s^2} - s \in (0, 3)`. At half the step :math:`\eta
Lc_{p_B} = u/12` and :math:`2K^2\eta_l^2L^2c_{p_B} = (3 - u)/36`, so the ratio is :math:`3(12 + u)/(33 + u) < 5/4`;
both parts increase with the step. So :math:`c_2` of (62) may have :math:`\tfrac54` in place of 12. The limit
:math:`5/4` is approached for large :math:`s`.

Instances: rates, smoothness and :math:`c_{p_B}`; roots are evaluated exactly.

Source: Guo et al., 2021, (60), (61) and the lines below.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Ge, Gt, Le, Rational, sqrt

from fltheory.bounds.cfl._symbols import K, c_B, eta, eta_g, eta_l
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import L


def realise(point: Params) -> dict[str, Any]:
    """Return rates whose product is the step."""
    return {
        "K": point["K"],
        "L": point["L"],
        "c_pB": point["c"],
        "eta_g": point["eta_g"],
        "eta_l": point["x"] / (point["L"] * point["K"]),
        "eta": point["x"] / point["L"] * point["eta_g"],
    }


left_over = 1 - 2 * K**2 * eta_l**2 * L**2 * c_B
condition = Le(
    -2 * eta + 4 * eta**2 * L * c_B + 8 * K**2 * eta * eta_l**2 * L**2 * c_B * (1 + eta * L * c_B) / left_over, 0
)
root = (sqrt(6 * eta_g**2 + c_B * eta_g**4) - sqrt(c_B * eta_g**4)) / (6 * L * sqrt(c_B))
s = eta_g**2 * c_B
rest = sqrt(6 * s + s**2)
ratio = (1 + eta * L * c_B) / left_over
half = Le(eta, root / 2)

claim = Claim(
    id="cfl.eq-61",
    kind=Kind.IDENTITY,
    title="condition on the step",
    citation=Citation("cfl", "(60), (61) and below"),
    forms=(
        Form(statement=Le(eta, root), premises=(condition,), note="from (60) to (61)"),
        Form(variant="published@converse", statement=condition, premises=(Le(eta, root),), note="from (61) to (60)"),
        Form(
            variant="published@half-step",
            statement=(
                Ge(left_over, (15 - s + rest) / 72),
                Le(ratio, 12 - 108 / (15 + rest - s)),
                Le(ratio, 12),
            ),
            premises=(half,),
            note="the bounds for half the step",
        ),
        Form(
            variant="corrected",
            statement=Le(eta, root),
            premises=(condition, Gt(left_over, 0)),
            note="for a positive denominator",
        ),
        Form(
            variant="sharp@half-step", statement=Le(ratio, Rational(5, 4)), premises=(half,), note="5/4 in place of 12"
        ),
    ),
    assumptions=(
        Assumption("the step is the product of its rates", Eq(eta, K * eta_l * eta_g, evaluate=False)),
        Assumption("the constant of Lemma 3.5 is at least one", Ge(c_B, 1)),
    ),
    check=Instances(
        space=Space(
            {
                "K": Integer(1, 3),
                "L": Real(0.1, 10, log=True),
                "c": Real(1, 20, log=True),
                "eta_g": Real(1, 20, log=True),
                "x": Real(0.001, 3, log=True),
            }
        ),
        realise=realise,
    ),
)
