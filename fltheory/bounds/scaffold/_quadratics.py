r"""Two clients with quadratics of a given Hessian dissimilarity, in the plane, in exact arithmetic.

:math:`A` has given eigenvalues along turned axes and :math:`A_{1,2} = A \pm \delta P` with a reflection :math:`P`,
whose norm is one, so that :math:`\|A_i - A\| = \delta` exactly, :math:`\beta` is the larger eigenvalue of :math:`A`
plus :math:`\delta`, and the clients are :math:`\mu`-convex for the smaller one less :math:`\delta`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.functions import Turned
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real

delta = scalar("delta", r"\delta", "Hessian dissimilarity", domain="nonnegative")

SPACE: dict[str, Parameter] = {
    "K": Integer(1, 4, far=300),
    "low": Real(0, 2),
    "above": Real(0, 10),
    "turn": Real(-1, 1),
    "reflection": Real(-1, 1),
    "delta": Real(0.001, 2, log=True),
    "sigma": Real(0, 3),
}


def hessians(point: Params) -> tuple[Any, Any]:
    """Return the Hessian of the objective and those of both clients."""
    low, high = point["low"], point["low"] + point["above"]
    zero = np.array([[0 * low, 0 * low]])
    mean = Turned(centre=zero, eigenvalues=np.array([[low, high]]), turn=np.array([point["turn"]])).hessian(0)
    h = point["reflection"]
    cosine, sine = (1 - h * h) / (1 + h * h), 2 * h / (1 + h * h)
    mirror = np.array([[cosine, sine], [sine, -cosine]], dtype=np.asarray(mean).dtype)
    return mean, (mean + point["delta"] * mirror, mean - point["delta"] * mirror)
