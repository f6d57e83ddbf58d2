r"""Theorem 4 in one picture: where FedAvg with a fixed step size settles, between its bounds.

The problem is :func:`fltheory.two_curvatures` with :math:`\mu = 1`, :math:`L = 4`, along the step size. Points are the
distance of the settled model from the minimiser, over the norm of the minimiser: the fixed point of a round, which is
affine. Lower curves are the forms ``corrected`` and ``sharp``. The upper one follows from the same derivation: with
:math:`a(h) = 1 - (1-\eta h)^E \ge 1 - e^{-E\eta h}` the relative distance is

.. math:: \mu\,\frac{\frac{a(\mu)}\mu - \frac{a(L)}L}{a(L)+a(\mu)} \le
   \frac{\mu(L-\mu)E(E-1)\eta^2}{2(2 - e^{-E\eta L} - e^{-E\eta\mu})} ,

and it is less than its limit for many local steps, :math:`\frac12(1-\frac\mu L)`. Sizes are chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.figures import between
from fltheory.figures.study import Data, Study, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOW, HIGH, STEPS = 1.0, 4.0, (2, 16)


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Compute distances and bounds for every step size."""
    rates = np.geomspace(1e-4, 0.5 / HIGH, 8 if quick else 24)
    return {"panels": [_panel(steps, rates) for steps in STEPS]}


def settled(steps: int, rates: Any) -> Any:
    """Return the distance of the settled model from the minimiser, which is 1."""
    pull_high, pull_low = 1 - (1 - rates * HIGH) ** steps, 1 - (1 - rates * LOW) ** steps
    return 1.0 - pull_high / (pull_high + pull_low) * (LOW + HIGH) / HIGH


def _panel(steps: int, rates: Any) -> dict[str, Any]:
    constant = LOW * (HIGH - LOW) / (2 * (LOW + HIGH))
    together = 2 - np.exp(-steps * rates * HIGH) - np.exp(-steps * rates * LOW)
    upper = LOW * (HIGH - LOW) * steps * (steps - 1) * rates**2 / (2 * together)
    printed = constant / np.e * (steps - 1) * np.minimum(rates, 1 / (HIGH * steps))
    return {
        "title": f"E = {steps}",
        "xlabel": r"step size  $\eta$",
        "x": rates.tolist(),
        "upper": {"upper bound": np.minimum(upper, (1 - LOW / HIGH) / 2).tolist()},
        "lower": {
            "Theorem 4, corrected": printed.tolist(),
            "Theorem 4, sharp": (constant * (1 - rates * HIGH) ** (steps - 1) * (steps - 1) * rates).tolist(),
        },
        "run": {"FedAvg": settled(steps, rates).tolist()},
    }


def draw(data: Data) -> Figure:
    """Draw one panel per number of local steps."""
    return between.draw(data["panels"], ylabel=r"$\|\tilde w - w^*\| / \|w^*\|$")


def table(data: Data) -> TextTable:
    """Return all numbers."""
    return between.table(data["panels"], heading="η")


def caption(data: Data) -> str:
    """Say how far the settled models stay from both bounds."""
    return (
        "The model at which FedAvg settles is off by the step size times the number of further local steps, up to "
        f"constants: it stays below the upper and above the lower bounds, {between.between(data['panels'])}."
    )


study = Study(
    name="li-theorem-4",
    title="Li et al., Theorem 4: where FedAvg with a fixed step size settles, between its bounds",
    paper="li",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
