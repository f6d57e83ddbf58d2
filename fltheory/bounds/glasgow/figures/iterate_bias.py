r"""Theorems A.1 to A.4 in one picture: the iterate bias on the bent parabola, between its upper and its lower bound.

Left a kink and Gaussian noise (Theorems A.1 and A.2), right a smooth bend and uniform noise (Theorems A.3 and A.4);
:math:`H = \sigma = 1` and one step size, along the number of steps. Points are the bias of
:func:`fltheory.bent_parabola` from its minimiser, from the density of SGD and from the mean as a function of the start.
Upper bounds for uniform noise take its variance, :math:`\frac13\sigma^2`. Step sizes are chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.glasgow._bent import from_minimiser
from fltheory.bounds.glasgow.theorem_a_4 import drift
from fltheory.figures import between
from fltheory.figures.study import Data, Study, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATE = 0.05


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Compute bias and bounds for every number of steps."""
    steps = [2, 3, 4, 6, 8, 12] if quick else [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
    return {"panels": [_kinked(np.array(steps)), _smooth(np.array(steps))]}


def _roots(steps: Any) -> Any:
    return np.array([np.sqrt(np.arange(1, k)).sum() for k in steps])


def _kinked(steps: Any) -> dict[str, Any]:
    means = np.array(from_minimiser(int(steps.max()), RATE))
    least = np.minimum(RATE**2 * steps**1.5, RATE**0.5)
    return {
        "title": "kink",
        "xlabel": "steps  k",
        "x": steps.tolist(),
        "upper": {
            "Theorem A.1, printed": np.minimum(4 * RATE**2 * steps**1.5, RATE * steps**0.5).tolist(),
            "Theorem A.1, sharp": np.minimum(RATE**2 / 2 * _roots(steps), RATE * steps**0.5).tolist(),
        },
        "lower": {"Theorem A.2, printed": (0.002 * least).tolist(), "Theorem A.2, corrected": (0.006 * least).tolist()},
        "run": {"bias": (RATE * np.abs(means[steps])).tolist()},
    }


def _smooth(steps: Any) -> dict[str, Any]:
    third = 1 / (12 * (int(steps.max()) + 1))
    width = 1 / (4 * third)
    deviation_sq = 1 / 3
    least = np.minimum((steps - 1) / RATE, steps * (steps - 1))
    settled = np.minimum(RATE**-2, steps * (steps - 1))
    spread = np.cumsum((1 - RATE) ** (2 * np.arange(int(steps.max()))))
    inner = np.array([sum((1 - 3 * RATE / 4) ** (k - 1 - j) * spread[j - 1] for j in range(1, k)) for k in steps])
    return {
        "title": "smooth bend",
        "xlabel": "steps  k",
        "x": steps.tolist(),
        "upper": {
            "Theorem A.3, printed": (RATE**3 * steps**2 * third * deviation_sq / 4).tolist(),
            "Theorem A.3, sharp": (RATE**3 * steps * (steps - 1) * third * deviation_sq / 4).tolist(),
        },
        "lower": {
            "Theorem A.4, printed": (0.005 * RATE**3 * third * least).tolist(),
            "Theorem A.4, corrected": (0.005 * RATE**3 * third * settled).tolist(),
            "Theorem A.4, sharp": (RATE**3 * third * 215 / 1296 * inner).tolist(),
        },
        "run": {"bias": [width * abs(drift(int(k), RATE, RATE / width)) for k in steps]},
    }


def draw(data: Data) -> Figure:
    """Draw both problems."""
    return between.draw(data["panels"], ylabel=r"iterate bias")


def table(data: Data) -> TextTable:
    """Return all numbers."""
    return between.table(data["panels"], heading="k")


def caption(data: Data) -> str:
    """Say how far the bias is from its bounds."""
    return (
        "The bias of SGD on the bent parabola stays below its upper and above its lower bounds, "
        f"{between.between(data['panels'])}."
    )


study = Study(
    name="glasgow-iterate-bias",
    title="Glasgow et al., Theorems A.1 to A.4: iterate bias between its upper and its lower bound",
    paper="glasgow",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
