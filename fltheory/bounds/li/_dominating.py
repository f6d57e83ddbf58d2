r"""What (7) and (8) share: the bound (6) of Theorem 2 as a formula, and sweeps of everything that it contains.

Both are statements about the right-hand side of (6), so nothing is run. The distance of the start is as large as the
paper's section 3.4 allows, :math:`\mathbb E\|w_1 - w^*\|^2 = \frac{4G^2}{\mu^2}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Max

from fltheory.bounds.claim import Instances, Method, Sweep, Sweeps
from fltheory.bounds.li._setting import B_PRINTED, NOISE, B, C, Gamma, K, gamma, kappa
from fltheory.bounds.li.theorem_2 import C_PRINTED
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, G_sq, L, N, mu, p, sigma_sq

T = scalar("T", "T", "number of local steps", domain="positive")
far_sq = scalar("far_sq", r"\mathbb{E}\|w_1 - w^*\|^2", "squared distance of the start", domain="nonnegative")

WHERE = ((kappa, L / mu), (gamma, Max(8 * kappa, E)), (B, B_PRINTED), (C, C_PRINTED), (far_sq, 4 * G_sq / mu**2))
INSIDE = 2 * (B + C) / mu + mu * gamma / 2 * far_sq
"""What (6) has in its brackets."""

SPREAD = NOISE + L * Gamma
DRAWN = (1 + 1 / K) * E**2 * G_sq

SPACE = Space(
    {
        "N": Integer(1, 4096),
        "E": Integer(1, 4096),
        "K": Integer(1, 4096),
        "mu": Real(1e-6, 1e6, log=True),
        "condition": Real(1, 1e9, log=True),
        "G": Real(1e-6, 1e6, log=True),
        "sigma": Real(0, 1e6),
        "Gamma": Real(0, 1e9),
        "T": Real(1, 1e15, log=True),
        "eps": Real(1e-15, 1, log=True),
    }
)


def realise(point: Params) -> dict[Any, Any]:
    """Return the constants of a point; all clients have the same weight and noise."""
    clients = int(point["N"])
    return {
        mu: float(point["mu"]),
        L: float(point["mu"] * point["condition"]),
        N: clients,
        E: int(point["E"]),
        K: int(point["K"]),
        p: np.full(clients, 1 / clients),
        sigma_sq: np.full(clients, float(point["sigma"]) ** 2),
        Gamma: float(point["Gamma"]),
        G_sq: float(point["G"]) ** 2,
        T: float(point["T"]),
        "eps": float(point["eps"]),
    }


BASE = {
    "N": 8,
    "E": 4,
    "K": 4,
    "mu": 1.0,
    "condition": 4.0,
    "G": 1.0,
    "sigma": 1.0,
    "Gamma": 1.0,
    "T": 1e9,
    "eps": 1e-9,
}
SIZES = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
COUNTS = {name: Sweep(name, SIZES, BASE) for name in ("N", "E", "K", "G", "sigma", "Gamma")}
CURVATURES = {"condition": Sweep("condition", SIZES, BASE), "mu": Sweep("mu", SIZES, BASE)}
TIMES = {"T": Sweep("T", (1e4, 1e5, 1e6, 1e7, 1e8, 1e9), BASE)}
PRECISIONS = {"eps": Sweep("eps", (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4), BASE)}
_SOURCE = Instances(space=SPACE, realise=realise, method=Method.EXACT, rational=False)


def along(*groups: dict[str, Sweep]) -> Sweeps:
    """Return a check along groups of sweeps."""
    return Sweeps(instances=_SOURCE, sweeps=tuple(sweep for group in groups for sweep in group.values()))
