r"""Equation (9): smoothness bounds the clients' gradients by the gap.

For convex, :math:`\beta`-smooth functions and an optimum :math:`x^*` of their mean :math:`f`, as published,

.. math:: \frac1{2\beta N}\sum_{i=1}^N\|\nabla f_i(x) - \nabla f_i(x^*)\|^2 \le f(x) - f^* .

True: every client has :math:`f_i(x) - f_i(x^*) - \langle\nabla f_i(x^*), x - x^*\rangle \ge
\frac1{2\beta}\|\nabla f_i(x) - \nabla f_i(x^*)\|^2`, and the inner products add up to zero. It is an equality where
all curvatures between the points are :math:`\beta`.

**Derivation of the sharp form.** For :math:`\mu`-strongly convex functions the interpolation inequality has

.. math:: \frac1{2(1 - \mu/\beta)}\Bigl(\frac1\beta\|g_i\|^2 + \mu\|x - x^*\|^2 - \frac{2\mu}\beta\langle g_i, x -
   x^*\rangle\Bigr), \qquad g_i = \nabla f_i(x) - \nabla f_i(x^*),

on the right, and the mean over clients of :math:`\langle g_i, x - x^*\rangle` is :math:`\langle\nabla f(x), x -
x^*\rangle`. Nothing better holds for all such functions.

Instances: separable functions with one kink of the derivative per coordinate.

Source: Karimireddy et al., 2020, (9), page 14 of the supplement.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Lt, Sum

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.scaffold._round import CLIENTS, federation, x_star
from fltheory.bounds.scaffold._symbols import beta
from fltheory.bounds.space import Params, Real, Space
from fltheory.bounds.symbols import N, i, mu
from fltheory.bounds.technical_lemmas.convexity import x
from fltheory.problems.problem import Origin

here = scalar("here", r"(f(x) - f^*)", "gap at the point", domain="nonnegative")
grad = family("grad", r"\nabla f_{<0>}(x)", "gradients at the point", shape=("clients", "dim"))
grad_star = family("grad_star", r"\nabla f_{<0>}(x^*)", "gradients at the minimiser", shape=("clients", "dim"))


def realise(point: Params) -> dict[str, Any]:
    """Return functions, their minimiser and a point."""
    made = federation(point)
    at = point["start"]
    return {
        "N": point["N"],
        "mu": made.mu,
        "beta": made.beta,
        "x": at,
        "x_star": made.x_star,
        "here": made.gap(at[None])[0],
        "grad": made.gradients(at[None])[0],
        "grad_star": made.gradients(made.x_star[None])[0],
    }


squares = Sum(NormSq(grad[i] - grad_star[i]), (i, 1, N))
slope = Inner(Sum(grad[i], (i, 1, N)) / N, x - x_star)

claim = Claim(
    id="scaffold.eq-9",
    kind=Kind.LEMMA,
    title="gradients against the gap",
    citation=Citation("scaffold", "(9)"),
    forms=(
        Form(statement=Le(squares / (2 * beta * N), here)),
        Form(
            variant="sharp",
            statement=Le(
                (squares / (beta * N) + mu * NormSq(x - x_star) - 2 * mu / beta * slope) / (2 * (1 - mu / beta)), here
            ),
            assumptions=(Assumption("more than one curvature", Lt(mu, beta), Origin.DECLARED),),
            note="for strongly convex functions; attained",
        ),
    ),
    check=Instances(space=Space({**CLIENTS, "condition": Real(1.01, 1e4, log=True)}), realise=realise),
)
