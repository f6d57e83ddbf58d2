r"""Noise that all clients share: FedAvg with equal clients and one local step is SGD, however many there are.

Clients have :math:`F_k(w) = \frac\mu2w^2` on the line, start at the minimiser, and take the rates of Theorem 1 with
:math:`\gamma = 8`. All of them see the same noise, of variance :math:`\sigma^2`, so that

.. math:: \mathbb E\|w_{t+1}\|^2 = (1 - \eta_t\mu)^2\,\mathbb E\|w_t\|^2 + \eta_t^2\sigma^2 ,

whereas the bound has :math:`\sum_kp_k^2\sigma_k^2 = \sigma^2/N`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.claim import Instances, Method
from fltheory.bounds.space import Integer, Params, Real, Space

OFFSET = 8


def realise(point: Params) -> dict[str, Any]:
    """Return the quantities of Theorem 1 after some rounds of one step."""
    low, variance, number, rounds = point["mu"], point["sigma_sq"], point["N"], point["rounds"]
    square, seen, gaps = 0 * variance, [], []
    for t in range(1, rounds + 1):
        seen.append(low**2 * square + variance)
        eta = 2 / (low * (OFFSET + t))
        square = (1 - eta * low) ** 2 * square + eta**2 * variance
        gaps.append(low / 2 * square)
    return {
        "N": number,
        "E": 1,
        "mu": low,
        "L": low,
        "p": [1 / (number + 0 * low)] * number,
        "sigma_sq": [variance] * number,
        "Gamma_all": 0,
        "G_sq": max(seen),
        "seen_sq": np.array(seen),
        "tau": np.arange(1, rounds + 1),
        "gap": np.array(gaps),
        "start_sq": 0 * variance,
        "dependence": 1,
    }


COMMON = Instances(
    space=Space(
        {
            "N": Integer(1, 20),
            "rounds": Integer(1, 20),
            "mu": Real(0.1, 10, log=True),
            "sigma_sq": Real(0.1, 10, log=True),
        }
    ),
    realise=realise,
    method=Method.EXACT,
    rational=False,
)
"""Clients that share their noise."""
