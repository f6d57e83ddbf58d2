r"""Theorems V and VI in one picture: FedAvg on clients that pull apart, and the rate that it cannot beat.

The problem is :func:`fltheory.opposed_pulls` with :math:`\mu = G = 1`, from :math:`x^0 = 5`. Points are the error after
:math:`R` rounds with the constant step size that is best for them, on a grid below :math:`\frac1\mu`; rounds are
affine, so that all of it is in closed form. The lower curve is Theorem VI with the constant of the corrected form, for
the mean of both clients. The upper curve is the rate of Theorem V, strongly convex, with 1 for the constant that it
leaves open, its logarithm for a :math:`\tilde O`, and the dissimilarity :math:`B = 3` with :math:`\frac87G^2`, which
these clients have. Sizes are chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.scaffold.theorem_vi import CONSTANT
from fltheory.figures import between
from fltheory.figures.study import Data, Study, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, START = (2, 16), 5.0


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Compute errors and bounds for every number of rounds."""
    numbers = [16, 128, 1024, 8192] if quick else (2 ** np.arange(3, 14)).tolist()
    rates = np.geomspace(1e-7, 0.99, 400 if quick else 4000)
    return {"panels": [_panel(steps, numbers, rates) for steps in STEPS]}


def error(steps: int, rounds: int, rates: Any) -> Any:
    """Return the error after the rounds for every step size."""
    base = 1 - 2 * rates
    keep = (1 + base**steps) / 2
    pulled = sum(1 - base**tau for tau in range(steps)) * rates / 2
    x = keep**rounds * START + pulled * (1 - keep**rounds) / (1 - keep)
    return x**2 / 2


def _panel(steps: int, numbers: list[int], rates: Any) -> dict[str, Any]:
    rounds = np.array(numbers, dtype=float)
    errors = np.array([float(error(steps, number, rates).min()) for number in numbers])
    smooth, apart, first = 2.0, 8 / 7, START**2 / 2
    logarithm = np.log(2 + smooth * START**2 / errors)
    upper = logarithm**2 * smooth * apart / rounds**2 + START**2 * np.exp(-rounds / (16 * 10 * smooth))
    return {
        "title": f"K = {steps}",
        "xlabel": "rounds  R",
        "x": numbers,
        "upper": {"Theorem V, constant 1": upper.tolist()},
        "lower": {"Theorem VI": (float(CONSTANT) * np.minimum(first, 1 / rounds**2)).tolist()},
        "run": {"FedAvg": errors.tolist()},
    }


def draw(data: Data) -> Figure:
    """Draw one panel per number of local steps."""
    return between.draw(data["panels"], ylabel=r"$f(x^R) - f(x^*)$")


def table(data: Data) -> TextTable:
    """Return all numbers."""
    return between.table(data["panels"], heading="R")


def caption(data: Data) -> str:
    """Say with which power of the rounds the error falls, and how far it stays from the bounds."""
    parts = []
    for panel in data["panels"]:
        (errors,) = panel["run"].values()
        power = np.log(errors[-1] / errors[-2]) / np.log(panel["x"][-1] / panel["x"][-2])
        parts.append(f"R^{power:.2f} ({panel['title']})")
    return (
        f"With the best step size the error falls like {' and '.join(parts)}, between Theorem VI and Theorem V, "
        f"{between.between(data['panels'])}."
    )


study = Study(
    name="scaffold-theorem-vi",
    title="Karimireddy et al., Theorems V and VI: FedAvg on clients that pull apart, between both bounds",
    paper="scaffold",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
