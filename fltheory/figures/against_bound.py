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
    lower = compared.direction == "lower"
    curve, low, high = (
        (compared.right, compared.right_low, compared.right_high)
        if lower
        else (compared.left, compared.left_low, compared.left_high)
    )
    label = "run (exact)" if np.array_equal(low, high) else "run (mean and band)"
    positive = curve[curve > 0]
    if np.any(high > low) and positive.size:
        low = np.maximum(low, positive.min() / 10)
        axes.fill_between(compared.rounds, low, np.maximum(high, low), color="0.6", alpha=0.4, linewidth=0)
    # A statement about the end of a run has one value, which a line would not show.
    single: dict[str, Any] = {"marker": "o", "markersize": 4} if len(curve) == 1 else {}
    axes.plot(compared.rounds, _shown(curve), color="black", linewidth=1.2, label=label, **single)
    name = f"{compared.variant} {'lower ' if lower else ''}bound" + (", constant 1" if compared.is_rate else "")
    bound = _shown(compared.left if lower else compared.right)
    axes.plot(compared.rounds, bound, color=COLOURS[1], linestyle=(0, (4, 2)), linewidth=1.2, label=name, **single)
    across = "communication round" if compared.axis == "round" else f"{compared.axis}, as the statement counts"
    dress(axes, xlabel=across, ylabel="both sides of the statement")
    axes.set_title(
        title or f"{compared.reference}: {WORDS[compared.decision.value]}", fontsize=POINTS, parse_math=False
    )
    legend(axes)
    return figure


def _shown(values: Any) -> Any:
    return np.where(values > 0, values, np.nan)
