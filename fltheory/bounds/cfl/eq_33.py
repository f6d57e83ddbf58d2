r"""(33): the noise in the direction of a local step of CFL-R.

As published, with one noise :math:`\nu_{t,i,k}` for all rounds :math:`\tau` under the sum,

.. math:: \tilde g_{t,i}(\omega_{t,i,k-1}) = \nabla\tilde f_{t,i}(\omega_{t,i,k-1}) + \sum_{\tau=1}^t
   p_{\tau,i}\,\nu_{t,i,k} ,

which is the full noise :math:`\nu_{t,i,k}` for weights that sum to one. Algorithm 1 multiplies the fresh gradient by
:math:`p_{t,i}`, and the remembered gradients are computed once per round, so the step carries
:math:`p_{t,i}\nu_{t,i,k}` only. (46) goes on with :math:`\sum_\tau p_\tau^2\sigma^2`, which fits a third reading
(form ``published@remembered-noise``): the gradients that are remembered are stochastic, and their noise
:math:`\nu_{\tau,i}` stays in the memory. Then the identity is true with :math:`\nu_{\tau,i}` under the sum, but that
noise is the same in every later step and round, so it is not independent over steps as (46) needs.

**Derivation of the corrected form.** Line 10 of Algorithm 1 with :math:`g_{t,i,k} = \nabla f_{t,i} + \nu_{t,i,k}` and
exact remembered gradients: :math:`\tilde g = \nabla\tilde f + p_{t,i}\nu_{t,i,k}`.

Instances: one round of CFL-R in one or two dimensions, see the module of rounds; :math:`\tilde g` is the direction of
line 10, from stored sums, and :math:`\nabla\tilde f` comes from (32).

Source: Guo et al., 2021, (33), with :math:`j` for the client :math:`i`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Sum

from fltheory.bounds.cfl._round import client, direction, grad_tilde, nu, realise, space, step
from fltheory.bounds.cfl._symbols import K, now, p, s
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import N

round_noise = family(
    "round_noise",
    r"\nu_{<0>,<1>,<2>}",
    "noise of a local step, or of the gradient remembered from an earlier round",
    first=(1, 1, 1),
    random=True,
    shape=("rounds", "clients", "steps", "dim"),
)


def with_noisy_memory(point: Params) -> dict[str, Any]:
    """Add a noise to every remembered gradient; any numbers will do, so the points of the past serve."""
    held = point["past"][:-1]
    made = realise(point, memory_noise=held)
    fresh = made["nu"]
    frozen = held[None, :, :, None] + 0 * fresh[:, None]
    return {**made, "round_noise": np.concatenate([frozen, fresh[:, None]], axis=1)}


at = (client, step - 1)
everywhere = ((client, 1, N), (step, 1, K))

claim = Claim(
    id="cfl.eq-33",
    kind=Kind.IDENTITY,
    title="noise of a local step of CFL-R",
    citation=Citation("cfl", "(33)"),
    forms=(
        Form(
            statement=Eq(direction[at], grad_tilde[at] + Sum(p[s] * nu[client, step], (s, 1, now)), evaluate=False),
            over=everywhere,
        ),
        Form(
            variant="published@remembered-noise",
            statement=Eq(
                direction[at], grad_tilde[at] + Sum(p[s] * round_noise[s, client, step], (s, 1, now)), evaluate=False
            ),
            over=everywhere,
            check=Instances(space=space(rate=1.0), realise=with_noisy_memory),
            note="stochastic gradients in the memory, noise of the round under the sum",
        ),
        Form(
            variant="corrected",
            statement=Eq(direction[at], grad_tilde[at] + p[now] * nu[client, step], evaluate=False),
            over=everywhere,
            note="only the fresh gradient is noisy",
        ),
    ),
    check=Instances(space=space(rate=1.0), realise=realise),
)
