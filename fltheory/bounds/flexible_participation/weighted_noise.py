r"""Instances of a weighted sum of independent noises, for the lemmas that bound its variance.

The noise of client :math:`k` is :math:`\pm\sigma_k v_k` with a fair coin per client, :math:`v_k` a unit vector or
shorter; all :math:`2^N` outcomes are enumerated.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from fltheory.bounds.claim import Instances
from fltheory.bounds.space import Integer, Params, Real, Space, ratio


def _realise(point: Params) -> dict[str, Any]:
    """Return weights, gradients and all outcomes of independent coins."""
    clients = point["N"]
    noise = point["noise"]
    signs = np.array(list(itertools.product((-1, 1), repeat=clients)))
    return {
        "N": clients,
        "p_tau": point["p_tau"],
        "g_bar": point["gradient"],
        "g": [point["gradient"] + sign[:, None] * noise for sign in signs],
        "sigma_sq": (noise * noise).sum(axis=1) * point["slack"],
        "chance": [ratio(point, 1, len(signs))] * len(signs),
    }


COINS = Instances(
    space=Space(
        {
            "N": Integer(1, 4),
            "d": Integer(1, 3),
            "p_tau": Real(0, 5, shape=("N",)),
            "gradient": Real(-3, 3, shape=("N", "d")),
            "noise": Real(-3, 3, shape=("N", "d")),
            "slack": Real(1, 2),
        }
    ),
    realise=_realise,
)
"""Any weights, gradients and sizes of the noise; the declared variance may be larger than the true one."""
