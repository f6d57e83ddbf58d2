r"""Section C.1: the gradient of the printed quadratic.

The experiments use :math:`f(\omega) = \omega^\top A\omega + B^\top\omega + C` and, without drifts and noise, the
gradient :math:`A\omega + B` of (85). For a quadratic, central differences are exact, so this says

.. math:: f(\omega + v) - f(\omega - v) = 2\,\langle A\omega + B, v\rangle \qquad \text{for all } \omega, v .

The gradient of the printed function is :math:`2A\omega + B`, so it holds only where :math:`A\omega = 0`. The
constants :math:`\mu, L` that the paper reads off :math:`A`, the step sizes and the loss :math:`\|A\omega + B\|`
belong to the quadratic with one half.

**Derivation of the corrected form.** With :math:`f(\omega) = \frac12\omega^\top A\omega + B^\top\omega + C` and
symmetric :math:`A` the gradient is :math:`A\omega + B`.

Instances: symmetric positive semidefinite matrices in one or two dimensions.

Source: Guo et al., 2021, sections 6 and C.1, (85). :math:`A, B` are not the constants of the assumptions.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Rational

from fltheory.bounds.algebra import Inner
from fltheory.bounds.cfl.lemma_b_3 import model
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import function, scalar
from fltheory.bounds.space import Integer, Params, Real, Space

apply = function("apply", r"\mathbf{A}(<0>)", "the matrix of the quadratic times a vector")
linear = scalar("linear", r"\mathbf{B}", "linear part of the quadratic", shape=("dim",))
constant = scalar("constant", "C", "constant part of the quadratic")
step = scalar("v", "v", "any vector", shape=("dim",))


def realise(point: Params) -> dict[str, Any]:
    """Return a positive semidefinite matrix and vectors."""
    matrix = point["matrix"].T.dot(point["matrix"])
    return {
        "apply": matrix.dot,
        "linear": point["linear"],
        "constant": point["constant"],
        "model": point["model"],
        "v": point["step"],
    }


def difference(factor: Any) -> Eq:
    """Return that central differences of the quadratic with this factor are those of the printed gradient."""

    def value(w: Any) -> Any:
        return factor * Inner(w, apply(w)) + Inner(linear, w) + constant

    return Eq(value(model + step) - value(model - step), 2 * Inner(apply(model) + linear, step), evaluate=False)


claim = Claim(
    id="cfl.section-c.1-gradient",
    kind=Kind.IDENTITY,
    title="gradient of the printed quadratic",
    citation=Citation("cfl", "Section C.1, (85)"),
    forms=(
        Form(statement=difference(1)),
        Form(
            variant="corrected",
            intended=("published",),
            statement=difference(Rational(1, 2)),
            note="one half in front of the square",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 2),
                "matrix": Real(-2, 2, shape=("d", "d")),
                "linear": Real(-2, 2, shape=("d",)),
                "constant": Real(-2, 2),
                "model": Real(-2, 2, shape=("d",)),
                "step": Real(-2, 2, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
