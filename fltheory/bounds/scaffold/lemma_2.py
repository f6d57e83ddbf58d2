r"""Lemma 2: a constant step that balances start, variance and drift.

For :math:`d_{r-1} \ge 0` and :math:`\eta_{\max}, c_1, c_2, R \ge 0` there is a constant step :math:`\eta \le
\eta_{\max}` such that, as published,

.. math:: \Psi_R = \frac1{R+1}\sum_{r=1}^{R+1}\Bigl(\frac{d_{r-1}}\eta - \frac{d_r}\eta + c_1\eta + c_2\eta^2\Bigr)
   \le \frac{d_0}{\eta_{\max}(R+1)} + \frac{2\sqrt{c_1d_0}}{\sqrt{R+1}} + 2\Bigl(\frac{d_0}{R+1}\Bigr)^{2/3}c_2^{1/3} .

The text announces one constant :math:`c`, the formula has two. The smallest of :math:`\eta_{\max}`,
:math:`\sqrt{d_0/(c_1(R+1))}` and :math:`(d_0/(c_2(R+1)))^{1/3}` is such a step: its inverse is at most the sum of the
three inverses, and the last two terms are at most one half of theirs on the right. With :math:`c_2 = 0` and large
:math:`\eta_{\max}` the bound is attained in the limit; with :math:`c_1 = c_2 = 0` it is an equality. The second case
of the printed proof takes the smaller of two steps without comparing it with :math:`\eta_{\max}`.

Instances: sequences of up to five members, with that step.

Source: Karimireddy et al., 2020, Lemma 2, page 15 of the supplement.
"""

from __future__ import annotations

from functools import partial

from sympy import Le, Rational, Sum, sqrt

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.scaffold._symbols import R, eta, eta_max
from fltheory.bounds.scaffold.lemma_1 import r
from fltheory.bounds.technical_lemmas.sequences import balanced, balanced_space, c_1, c_2, d

claim = Claim(
    id="scaffold.lemma-2",
    kind=Kind.LEMMA,
    title="constant step for a sublinear rate",
    citation=Citation("scaffold", "Lemma 2"),
    forms=(
        Form(
            statement=Le(
                Sum(d[r - 1] / eta - d[r] / eta + c_1 * eta + c_2 * eta**2, (r, 1, R + 1)) / (R + 1),
                d[0] / (eta_max * (R + 1))
                + 2 * sqrt(c_1 * d[0]) / sqrt(R + 1)
                + 2 * (d[0] / (R + 1)) ** Rational(2, 3) * c_2 ** Rational(1, 3),
            ),
        ),
    ),
    check=Instances(space=balanced_space("R"), realise=partial(balanced, rounds="R")),
)
