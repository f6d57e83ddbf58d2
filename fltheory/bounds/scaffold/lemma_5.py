r"""Lemma 5: strong convexity with the gradient taken elsewhere.

For a :math:`\beta`-smooth, :math:`\mu`-strongly convex function and any three points, as published,

.. math:: \langle\nabla h(x), z - y\rangle \ge h(z) - h(y) + \frac\mu4\|y - z\|^2 - \beta\|z - x\|^2 .

**Derivation of the sharp form.** The last line of the printed proof but one: :math:`\beta` may be :math:`\frac{\beta +
\mu}2`. It is attained in one dimension with :math:`x` in the middle of :math:`y` and :math:`z`, curvature :math:`\mu`
towards :math:`y` and :math:`\beta` towards :math:`z`.

Instances: separable functions with one kink of the derivative per coordinate.

Source: Karimireddy et al., 2020, Lemma 5, page 17 of the supplement.
"""

from __future__ import annotations

from functools import partial

from sympy import Ge

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.scaffold._symbols import beta
from fltheory.bounds.symbols import mu
from fltheory.bounds.technical_lemmas.convexity import SPACE, grad_h, h, realise, x, y, z

inner = Inner(grad_h(x), z - y)
below = h(z) - h(y) + mu / 4 * NormSq(y - z)

claim = Claim(
    id="scaffold.lemma-5",
    kind=Kind.LEMMA,
    title="perturbed strong convexity",
    citation=Citation("scaffold", "Lemma 5"),
    forms=(
        Form(statement=Ge(inner, below - beta * NormSq(z - x))),
        Form(
            variant="sharp",
            statement=Ge(inner, below - (beta + mu) / 2 * NormSq(z - x)),
            note="(beta + mu)/2 in place of beta; attained",
        ),
    ),
    uses=("scaffold.lemma-3",),
    check=Instances(space=SPACE, realise=partial(realise, smoothness="beta")),
)
