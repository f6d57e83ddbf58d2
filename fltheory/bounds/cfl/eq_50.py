r"""(50): the expected square of a round's displacement.

As published, with :math:`c_{p_B} = 1 + B^2 + A^2\sum_\tau p_\tau^2` and :math:`c_{p_G} = G^2 + D^2\sum_\tau
p_\tau^2`,

.. math:: \mathbb E\|\Delta\omega_t\|^2 \le \frac{\eta^2}{NK}\sum_{i,k}\Bigl(2L^2 c_{p_B}\mathbb E\|\omega_{t,i,k-1} -
   \omega_t\|^2
   + 2c_{p_B}\|\nabla f(\omega_t)\|^2 + c_{p_G}\Bigr) + \frac{\eta^2}{NK}\sum_{i,k}\Bigl(\mathbb E\|\Delta_{t,i}\|^2
   - 2\sum_\tau p_\tau\mathbb E\langle\nabla f_{t,i}, \Delta_{t,i}\rangle\Bigr) +
   \frac{\eta^2\sum_{i,\tau}p_{\tau,i}^2\sigma^2}{N^2K} ,

with :math:`\nabla f_{t,i}` and :math:`\Delta_{t,i}` at :math:`\omega_{t,i,k-1}`. From (47) on, the current gradient
:math:`\nabla f_{t,i}` stands where the remembered ones :math:`\nabla f_{\tau,i}` belong, and with information loss the
inequality fails. Without loss (form ``published@no-loss``), where :math:`\Delta = 0`, no instance breaks it, although
three steps of its proof are not justified: (46) separates mean and variance as if local models did not depend on the
noise, (49) uses Lemma 3.5 at a model that depends on the drifts, and :math:`c_{p_G}` is not doubled where the square is
split.

Where it fails. Take one client, one step, two rounds, no noise and drifts :math:`\delta = s'\beta\nabla f`,
:math:`\xi_\tau = s_\tau\alpha\nabla f`; write :math:`g = \nabla f(\omega_t)` and :math:`R` for what the Taylor model
of :math:`f` loses. Then :math:`\Delta = p_1(1 - s'\beta - s_1\alpha)R` and :math:`\mathbb E\langle\nabla f_t -
\nabla\bar f_t, \Delta\rangle = -p_1^2\alpha^2\langle g, R\rangle`, while the right-hand side has :math:`c_{p_B}\|g\|^2`
to spare. So it fails if :math:`-2p_1^2\alpha^2\langle g, R\rangle > c_{p_B}\|g\|^2`: the round drift has to grow with
the gradient, the loss has to point against a gradient that is smaller, and the weight of the past has to be large.
With constant drifts :math:`\Delta` does not depend on them and nothing fails. These are small parts of the space of all
rounds, most of which make both sides equal where the gradient vanishes and stop a search there; so ``published`` is
searched among second rounds with growing drifts only, twice as hard as usual, and ``corrected`` likewise.
``corrected@any-drift`` is searched among all rounds.

**Derivation of the corrected form.** Let the local objective be convex and :math:`L`-smooth and :math:`\eta_l L \le
2`, so that a step is nonexpansive. For the sums :math:`\Gamma_i` of gradients and :math:`S_i` of weighted noises of a
client, ``cfl.eq-52`` shows :math:`\mathbb E\langle\Gamma_i, S_i\rangle \le 0`; noises of different clients are
independent, so :math:`S_i` has no product with :math:`\Gamma_j` or :math:`S_j` on average, and the noise contributes
at most :math:`\frac{\eta^2p_t^2\sigma^2}{NK}`. For the mean, :math:`\nabla\tilde f = \sum_\tau
p_\tau\nabla f_\tau - \Delta` is squared out, and :math:`\|\nabla\bar f(\omega_{k-1})\|^2 \le 2L^2\|\omega_{k-1} -
\omega_t\|^2 + 2\|\nabla\bar f(\omega_t)\|^2`, where Lemma 3.5 applies since :math:`\omega_t` is fixed:

.. math:: \mathbb E\|\Delta\omega_t\|^2 \le \frac{\eta^2}{NK}\sum_{i,k}\Bigl(2L^2\mathbb E\|\omega_{t,i,k-1} -
   \omega_t\|^2 + 2c_{p_B}\|\nabla f(\omega_t)\|^2 + 2c_{p_G}
   + \mathbb E\|\Delta_{t,i}\|^2 - 2\sum_\tau p_\tau\mathbb E\langle\nabla f_{\tau,i}, \Delta_{t,i}\rangle\Bigr)
   + \frac{\eta^2 p_t^2\sigma^2}{NK} .

Instances: one round of CFL-R in one or two dimensions, see the module of rounds.

Source: Guo et al., 2021, (45) to (50). Braces that the print leaves open are closed so that every index is bound.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.cfl._round import (
    DRIFTS,
    FASTEST,
    NOISE,
    WEIGHTS,
    client,
    floor,
    grad_at,
    grad_t,
    grown,
    lost,
    over_steps,
    realise,
    space,
    squares,
    step,
    update,
    w,
)
from fltheory.bounds.cfl._symbols import K, c_B, c_G, eta, eta_l, now, p, s, sigma_sq, w_t
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import L, N
from fltheory.problems.problem import Origin

at = (client, step - 1)
drift = EE(NormSq(w[at] - w_t))
where = ((c_B, grown), (c_G, floor))
first = over_steps(2 * L**2 * c_B * drift + 2 * c_B * NormSq(grad_t) + c_G)
second = over_steps(
    EE(NormSq(lost[at])) - 2 * Sum(p[s], (s, 1, now)) * EE(Inner(grad_at[now, client, step - 1], lost[at]))
)
published = Le(
    EE(NormSq(update)),
    eta**2 / (N * K) * first
    + eta**2 / (N * K) * second
    + eta**2 * Sum(squares * sigma_sq, (client, 1, N)) / (N**2 * K),
)
remembered: Any = EE(Sum(p[s] * Inner(grad_at[s, client, step - 1], lost[at]), (s, 1, now)))
corrected = Le(
    EE(NormSq(update)),
    eta**2
    / (N * K)
    * over_steps(2 * L**2 * drift + 2 * c_B * NormSq(grad_t) + 2 * c_G + EE(NormSq(lost[at])) - 2 * remembered)
    + eta**2 * p[now] ** 2 * sigma_sq / (N * K),
)
steady = (NOISE, WEIGHTS, DRIFTS, Assumption("nonexpansive steps", Le(eta_l * L, 2), Origin.DECLARED))

claim = Claim(
    id="cfl.eq-50",
    kind=Kind.LEMMA,
    title="size of the update",
    citation=Citation("cfl", "(50)"),
    forms=(
        Form(statement=published, where=where, note="with information loss"),
        Form(
            variant="published@no-loss",
            statement=published,
            where=where,
            check=Instances(space=space(rate=FASTEST, joined=True), realise=partial(realise, loss=False)),
            note="without information loss",
        ),
        Form(
            variant="corrected",
            statement=corrected,
            where=where,
            assumptions=steady,
            note="remembered gradients, their constant doubled, weight of the fresh noise",
        ),
        Form(
            variant="corrected@any-drift",
            statement=corrected,
            where=where,
            assumptions=steady,
            check=Instances(space=space(rate=FASTEST, joined=True), realise=realise),
            note="the same, any drifts and rounds",
        ),
    ),
    assumptions=(NOISE, WEIGHTS, DRIFTS),
    uses=("cfl.lemma-a.4", "cfl.lemma-a.3", "cfl.lemma-3.5.2", "cfl.lemma-b.3", "cfl.eq-33"),
    check=Instances(space=space(rate=FASTEST, growing=True), realise=realise, effort=2),
)
