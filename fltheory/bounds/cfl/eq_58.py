r"""(58): how far a client moves in its local steps, against the gap.

As published, without information loss and for a positive denominator,

.. math:: \mathbb E\|\omega_{t,i,k} - \omega_t\|^2 \le \frac{4K^2\eta_l^2 L c_{p_B}(f(\omega_t) - f(\omega^*)) +
   K^2\eta_l^2 c_{p_G} + K\eta_l^2\sigma^2}
   {1 - 2K^2\eta_l^2 L^2 c_{p_B}} .

The recursion (56) replaces a sum over earlier steps by :math:`k` times the last one and uses Lemma 3.5 at a model
that depends on the drifts. The bound survives both: the first since it also holds for the largest of the left-hand
sides, the second since gradient steps do not increase a client's own gradient.

**Derivation of the sharp form.** Noise-free steps :math:`z_k` of a convex, :math:`L`-smooth objective with
:math:`\eta_l L \le 2` are nonexpansive, so gradients do not grow, :math:`\|z_k - \omega_t\| \le k\eta_l\|\nabla\bar
f_{t,i}(\omega_t)\|`, and noise moves the model by :math:`\mathbb E\|\omega_k - z_k\|^2 \le k\eta_l^2p_t^2\sigma^2`.
By Minkowski's inequality, Lemma 3.5 at the fixed :math:`\omega_t` and :math:`\|\nabla f\|^2 \le 2L(f - f^*)`,

.. math:: \mathbb E\|\omega_{t,i,k} - \omega_t\|^2 \le \eta_l^2\Bigl(k\sqrt{2Lc_{p_B}(f(\omega_t) - f^*) + c_{p_G}} +
   \sqrt{k}\,p_{t,i}\sigma\Bigr)^2 ,

without a denominator. Attained in the limit of small rates if either the noise or the rest vanishes.

**Without growth.** :math:`\bar f_{t,i}` is smooth and convex with mean :math:`f`, so that :math:`\mathbb E\|\nabla\bar
f_{t,i}(\omega_t) - \nabla\bar f_{t,i}(\omega^*)\|^2 \le 2L(f(\omega_t) - f^*)`, and Lemma 3.5 is only needed at
:math:`\omega^*`, where :math:`A` and :math:`B` do not matter. So the first root may be replaced by
:math:`\sqrt{2L(f(\omega_t) - f^*)} + \sqrt{c_{p_G}}`, without :math:`c_{p_B}` (``sharp@any-growth``): smoothness bounds
what drifts that grow can do. For the same reason no drift shows the :math:`B^2` of the other forms.

Instances: one round of CFL-R in one or two dimensions without information loss, see the module of rounds.

Source: Guo et al., 2021, (56) to (58).
"""

from __future__ import annotations

from functools import partial

from sympy import Le, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._round import (
    DRIFTS,
    FASTEST,
    NOISE,
    SMALL,
    WEIGHTS,
    client,
    floor,
    gap,
    grown,
    realise,
    space,
    step,
    w,
)
from fltheory.bounds.cfl._symbols import K, c_B, c_G, eta_l, now, p, sigma_sq, w_t
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import L, N
from fltheory.problems.problem import Origin

moved = EE(NormSq(w[client, step] - w_t))
everywhere = ((client, 1, N), (step, 1, K))
where = ((c_B, grown), (c_G, floor))
top = 4 * K**2 * eta_l**2 * L * c_B * gap + K**2 * eta_l**2 * c_G + K * eta_l**2 * sigma_sq

claim = Claim(
    id="cfl.eq-58",
    kind=Kind.LEMMA,
    title="local drift against the gap",
    citation=Citation("cfl", "(58)"),
    forms=(
        Form(statement=Le(moved, top / (1 - 2 * K**2 * eta_l**2 * L**2 * c_B)), where=where, over=everywhere),
        Form(
            variant="sharp",
            statement=Le(
                moved,
                eta_l**2 * (step * sqrt(2 * L * c_B * gap + c_G) + sqrt(step) * p[now] * sqrt(sigma_sq)) ** 2,
            ),
            where=where,
            over=everywhere,
            assumptions=(NOISE, WEIGHTS, DRIFTS, Assumption("nonexpansive steps", Le(eta_l * L, 2), Origin.DECLARED)),
            check=Instances(space=space(rate=FASTEST, joined=True), realise=partial(realise, loss=False)),
            note="no denominator; weight of the fresh noise",
        ),
        Form(
            variant="sharp@any-growth",
            statement=Le(
                moved,
                eta_l**2 * (step * (sqrt(2 * L * gap) + sqrt(c_G)) + sqrt(step) * p[now] * sqrt(sigma_sq)) ** 2,
            ),
            where=((c_G, floor),),
            over=everywhere,
            assumptions=(NOISE, WEIGHTS, DRIFTS, Assumption("nonexpansive steps", Le(eta_l * L, 2), Origin.DECLARED)),
            check=Instances(space=space(rate=FASTEST, joined=True), realise=partial(realise, loss=False)),
            note="without the constants of growth",
        ),
    ),
    assumptions=(NOISE, WEIGHTS, DRIFTS, SMALL),
    uses=("cfl.eq-52", "cfl.lemma-3.5.2", "cfl.assumption-1"),
    check=Instances(space=space(rate=0.7), realise=partial(realise, loss=False)),
)
