r"""Lemma A.5: strong convexity with the gradient taken elsewhere.

For an :math:`L`-smooth, :math:`\mu`-strongly convex function and any three points, as published,

.. math:: \langle\nabla h(x), z - y\rangle \ge h(z) - h(y) + \frac\mu4\|y - z\|^2 - L\|z - x\|^2 .

The proof adds smoothness between :math:`x` and :math:`z` to strong convexity between :math:`x` and :math:`y`, so it
is true.

**Derivation of the sharp form.** The two inequalities give :math:`h(z) - h(y) - \frac L2\|z - x\|^2 + \frac\mu2\|y -
x\|^2`, and :math:`\frac\mu2\|y - x\|^2 \ge \frac\mu4\|y - z\|^2 - \frac\mu2\|z - x\|^2` by the relaxed triangle
inequality. So :math:`L` may be replaced by :math:`\frac{L + \mu}2`. It is attained in one dimension with :math:`x` in
the middle of :math:`y` and :math:`z`, curvature :math:`\mu` towards :math:`y` and :math:`L` towards :math:`z`; for
:math:`L = \mu` the published constant is the sharp one.

Instances: separable functions with one kink of the derivative per coordinate; :math:`y` and :math:`z` are placed
relative to :math:`x`.

Source: Guo et al., 2021, Lemma A.5, (11), after Karimireddy et al., 2020, Lemma 5.
"""

from __future__ import annotations

from functools import partial

from sympy import Ge

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import L, mu
from fltheory.bounds.technical_lemmas.convexity import SPACE, grad_h, h, realise, x, y, z

inner = Inner(grad_h(x), z - y)
below = h(z) - h(y) + mu / 4 * NormSq(y - z)

claim = Claim(
    id="cfl.lemma-a.5",
    kind=Kind.LEMMA,
    title="perturbed strong convexity",
    citation=Citation("cfl", "Lemma A.5, (11)"),
    forms=(
        Form(statement=Ge(inner, below - L * NormSq(z - x))),
        Form(
            variant="sharp",
            statement=Ge(inner, below - (L + mu) / 2 * NormSq(z - x)),
            note="(L + mu)/2 in place of L; attained",
        ),
    ),
    uses=("cfl.lemma-a.3",),
    check=Instances(space=SPACE, realise=partial(realise, smoothness="L")),
)
