"""Curves of several algorithms against the rounds, each with a band that holds for all rounds at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter
from fltheory.figures.style import COLUMN, POINTS, dress, line
from fltheory.simulation.trajectories import Trajectories

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {
    "distance_sq": r"expected squared distance  $\|w - w^\star\|^2$",
    "gap": r"expected optimality gap  $f(w) - f^\star$",
    "gradient_norm_sq": r"expected squared gradient norm  $\|\nabla f(w)\|^2$",
    "loss": "training loss",
    "accuracy": "share of test samples that are right",
    "uplink_bits": "bits sent to the server",
    "downlink_bits": "bits sent to the clients",
    "consensus_sq": r"expected consensus drift  $\frac{1}{|S|}\sum_i \|w_i - \bar w\|^2$",
    "average_gap": r"expected gap of the average  $f(\bar w_t) - f^\star$",
    "average_distance_sq": r"expected squared distance of the average  $\|\bar w_t - w^\star\|^2$",
    "personal_gap": r"expected personal gap  $\sum_i p_i\,(f_i(w_i) - f_i^\star)$",
    "personal_loss": "loss of personal models on their own samples",
    "personal_accuracy": "share of their own test samples that personal models get right",
    "nonzeros": "non-zero entries sent to the server",
    "entropy": "entropy of the messages, bits per entry",
}
"""Quantities that can be drawn, with the label of their axis."""

SHARES = ("accuracy", "personal_accuracy")
"""Quantities between 0 and 1, drawn on a linear axis."""

HEIGHT = 2.6
"""In inches."""

HIGHEST = 1e307
"""End of an axis: a band around values at the edge of floating point may have no end."""


class Reference(NamedTuple):
    """A line to compare with, such as a bound.

    Parameters
    ----------
    label
        Its name in the legend.
    x, y
        Places on the horizontal axis, and the values there.
    """

    label: str
    x: Floats
    y: Floats


class _Curve(NamedTuple):
    x: Floats
    mean: Floats
    low: Floats
    high: Floats


ACROSS = {
    "round": "communication round  $t$",
    "uplink_bits": "bits sent to the server",
    "downlink_bits": "bits sent to the clients",
    "bits": "bits sent in both directions",
}
"""What the horizontal axis may be, with its label."""


def comparison(
    curves: Sequence[tuple[str, Trajectories]] | Mapping[str, Trajectories],
    *,
    quantity: str | None = None,
    title: str | None = None,
    level: float = 0.99,
    x: str = "round",
    log_x: bool = False,
    references: Sequence[Reference] = (),
    ylabel: str | None = None,
) -> Figure:
    """Return a figure with one curve per algorithm on a logarithmic axis, or a linear one for shares.

    Parameters
    ----------
    curves
        Labels and trajectories; a single replicate is drawn without a band.
    quantity
        What is drawn: a key of :data:`AXES`. ``None`` draws the gap, or the accuracy where no minimiser is known.
    title
        Heading, taken literally like the labels.
    level
        Simultaneous level of the bands.
    x
        What the horizontal axis shows: ``round``, ``uplink_bits``, ``downlink_bits`` or ``bits``, each a mean.
    log_x
        Logarithmic horizontal axis; the start, at 0, is left out.
    references
        Further lines, drawn dashed in grey and black: bounds, slopes.
    ylabel
        Label of the vertical axis instead of that of the quantity.

    Notes
    -----
    A lower limit that is zero or negative has no place on a logarithmic axis; the band then reaches down to the
    edge of the figure, which lies half a decade below the smallest positive mean. Means that are not positive
    leave a hole. If nothing is positive, the axis is linear.
    """
    from matplotlib.figure import Figure

    pairs = _pairs(curves)
    for reference in references:
        _require_line(reference)
    if quantity is None:
        quantity = "gap" if pairs[0][1].gap is not None else "accuracy"
    arguments.choice("comparison", "quantity", quantity, AXES)
    arguments.choice("comparison", "x", x, ACROSS)
    drawn = [(label, _curve(trajectories, quantity, level, x, log_x)) for label, trajectories in pairs]
    figure = Figure(figsize=(COLUMN, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    if quantity not in SHARES:
        _scale(axes, [curve for _, curve in drawn], references)
    bottom = axes.get_ylim()[0]
    logarithmic = axes.get_yscale() == "log"
    lines = []
    for index, (_, curve) in enumerate(drawn):
        look = line(index)
        if np.any(curve.high > curve.low):
            low = np.maximum(curve.low, bottom) if logarithmic else curve.low
            axes.fill_between(curve.x, low, np.maximum(curve.high, low), color=look["color"], alpha=0.2, linewidth=0)
        shown = np.where(curve.mean > 0, curve.mean, np.nan) if logarithmic else curve.mean
        lines += axes.plot(curve.x, shown, **look)
    for index, reference in enumerate(references):
        shade = ("black", "0.45", "0.7")[index % 3]
        lines += axes.plot(reference.x, reference.y, color=shade, linestyle=(0, (4, 2)), linewidth=1.0)
    _dress(axes, ylabel or AXES[quantity], title, ACROSS[x], log_x=log_x)
    # The labels are put in afterwards: matplotlib would read $ as mathematics and skip a leading underscore.
    legend = axes.legend(lines, [""] * len(lines), fontsize=POINTS - 1, framealpha=0.85, edgecolor="none")
    labels = [label for label, _ in drawn] + [reference.label for reference in references]
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(label)
    return figure


def _pairs(curves: Any) -> list[tuple[str, Trajectories]]:
    """Return labels with their runs, or say what is neither."""
    allowed = "runs by label, such as {'FedAvg': run}"
    if not isinstance(curves, Iterable):
        raise arguments.fail("comparison", "curves", allowed, curves)
    pairs = list(curves.items()) if isinstance(curves, Mapping) else list(curves)
    if not pairs:
        raise InvalidParameter("comparison.curves must hold at least one curve, got none")
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], Trajectories)):
            raise arguments.fail("comparison", "curves", allowed, curves)
    return [(str(label), run) for label, run in pairs]


def _require_line(reference: Reference) -> None:
    """Refuse a reference line whose places and values are no numbers, or of different lengths."""
    x = arguments.array("Reference", "x", reference.x, shape=(None,))
    try:
        y = np.asarray(reference.y, dtype=float)  # a bound may be infinite
    except (TypeError, ValueError):
        raise arguments.fail("Reference", "y", "an array of numbers", reference.y) from None
    if y.shape != x.shape:
        raise InvalidParameter(f"Reference.y must have one value per place x, shape {x.shape}, got shape {y.shape}")


def _curve(trajectories: Trajectories, quantity: str, level: float, x: str, log_x: bool) -> _Curve:
    across = _across(trajectories, x)
    first = 1 if log_x and across[0] <= 0 else 0
    if trajectories.exact or trajectories.replicates > 1:
        band = trajectories.band(quantity, level=level)
        return _Curve(across[first:], band.mean[first:], band.low[first:], band.high[first:])
    only = trajectories.curve(quantity)[0, first:]
    return _Curve(across[first:], only, only, only)


def _across(trajectories: Trajectories, x: str) -> Floats:
    if x == "round":
        return np.arange(trajectories.rounds + 1.0)
    names = ("uplink_bits", "downlink_bits") if x == "bits" else (x,)
    return np.asarray(sum(trajectories.curve(name).mean(axis=0) for name in names), dtype=np.float64)


def _scale(axes: Axes, curves: Sequence[_Curve], references: Sequence[Reference] = ()) -> None:
    means = np.concatenate([*(curve.mean for curve in curves), *(reference.y for reference in references)])
    positive = means[means > 0]
    if positive.size:
        axes.set_yscale("log")
        top = max(float(curve.high.max()) for curve in curves)
        top = min(max(top, *(float(np.max(reference.y)) for reference in references), positive.min()), HIGHEST)
        axes.set_ylim(float(positive.min()) / 3.0, top * 1.5)


def _dress(axes: Axes, ylabel: str, title: str | None, xlabel: str, *, log_x: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    dress(axes, xlabel=xlabel, ylabel=ylabel)
    axes.tick_params(which="both", labelsize=POINTS)
    if log_x:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.margins(x=0)
    if title:
        axes.set_title(title, fontsize=POINTS, parse_math=False)
