"""A run between an upper and a lower bound: what figures of lower bounds share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.figures.study import TextTable
from fltheory.figures.style import COLOURS, MARKERS, POINTS, dress, line, panels, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panel = Mapping[str, Any]
"""Numbers of a panel: ``title``, ``xlabel``, ``x``; ``upper``, ``lower`` and ``run``, each values by their label."""


UPPER = ((0, (5, 1.5)), (0, (9, 1.5, 2, 1.5)))
LOWER = ("-", (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1)))
"""Strokes of several bounds in one panel, which colours alone must not tell apart."""


def draw(shown: Sequence[Panel], *, ylabel: str) -> Figure:
    """Draw one panel per setting: upper bounds in dashes, lower bounds solid or dotted, runs as points."""
    figure, axes = panels(1, len(shown), height=3.1)
    for panel, place in zip(shown, axes[0], strict=True):
        for index, (label, values) in enumerate(panel["upper"].items()):
            place.loglog(panel["x"], values, label=label, **{**line(index), "linestyle": UPPER[index % len(UPPER)]})
        for index, (label, values) in enumerate(panel["lower"].items()):
            place.loglog(panel["x"], values, label=label, **{**line(index + 3), "linestyle": LOWER[index % len(LOWER)]})
        for index, (label, values) in enumerate(panel["run"].items()):
            place.loglog(
                panel["x"],
                values,
                MARKERS[index],
                markersize=3.5,
                color=COLOURS[6],
                markerfacecolor="white" if index else COLOURS[6],
                label=label,
            )
        dress(place, xlabel=panel["xlabel"], title=panel["title"])
        _few_ticks(place, panel["x"])
        _legend_below(figure, place)
    axes[0, 0].set_ylabel(ylabel, fontsize=POINTS)
    return figure


def _legend_below(figure: Figure, place: Axes) -> None:
    """Put the legend under the label of the abscissa, where no curve can be."""
    from matplotlib.transforms import ScaledTranslation

    below = place.transAxes + ScaledTranslation(0, -0.36, figure.dpi_scale_trans)
    place.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        borderaxespad=0,
        ncols=2,
        fontsize=POINTS - 2,
        frameon=False,
    )


def _few_ticks(place: Axes, values: Sequence[float]) -> None:
    """Mark every other value where there are not two powers of ten to mark."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    if max(values) < 100 * min(values):
        place.set_xticks(values[::2])
        place.xaxis.set_major_formatter(FuncFormatter(short))
        place.xaxis.set_minor_locator(NullLocator())


def table(shown: Sequence[Panel], *, heading: str) -> TextTable:
    """Return the numbers of the panels, one row per curve and place."""
    rows = [
        (panel["title"], label, f"{x:g}", f"{value:.4g}")
        for panel in shown
        for group in ("upper", "run", "lower")
        for label, values in panel[group].items()
        for x, value in zip(panel["x"], values, strict=True)
    ]
    return TextTable(columns=("setting", "curve", heading, "value"), rows=tuple(rows))


def distances(panel: Panel) -> tuple[float, float]:
    """Return how far the runs stay below the lowest upper bound and above the highest lower one, as ratios."""
    below = np.min(list(panel["upper"].values()), axis=0)
    above = np.max(list(panel["lower"].values()), axis=0)
    runs = np.array(list(panel["run"].values()))
    return float((below / runs).min()), float((runs / above).min())


def between(shown: Sequence[Panel]) -> str:
    """Say for every panel how far the runs stay from the bounds, or that one is crossed."""
    parts = []
    for panel in shown:
        under, over = distances(panel)
        inside = under >= 1 and over >= 1
        words = (
            f"by factors of at least {under:.3g} and {over:.3g}" if inside else f"not (factors {under:.3g}, {over:.3g})"
        )
        parts.append(f"{panel['title']}: {words}")
    return "; ".join(parts)
