"""What theorems say about one experiment: how tight every bound is, and the bounds on the gap beside the run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.papers import labelled
from fltheory.figures.graph_layout import label
from fltheory.figures.style import COLOURS, MARKERS, PAGE, POINTS, dress, legend, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = 6
"""Bounds that are drawn as curves: of the theorems that guarantee the smallest gaps."""

ROW = 0.17
"""Height of a row in inches."""

BELOW = 0.45
"""Distance of the legend from the axes above it, in inches: what ticks and label take."""

KINDS = {"bound": "bound", "rate": "rate, constant 1", "refuted": "refuted", "exceeded": "exceeded by this run"}
"""What is drawn, and its entry in the legend."""


def guarantees(found: Any, *, title: str | None = None) -> Figure:
    """Return a figure of :class:`~fltheory.theory.guarantees.Guarantees`.

    On the left every form by its ratio of bound and exact value, open symbols for those that guarantee nothing. On the
    right the bounds on the gap, those of the theorems with the smallest ones, and the gap of the experiment.
    """
    from matplotlib.figure import Figure

    shown = [one for one in found.guarantees if one.standing.value in KINDS and 0 < one.tightness < math.inf]
    ranked = {name: [one for one in shown if one.standing.value == name] for name in KINDS}
    rows = [one for group in ranked.values() for one in group]
    figure = Figure(figsize=(PAGE, max(2.6, 0.9 + ROW * len(rows))), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
    _ratios(left, rows)
    _curves(right, found)
    figure.suptitle(title or found.heading, fontsize=POINTS, parse_math=False)
    return figure


def _ratios(axes: Axes, rows: list[Any]) -> None:
    axes.set_xscale("log")
    axes.axvline(1.0, color="black", linewidth=0.8)
    for number, (name, words) in enumerate(KINDS.items()):
        places = [place for place, one in enumerate(rows) if one.standing.value == name]
        if places:
            axes.plot(
                [rows[place].tightness for place in places],
                places,
                linestyle="none",
                marker=MARKERS[number],
                markersize=4,
                color=COLOURS[number],
                markerfacecolor=COLOURS[number] if name == "bound" else "none",
                label=words,
            )
    axes.set_yticks(range(len(rows)), [_name(one) for one in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    dress(axes, xlabel="bound / exact value, last round\n(* at the theorem's own rate)")
    axes.tick_params(axis="y", labelsize=POINTS - 2, length=0)
    if rows:
        legend(axes, loc="best", fontsize=POINTS - 2)


def _name(one: Any) -> str:
    """Write paper and number, which have to be short here, the first form, and whose learning rate it is."""
    more = f" +{len(one.variants) - 1}" if len(one.variants) > 1 else ""
    mark = "" if one.setting == "given" else "*"
    name = labelled(one.id.partition(".")[0], label(one.id).replace("\n", " "))
    return f"{name}: {one.variants[0]}{more}{mark}"


def _curves(axes: Axes, found: Any) -> None:
    from matplotlib.transforms import ScaledTranslation

    axes.set_yscale("log")
    if found.run is not None and found.run.gap is not None:
        gap = found.run.gap.mean(axis=0)
        axes.plot(np.arange(len(gap)), _positive(gap), color="black", linewidth=1.4, label="gap of the experiment")
    best: dict[str, Any] = {}
    for one in sorted((one for one in found.ranked if one.gap_bound is not None), key=lambda one: one.gap_bound):
        best.setdefault(one.id, one)
    for number, one in enumerate(list(best.values())[:CURVES]):
        places = one.gap_rounds
        style = line(number)
        if len(places) == 1:
            style = {"color": style["color"], "marker": MARKERS[number], "markersize": 4, "linestyle": "none"}
        axes.plot(places, _positive(one.gap_curve), label=_name(one), **style)
    dress(axes, xlabel="communication round", ylabel="gap, and bounds on a gap")
    if axes.lines:
        below = axes.transAxes + ScaledTranslation(0, -BELOW, axes.figure.dpi_scale_trans)
        legend(axes, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, fontsize=POINTS - 2)


def _positive(values: Any) -> Any:
    return np.where(np.asarray(values) > 0, values, np.nan)
