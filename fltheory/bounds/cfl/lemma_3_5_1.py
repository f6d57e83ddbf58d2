r"""Lemma 3.5 (1): the squared local gradient of FedAvg under drift over clients and rounds.

With :math:`\nabla f = \nabla f_{t,i} + \delta_{t,i} + \xi_{t,i}` and Assumptions 3 to 5, as published

.. math:: \mathbb E\|\nabla f_{t,i}(\omega)\|^2 \le (1 + A^2 + B^2)\,\mathbb E\|\nabla f(\omega)\|^2 + G^2 + D^2 .

It is true at a fixed model, whether the two drifts are independent or only uncorrelated, and an equality if both
bounds are attained. The proof drops :math:`\mathbb E\langle\nabla f(\omega), \delta + \xi\rangle`, which Assumption 5
does not make zero: at a model that depends on the drifts, as every local iterate does, the bound is false (form
``published@dependent-model``).

**Derivation of the corrected form.** Minkowski's inequality in :math:`L^2` for :math:`\nabla f - (\delta + \xi)`,
with :math:`\mathbb E\|\delta + \xi\|^2 = \mathbb E\|\delta\|^2 + \mathbb E\|\xi\|^2` by Assumption 5:

.. math:: \mathbb E\|\nabla f_{t,i}\|^2 \le \Bigl(\sqrt{\mathbb E\|\nabla f\|^2}
   + \sqrt{(A^2 + B^2)\,\mathbb E\|\nabla f\|^2 + G^2 + D^2}\Bigr)^2 .

Equality if :math:`\delta + \xi` is a negative multiple of :math:`\nabla f`.

Instances: coins, see the module of drifts; ``dependent-model`` adds vectors to the gradient that change sign with the
coins.

Source: Guo et al., 2021, Lemma 3.5 (1) and (16) to (18). The proof writes the drifts with the other sign, which
changes nothing.
"""

from __future__ import annotations

from functools import partial

from sympy import Le, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._drift import BOUNDED, FIXED, realise, space
from fltheory.bounds.cfl._symbols import A_sq, B_sq, D_sq, G_sq, grad, local_grad, now
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind

size = EE(NormSq(grad))
local = EE(NormSq(local_grad[now]))
lemma = Le(local, (1 + A_sq + B_sq) * size + G_sq + D_sq)
moving = Instances(space=space(1, 1), realise=partial(realise, moving_model=True))

claim = Claim(
    id="cfl.lemma-3.5.1",
    kind=Kind.LEMMA,
    title="drift of FedAvg",
    citation=Citation("cfl", "Lemma 3.5 (1), (18)"),
    forms=(
        Form(statement=lemma, assumptions=(*BOUNDED, FIXED), note="the model does not depend on the drifts"),
        Form(
            variant="published@dependent-model",
            statement=lemma,
            check=moving,
            note="as used in (49), at a model that the drifts have moved",
        ),
        Form(
            variant="corrected@dependent-model",
            statement=Le(local, (sqrt(size) + sqrt((A_sq + B_sq) * size + G_sq + D_sq)) ** 2),
            check=moving,
            note="Minkowski's inequality; attained",
        ),
    ),
    assumptions=BOUNDED,
    uses=("cfl.lemma-3.4",),
    check=Instances(space=space(1, 1), realise=realise),
)
