r"""Theorems 3.1 and 3.3 in one picture: FedAvg on the hard problem, and the rates that it cannot beat.

The problem is :func:`fltheory.bent_valley_with_pulls`, with the step size that is best for every number of rounds;
:math:`H = D = 1`. Left equal clients, many of them, with noise; right two clients that differ, without noise. Points
are errors, along the bent axis with infinitely many clients and so underestimated. The theorems are about rates: the
lower curves are the terms of the corrected forms over the largest constant that is needed along these points, and the
upper one left is the sharp form of Theorem 2 of Woodworth et al., right the term that Table 1 of the paper gives, with
the constants of the field guide, (17), whose heterogeneity :math:`\zeta` is that at the minimiser here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.glasgow._fedavg import ALIKE, APART, underestimated
from fltheory.figures import between
from fltheory.figures.study import Data, Study, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Compute errors and rates for every number of rounds."""
    numbers = [16, 64, 256] if quick else [16, 32, 64, 128, 256, 512, 1024]
    return {"panels": [_equal(np.array(numbers)), _differing(np.array(numbers))]}


def _errors(base: dict[str, Any], numbers: Any) -> Any:
    return np.array([underestimated({**base, "R": int(number)})["error"] for number in numbers])


def _scaled(law: Any, errors: Any) -> list[float]:
    """Return a law over the constant with which it is below all errors."""
    found: list[float] = (law * float((errors / law).min())).tolist()
    return found


def _equal(numbers: Any) -> dict[str, Any]:
    errors, steps = _errors(ALIKE, numbers), ALIKE["K"]
    total = steps * numbers
    drift = 1 / (steps ** (1 / 3) * numbers ** (2 / 3))
    noise = 1 / np.sqrt(ALIKE["M"] * total)
    return {
        "title": "equal clients",
        "xlabel": "rounds  R",
        "x": numbers.tolist(),
        "upper": {
            "Woodworth et al., sharp": (1 / (2 * total) + (1 + 1 / (2 * total)) * noise + 3 * drift / 4).tolist()
        },
        "lower": {"Theorem 3.1, scaled": _scaled(1 / total + noise + np.minimum(1 / np.sqrt(total), drift), errors)},
        "run": {"FedAvg": errors.tolist()},
    }


def _differing(numbers: Any) -> dict[str, Any]:
    errors, steps = _errors(APART, numbers), APART["K"]
    pulls = numbers ** (-2 / 3)
    return {
        "title": "two clients that differ",
        "xlabel": "rounds  R",
        "x": numbers.tolist(),
        "upper": {"field guide (17)": (2 / (steps * numbers) + 19 * pulls).tolist()},
        "lower": {"Theorem 3.3, scaled": _scaled(1 / (steps * numbers) + np.minimum(1.0, pulls), errors)},
        "run": {"FedAvg": errors.tolist()},
    }


def draw(data: Data) -> Figure:
    """Draw both settings."""
    return between.draw(data["panels"], ylabel=r"$\mathbb{E}F(x^{(R,0)}) - F^\star$")


def table(data: Data) -> TextTable:
    """Return all numbers."""
    return between.table(data["panels"], heading="R")


def caption(data: Data) -> str:
    """Say with which power of the rounds the errors fall."""
    parts = []
    for panel in data["panels"]:
        (errors,) = panel["run"].values()
        power = np.log(errors[-1] / errors[-2]) / np.log(panel["x"][-1] / panel["x"][-2])
        parts.append(f"R^{power:.2f} ({panel['title']})")
    return f"With the best step size the error falls like {' and '.join(parts)}; both theorems say R^-2/3 at best."


study = Study(
    name="glasgow-theorem-3-1",
    title="Glasgow et al., Theorems 3.1 and 3.3: FedAvg with the best step size and the rates it cannot beat",
    paper="glasgow",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
