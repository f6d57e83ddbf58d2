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

Where it fails: the noise has to outweigh what the last term of (59) has in excess, since that term has
:math:`\sigma^2` where the round has :math:`p_t^2\sigma^2`. With two clients, one step and one round the variance of the
model is :math:`\frac{\eta^2\sigma^2}{2}` against :math:`\frac{\eta^2\sigma^2}{4}` plus a term of third order in the
step, so small steps without drift and a model at the minimiser fail by a factor of up to two. With one client nothing
fails.

Instances: one round of CFL-R in one or two dimensions without information loss from a fixed model, see the module of
rounds.

Source: Guo et al., 2021, (59). The second definition of :math:`c_{p_B}` printed above it is that of :math:`c_{p_G}`.
"""

from __future__ import annotations

from functools import partial

from sympy import Le

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
from fltheory.bounds.cfl._symbols import K, c_B, c_G, eta, eta_l, now, p, sigma_sq, w_t
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
            check=Instances(space=space(rate=FASTEST), realise=partial(realise, loss=False)),
            note="variance over N clients, no denominator",
        ),
    ),
    assumptions=(NOISE, WEIGHTS, DRIFTS, SMALL),
    uses=("cfl.eq-44", "cfl.eq-50", "cfl.eq-58"),
    check=Instances(space=space(rate=0.7), realise=partial(realise, loss=False)),
)
