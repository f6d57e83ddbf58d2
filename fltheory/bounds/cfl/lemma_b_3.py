r"""Lemma B.3: how much information the Taylor models of earlier rounds lose.

With :math:`\Delta_{t,i} = \nabla\bar f_{t,i} - \nabla\tilde f_{t,i}` (Definition 3.1) and :math:`\|H_{t_1,i_1} -
H_{t_2,i_2}\| \le \epsilon` (Assumption 7), as published

.. math:: \|\Delta_{t,i}(\omega)\| \le \frac{\epsilon}{\sum_{\tau=1}^t p_\tau}\sum_{\tau=1}^{t-1} p_\tau\|\omega -
   \hat\omega_{\tau,i}\| .

Assumption 7 does not say at which models the Hessians are compared. The loss comes from the change of one Hessian
between :math:`\hat\omega_\tau` and :math:`\omega`, so they must be compared at different models; then the bound is
true for weights that sum to one, as B.4 assumes later (form ``published``). Compared at the same model (form
``published@same-model``), functions with equal Hessians have :math:`\epsilon = 0` and lose information all the same.
The division by :math:`\sum p_\tau` has no counterpart in :math:`\Delta`; with larger weights, such as the plain sums
of Algorithm 2, the bound is false (form ``published@any-weights``).

The proof uses a mean value theorem with one intermediate point, (27), which vector-valued maps do not have; the
inequality survives with the integral of the Hessian along the segment.

**Derivation of the corrected form.** :math:`\nabla f_\tau(\omega) - \nabla f_\tau(\hat\omega_\tau) - \hat
H_\tau(\omega - \hat\omega_\tau) = \int_0^1 (H_\tau(\omega_s) - \hat H_\tau)\,ds\,(\omega - \hat\omega_\tau)`, whose
norm is at most :math:`\epsilon\|\omega - \hat\omega_\tau\|` with Hessians compared along the segments. Summing with
the weights,

.. math:: \|\Delta_{t,i}(\omega)\| \le \epsilon\sum_{\tau=1}^{t-1} p_\tau\|\omega - \hat\omega_{\tau,i}\|

for any non-negative weights. It is attained by a function whose curvature jumps at :math:`\hat\omega_\tau`. For
Hessians compared at one model no bound by :math:`\epsilon` exists.

Instances: logistic losses with exact Hessians (one sample of up to two features per round, regularised), and
functions of one variable with a kink of the derivative; :math:`\epsilon` is the largest difference of two rounds'
Hessians over the segments from the remembered models to the model. For ``same-model``, rounds share features and
differ in labels, so Hessians agree at every model.

Source: Guo et al., 2021, Lemma B.3, (25) to (29), Assumption 7. The proof cites Assumption 4 for it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Le, Sum

from fltheory.bounds.algebra import Norm
from fltheory.bounds.cfl._drift import WEIGHTS
from fltheory.bounds.cfl._symbols import epsilon, now, p, s
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.logistic.model import LogisticLoss

model = scalar("model", r"\omega", "any model", shape=("dim",))
anchor = family(
    "anchor", r"\hat\omega_{<0>,i}", "model of the client at the end of an earlier round", shape=("rounds", "dim")
)
loss = scalar("loss", r"\Delta_{t,i}(\omega)", "information loss at the model", shape=("dim",))


def realise(point: Params, *, normalised: bool, same_hessian: bool = False) -> dict[str, Any]:
    """Return the information loss of a law of weights, for kinked or logistic objectives."""
    logistic = same_hessian or point["functions"] == "logistic"
    w, anchors = (point["model"], point["anchors"]) if logistic else (point["model"][:1], point["anchors"][:, :1])
    weights = point["p"] / point["p"].sum() if normalised else point["p"]
    remainders, spread = (_logistic if logistic else _kinked)(point, w, anchors, same_hessian)
    return {
        "t": point["t"],
        "p": weights,
        "model": w,
        "anchor": anchors,
        # Remainders of affine pieces are rounding errors.
        "loss": (weights[:-1, None] * np.where(abs(remainders) < 1e-12, 0.0, remainders)).sum(axis=0),
        "epsilon": 0.0 if same_hessian else spread,
    }


def _kinked(point: Params, w: Any, anchors: Any, _: bool) -> tuple[Any, float]:
    """Return the remainders of kinked functions, and the largest difference of their slopes on the segments."""
    left, right = point["left"][:-1, None], point["right"][:-1, None]
    knot = point["knot"][:-1, None]
    functions = Kinked(centre=0 * knot, knot=knot, left=left, right=right)
    slopes, remainders = [], []
    low, high = min(w[0], anchors.min()), max(w[0], anchors.max())
    for n, at in enumerate(anchors):
        here = left[n] if at[0] <= knot[n, 0] else right[n]
        remainders.append(functions.gradient(n, w) - functions.gradient(n, at) - here * (w - at))
        slopes += [left[n, 0]] * bool(low <= knot[n, 0]) + [right[n, 0]] * bool(high > knot[n, 0])
    return np.array(remainders), max(slopes) - min(slopes)


def _logistic(point: Params, w: Any, anchors: Any, same: bool) -> tuple[Any, float]:
    """Return the remainders of logistic losses, and the largest difference of their Hessians on the segments."""
    features, remainders, ends = point["features"], [], []
    for n, at in enumerate(anchors):
        x = features[0 if same else n]
        sample = LogisticLoss(
            features=x[None], targets=np.array([[float(point["labels"][n])]]), weights=np.ones(1), l2=point["l2"]
        )
        remainders.append(sample.gradient(w) - sample.gradient(at) - sample.hessian(at) @ (w - at))
        # All segments end in w, so the scores that they visit form one interval.
        scores = np.array([x @ w, *(x @ other for other in anchors)])
        rates = [np.exp(-abs(z)) / (1 + np.exp(-abs(z))) ** 2 for z in (scores.min(), scores.max())]
        top = 0.25 if scores.min() <= 0 <= scores.max() else max(rates)
        ends += [rate * np.outer(x, x) for rate in (min(rates), top)]
    # The norm of a difference is convex in the two rates, so its maximum is at the ends.
    return np.array(remainders), max(float(np.linalg.norm(a - b, 2)) for a in ends for b in ends)


space = Space(
    {
        "t": Integer(2, 3),
        "d": Integer(1, 2),
        "functions": Choice(("kinked", "logistic")),
        "labels": Real(0, 1, shape=("t",)),
        "p": Real(0.05, 2, shape=("t",)),
        "model": Real(-3, 3, shape=("d",)),
        "anchors": Real(-3, 3, shape=("t", "d")),
        "features": Real(-3, 3, shape=("t", "d")),
        "knot": Real(-3, 3, shape=("t",)),
        "left": Real(0.1, 3, shape=("t",)),
        "right": Real(0.1, 3, shape=("t",)),
        "l2": Real(0.01, 1),
    }
)


def _past(realised: Any) -> Any:
    """Cut the remembered models to the earlier rounds."""

    def cut(point: Params) -> dict[str, Any]:
        made: dict[str, Any] = realised({**point, "anchors": point["anchors"][:-1]})
        return made

    return cut


def instances(*, normalised: bool, same_hessian: bool = False) -> Instances:
    """Return instances of one reading."""
    return Instances(
        space=space, realise=_past(partial(realise, normalised=normalised, same_hessian=same_hessian)), rational=False
    )


distances = Sum(p[s] * Norm(model - anchor[s]), (s, 1, now - 1))
lemma = Le(Norm(loss), epsilon / Sum(p[s], (s, 1, now)) * distances)

claim = Claim(
    id="cfl.lemma-b.3",
    kind=Kind.LEMMA,
    title="information loss",
    citation=Citation("cfl", "Lemma B.3, (29)"),
    forms=(
        Form(
            statement=lemma,
            assumptions=(WEIGHTS,),
            note="Hessians compared along the segments, weights that sum to one",
        ),
        Form(
            variant="published@same-model",
            statement=lemma,
            assumptions=(WEIGHTS,),
            check=instances(normalised=True, same_hessian=True),
            note="Hessians compared at the same model",
        ),
        Form(
            variant="published@any-weights",
            statement=lemma,
            check=instances(normalised=False),
            note="weights that need not sum to one",
        ),
        Form(
            variant="corrected",
            statement=Le(Norm(loss), epsilon * distances),
            check=instances(normalised=False),
            note="any weights, no division; Hessians compared along the segments",
        ),
    ),
    check=instances(normalised=True),
)
