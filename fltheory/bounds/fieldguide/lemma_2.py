r"""Lemma 2: how far local models drift from their mean in a round.

As published, for :math:`\eta \le \frac1{4L}` and uniform heterogeneity
:math:`\|\nabla F_i(x) - \nabla F(x)\| \le \zeta` for all :math:`i` and :math:`x`,

.. math:: \mathbb E_t\|x_i^{t,k} - \bar x^{t,k}\|^2 \le 18\tau^2\eta^2\zeta^2 + 4\tau\eta^2\sigma^2 .

**Reading.** For :math:`k = 0, \dots, \tau`; Lemma 1 needs it for :math:`k < \tau`.

**Derivation of the sharp form.** For :math:`\eta \le \frac2L` the map :math:`x \mapsto x - \eta\nabla F_i(x)` does not
expand distances. So two clients satisfy

.. math:: \mathbb E\|x_i^{t,k+1} - x_j^{t,k+1}\|^2 \le \mathbb E\bigl(\|x_i^{t,k} - x_j^{t,k}\| + 2\eta\zeta\bigr)^2 +
   2\eta^2\sigma^2 ,

since gradients of two clients at one point differ by at most :math:`2\zeta`, and noises are independent. By Minkowski's
inequality and induction :math:`\bigl(\mathbb E\|x_i^{t,k} - x_j^{t,k}\|^2\bigr)^{1/2} \le 2k\eta\zeta +
\sqrt{2k}\,\eta\sigma`: from :math:`k` to :math:`k + 1`, :math:`(a + b)^2 + c^2 \le \bigl(a + \sqrt{b^2 + c^2}\bigr)^2`.
The distance from the mean is at most the mean of the distances, one of which is zero:

.. math:: \mathbb E_t\|x_i^{t,k} - \bar x^{t,k}\|^2 \le \Bigl(\frac{M-1}M\Bigr)^2\bigl(2k\eta\zeta +
   \sqrt{2k}\,\eta\sigma\bigr)^2 \le 8k^2\eta^2\zeta^2 + 4k\eta^2\sigma^2 .

Two clients with linear objectives attain the first bound without noise, and without heterogeneity.

Instances: see :mod:`fltheory.bounds.fieldguide._round`; :math:`\zeta` is the smallest that the functions allow.

Source: Wang et al., 2021, section 6.1, Lemma 2.
"""

from __future__ import annotations

from sympy import Le, Sum, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.fieldguide import _round
from fltheory.bounds.fieldguide._symbols import M, eta, i, k, local, mean, s, sigma_sq, steps, zeta_sq
from fltheory.bounds.symbols import L

WHERE = ((mean[k], Sum(local[s, k], (s, 1, M)) / M),)
drift = EE(NormSq(local[i, k] - mean[k]))
every = ((i, 1, M), (k, 0, steps))

claim = Claim(
    id="fieldguide.lemma-2",
    kind=Kind.LEMMA,
    title="drift of local models from their mean",
    citation=Citation("fieldguide", "Section 6.1, Lemma 2"),
    forms=(
        Form(
            statement=Le(drift, 18 * steps**2 * eta**2 * zeta_sq + 4 * steps * eta**2 * sigma_sq),
            where=WHERE,
            over=every,
        ),
        Form(
            variant="sharp",
            statement=Le(drift, ((M - 1) / M) ** 2 * eta**2 * (2 * k * sqrt(zeta_sq) + sqrt(2 * k * sigma_sq)) ** 2),
            where=WHERE,
            over=every,
            assumptions=(*_round.NOISE, _round.UNIFORM, Assumption("step size", Le(eta, 2 / L))),
            check=_round.rounds(longest=8, compared=True),
            note="attained by two clients without noise or heterogeneity; step sizes up to 2 / L",
        ),
    ),
    assumptions=(*_round.NOISE, _round.UNIFORM, _round.STEP),
    check=_round.rounds(compared=True),
)
