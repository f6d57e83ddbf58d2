r"""Lemma 3.4: one step of ProxSkip, before the gradient step is used.

With :math:`\Psi_t = \|x_t - x_\star\|^2 + \frac{\gamma^2}{p^2}\|h_t - h_\star\|^2`,
:math:`h_\star = \nabla f(x_\star)`, :math:`w_t = x_t - \gamma\nabla f(x_t)` and
:math:`w_\star = x_\star - \gamma\nabla f(x_\star)`, as published, for any :math:`\gamma > 0` and :math:`0 < p \le 1`

.. math:: \mathbb E[\Psi_{t+1}] \le \|w_t - w_\star\|^2 + (1 - p^2)\frac{\gamma^2}{p^2}\|h_t - h_\star\|^2 ,

the expectation being over the coin :math:`\theta_t`.

**Where it is tight.** It uses :mod:`~fltheory.bounds.proxskip.lemma_3_3` and nothing else: an equality for projections
onto subspaces, so for Scaffnew in every step.

Instances: one step from any model and control variate, :math:`f` with a kink in its derivative, regularisers of
:mod:`fltheory.bounds.proxskip._prox`, step sizes up to :math:`4/L`, in exact arithmetic.

Source: Mishchenko et al., ICML 2022, Lemma 3.4, (13), and appendix B.1.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.proxskip._prox import REGULARISER, SIZES, SMOOTH, STEP, setting
from fltheory.bounds.proxskip._symbols import (
    gamma,
    grad_x,
    h,
    h_next,
    h_star,
    proximal,
    q,
    x,
    x_next,
    x_star,
)
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Space

w = scalar("w", "w_t", "model after a gradient step", shape=("dim",))
w_star = scalar("w_star", r"w_\star", "minimiser after a gradient step", shape=("dim",))
psi_next = scalar("psi_next", r"\Psi_{t+1}", "Lyapunov function after the step", random=True, domain="nonnegative")


def realise(point: Params) -> dict[Any, Any]:
    """Return a step with both faces of the coin."""
    made = setting(point, farthest=4)
    gradient = made.gradient(point["x"])
    steps = list(made.step(point["x"], point["h"], gradient))
    ratio = made.gamma / made.q
    return {
        gamma: made.gamma,
        q: made.q,
        x: point["x"],
        h: point["h"],
        grad_x: gradient,
        x_star: made.x_star,
        h_star: made.h_star,
        proximal: made.psi.prox(made.x_star - ratio * made.h_star, ratio),
        x_next: [after for _, after, _ in steps],
        h_next: [control for _, _, control in steps],
        "chance": [chance for chance, _, _ in steps],
    }


OPTIMAL = Assumption("the minimiser is one", Eq(proximal, x_star, evaluate=False))

claim = Claim(
    id="proxskip.lemma-3.4",
    kind=Kind.LEMMA,
    title="one step of ProxSkip",
    citation=Citation("proxskip", "Lemma 3.4, (13)"),
    forms=(
        Form(
            statement=Le(EE(psi_next), NormSq(w - w_star) + (1 - q**2) * (gamma**2 / q**2) * NormSq(h - h_star)),
            where=(
                (w, x - gamma * grad_x),
                (w_star, x_star - gamma * h_star),
                (psi_next, NormSq(x_next - x_star) + gamma**2 / q**2 * NormSq(h_next - h_star)),
            ),
        ),
    ),
    assumptions=(OPTIMAL,),
    uses=("proxskip.lemma-3.3",),
    check=Instances(space=Space({**SIZES, **REGULARISER, **SMOOTH, **STEP}), realise=realise),
)
