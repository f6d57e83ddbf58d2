r"""Lemma 21: drift of one client in one step of SCAFFOLD on quadratics.

For the update (28), Hessian dissimilarity :math:`\delta` and :math:`\eta \le \frac1{21\delta K}`, as published,

.. math:: \mathbb E_{r-1,k-1}\|y_{i,k}^r - x^{r-1}\|^2 \le \bigl(1 + \tfrac1{2K}\bigr)\|y_{i,k-1}^r - x^{r-1}\|^2 +
   7K\eta^2\|\nabla f(y_{i,k-1}^r)\|^2 + \eta^2\sigma^2 .

True. The printed proof divides by :math:`K - 1`; for :math:`K = 1` it uses that :math:`y_{i,0}^r = x^{r-1}`. The sharp
form needs no such case.

**Derivation of the sharp form.** The step makes of :math:`y - x` the vector
:math:`(I - \eta(A_i - A))(y - x) - \eta\nabla f(y)`, and :math:`\|I - \eta(A_i - A)\| \le 1 + \frac1{21K}`. With
:math:`P = 1 + \frac1{2K}` and :math:`Q = (1 + \frac1{21K})^2` the relaxed triangle inequality for :math:`1 + a = P/Q`
has the other factor :math:`1 + \frac1a = \frac P{P - Q}`, which is about :math:`2.5K` in place of :math:`7K`. It is
attained at the largest step if both parts are parallel.

Instances: see :mod:`fltheory.bounds.scaffold._quadratics`; the noise is a fair coin times a vector. Certificates
are about all Hessians: nothing is used of them but what :math:`\delta` bounds.

Source: Karimireddy et al., 2020, Lemma 21, page 38 of the supplement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Rational

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._quadratics import SPACE, delta, hessians
from fltheory.bounds.scaffold._symbols import K, eta, sigma_sq
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.problems.problem import Origin

after = scalar("after", "y_{i,k}^r", "client's model after the step", random=True, shape=("dim",))
before = scalar("before", "y_{i,k-1}^r", "client's model before the step", shape=("dim",))
server = scalar("server", "x^{r-1}", "server model before the round", shape=("dim",))
grad = scalar("grad", r"\nabla f(y_{i,k-1}^r)", "gradient of the objective before the step", shape=("dim",))


bent = scalar(
    "bent",
    r"(A_i - A)(y_{i,k-1}^r - x^{r-1})",
    "difference of the Hessians at the way from the server model",
    shape=("dim",),
)


def realise(point: Params) -> dict[str, Any]:
    """Return one step of the first client."""
    mean, (first, _) = hessians(point)
    eta_now = point["step"] / (21 * point["delta"] * point["K"])
    away = point["away"] * (0 if point["K"] == 1 else 1)
    slope, turned = mean.dot(point["server"] + away), (first - mean).dot(away)
    return _stepped(point, eta_now, away, slope, turned, point["sigma"] * np.array([1, 0]))


def any_step(point: Params) -> dict[str, Any]:
    """Return one step whose vectors are any: what Hessians make of them, only the assumptions say."""
    eta_now = point["step"] / (21 * point["delta"] * point["K"])
    away = point["away"] * (0 if point["K"] == 1 else 1)
    return _stepped(point, eta_now, away, point["slope"], point["turned"], point["noise"])


def _stepped(point: Params, eta_now: Any, away: Any, slope: Any, turned: Any, shaken: Any) -> dict[str, Any]:
    end = point["server"] + away - eta_now * (slope + turned)
    noise = eta_now * shaken
    return {
        "K": point["K"],
        "delta": point["delta"],
        "eta": eta_now,
        "sigma_sq": (shaken * shaken).sum(),
        "server": point["server"],
        "before": point["server"] + away,
        "grad": slope,
        "bent": turned,
        "after": [end + noise, end - noise],
        "chance": [ratio(point, 1, 2)] * 2,
    }


left = EE(NormSq(after - server))
grown = 1 + 1 / (2 * K)
room = grown - (1 + 1 / (21 * K)) ** 2

claim = Claim(
    id="scaffold.lemma-21",
    kind=Kind.LEMMA,
    title="drift of one client in one step on quadratics",
    citation=Citation("scaffold", "Lemma 21"),
    forms=(
        Form(
            statement=Le(left, grown * NormSq(before - server) + 7 * K * eta**2 * NormSq(grad) + eta**2 * sigma_sq),
        ),
        Form(
            variant="sharp",
            statement=Le(
                left, grown * NormSq(before - server) + grown / room * eta**2 * NormSq(grad) + eta**2 * sigma_sq
            ),
            note="about 2.5 K in place of 7 K; attained",
        ),
    ),
    assumptions=(
        Assumption("step", Le(eta * delta * K, Rational(1, 21)), Origin.DECLARED),
        Assumption("Hessian dissimilarity (A2)", Le(NormSq(bent), delta**2 * NormSq(before - server))),
    ),
    uses=("scaffold.lemma-3",),
    check=Instances(
        space=Space(
            {
                **SPACE,
                "step": Real(0.01, 1),
                "server": Real(-3, 3, shape=(2,)),
                "away": Real(-3, 3, shape=(2,)),
            }
        ),
        realise=realise,
        within=Instances(
            space=Space(
                {
                    "d": Integer(1, 2),
                    "K": Integer(1, 4),
                    "delta": Real(0.1, 2, log=True),
                    "step": Real(0.1, 1),
                    **{name: Real(-3, 3, shape=("d",)) for name in ("server", "away", "slope", "turned", "noise")},
                }
            ),
            realise=any_step,
        ),
    ),
)
