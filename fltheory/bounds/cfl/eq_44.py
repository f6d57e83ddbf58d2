r"""(44): the inner product of a round's displacement with the distance to the minimiser.

As published,

.. math:: -2\,\mathbb E\langle\omega_t - \omega^*, \Delta\omega_t\rangle \le -2\eta\Bigl(f_t(\omega_t) - f_t(\omega^*)
   + \tfrac\mu4\|\omega_t - \omega^*\|^2\Bigr) + \frac{2\eta L}{NK}\sum_{i,k}\|\omega_{t,i,k-1} - \omega_t\|^2
   + \frac{2\eta\epsilon}{NK}\sum_{i,k}\sum_{\tau<t} p_{\tau,i}\|\omega_{t,i,k-1} - \omega_t\|\,\|\omega_t -
   \omega^*\| ,

with :math:`f_t = \sum_i\bar f_{t,i}` by (4). Three things are wrong. The sign on the left is that of (38). The sum in
(4) has no :math:`1/N`, so its gap is :math:`N` times too large. And the distance :math:`\|\omega_{t,i,k-1} -
\omega_{\tau,i,K}\|` to the remembered models, still there in (42), has become the distance to :math:`\omega_t`, which
is zero in the first step while the information loss is not. The form ``published@signs`` repairs the first two and
keeps the third; ``published@no-loss`` has no information loss, and is true.

**Derivation of the corrected form.** (36) gives :math:`2\,\mathbb E\langle\omega_t - \omega^*, \Delta\omega_t\rangle
= \frac{2\eta}{NK}\sum\mathbb E\langle\nabla\bar f_{t,i} - \Delta_{t,i}, \omega^* - \omega_t\rangle` at
:math:`\omega_{t,i,k-1}`, since the noise has mean zero given that model. Lemma A.5 for :math:`\bar f_{t,i}` bounds
the first part, Lemma B.3 and Cauchy-Schwarz the second, with :math:`p_{\tau,i}\|\omega_{t,i,k-1} -
\omega_{\tau,i,K}\|` in place of the printed distance, and :math:`f_t = \frac1N\sum_i\bar f_{t,i}`.

Instances: one round of CFL-R in one or two dimensions, see the module of rounds; expectations are over drifts and
noise.

Source: Guo et al., 2021, (39) to (44).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, Inner, Norm, NormSq
from fltheory.bounds.cfl._round import (
    NOISE,
    WEIGHTS,
    client,
    local_gap,
    over_steps,
    past,
    realise,
    space,
    step,
    update,
    w,
)
from fltheory.bounds.cfl._symbols import K, epsilon, eta, now, p, s, w_t
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import L, N, mu, w_star

away = w_t - w_star
here = w[client, step - 1]
inner = 2 * EE(Inner(away, update))
summed = Sum(local_gap[client], (client, 1, N))


def bound(gap: Any, distance: Any) -> Any:
    """Return the right-hand side with a gap and a distance that enters the information loss."""
    return (
        -2 * eta * (EE(gap) + mu / 4 * NormSq(away))
        + 2 * eta * L / (N * K) * EE(over_steps(NormSq(here - w_t)))
        + 2 * eta * epsilon / (N * K) * EE(over_steps(Sum(p[s] * distance, (s, 1, now - 1)))) * Norm(away)
    )


printed = Norm(here - w_t)

claim = Claim(
    id="cfl.eq-44",
    kind=Kind.LEMMA,
    title="inner product of the update",
    citation=Citation("cfl", "(44)"),
    forms=(
        Form(statement=Le(-inner, bound(summed, printed)), note="sign of (38), objective of (4)"),
        Form(
            variant="published@signs",
            statement=Le(inner, bound(summed / N, printed)),
            note="sign repaired, mean over clients",
        ),
        Form(
            variant="published@no-loss",
            statement=Le(inner, bound(summed / N, printed)),
            check=Instances(space=space(rate=1.0), realise=partial(realise, loss=False)),
            note="sign repaired, mean over clients, no information loss",
        ),
        Form(
            variant="corrected",
            statement=Le(inner, bound(summed / N, Norm(here - past[s, client]))),
            note="distance to the remembered models",
        ),
    ),
    assumptions=(NOISE, WEIGHTS),
    uses=("cfl.eq-38", "cfl.lemma-a.5", "cfl.lemma-b.3"),
    check=Instances(space=space(rate=1.0), realise=realise),
)
