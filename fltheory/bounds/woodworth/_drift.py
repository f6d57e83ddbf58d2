r"""Local SGD along a bent axis, with infinitely many machines.

Along an axis of slopes :math:`a` left and :math:`b > a` right of the minimiser, one step
:math:`x \mapsto x - \eta\varphi'(x)` is increasing and concave for :math:`\eta \le \frac1b`, and so is the mean
:math:`m(x)` of the last iterate of a round from :math:`x`. With :math:`M` machines
:math:`\mathbb E\bar x_{r+1} = \mathbb Em(\bar x_r) \le m(\mathbb E\bar x_r)`, so that the mean is at most the model of
infinitely many machines, :math:`x_{r+1} = m(x_r)`. Left of the minimiser the expected gap of any number of machines is
then at least the gap there, by Jensen's inequality: what is computed here is a lower estimate for all :math:`M`.
The noise is :math:`\pm\sigma` by a coin, and :math:`m` a mean over all coins of a round.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def signs(length: int) -> Any:
    """Return all coins of a round, shape ``(outcomes, length)``."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=length))).reshape(-1, length)


def slope(x: Any, left: float, right: float) -> Any:
    """Return the derivative of a bent parabola."""
    return left * np.minimum(x, 0.0) + right * np.maximum(x, 0.0)


def value(x: Any, left: float, right: float) -> Any:
    """Return a bent parabola."""
    return (left * np.minimum(x, 0.0) ** 2 + right * np.maximum(x, 0.0) ** 2) / 2


def rounds(
    start: float, *, length: int, number: int, eta: float, left: float, right: float, sigma: float
) -> tuple[float, float]:
    """Return the model of infinitely many machines after the rounds, and the mean of all averaged iterates."""
    coins = signs(length)
    x, total = start, 0.0
    for _ in range(number):
        models = np.full(len(coins), x)
        for step in range(length):
            models = models - eta * (slope(models, left, right) + sigma * coins[:, step])
            total += float(models.mean())
        x = float(models.mean())
    return x, total / (length * number)
