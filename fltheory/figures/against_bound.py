"""A theorem beside a run: both sides on one figure, the bound as a dashed line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.figures.style import COLOURS, COLUMN, POINTS, WORDS, dress, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 2.6
"""In inches."""


def against_bound(compared: Any, *, title: str | None = None) -> Figure:
    """Return a figure of a :class:`~fltheory.theory.comparison.Comparison`, both axes logarithmic.

    The run has a band where it was sampled. Values that are not positive have no place on the axes and are left out.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_yscale("log")
    label = "run (exact)" if np.array_equal(compared.left_low, compared.left_high) else "run (mean and band)"
    positive = compared.left[compared.left > 0]
    if np.any(compared.left_high > compared.left_low) and positive.size:
        low = np.maximum(compared.left_low, positive.min() / 10)
        axes.fill_between(
            compared.rounds, low, np.maximum(compared.left_high, low), color="0.6", alpha=0.4, linewidth=0
        )
    axes.plot(compared.rounds, _shown(compared.left), color="black", linewidth=1.2, label=label)
    name = f"{compared.variant} bound" + (", constant 1" if compared.is_rate else "")
    axes.plot(
        compared.rounds, _shown(compared.right), color=COLOURS[1], linestyle=(0, (4, 2)), linewidth=1.2, label=name
    )
    across = "communication round" if compared.axis == "round" else f"{compared.axis}, as the statement counts"
    dress(axes, xlabel=across, ylabel="both sides of the statement")
    axes.set_title(
        title or f"{compared.reference}: {WORDS[compared.decision.value]}", fontsize=POINTS, parse_math=False
    )
    legend(axes)
    return figure


def _shown(values: Any) -> Any:
    return np.where(values > 0, values, np.nan)
