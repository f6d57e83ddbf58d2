r"""Lemma 3.5: a gradient step brings two points together.

With :math:`w_t = x_t - \gamma\nabla f(x_t)` and :math:`w_\star = x_\star - \gamma\nabla f(x_\star)`, as published, for
:math:`f` convex with any :math:`\mu \ge 0`, and :math:`0 < \gamma \le \frac1L`

.. math:: \|w_t - w_\star\|^2 \le (1 - \gamma\mu)\,\|x_t - x_\star\|^2 .

**Where it is tight.** For :math:`\mu = 0` only.

**Derivation of the sharp form.** :math:`f - \frac\mu2\|\cdot\|^2` is convex and :math:`(L-\mu)`-smooth, so with
:math:`s = x_t - x_\star` and :math:`g = \nabla f(x_t) - \nabla f(x_\star) - \mu s` we have
:math:`\langle g, s\rangle \ge \frac1{L-\mu}\|g\|^2`, and

.. math:: \|(1-\gamma\mu)s - \gamma g\|^2 \le (1-\gamma\mu)^2\|s\|^2 - \gamma\Bigl(\frac{2(1-\gamma\mu)}{L-\mu} -
   \gamma\Bigr)\|g\|^2 ,

whose last term is not positive for :math:`\gamma \le \frac2{L+\mu}`. So the square of :math:`1-\gamma\mu` stands in
place of :math:`1-\gamma\mu`, for longer steps too, and :math:`f = \frac\mu2\|\cdot\|^2` attains it.

Instances: functions whose derivative has a kink, and quadratics with turned axes.

Source: Mishchenko et al., ICML 2022, Lemma 3.5, (14), and appendix B.2.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Le

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked, Turned
from fltheory.bounds.proxskip._symbols import gamma, grad_x, h_star, x, x_star
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import L, mu

w = scalar("w", "w_t", "model after a gradient step", shape=("dim",))
w_star = scalar("w_star", r"w_\star", "minimiser after a gradient step", shape=("dim",))


def realise(point: Params, *, longer: bool) -> dict[Any, Any]:
    """Return two points, their gradients and a step size."""
    low, high = point["mu"], point["mu"] + point["above"]
    slopes = [low + (high - low) * point[side] for side in ("left", "right")]
    functions: Any
    if point["family"] == "turned" and point["d"] == 2:
        functions = Turned(centre=0 * point["knot"][None], eigenvalues=slopes[0][None], turn=np.array([point["turn"]]))
    else:
        functions = Kinked(
            centre=0 * point["knot"][None], knot=point["knot"][None], left=slopes[0][None], right=slopes[1][None]
        )
    return {
        mu: low,
        L: high,
        gamma: point["step"] * 2 / (low + high) if longer else point["step"] / high,
        x: point["x"],
        x_star: point["y"],
        grad_x: functions.gradient(0, point["x"]),
        h_star: functions.gradient(0, point["y"]),
    }


space = Space(
    {
        "d": Integer(1, 2),
        "family": Choice(("kinked", "turned")),
        "mu": Real(0, 10),
        "above": Real(0.01, 100, log=True),
        "left": Real(0, 1, shape=("d",)),
        "right": Real(0, 1, shape=("d",)),
        "knot": Real(-3, 3, shape=("d",)),
        "turn": Real(-1, 1),
        "step": Real(0.01, 1, log=True),
        "x": Real(-3, 3, shape=("d",)),
        "y": Real(-3, 3, shape=("d",)),
    }
)
where = ((w, x - gamma * grad_x), (w_star, x_star - gamma * h_star))

claim = Claim(
    id="proxskip.lemma-3.5",
    kind=Kind.LEMMA,
    title="a gradient step is a contraction",
    citation=Citation("proxskip", "Lemma 3.5, (14)"),
    forms=(
        Form(statement=Le(NormSq(w - w_star), (1 - gamma * mu) * NormSq(x - x_star)), where=where),
        Form(
            variant="sharp",
            statement=Le(NormSq(w - w_star), (1 - gamma * mu) ** 2 * NormSq(x - x_star)),
            where=where,
            assumptions=(Assumption("step size", Le(gamma, 2 / (L + mu))),),
            check=Instances(space=space, realise=partial(realise, longer=True)),
            note="the square, and step sizes up to 2 / (L + mu)",
        ),
    ),
    assumptions=(Assumption("step size", Le(gamma, 1 / L)),),
    check=Instances(space=space, realise=partial(realise, longer=False)),
)
