r"""Lemma 6: a gradient step is a contraction.

For a :math:`\beta`-smooth, :math:`\mu`-strongly convex function and :math:`\eta \le 1/\beta`, as published,

.. math:: \|x - \eta\nabla h(x) - y + \eta\nabla h(y)\|^2 \le (1 - \mu\eta)\|x - y\|^2 .

**Derivation of the sharp form.** The gradient of :math:`\frac12\|x\|^2 - \eta h(x)`, which is convex and has curvatures
in :math:`[1 - \eta\beta, 1 - \eta\mu]`, is Lipschitz with the larger absolute value of the two: the factor is
:math:`(1 - \mu\eta)^2`, attained where the curvature is :math:`\mu` between the points.

Instances: separable functions with one kink of the derivative per coordinate.

Source: Karimireddy et al., 2020, Lemma 6, page 17 of the supplement.
"""

from __future__ import annotations

from typing import Any

from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.scaffold._symbols import beta, eta
from fltheory.bounds.space import Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.bounds.technical_lemmas import convexity
from fltheory.bounds.technical_lemmas.convexity import grad_h, x, y
from fltheory.problems.problem import Origin


def realise(point: Params) -> dict[str, Any]:
    """Return one function, two points and a step."""
    made = convexity.realise(point, "beta")
    return {**{key: made[key] for key in ("mu", "beta", "x", "y", "grad_h")}, "eta": point["step"] / made["beta"]}


moved = NormSq(x - eta * grad_h(x) - y + eta * grad_h(y))

claim = Claim(
    id="scaffold.lemma-6",
    kind=Kind.LEMMA,
    title="contractive mapping",
    citation=Citation("scaffold", "Lemma 6"),
    forms=(
        Form(statement=Le(moved, (1 - mu * eta) * NormSq(x - y))),
        Form(variant="sharp", statement=Le(moved, (1 - mu * eta) ** 2 * NormSq(x - y)), note="squared; attained"),
    ),
    assumptions=(Assumption("step", Le(eta, 1 / beta), Origin.DECLARED),),
    check=Instances(
        space=Space({**convexity.SPACE.parameters, "step": Real(0, 1)}),
        realise=realise,
    ),
)
