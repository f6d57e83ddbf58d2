"""Final values over a grid of experiments: one line per algorithm against one parameter, a panel per other choice."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fltheory._internal import arguments
from fltheory.errors import InvalidParameter
from fltheory.figures.comparison import AXES
from fltheory.figures.style import COLUMN, MARKERS, PAGE, POINTS, dress, line, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 6
"""Panels of one figure."""

RUNAWAY = 1e9
"""A run that ends higher is about to diverge."""


class Spot(NamedTuple):
    """The final value of one algorithm at one point of the grid, and half the width of its band."""

    point: Mapping[str, Any]
    label: str
    mean: float
    half_width: float = 0.0


def grid(
    spots: Sequence[Spot], *, against: str, quantity: str = "gap", title: str | None = None, more: str = ""
) -> Figure:
    """Return a figure of final values against one numeric parameter.

    Parameters
    ----------
    spots
        What is drawn; points differ in ``against``, and in other parameters, for whose choices there is a panel each.
    against
        Parameter on the horizontal axis.
    quantity
        What the values are: a key of :data:`~fltheory.figures.comparison.AXES`.
    title
        Heading, taken literally like the labels.
    more
        Where those choices can be found for which there is no panel; at most :data:`MOST` are drawn.

    Notes
    -----
    The horizontal axis is logarithmic if all its values are positive, the vertical one if any is; values that are not
    then leave a hole, and a band that reaches down to zero ends at the edge.
    Lines to values beyond :data:`RUNAWAY` leave the figure at the top, so that the others are not pressed flat.
    """
    arguments.choice("grid", "quantity", quantity, AXES)
    if not spots:
        raise InvalidParameter("grid.spots must hold at least one value, got none")
    others = [name for name in spots[0].point if name != against]
    by_choice: dict[str, list[Spot]] = {}
    for spot in spots:
        by_choice.setdefault(repr([spot.point[name] for name in others]), []).append(spot)
    drawn = list(by_choice.values())[:MOST]
    labels = list(dict.fromkeys(spot.label for spot in spots))
    columns = min(3, len(drawn))
    figure, axes = panels(
        math.ceil(len(drawn) / columns),
        columns,
        width=COLUMN if columns == 1 else PAGE,
        height=2.6 if columns == 1 else 2.2,
        sharex=True,
        sharey=True,
    )
    _scale(axes[0, 0], [spot for several in drawn for spot in several], against)
    for place, several in enumerate(drawn):
        here = axes[divmod(place, columns)]
        for index, label in enumerate(labels):
            _draw(here, [spot for spot in several if spot.label == label], against, index)
        dress(here)
        if place + columns >= len(drawn):  # nothing below it
            here.set_xlabel(_short(against, [against]), fontsize=POINTS, parse_math=False)
            here.tick_params(labelbottom=True)
        choice = "\n".join(f"{_short(name, others)} = {_value(several[0].point[name])}" for name in others)
        here.set_title(choice, fontsize=POINTS - 1, parse_math=False)
        if all(spot.mean > here.get_ylim()[1] for spot in several):
            here.text(0.5, 0.5, "beyond the figure", transform=here.transAxes, ha="center", fontsize=POINTS - 1)
    for unused in axes.flat[len(drawn) :]:
        unused.set_axis_off()
    figure.supylabel(AXES[quantity], fontsize=POINTS)
    _legend(figure, labels)
    heading = title or ""
    if len(by_choice) > MOST:
        heading += f"\nfirst {MOST} of {len(by_choice)} choices" + (f"; all are in {more}" if more else "")
    if heading.strip():
        figure.suptitle(heading.strip(), fontsize=POINTS, parse_math=False)
    return figure


def _draw(axes: Axes, spots: list[Spot], against: str, index: int) -> None:
    logarithmic = axes.get_yscale() == "log"
    shown = [spot for spot in spots if spot.mean > 0 or not logarithmic]
    spots = sorted(shown, key=lambda spot: float(spot.point[against]))
    bottom = axes.get_ylim()[0]
    x = [float(spot.point[against]) for spot in spots]
    y = [spot.mean for spot in spots]
    down = [min(spot.half_width, spot.mean - bottom) if logarithmic else spot.half_width for spot in spots]
    up = [spot.half_width for spot in spots]
    look = {**line(index), "marker": MARKERS[index % len(MARKERS)], "markersize": 3}
    axes.errorbar(x, y, yerr=[down, up] if any(up) else None, capsize=2, elinewidth=0.8, **look)


def _scale(axes: Axes, spots: list[Spot], against: str) -> None:
    """Choose the scales of all panels, which share them."""
    x = [float(spot.point[against]) for spot in spots]
    if min(x) > 0 and max(x) > min(x):
        axes.set_xscale("log")
        _plain_ticks(axes, sorted(set(x)))
    positive = [spot.mean for spot in spots if spot.mean > 0]
    if positive:
        axes.set_yscale("log")
        tame = [spot.mean + spot.half_width for spot in spots if 0 < spot.mean <= RUNAWAY] or positive
        axes.set_ylim(min(positive) / 1.6, min(max(tame), sys.float_info.max / 2) * 1.6)


def _plain_ticks(axes: Axes, values: list[float]) -> None:
    """Label the values that were run, as far as there is room; decades alone may miss all of them."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    room = (math.log(values[-1]) - math.log(values[0])) / 7
    kept = [values[0]]
    for value in values[1:]:
        if math.log(value) - math.log(kept[-1]) >= room:
            kept.append(value)
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{value:g}" for value in kept]))
    axes.xaxis.set_minor_locator(NullLocator())


def _legend(figure: Figure, labels: list[str]) -> None:
    """Put the legend below all panels; labels are taken literally."""
    handles: Any = figure.axes[0].containers
    legend = figure.legend(
        handles,
        [""] * len(labels),
        loc="outside lower center",
        ncols=min(len(labels), 4),
        frameon=False,
        fontsize=POINTS - 1,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(label)


def _short(name: str, others: Sequence[str]) -> str:
    """Return the last part of a name, if that says which one is meant."""
    last = name.rpartition(".")[2]
    return name if sum(other.rpartition(".")[2] == last for other in others) > 1 else last


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(str(item) if name == "name" else f"{name} {_value(item)}" for name, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
