"""How all figures look: sizes for one column of a paper, colours that stay apart, axes without clutter.

Colours are those of Okabe and Ito, which stay apart under the common colour vision deficiencies; line styles differ as
well, so that a figure survives a black-and-white printer. Nothing global is touched: figures are built as objects,
without ``pyplot``, and every size is set explicitly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
STYLES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

COLUMN, PAGE, POINTS = 3.4, 7.0, 8
"""Widths in inches of one column and of a page, and the size of the letters."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

DPI, SMALL = 300, 200
"""Pixels per inch of PNG files, and of those for the pages of claims."""

VERDICTS = {
    "HOLDS": "#0072B2",
    "VIOLATED": "#D55E00",
    "MIXED": "#CC79A7",
    "INCONCLUSIVE": "#E69F00",
    "NOT_APPLICABLE": "#999999",
}
"""Colours of verdicts."""

SYMBOLS = {"HOLDS": "✓", "VIOLATED": "✗", "MIXED": "±", "INCONCLUSIVE": "?", "NOT_APPLICABLE": "–"}
"""Beside the colours, so that nothing depends on seeing them."""

WORDS = {
    "HOLDS": "holds",
    "VIOLATED": "violated",
    "MIXED": "violated in part",
    "INCONCLUSIVE": "open",
    "NOT_APPLICABLE": "no instance found",
}
"""Verdicts in legends."""


def panels(rows: int, columns: int, *, width: float = PAGE, height: float = 2.2, **more: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes ``(rows, columns)``; ``height`` is that of one row in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def dress(axes: Axes, *, xlabel: str = "", ylabel: str = "", title: str = "") -> None:
    """Set labels and remove clutter."""
    axes.set_xlabel(xlabel, fontsize=POINTS)
    axes.set_ylabel(ylabel, fontsize=POINTS)
    axes.tick_params(which="both", labelsize=POINTS - 1, direction="in")
    axes.grid(visible=True, which="major", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        axes.set_title(title, fontsize=POINTS)


def line(index: int) -> dict[str, Any]:
    """Return colour, style and width of the ``index``-th curve."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": STYLES[index % len(STYLES)], "linewidth": 1.2}


def legend(axes: Axes, **more: Any) -> None:
    """Add a small legend."""
    axes.legend(**{"fontsize": POINTS - 1, "framealpha": 0.85, "edgecolor": "none", **more})


def power_of_ten(value: float, position: int | None = None) -> str:
    """Write a tick of a logarithmic axis; nothing where it is no power of ten.

    >>> power_of_ten(0.01), power_of_ten(20.0)
    ('10⁻²', '')
    """
    exponent = round(math.log10(value))
    return "10" + str(exponent).translate(_RAISED) if math.isclose(value, 10.0**exponent) else ""


def short(value: float, position: int | None = None) -> str:
    """Write a tick as a plain number, or with a power of ten where that would be long.

    >>> short(0.3), short(3e-6), short(1e-5)
    ('0.3', '3·10⁻⁶', '10⁻⁵')
    """
    if value <= 0 or 1e-3 <= value < 1e5:
        return f"{value:g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    digits = f"{value / 10.0**exponent:g}"
    return power_of_ten(10.0**exponent) if digits == "1" else f"{digits}·{power_of_ten(10.0**exponent)}"


def settle(figure: Figure) -> None:
    """Lay a figure out once and for all, so that saving it in several formats does not do it again.

    Minor ticks of logarithmic axes go where two labelled ones are in view, and powers of ten are written without
    formulas: together they are most of the time of drawing.
    """
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, NullLocator

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() != "log":
                continue
            low, high = sorted(axis.get_view_interval())
            places = axis.get_majorticklocs()
            if sum(low <= place <= high for place in places) > 1:
                axis.set_minor_locator(NullLocator())
                if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
                    axis.set_major_formatter(FuncFormatter(power_of_ten))
    figure.set_dpi(DPI)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
