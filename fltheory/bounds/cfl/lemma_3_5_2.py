r"""Lemma 3.5 (2): the squared gradient of the remembered objective of CFL-R, one client drift for all rounds (S2).

As published; that weights sum to one, as the factor 1 of :math:`\nabla f` needs, is only assumed later, in B.4:

.. math:: \mathbb E\Bigl\|\sum_{\tau=1}^t p_{\tau,i}\nabla f_{\tau,i}(\omega)\Bigr\|^2 \le
   \Bigl(1 + B^2 + A^2\sum_\tau p_{\tau,i}^2\Bigr)\mathbb E\|\nabla f(\omega)\|^2 + G^2 + D^2\sum_\tau p_{\tau,i}^2 .

The factor :math:`\sum_\tau p_\tau^2` needs round drifts of different rounds to be uncorrelated. Assumption 5 asks for
centred drifts and for :math:`\mathbb E\langle\xi, \delta\rangle = 0`, Assumption 6 for independent client drifts, none
for this; a drift that persists over rounds
satisfies all assumptions and breaks the bound. With independent rounds (form ``published@independent``) it is true
and attained. The last line of the proof, (21), exchanges :math:`A` and :math:`B` (form ``published@eq-21``, checked
with independent rounds).

The expectation must also be over clients: for one fixed client :math:`\delta_i` is a constant, not centred, and the
bound fails even with independent rounds (form ``published@fixed-client``). A sum over clients with
:math:`\sum_i\delta_i = 0` is needed where the lemma is used.

**Derivation of the corrected form.** For round drifts with any dependence, :math:`\|\sum_\tau p_\tau\xi_\tau\|^2 \le
\sum_\tau p_\tau\|\xi_\tau\|^2` by convexity, so

.. math:: \mathbb E\Bigl\|\sum_\tau p_{\tau,i}\nabla f_{\tau,i}\Bigr\|^2 \le (1 + B^2 + A^2)\,\mathbb E\|\nabla f\|^2
   + G^2 + D^2,

attained by equal drifts: memory does not help against a drift that stays. With (21), exchanging the symbols back
gives the lemma for independent rounds (``corrected@eq-21``). For a fixed client, :math:`\nabla f - \delta_i` has no
product with the round drifts on average, and :math:`\|a - b\|^2 \le (1 + \theta)\|a\|^2 + (1 +
\frac1\theta)\|b\|^2` for every :math:`\theta > 0` gives

.. math:: \mathbb E\Bigl\|\sum_\tau p_{\tau,i}\nabla f_{\tau,i}\Bigr\|^2 \le (1 + \theta)\,\mathbb E\|\nabla f\|^2
   + \Bigl(1 + \frac1\theta\Bigr)\bigl(B^2\,\mathbb E\|\nabla f\|^2 + G^2\bigr)
   + \sum_\tau p_{\tau,i}^2\,\bigl(A^2\,\mathbb E\|\nabla f\|^2 + D^2\bigr) .

**Derivation of the sharp form for a fixed client.** The best :math:`\theta` makes it Minkowski's inequality,

.. math:: \mathbb E\Bigl\|\sum_\tau p_{\tau,i}\nabla f_{\tau,i}\Bigr\|^2 \le
   \Bigl(\sqrt{\mathbb E\|\nabla f\|^2} + \sqrt{B^2\,\mathbb E\|\nabla f\|^2 + G^2}\Bigr)^2
   + \sum_\tau p_{\tau,i}^2\,\bigl(A^2\,\mathbb E\|\nabla f\|^2 + D^2\bigr) ,

attained by a drift that points against the gradient.

Instances: coins, see the module of drifts; two or three rounds (one round is part (1)).

Source: Guo et al., 2021, Lemma 3.5 (2) and (19) to (21). (19) prints :math:`\nabla f_{\tau,i}` for :math:`\nabla f`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Le, Sum, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._drift import BOUNDED, FIXED, ROUNDS, SAME, WEIGHTS, realise, space
from fltheory.bounds.cfl._symbols import A_sq, B_sq, D_sq, G_sq, grad, local_grad, now, p, s
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Real, Space

size = EE(NormSq(grad))
remembered = EE(NormSq(Sum(p[s] * local_grad[s], (s, 1, now))))
squares = Sum(p[s] ** 2, (s, 1, now))
lemma = Le(remembered, (1 + B_sq + A_sq * squares) * size + G_sq + D_sq * squares)
independent = Instances(space=space(2, 3), realise=partial(realise, common_rounds=False))
theta = scalar("theta", r"\theta", "weight of Young's inequality", domain="positive")


def split(point: Params) -> dict[str, Any]:
    """Return gradients and drifts of one fixed client, and the weight."""
    return {**realise(point, common_rounds=False, fixed_client=True), "theta": point["theta"]}


fixed = Instances(space=space(2, 3), realise=partial(realise, common_rounds=False, fixed_client=True))
drawn = (*BOUNDED, SAME, FIXED, WEIGHTS)
constant = (*(a for a in BOUNDED if a.name != "client drift is centred (5)"), SAME, FIXED, WEIGHTS, ROUNDS)

claim = Claim(
    id="cfl.lemma-3.5.2",
    kind=Kind.LEMMA,
    title="drift of CFL-R, same clients in all rounds",
    citation=Citation("cfl", "Lemma 3.5 (2), (21)"),
    forms=(
        Form(statement=lemma, note="round drifts as Assumption 5 allows them, dependent over rounds"),
        Form(
            variant="published@independent",
            statement=lemma,
            assumptions=(*drawn, ROUNDS),
            check=independent,
            note="independent round drifts",
        ),
        Form(
            variant="published@eq-21",
            statement=Le(remembered, (1 + A_sq + B_sq * squares) * size + G_sq + D_sq * squares),
            assumptions=(*drawn, ROUNDS),
            check=independent,
            note="last line of the proof, independent round drifts",
        ),
        Form(
            variant="published@fixed-client",
            statement=lemma,
            assumptions=constant,
            check=fixed,
            note="expectation over rounds only, for one client",
        ),
        Form(
            variant="corrected",
            statement=Le(remembered, (1 + B_sq + A_sq) * size + G_sq + D_sq),
            note="any dependence over rounds; attained by a drift that stays",
        ),
        Form(
            variant="corrected@eq-21",
            intended=("published@eq-21",),
            statement=lemma,
            assumptions=(*drawn, ROUNDS),
            check=independent,
            note="A and B exchanged back",
        ),
        Form(
            variant="corrected@fixed-client",
            statement=Le(
                remembered,
                (1 + theta) * size + (1 + 1 / theta) * (B_sq * size + G_sq) + squares * (A_sq * size + D_sq),
            ),
            assumptions=constant,
            check=Instances(space=Space({**space(2, 3).parameters, "theta": Real(0.1, 10, log=True)}), realise=split),
            note="Young's inequality for the constant drift, any theta",
        ),
        Form(
            variant="sharp@fixed-client",
            statement=Le(remembered, (sqrt(size) + sqrt(B_sq * size + G_sq)) ** 2 + squares * (A_sq * size + D_sq)),
            assumptions=constant,
            check=fixed,
            note="the best theta: Minkowski's inequality",
        ),
    ),
    assumptions=drawn,
    uses=("cfl.lemma-3.4",),
    check=Instances(space=space(2, 3), realise=realise),
)
