r"""Proposition 5: variance of a mean of stochastic gradients.

"Let functions :math:`F_i(x, \xi)` be :math:`L`-smooth (Assumption 1a) with bounded noise at the optimum (Assumption
3a). Then for any :math:`x_i \in \mathbb R^d` and :math:`\bar x = \frac1n\sum_ix_i`", as published,

.. math:: \mathbb E_{\xi_1, \dots, \xi_n}\Bigl\|\frac1n\sum_{i=1}^n\bigl(\nabla f_i(x_i) - \nabla F_i(x_i,
   \xi_i)\bigr)\Bigr\|^2 \le \frac{3L^2}{n^2}\sum_{i=1}^n\|x_i - \bar x\|^2 + \frac{6L}n\bigl(f(\bar x) -
   f(x^\star)\bigr) + \frac{3\bar\sigma^2}n .

**Reading.** The section begins with "we require both :math:`f_i` and :math:`F_i` to be convex"; with it (form
``published``) the proposition holds. On its own words, without convexity of :math:`F_i` (form ``published@smooth``), it
fails: with :math:`F(x, \pm1) = \frac12(h \pm g)x^2` the variance is :math:`g^2x^2`, while :math:`f(x) = \frac12hx^2`
may be as flat as one likes.

**What the proof uses.** Noises of two clients are uncorrelated: its first step is :math:`\mathbb
E\|\frac1n\sum_i\cdot\|^2 \le \frac1{n^2}\sum_i\mathbb E\|\cdot\|^2`. No assumption says so (the proof of Lemma
9 says that draws of different iterations are independent). It is an assumption here; form ``published@any-dependence``
is without it, and fails for equal clients that share their draws. Workers that sample in parallel are understood to
sample on their own.

**Derivation of the sharp form.** Let :math:`D_i = \nabla F_i(\bar x, \xi_i) - \nabla F_i(x^\star, \xi_i)`. By
:math:`\|D_i\|^2 \le 2L\bigl(F_i(\bar x, \xi_i) - F_i(x^\star, \xi_i) - \langle\bar x - x^\star, \nabla F_i(x^\star,
\xi_i)\rangle\bigr)` the mean of :math:`\mathbb E\|D_i\|^2` is at most :math:`2L(f(\bar x) - f^\star)`. As a convex
:math:`L`-smooth function is cocoercive, :math:`\nabla F_i(x_i, \xi_i) - \nabla F_i(\bar x, \xi_i)` is in the ball
around :math:`\frac L2(x_i - \bar x)` with radius :math:`\frac L2\|x_i - \bar x\|`, whose squared radius bounds its
variance. The triangle inequality for the norm :math:`\sqrt{\frac1n\sum_i\mathbb E\|\cdot\|^2}` gives

.. math:: \mathbb E\Bigl\|\frac1n\sum_i\bigl(\nabla f_i(x_i) - \nabla F_i(x_i, \xi_i)\bigr)\Bigr\|^2 \le
   \frac1n\Bigl(\frac L2\sqrt{\tfrac1n\textstyle\sum_i\|x_i - \bar x\|^2} + \sqrt{2L(f(\bar x) - f^\star)} +
   \bar\sigma\Bigr)^2 .

None of the three constants can be smaller, as each term alone is attained: the first with slopes 0 and :math:`L` drawn
with probability one half each, the second in the limit of slopes :math:`L` that are rarely drawn, the third with
additive noise. The published form follows with :math:`\frac34L^2` in place of :math:`3L^2`.

Instances: see :mod:`fltheory.bounds.koloskova._noisy`.

Source: Koloskova et al., 2020, Proposition 5, page 17.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Le, Sum, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.koloskova._noisy import CONVEX, SADDLES, draws, models, saddles, x, x_bar
from fltheory.bounds.koloskova._symbols import INDEPENDENT, f_bar, f_star, i, n, sigma_bar_sq
from fltheory.bounds.quantities import family
from fltheory.bounds.space import Choice, Integer, Params, Space
from fltheory.bounds.symbols import L

grad_f = family("grad_f", r"\nabla f_{<0>}(x_{<0>})", "gradient of a client at its model", shape=("clients", "dim"))
grad_F = family(
    "grad_F",
    r"\nabla F_{<0>}(x_{<0>}, \xi_{<0>})",
    "stochastic gradient of a client at its model",
    random=True,
    shape=("clients", "dim"),
)

SHAPES = ("centre", "knot", "left", "right")
"""What a client's functions are made of."""


def realise(point: Params, *, convex: bool, common: bool = False) -> dict[str, Any]:
    """Return gradients at any models; clients have their own draws, or they are equal and have ``common`` ones."""
    if common:
        point = {**point, **{name: np.stack([point[name][0]] * point["n"]) for name in SHAPES}}
    made = draws(point) if convex else saddles(point)
    own = models(point, made, equal=False)
    mean = own.sum(axis=0) / made.number
    drawn, gradients = made.gradients(own)
    chances, joint = (made.chances, drawn.swapaxes(0, 1)) if common else (made.outcomes()[0], made.joint(drawn))
    return {
        "n_clients": made.number,
        "L": point["L"],
        "x": own,
        "x_bar": mean,
        "grad_f": gradients,
        "grad_F": joint,
        "chance": list(chances),
        "dependence": 1 if common else 0,
        "f_bar": made.objective(mean),
        "f_star": made.objective(made.x_star),
        "sigma_bar_sq": made.variance([made.x_star] * made.number),
    }


variance = EE(NormSq(Sum(grad_f[i] - grad_F[i], (i, 1, n)) / n))
spread = Sum(NormSq(x[i] - x_bar), (i, 1, n))
printed = Le(variance, 3 * L**2 / n**2 * spread + 6 * L / n * (f_bar - f_star) + 3 * sigma_bar_sq / n)

claim = Claim(
    id="koloskova.proposition-5",
    kind=Kind.LEMMA,
    title="variance of a mean of stochastic gradients",
    citation=Citation("koloskova", "Proposition 5"),
    forms=(
        Form(
            statement=printed,
            intended=("published@smooth", "published@any-dependence"),
            note="convex functions, as the section requires",
        ),
        Form(
            variant="published@smooth",
            statement=printed,
            check=Instances(space=Space(SADDLES), realise=partial(realise, convex=False)),
            note="on its own words: smooth functions, of which only the means are convex",
        ),
        Form(
            variant="published@any-dependence",
            statement=printed,
            assumptions=(),
            check=Instances(
                space=Space({**CONVEX, "n": Integer(1, 6)}), realise=partial(realise, convex=True, common=True)
            ),
            note="without the independence of clients, which no assumption lists",
        ),
        Form(
            variant="sharp",
            statement=Le(
                variance, (L / 2 * sqrt(spread / n) + sqrt(2 * L * (f_bar - f_star)) + sqrt(sigma_bar_sq)) ** 2 / n
            ),
            check=Instances(
                space=Space({**CONVEX, "alike": Choice(("no", "yes"))}), realise=partial(realise, convex=True)
            ),
            note="a sum of roots, squared; each constant is the best one",
        ),
    ),
    assumptions=(INDEPENDENT,),
    check=Instances(space=Space(CONVEX), realise=partial(realise, convex=True)),
)
