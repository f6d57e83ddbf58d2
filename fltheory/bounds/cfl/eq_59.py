r"""(59): the squared distance after one round, before simplification.

As published, without information loss,

.. math:: \mathbb E\|\omega_t + \Delta\omega_t - \omega^*\|^2 \le \Bigl(1 - \frac{\mu\eta}2\Bigr)\mathbb E\|\omega_t -
   \omega^*\|^2
   + \Bigl(-2\eta + 4\eta^2Lc_{p_B} + \frac{8K^2\eta\eta_l^2L^2c_{p_B}(1 + \eta Lc_{p_B})}{1 -
   2K^2\eta_l^2L^2c_{p_B}}\Bigr)(f(\omega_t) - f^*)

.. math:: {} + \eta^2c_{p_G} + \frac{\eta^2\sum_\tau p_\tau^2\sigma^2}{N^2K}
   + \frac{K\eta\eta_l^2L(Kc_{p_G} + \sigma^2)(1 + \eta Lc_{p_B})}{1 - 2K^2\eta_l^2L^2c_{p_B}} .

Adding (44), (50) and (58) gives other constants: the sum over clients in the noise term of (50) leaves :math:`NK`,
not :math:`N^2K`, in the denominator, and the last term comes out twice as large. The first slip makes the statement
false: the variance of a mean over :math:`N` clients is :math:`\sigma^2/N`. The definition of :math:`c_1` two lines
below has :math:`NK` again.

**Derivation of the corrected form.** Let :math:`\eta_l L \le 2`, write :math:`x = K\eta_l L`. (44) without loss and
(58) in its sharp form, with :math:`(a + b)^2 \le 2a^2 + 2b^2`, bound the inner product by :math:`-2\eta(f(\omega_t) -
f^*) - \frac{\mu\eta}2\|\omega_t - \omega^*\|^2 + 4K\eta\eta_l^2L(2KLc_{p_B}(f(\omega_t) - f^*) + Kc_{p_G} +
p_t^2\sigma^2)`. For the square, local gradients at noise-free models do not grow, and noise moves them by at most
:math:`L` times what it moves the model, so with :math:`(a + b)^2 \le (1 + x)a^2 + (1 + 1/x)b^2`

.. math:: \mathbb E\|\nabla\bar f_{t,i}(\omega_{t,i,k-1})\|^2 \le (1 + x)\Bigl(c_{p_B}\|\nabla f(\omega_t)\|^2 +
   c_{p_G} + \tfrac xK p_t^2\sigma^2\Bigr),

and the noise itself adds :math:`\frac{\eta^2p_t^2\sigma^2}{NK}` as in ``cfl.eq-50``. Together

.. math:: \mathbb E\|\omega_{t+1} - \omega^*\|^2 \le \Bigl(1 - \frac{\mu\eta}2\Bigr)\|\omega_t - \omega^*\|^2
   + \bigl(-2\eta + 2\eta^2Lc_{p_B}(1 + x) + 8K^2\eta\eta_l^2L^2c_{p_B}\bigr)(f(\omega_t) - f^*)

.. math:: {} + \eta^2\Bigl((1 + x)c_{p_G} + \frac{p_t^2\sigma^2}{K}\bigl(\tfrac1N + x(1 + x)\bigr)\Bigr) +
   4K\eta\eta_l^2L(Kc_{p_G} + p_t^2\sigma^2) .

The last term is twice what (44), (50) and (58) as published add up to, apart from their denominator and the weight
:math:`p_t^2`: the price of :math:`(a + b)^2 \le 2a^2 + 2b^2`, which makes the bound linear in the gap. It needs
:math:`\omega_t` to be independent of the drifts in :math:`\bar f_t`, which in later rounds of CFL-R it is not.

**Derivation of the sharp form.** For :math:`\eta_l(L + \mu) \le 2` and :math:`\eta_g \ge 1`. Three things above cost
more than they have to. Write :math:`g_k, d_k` for the gradient of :math:`\bar f = \bar f_{t,i}` and the direction,
noise included, of step :math:`k < K` at :math:`\omega_k`, :math:`u_i = \frac1K\sum_kd_k`, :math:`e = \omega_t -
\omega^*`, :math:`s = p_t\sigma/\sqrt K`, and :math:`r` for a bound on the root of :math:`\mathbb E\|\nabla\bar
f_{t,i}(\omega_t)\|^2`.

*Growth.* :math:`\bar f` is smooth and convex, and its mean over the drifts is :math:`f`. So :math:`\mathbb
E\|\nabla\bar f(\omega_t) - \nabla\bar f(\omega^*)\|^2 \le 2L(f(\omega_t) - f^*)`, and Lemma 3.5 is only needed at
:math:`\omega^*`, where nothing grows: :math:`r = \sqrt{2L(f(\omega_t) - f^*)} + \sqrt{c_{p_G}}`. The constants
:math:`A, B` are not needed, since no drift of a smooth objective can grow faster than this.

*The way of a client.* By convexity :math:`\bar f(\omega_j) - \bar f(\omega_{j+1}) \le \eta_l\langle g_j, d_j\rangle`,
and :math:`\omega_t - \omega_k = \eta_l\sum_{j<k}d_j`. Noise has mean zero given the model that it is added to, so

.. math:: \sum_k\mathbb E\langle g_k, e\rangle
   = \sum_k\mathbb E\langle g_k, \omega_k - \omega^*\rangle + \eta_l\sum_{j<k}\mathbb E\langle d_k, d_j\rangle
   = \sum_k\mathbb E\langle g_k, \omega_k - \omega^*\rangle
   + \tfrac{\eta_l}2\mathbb E\bigl(K^2\|u_i\|^2 - \sum_k\|d_k\|^2\bigr) ,

.. math:: \mathbb E\langle g_k, \omega_k - \omega^*\rangle \ge \mathbb E\Bigl(\bar f(\omega_t) - \bar f(\omega^*)
   - \eta_l\sum_{j<k}\|g_j\|^2 + \tfrac\mu4\|e\|^2 - \tfrac\mu2\|\omega_k - \omega_t\|^2\Bigr) .

What the objective loses on the way comes back in :math:`K^2\|u_i\|^2`. With :math:`\eta K\eta_l = \eta^2/\eta_g`, the
convexity of squares over clients and :math:`V = \frac1N\sum_i\mathbb E\|u_i - \bar u\|^2`

.. math:: \mathbb E\|\omega_{t+1} - \omega^*\|^2 \le \Bigl(1 - \frac{\mu\eta}2\Bigr)\|e\|^2 - 2\eta(f(\omega_t) - f^*)
   + \eta^2\Bigl(1 - \frac1{\eta_g}\Bigr)\mathbb E\|\bar u\|^2

.. math:: {} + \frac{\eta^2}{\eta_g}\Bigl(\frac1N\sum_i\sum_j\frac{2(K - j) - 1}{K^2}\mathbb E\|g_j\|^2 + s^2 - V\Bigr)
   + \frac{\mu\eta}{NK}\sum_{i,k}\mathbb E\|\omega_k - \omega_t\|^2 ,

and the weights of the :math:`\|g_j\|^2` add up to one: without noise the first-order price of local steps is gone.

*Strong convexity.* Noise-free gradients fall like :math:`\rho^j`, :math:`\rho = 1 - \mu\eta_l`. What this saves pays
for the last sum without noise, since :math:`\mu\eta_l\sum_{k<K}(\sum_{j<k}\rho^j)^2 \le \sum_j(2(K - j) - 1)(1 -
\rho^{2j})`: from :math:`K` to :math:`K + 1` the left side grows by :math:`(1 - \rho^K)^2/(1 - \rho)`, the right side by
:math:`2\sum_{j<K}(1 - \rho^{2j}) + 1 - \rho^{2K}`, and of these the former grows by :math:`\rho^K(2 - \rho^K -
\rho^{K+1})`, the latter by :math:`2 - \rho^{2K} - \rho^{2K+2}`, which is more.

*Noise* moves models by at most :math:`\eta_lp_t\sigma\sqrt k` and gradients by :math:`L` times that, roots of mean
squares, on average over :math:`k` by at most :math:`\frac23xs`. So :math:`\mathbb E\|\bar u\|^2 \le (r + \frac23xs)^2 +
\frac{s^2}N`; given the drifts clients are independent, so that :math:`V \ge (1 - \frac1N)(1 - \frac43x)s^2` (for less
noise than :math:`\sigma^2` both :math:`s^2` shrink); products of :math:`r` with the noise in the two sums are at most
:math:`(\frac{16}{15} + \frac45)xrs \le 2xrs`, squares of the noise at most :math:`\frac13x^2s^2 + \frac12xs^2`.
Together

.. math:: \mathbb E\|\omega_{t+1} - \omega^*\|^2 \le \Bigl(1 - \frac{\mu\eta}2\Bigr)\|\omega_t - \omega^*\|^2
   - 2\eta(f(\omega_t) - f^*)
   + \eta^2\Bigl(\Bigl(\sqrt{2L(f(\omega_t) - f^*)} + \sqrt{c_{p_G}} + x\frac{p_t\sigma}{\sqrt K}\Bigr)^2
   + \frac{p_t^2\sigma^2}K\Bigl(\frac1N + \frac{2x}{\eta_g}\Bigr)\Bigr) .

So in (62) neither :math:`c_{p_B}` nor the part of :math:`c_2` with :math:`c_{p_G}` is needed, if :math:`c_{p_G}` in
:math:`c_1` is doubled and :math:`4L\eta \le 1`: then :math:`\eta^2r^2 \le \eta(f(\omega_t) - f^*) + 2\eta^2c_{p_G}`.
No sweep over convex objectives can show the growth of drifts in the rates that follow from it.

What instances cannot show: in the corrected form the terms of third order, the second summands of :math:`1 + x` and
:math:`B^2`, which the sharp form does without; in the sharp form the last term, since a client gains more from noise
that a bend of its objective averages than it loses, unless it is one of more than about eight clients, whose outcomes
are too many.

Where it fails: the noise has to outweigh what the last term of (59) has in excess, since that term has
:math:`\sigma^2` where the round has :math:`p_t^2\sigma^2`. With two clients, one step and one round the variance of the
model is :math:`\frac{\eta^2\sigma^2}{2}` against :math:`\frac{\eta^2\sigma^2}{4}` plus a term of third order in the
step, so small steps without drift and a model at the minimiser fail by a factor of up to two. With one client nothing
fails.

Instances: one round of CFL-R in one or two dimensions without information loss from a fixed model, see the module of
rounds. In the corrected and the sharp form server rates go up to 300.

Source: Guo et al., 2021, (59). The second definition of :math:`c_{p_B}` printed above it is that of :math:`c_{p_G}`.
"""

from __future__ import annotations

from functools import partial

from sympy import Ge, Le, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._round import (
    DRIFTS,
    FASTEST,
    NOISE,
    SMALL,
    WEIGHTS,
    floor,
    gap,
    grown,
    realise,
    space,
    squares,
    update,
)
from fltheory.bounds.cfl._symbols import K, c_B, c_G, eta, eta_g, eta_l, now, p, sigma_sq, w_t
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import L, N, mu, w_star
from fltheory.problems.problem import Origin

after = EE(NormSq(w_t + update - w_star))
before = (1 - mu * eta / 2) * NormSq(w_t - w_star)
where = ((c_B, grown), (c_G, floor))
left_over = 1 - 2 * K**2 * eta_l**2 * L**2 * c_B
factor = 1 + eta * L * c_B
x = K * eta_l * L
fresh = p[now] ** 2 * sigma_sq
pace = sqrt(2 * L * gap) + sqrt(c_G) + x * p[now] * sqrt(sigma_sq) / sqrt(K)
WIDE = Instances(space=space(rate=FASTEST, server=300), realise=partial(realise, loss=False))

claim = Claim(
    id="cfl.eq-59",
    kind=Kind.LEMMA,
    title="one round before simplification",
    citation=Citation("cfl", "(59)"),
    forms=(
        Form(
            statement=Le(
                after,
                before
                + (-2 * eta + 4 * eta**2 * L * c_B + 8 * K**2 * eta * eta_l**2 * L**2 * c_B * factor / left_over) * gap
                + eta**2 * c_G
                + eta**2 * squares * sigma_sq / (N**2 * K)
                + K * eta * eta_l**2 * L * (K * c_G + sigma_sq) * factor / left_over,
            ),
            where=where,
        ),
        Form(
            variant="corrected",
            statement=Le(
                after,
                before
                + (-2 * eta + 2 * eta**2 * L * c_B * (1 + x) + 8 * K**2 * eta * eta_l**2 * L**2 * c_B) * gap
                + eta**2 * ((1 + x) * c_G + fresh / K * (1 / N + x * (1 + x)))
                + 4 * K * eta * eta_l**2 * L * (K * c_G + fresh),
            ),
            where=where,
            assumptions=(NOISE, WEIGHTS, DRIFTS, Assumption("nonexpansive steps", Le(eta_l * L, 2), Origin.DECLARED)),
            check=WIDE,
            note="variance over N clients, no denominator",
        ),
        Form(
            variant="sharp",
            statement=Le(after, before - 2 * eta * gap + eta**2 * (pace**2 + fresh / K * (1 / N + 2 * x / eta_g))),
            where=((c_G, floor),),
            assumptions=(
                NOISE,
                WEIGHTS,
                DRIFTS,
                Assumption("contracting steps", Le(eta_l * (L + mu), 2), Origin.DECLARED),
                Assumption("server rate of one at least", Ge(eta_g, 1), Origin.DECLARED),
            ),
            check=WIDE,
            note="without growth of drifts and without a price for local steps that are free of noise",
        ),
    ),
    assumptions=(NOISE, WEIGHTS, DRIFTS, SMALL),
    uses=("cfl.eq-44", "cfl.eq-50", "cfl.eq-58"),
    check=Instances(space=space(rate=0.7), realise=partial(realise, loss=False)),
)
