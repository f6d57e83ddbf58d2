r"""Corollary 3.7: :math:`\sqrt\kappa` proximal steps suffice.

As published: with :math:`\gamma = \frac1L` and :math:`p = \frac1{\sqrt\kappa}` the iteration complexity of ProxSkip is
:math:`O(\kappa\log\frac1\epsilon)` and its prox calculation complexity is :math:`O(\sqrt\kappa\log\frac1\epsilon)`.

**Reading.** :math:`T_\epsilon` is the number of steps after which :math:`\mathbb E[\Psi_T] \le \epsilon\Psi_0`, see
(16), and :math:`pT_\epsilon` the expected number of proximal steps. Measured on Scaffnew with two clients in the
plane: ``exchanged``, the one has curvatures :math:`\mu` and :math:`L`, the other :math:`L` and :math:`\mu`; ``alike``,
both have :math:`\mu` and :math:`L`, and their minimisers differ along the flat axis.

**Derivation of the sharp form.** By Theorem 3.6 with :math:`\zeta = \frac1\kappa`,
:math:`T_\epsilon \le \lceil\kappa\ln\frac1\epsilon\rceil`, so that the constant is 1, up to the one step by which a
whole number may exceed: form ``sharp``. The law cannot be better for clients that are ``alike`` (form ``sharp@below``):
the mean model does not notice coins, so that its error along the flat axis shrinks by :math:`1 - \frac1\kappa` in every
step. It is a fixed share :math:`s` of :math:`\Psi_0`, and :math:`T_\epsilon \ge \frac{\kappa-1}2\ln\frac s\epsilon`.

Instances: exact second moments, along sweeps of :math:`\kappa` up to 4096 and of :math:`\epsilon` down to
:math:`10^{-12}`.

Source: Mishchenko et al., ICML 2022, Corollary 3.7, (16), (17).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, log, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.proxskip._runs import clients
from fltheory.bounds.proxskip._scaffnew import ErrorMoments
from fltheory.bounds.proxskip._symbols import q
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Params, Real, Space

kappa = scalar("kappa", r"\kappa", "condition number", domain="positive")
eps = scalar("eps", r"\epsilon", "accuracy, relative to the start", domain="positive")
T_eps = scalar("T_eps", r"T_\epsilon", "steps to the accuracy", domain="integer>=0")


def realise(point: Params) -> dict[Any, Any]:
    """Return the number of steps to an accuracy; powers of the step's map are squared until it is bracketed."""
    condition, accuracy = float(point["kappa"]), float(point["eps"])
    alike = point["clients"] == "alike"
    made = clients(
        {
            "mu": 1.0,
            "condition": condition,
            "curvature": np.array([[0.0, 1.0], [0.0, 1.0] if alike else [1.0, 0.0]]),
            "centre": np.array([[1.0, 0.0], [-1.0, 0.0]] if alike else [[1.0, -1.0], [-1.0, 1.0]]),
            "start": np.array([1.0, 0.5]),
        },
        noisy=False,
    )
    gamma, chance = 1 / condition, condition**-0.5
    moments = ErrorMoments.of(made)
    meet, local, _ = moments.maps(gamma, chance)
    heads = meet @ local
    step = chance * np.kron(heads, heads) + (1 - chance) * np.kron(local, local)
    size = len(moments.mean)
    weights = np.diag(np.repeat([1.0, (gamma / chance) ** 2], size)).ravel()
    now, count = moments.start.ravel(), 0
    wanted = accuracy * float(weights @ now)
    powers = [step]
    while float(weights @ (powers[-1] @ now)) > wanted:
        powers.append(powers[-1] @ powers[-1])
    for exponent in range(len(powers) - 1, -1, -1):
        further = powers[exponent] @ now
        if float(weights @ further) > wanted:
            now, count = further, count + 2**exponent
    return {kappa: condition, eps: accuracy, q: chance, T_eps: count + 1}


SPACE = Space(
    {"clients": Choice(("alike", "exchanged")), "kappa": Real(1, 1e6, log=True), "eps": Real(1e-15, 1, log=True)}
)
CONDITIONS = (4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0)
ACCURACIES = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
source = Instances(space=SPACE, realise=realise, method=Method.EXACT, rational=False)


def along(*kinds: str) -> Sweeps:
    """Return sweeps with clients of the given kinds."""
    fixed = [("kappa", CONDITIONS, {"eps": 1e-3}), ("kappa", CONDITIONS, {"eps": 1e-9})]
    fixed.append(("eps", ACCURACIES, {"kappa": 64.0}))
    return Sweeps(
        instances=source,
        sweeps=tuple(Sweep(name, values, {**base, "clients": kind}) for kind in kinds for name, values, base in fixed),
    )


claim = Claim(
    id="proxskip.corollary-3.7",
    kind=Kind.RATE,
    title="number of steps and of proximal steps",
    citation=Citation("proxskip", "Corollary 3.7"),
    forms=(
        Form(statement=(Le(T_eps, BigO(kappa * log(1 / eps))), Le(q * T_eps, BigO(sqrt(kappa) * log(1 / eps))))),
        Form(
            variant="sharp",
            statement=(Le(T_eps, kappa * log(1 / eps) + 1), Le(q * T_eps, sqrt(kappa) * log(1 / eps) + q)),
            note="with the constant 1, for whole numbers of steps",
        ),
        Form(
            variant="sharp@below",
            statement=Le(kappa * log(1 / eps), BigO(T_eps)),
            check=along("alike"),
            note="no better for two clients that are alike",
        ),
    ),
    uses=("proxskip.theorem-3.6",),
    check=along("exchanged", "alike"),
)
