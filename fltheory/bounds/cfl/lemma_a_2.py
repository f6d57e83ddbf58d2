r"""Lemma A.2: a constant step that balances start, variance and drift.

For :math:`d_t \ge 0`, :math:`c_1, c_2 \ge 0` there is a constant step :math:`\eta \le \eta_{\max}` such that, as
published,

.. math:: \Phi_T = \frac1{T+1}\sum_{t=1}^{T+1}\Bigl(\frac{d_{t-1}}{\eta} - \frac{d_t}{\eta} + c_1\eta +
   c_2\eta^2\Bigr)
   \le \frac{d_0}{\eta_{\max}(T+1)} + \frac{2\sqrt{c_1 d_0}}{\sqrt{T+1}} + 2\Bigl(\frac{d_0}{T+1}\Bigr)^{2/3}c_2^{1/3}
   .

The sum telescopes to at most :math:`\frac{d_0}{\eta(T+1)} + c_1\eta + c_2\eta^2`, and the smallest of
:math:`\eta_{\max}`, :math:`\sqrt{d_0/(c_1(T+1))}` and :math:`(d_0/(c_2(T+1)))^{1/3}` is such a step: its inverse is
at most the sum of the three inverses, and the last two terms are at most one half of theirs on the right. With
:math:`c_2 = 0` and large :math:`\eta_{\max}` the bound is attained in the limit; with :math:`c_1 = c_2 = 0` it is an
equality. The three terms need :math:`c_1, c_2` that do not depend on :math:`t`, while the convergence proof has
:math:`c_1(t), c_2(t)`.

Instances: sequences of up to five members, with that step; :math:`c_1` and :math:`c_2` are chosen so that roots are
rational.

Source: Guo et al., 2021, Lemma A.2, (8), after Karimireddy et al., 2020, Lemma 2.
"""

from __future__ import annotations

from functools import partial

from sympy import Le, Rational, Sum, sqrt

from fltheory.bounds.cfl._symbols import T, eta, eta_max
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import t
from fltheory.bounds.technical_lemmas.sequences import balanced, balanced_space, c_1, c_2, d

claim = Claim(
    id="cfl.lemma-a.2",
    kind=Kind.LEMMA,
    title="constant step for a sublinear rate",
    citation=Citation("cfl", "Lemma A.2, (8)"),
    forms=(
        Form(
            statement=Le(
                Sum(d[t - 1] / eta - d[t] / eta + c_1 * eta + c_2 * eta**2, (t, 1, T + 1)) / (T + 1),
                d[0] / (eta_max * (T + 1))
                + 2 * sqrt(c_1 * d[0]) / sqrt(T + 1)
                + 2 * (d[0] / (T + 1)) ** Rational(2, 3) * c_2 ** Rational(1, 3),
            ),
        ),
    ),
    check=Instances(space=balanced_space("T"), realise=partial(balanced, rounds="T")),
)
