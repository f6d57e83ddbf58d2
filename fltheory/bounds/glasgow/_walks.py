r"""SGD and gradient descent from one point, on all coins of the noise.

The noise of every step is :math:`\pm\sigma` along an axis. Everything works on floats and on rationals.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real

mean_sgd = scalar(
    "mean_sgd", r"\mathbb E\,x_{\mathrm{SGD}}^{(k)}", "expected model of SGD after the steps", shape=("dim",)
)
gd = scalar("gd", r"z_{\mathrm{GD}}^{(k)}", "model of gradient descent after the steps", shape=("dim",))

SPACE: dict[str, Parameter] = {
    "d": Integer(1, 2),
    "k": Integer(1, 4),
    "H": Real(0.1, 10, log=True),
    "start": Real(-3, 3, shape=("d",)),
    "sigma": Real(0, 3),
    "step": Real(0.01, 1, log=True),
}


def ends(point: Params, slope: Callable[[Any], Any], eta: Any) -> dict[Any, Any]:
    """Return both models after the steps, for a gradient that works on the last axis."""
    steps, start = point["k"], point["start"]
    coins = np.array(list(itertools.product((-1, 1), repeat=steps)))
    models, clean = np.repeat(start[None], len(coins), axis=0), start
    for step in range(steps):
        along = (np.arange(len(start)) == step % len(start)).astype(int)
        models = models - eta * (slope(models) + point["sigma"] * coins[:, step, None] * along)
        clean = clean - eta * slope(clean)
    return {mean_sgd: models.sum(axis=0) / len(models), gd: clean}
