r"""(52): how far a client moves in its local steps.

As published,

.. math:: \mathbb E\|\omega_{t,i,k} - \omega_t\|^2 \le k\eta_l^2\sum_{\tau=1}^k\mathbb E\|\nabla\tilde
   f_{t,i}(\omega_{t,i,\tau-1})\|^2 + k\eta_l^2\sigma^2 .

The proof uses Lemma A.4 as if the gradients did not depend on earlier noise. They do, but for nonexpansive steps all
that is dropped adds up to something negative. The noise is counted in full, although only :math:`p_{t,i}\nu` enters a
step.

**Derivation of the sharp form.** Steps of a convex objective with :math:`\eta_l L \le 2` are nonexpansive. Let
:math:`z_k` be the steps without noise, :math:`S = p_t\sum_{j\le k}\nu_j` and :math:`\Gamma = \sum_{j\le k}\nabla\tilde
f(\omega_{j-1})`, so that :math:`\omega_k - \omega_t = -\eta_l(\Gamma + S)`; :math:`\mathbb E[\nu_j \mid
\omega_{j-1}, \nu_{j-1}, \dots] = 0`. A step does not increase :math:`\|\omega_{j-1} - z_{j-1}\|` and then adds
:math:`-\eta_lp_t\nu_j`, hence :math:`\mathbb E\|\omega_k - z_k\|^2 \le \eta_l^2\,\mathbb E\|S\|^2`. Since :math:`z_k`
does not depend on the noise, :math:`\mathbb E\langle\omega_k - \omega_t, S\rangle = \mathbb E\langle\omega_k - z_k,
S\rangle \ge -\eta_l\,\mathbb E\|S\|^2`, so that

.. math:: \mathbb E\langle\Gamma, S\rangle = -\tfrac1{\eta_l}\mathbb E\langle\omega_k - \omega_t, S\rangle - \mathbb
   E\|S\|^2 \le 0, \qquad \mathbb E\|\Gamma + S\|^2 \le \mathbb E\|\Gamma\|^2 + \mathbb E\|S\|^2,

and with :math:`\|\Gamma\|^2 \le k\sum_j\|\nabla\tilde f(\omega_{j-1})\|^2`

.. math:: \mathbb E\|\omega_{t,i,k} - \omega_t\|^2 \le k\eta_l^2\sum_{\tau=1}^k\mathbb E\|\nabla\tilde
   f_{t,i}(\omega_{t,i,\tau-1})\|^2 + k\eta_l^2 p_{t,i}^2\sigma^2 ,

in any dimension. The law of the noise may depend on the model. Equality for constant gradients. Single terms
:math:`\mathbb E\langle\nabla\tilde f(\omega_m), \nu_j\rangle` can be positive.

Instances: one round of CFL-R in one or two dimensions, with rates up to :math:`\eta_lL = 2` and beyond, see the module
of rounds.

Source: Guo et al., 2021, (51) and (52).
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._round import FASTEST, NOISE, WEIGHTS, client, grad_tilde, realise, space, step, w
from fltheory.bounds.cfl._symbols import K, eta_l, now, p, s, sigma_sq, w_t
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import L, N
from fltheory.problems.problem import Origin

moved = EE(NormSq(w[client, step] - w_t))
gradients = step * eta_l**2 * Sum(EE(NormSq(grad_tilde[client, s - 1])), (s, 1, step))
fresh = p[now] ** 2 * sigma_sq
everywhere = ((client, 1, N), (step, 1, K))

claim = Claim(
    id="cfl.eq-52",
    kind=Kind.LEMMA,
    title="local drift against local gradients",
    citation=Citation("cfl", "(52)"),
    forms=(
        Form(statement=Le(moved, gradients + step * eta_l**2 * sigma_sq), over=everywhere),
        Form(
            variant="sharp",
            statement=Le(moved, gradients + step * eta_l**2 * fresh),
            over=everywhere,
            assumptions=(NOISE, WEIGHTS, Assumption("nonexpansive steps", Le(eta_l * L, 2), Origin.DECLARED)),
            note="the weight of the fresh noise; attained by constant gradients",
        ),
    ),
    assumptions=(NOISE, WEIGHTS),
    uses=("cfl.lemma-a.4", "cfl.eq-33"),
    check=Instances(space=space(rate=FASTEST), realise=realise),
)
