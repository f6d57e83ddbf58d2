r"""The mean of SGD with Gaussian noise on a bent parabola, by propagating its density.

In units of :math:`\eta\sigma` a step on a function with curvature :math:`\frac H2` left and :math:`H` right of the
minimiser is :math:`x \mapsto x - u(\frac12x + \frac12[x]_+) + z` with :math:`u = \eta H` and a standard normal
:math:`z`. The density after the first step is a Gaussian; after that it is carried on by Simpson's rule on a grid with
a node at the kink.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

SPACING, COARSE = 0.25, 0.4
"""Distance of two nodes, for runs from the minimiser and for rounds from all starts: off by 1e-4, 1e-3 of the bias."""

NODES, FINE = 13, 401
"""Starts between which the mean of a round is interpolated, by splines and then linearly."""


def slope(x: Any) -> Any:
    """Return the derivative over the smoothness."""
    return np.where(x < 0, 0.5, 1.0) * x


def _grid(low: float, high: float, spacing: float) -> tuple[Any, Any]:
    """Return nodes, of which 0 is one, and the weights of Simpson's rule on either side of it."""
    sides = [2 * int(np.ceil(side / spacing / 2)) for side in (-low, high)]
    x = spacing * np.arange(-sides[0], sides[1] + 1)
    weights = np.zeros(len(x))
    for begin, count in ((0, sides[0]), (sides[0], sides[1])):
        rule = np.where(np.arange(count + 1) % 2 == 1, 4.0, 2.0)
        rule[[0, -1]] = 1.0
        weights[begin : begin + count + 1] += spacing / 3 * rule
    return x, weights


def _normal(away: Any) -> Any:
    return np.exp(-(away**2) / 2) / np.sqrt(2 * np.pi)


def means(starts: Any, steps: int, u: float, *, coarse: bool = False) -> Any:
    """Return the means after 0, 1, ... steps from starts, shape ``(steps + 1, starts)``."""
    starts = np.asarray(starts, dtype=float)
    wide = (6.0 if coarse else 8.0) * np.sqrt(steps) + 1.0
    low, high = min(0.0, float(starts.min())) - wide, max(0.0, float(starts.max())) + wide
    x, weights = _grid(low, high, COARSE if coarse else SPACING)
    found = [starts, starts - u * slope(starts)]
    if steps > 1:
        density = _normal(x[:, None] - found[1])
        carry = _normal(x[:, None] - (x - u * slope(x))) * weights
        for step in range(1, steps):
            found.append(found[-1] - u * (weights * slope(x)) @ density)
            density = carry @ density if step < steps - 1 else density
    return np.stack(found)


@functools.lru_cache(maxsize=4096)
def from_minimiser(steps: int, u: float) -> tuple[float, ...]:
    """Return the means after 0, 1, ... steps from the minimiser."""
    return tuple(float(mean) for mean in means([0.0], steps, u)[:, 0])


@functools.lru_cache(maxsize=4096)
def _of_a_round(steps: int, u: float) -> tuple[float, float, list[float]]:
    """Return the leftmost start, the distance of starts, and what the kink adds to the mean of a round from them."""
    low = -6.0 * float(np.sqrt(steps))
    starts = np.linspace(low, 0.0, NODES)
    added = CubicSpline(starts, means(starts, steps, u, coarse=True)[-1] - (1 - u / 2) ** steps * starts)
    fine = np.linspace(low, 0.0, FINE)
    return low, float(fine[1] - fine[0]), [float(value) for value in added(fine)]


def after_rounds(steps: int, rounds: int, u: float) -> float:
    """Return the model of infinitely many clients after rounds from the minimiser."""
    low, width, added = _of_a_round(steps, u)
    keep, x = (1 - u / 2) ** steps, 0.0
    for _ in range(rounds):
        before, place = x, (x - low) / width
        x = keep * x
        if place > 0:
            index = min(int(place), FINE - 2)
            x += added[index] + (place - index) * (added[index + 1] - added[index])
        if x == before:
            break
    return x
