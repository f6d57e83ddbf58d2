r"""Lemma 3.4: the squared norm of a local gradient, from a bound on its distance to the global one.

With :math:`\nabla f(\omega) = \nabla f_i(\omega) + \varsigma_i`, :math:`\mathbb E[\varsigma_i] = 0` and
:math:`\mathbb E\|\varsigma_i\|^2 \le A^2\,\mathbb E\|\nabla f(\omega)\|^2 + B^2`, as published

.. math:: \mathbb E\|\nabla f_i(\omega)\|^2 \le (A^2 + 1)\,\mathbb E\|\nabla f(\omega)\|^2 + B^2 .

It is true for a fixed model, and an equality if the bound on :math:`\varsigma` is attained. The last line of the
proof, (15), prints :math:`A` and :math:`B` without their squares (form ``published@eq-15``), which is false as soon
as :math:`A > 1` or :math:`B > 1`.

The proof drops :math:`\mathbb E\langle\nabla f(\omega), \varsigma_i\rangle`. That term is zero for a model that does
not depend on the client; the convergence proof uses the lemma at :math:`\omega_{t,i,k-1}`, which client :math:`i` has
itself moved. The form ``published@dependent-model`` lets the model depend on the drift, with :math:`\varsigma` still
centred.

**Derivation of the corrected form.** (15) with squares restored is the lemma (form ``corrected@eq-15``). For a model
that depends on the drift, Minkowski's inequality for :math:`\nabla f - \varsigma` in :math:`L^2` gives

.. math:: \mathbb E\|\nabla f_i(\omega)\|^2 \le \Bigl(\sqrt{\mathbb E\|\nabla f(\omega)\|^2}
   + \sqrt{A^2\,\mathbb E\|\nabla f(\omega)\|^2 + B^2}\Bigr)^2,

with equality if the drift points against the gradient in every outcome (form ``corrected@dependent-model``); no bound
with the factor :math:`A^2 + 1` is true there.

Instances: the drift is :math:`\pm v` by a fair coin; the model's gradient is a constant, or a constant plus a vector
that changes sign with the coin. Certificates are about all :math:`v` that the assumptions allow.

Source: Guo et al., 2021, Lemma 3.4 (B.1 in the appendix) and (12) to (15). :math:`A` and :math:`B` are not those of
Assumptions 3 and 4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Eq, Le, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._symbols import grad
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.problems.problem import Origin

A = scalar("A", "A", "growth of the drift with the gradient, in Lemma 3.4", domain="nonnegative")
B = scalar("B", "B", "root of the bound on the squared drift at a stationary point, in Lemma 3.4", domain="nonnegative")
varsigma = scalar("varsigma", r"\varsigma_i", "difference of global and local gradient", random=True, shape=("dim",))
grad_i = scalar("grad_i", r"\nabla f_i(\omega)", "gradient of a client's objective", random=True, shape=("dim",))


def realise(point: Params, *, moving: bool) -> dict[str, Any]:
    """Return gradients and drift for both faces of a coin."""
    grads = _gradients(point, moving)
    size = sum((g * g).sum() for g in grads) / 2
    allowed = point["A"] ** 2 * size + point["B"] ** 2
    length = (point["drift"] * point["drift"]).sum()
    # Shorten the drift rationally: dividing by the larger of 1 and the squared excess keeps it within what is allowed.
    drift = point["drift"] / max(length / allowed, 1 + 0 * allowed) if allowed > 0 else 0 * point["drift"]
    return _drifted(point, grads, drift)


def any_drift(point: Params, *, moving: bool) -> dict[str, Any]:
    """Return the same with a drift that only the assumptions bound."""
    return _drifted(point, _gradients(point, moving), point["drift"])


def _gradients(point: Params, moving: bool) -> list[Any]:
    fixed, follows = point["gradient"], point["follows"] * (1 if moving else 0)
    return [fixed + follows, fixed - follows]


def _drifted(point: Params, grads: list[Any], drift: Any) -> dict[str, Any]:
    return {
        "A": point["A"],
        "B": point["B"],
        "grad": grads,
        "varsigma": [drift, -drift],
        "grad_i": [grads[0] - drift, grads[1] + drift],
        "chance": [ratio(point, 1, 2)] * 2,
    }


space = Space(
    {
        "d": Integer(1, 2),
        "gradient": Real(-2, 2, shape=("d",)),
        "follows": Real(-2, 2, shape=("d",)),
        "drift": Real(-3, 3, shape=("d",)),
        "A": Real(0, 3),
        "B": Real(0, 3),
    }
)
size = EE(NormSq(grad))
local = EE(NormSq(grad_i))
lemma = Le(local, (A**2 + 1) * size + B**2)


def coins(*, moving: bool) -> Instances:
    """Return the instances; certificates are about all drifts that the assumptions allow, which theirs are among."""
    within = Instances(space=space, realise=partial(any_drift, moving=moving))
    return Instances(space=space, realise=partial(realise, moving=moving), within=within)


moving = coins(moving=True)

claim = Claim(
    id="cfl.lemma-3.4",
    kind=Kind.LEMMA,
    title="squared norm of a local gradient",
    citation=Citation("cfl", "Lemma 3.4, (12) and (15)"),
    forms=(
        Form(statement=lemma, note="the model does not depend on the drift"),
        Form(variant="published@eq-15", statement=Le(local, (A + 1) * size + B), note="last line of the proof"),
        Form(
            variant="published@dependent-model",
            statement=lemma,
            check=moving,
            note="as used in (49), at a model that the client has moved",
        ),
        Form(variant="corrected@eq-15", intended=("published@eq-15",), statement=lemma, note="squares restored"),
        Form(
            variant="corrected@dependent-model",
            statement=Le(local, (sqrt(size) + sqrt(A**2 * size + B**2)) ** 2),
            check=moving,
            note="Minkowski's inequality; attained",
        ),
    ),
    assumptions=(
        Assumption("the drift is centred", Eq(NormSq(EE(varsigma)), 0, evaluate=False), Origin.DECLARED),
        Assumption("the drift is bounded", Le(EE(NormSq(varsigma)), A**2 * size + B**2), Origin.DECLARED),
    ),
    check=coins(moving=False),
)
