r"""Equations (64) and (65): the learning rate of Theorem 3.1 meets the two conditions of its proof.

Write :math:`S = \mathbb E[\sum_k p_\tau^k s_\tau^k]`. With
:math:`\eta_\tau = \frac{16E}{\mu S} \frac{1}{\tau E + \gamma}` and
:math:`\gamma = \max\{\frac{32E(1+\theta)L}{\mu S}, \frac{4E^2\theta}{S}\}`, as published

.. math::
   \eta_\tau \le \eta_0 = \frac{16E/(\mu S)}{E + \gamma} \le \frac{16E/(\mu S)}{32E(1+\theta)L/(\mu S)}
   = \frac{1}{2(1+\theta)L} ,
   \qquad
   \eta_\tau \le \eta_0 = \frac{16E/(\mu S)}{E + \gamma} \le \frac{16E/(\mu S)}{4E^2\theta/S}
   = \frac{4}{\mu E \theta} .

The value of :math:`\eta_0` is misprinted: rounds count from 0, so its denominator is :math:`\gamma`. It is right for
the rate of the time-varying extension, :math:`\frac{16E}{\mu S} \frac{1}{(\tau+1)E + \gamma}`. The conclusions,
:math:`\eta_\tau \le \frac{1}{2(1+\theta)L}` and :math:`\eta_\tau \le \frac{4}{\mu E\theta}`, are true either way.

**Derivation of the corrected form.** Put :math:`\gamma` in place of :math:`E + \gamma`: each of the two denominators
is at most :math:`\gamma`, since :math:`\gamma` is their maximum. One of the two conditions is tight at
:math:`\tau = 0`, so nothing is lost.

Instances: all numbers free.

Source: Ruan et al., AISTATS 2021, appendix A.2, (64) and (65); :math:`\gamma` and :math:`\eta_\tau` of Theorem 3.1.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Le

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.symbols import gamma, mean_ps, theta
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan._induction import CONSTANTS, constants
from fltheory.bounds.ruan.theorem_3_1 import GAMMA
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, L, eta, mu, tau

eta_0 = scalar("eta_0", r"\eta_0", "local learning rate in the first round", domain="nonnegative")

unit = 16 * E / (mu * mean_ps)
definitions = (
    (gamma, GAMMA),
    (eta, unit / (tau * E + gamma)),
    (eta_0, unit / gamma),
)
smooth, contracting = 1 / (2 * (1 + theta) * L), 4 / (mu * E * theta)


def realise(point: Params) -> dict[str, Any]:
    """Return the constants."""
    return constants(point) | {"tau": point["tau"], "mean_ps": point["theta"] * point["E"] * point["activity"]}


def both(denominator: Any) -> tuple[Any, ...]:
    """Return the links of the two chains, with a denominator for the rate of the first round."""
    value = unit / denominator
    return Le(eta, eta_0), Eq(eta_0, value, evaluate=False), Le(value, smooth), Le(value, contracting)


claim = Claim(
    id="ruan.eq-64-65",
    kind=Kind.IDENTITY,
    title="the learning rate meets the conditions of the proof",
    citation=Citation("ruan", "appendix A.2, (64) and (65)"),
    forms=(
        Form(statement=both(E + gamma), where=definitions),
        Form(
            variant="corrected",
            statement=both(gamma),
            where=definitions,
            note="the rate of round 0 has the denominator gamma",
        ),
    ),
    check=Instances(
        space=Space({**CONSTANTS, "tau": Integer(0, 30), "activity": Real(0.001, 1, log=True)}),
        realise=realise,
    ),
)
