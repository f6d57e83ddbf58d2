r"""(52): how far a client moves in its local steps.

As published,

.. math:: \mathbb E\|\omega_{t,i,k} - \omega_t\|^2 \le k\eta_l^2\sum_{\tau=1}^k\mathbb E\|\nabla\tilde
   f_{t,i}(\omega_{t,i,\tau-1})\|^2 + k\eta_l^2\sigma^2 .

The proof uses Lemma A.4 as if the gradients did not depend on earlier noise. They do, but a step against a noise
lowers later gradients along it, so the terms that are dropped are negative. The noise is counted in full, although
only :math:`p_{t,i}\nu` enters a step.

**Derivation of the sharp form.** Steps of a convex objective with :math:`\eta_l L \le 2` are nonexpansive, so a noise
:math:`p_t\nu_j` that is changed to 0 moves later models by at most :math:`\eta_l p_t\|\nu_j\|` and later gradients by
at most :math:`L` times that: :math:`|\mathbb E\langle\nabla\tilde f(\omega_m), p_t\nu_j\rangle| \le
\eta_lLp_t^2\sigma^2` for later steps, and zero for others. There are :math:`\frac{k(k-1)}2` such pairs, each
counted twice, so

.. math:: \mathbb E\|\omega_{t,i,k} - \omega_t\|^2 \le k\eta_l^2\sum_{\tau=1}^k\mathbb E\|\nabla\tilde
   f_{t,i}(\omega_{t,i,\tau-1})\|^2 + k\eta_l^2 p_{t,i}^2\sigma^2\bigl(1 + (k - 1)\eta_l L\bigr) .

In one dimension with :math:`\eta_l L \le 1` (form ``sharp@line``) a step is an increasing map, so every later model,
and with it every later gradient, decreases if an earlier noise increases; the covariance of the noise with these
gradients is at most zero (Chebyshev) and the factor in brackets is not needed. Equality for constant gradients.

Instances: one round of CFL-R in one or two dimensions, see the module of rounds.

Source: Guo et al., 2021, (51) and (52).
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds._algebra import EE, NormSq
from fltheory.bounds._claim import Assumption, Claim, Form, Instances, Kind, Source
from fltheory.bounds._symbols import L, N
from fltheory.bounds.cfl._round import NOISE, WEIGHTS, client, dim, grad_tilde, realise, space, step, w
from fltheory.bounds.cfl._symbols import K, eta_l, now, p, s, sigma_sq, w_t
from fltheory.problem import Origin

moved = EE(NormSq(w[client, step] - w_t))
gradients = step * eta_l**2 * Sum(EE(NormSq(grad_tilde[client, s - 1])), (s, 1, step))
fresh = p[now] ** 2 * sigma_sq
everywhere = ((client, 1, N), (step, 1, K))

claim = Claim(
    id="cfl.eq-52",
    kind=Kind.LEMMA,
    title="local drift against local gradients",
    source=Source("cfl", "(52)"),
    forms=(
        Form(statement=Le(moved, gradients + step * eta_l**2 * sigma_sq), over=everywhere),
        Form(
            variant="sharp",
            statement=Le(moved, gradients + step * eta_l**2 * fresh * (1 + (step - 1) * eta_l * L)),
            over=everywhere,
            assumptions=(NOISE, WEIGHTS, Assumption("nonexpansive steps", Le(eta_l * L, 2), Origin.DECLARED)),
            note="the weight of the fresh noise; any dimension",
        ),
        Form(
            variant="sharp@line",
            statement=Le(moved, gradients + step * eta_l**2 * fresh),
            over=everywhere,
            assumptions=(
                NOISE,
                WEIGHTS,
                Assumption("increasing steps", Le(eta_l * L, 1), Origin.DECLARED),
                Assumption("one dimension", Le(dim, 1)),
            ),
            note="one dimension; attained by constant gradients",
        ),
    ),
    assumptions=(NOISE, WEIGHTS),
    uses=("cfl.lemma-a.4", "cfl.eq-33"),
    check=Instances(space=space(rate=1.0), realise=realise),
)
