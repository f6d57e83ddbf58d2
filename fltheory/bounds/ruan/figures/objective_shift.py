r"""How far the minimiser moves when a client joins: the constant of Theorem 3.2 as published, corrected and sharp.

All constants bound :math:`\mu\|w^* - \tilde w^*\|^2/\Gamma_l`; they depend on the condition number :math:`L/\mu` and
on :math:`n/n_l`, samples of the others over those of the client that joins. Circles are values *attained* by one
instance in one dimension, so no constant below them can be right. Crosses are the *worst case* over all smooth and
strongly convex functions, from a semidefinite program (PEPit; left out if it is not installed); *searched* in the
table is the largest value that one short search over piecewise quadratic instances finds without being told where to
look, for equal numbers of samples. See :mod:`fltheory.figures.displacement`. Condition numbers and ratios are chosen
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.errors import NotApplicable
from fltheory.figures.displacement import attained, constants, simulated, worst_case
from fltheory.figures.study import Data, Study, TextTable
from fltheory.figures.style import COLOURS, POINTS, dress, line, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONDITIONS = (2.0, 10.0, 100.0)
RATIOS = (0.1, 1.0, 10.0)
FORMS = ("published", "corrected", "sharp")


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Evaluate the three constants on a grid, and instances, worst cases and searches at some ratios."""
    ratios = np.geomspace(0.03, 100, 61).tolist()
    found, points = [], []
    for condition in CONDITIONS:
        values = np.array([constants(condition, ratio) for ratio in ratios])
        marks = np.geomspace(0.03, 100, 9).tolist()
        found.append(
            {
                "condition": condition,
                **{name: values[:, column].tolist() for column, name in enumerate(FORMS)},
                "marks": marks,
                "attained": [attained(condition, ratio) for ratio in marks],
            }
        )
        for ratio in RATIOS:
            row = dict(zip(FORMS, constants(condition, ratio), strict=True))
            points.append(
                {
                    "condition": condition,
                    "ratio": ratio,
                    **row,
                    "attained": attained(condition, ratio),
                    "worst_case": None if quick else _worst_case(condition, ratio),
                    "searched": None if quick or ratio != 1.0 else simulated(condition, ratio, searches=1, seed=seed),
                }
            )
    return {"ratios": ratios, "panels": found, "points": points}


def _worst_case(condition: float, ratio: float) -> float | None:
    try:
        return worst_case(condition, ratio)
    except NotApplicable:
        return None


def draw(data: Data) -> Figure:
    """Draw one panel per condition number."""
    figure, axes = panels(1, len(data["panels"]), height=2.5, sharey=True)
    for panel, place in zip(data["panels"], axes[0], strict=True):
        for index, name in enumerate(FORMS):
            place.loglog(data["ratios"], panel[name], label=name, **line(index))
        place.plot(
            panel["marks"],
            panel["attained"],
            "o",
            markersize=4,
            markerfacecolor="white",
            color=COLOURS[2],
            label="attained by an instance",
        )
        worst = [point for point in data["points"] if point["condition"] == panel["condition"]]
        worst = [point for point in worst if point["worst_case"] is not None]
        if worst:
            place.plot(
                [point["ratio"] for point in worst],
                [point["worst_case"] for point in worst],
                "x",
                markersize=6,
                color=COLOURS[6],
                label="worst case (SDP)",
            )
        dress(place, xlabel="ratio of samples  $n/n_l$", title=rf"$L/\mu = {panel['condition']:g}$")
    axes[0, 0].set_ylabel(r"bound on  $\mu\|w^*-\tilde w^*\|^2/\Gamma_l$", fontsize=POINTS)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, fontsize=POINTS, frameon=False)
    return figure


def table(data: Data) -> TextTable:
    """Return the constants at a few ratios."""

    def shown(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    names = (*FORMS, "worst_case", "attained", "searched")
    rows = [
        (f"{point['condition']:g}", f"{point['ratio']:g}", *(shown(point[name]) for name in names))
        for point in data["points"]
    ]
    return TextTable(columns=("L/μ", "n/n_l", *FORMS, "worst case (SDP)", "attained", "searched"), rows=tuple(rows))


def caption(data: Data) -> str:
    """Say by how much the published constant exceeds the sharp one, and that the latter is attained."""
    parts = []
    for panel in data["panels"]:
        over = np.array(panel["published"]) / np.array(panel["sharp"])
        better = np.array(panel["corrected"]) / np.array(panel["sharp"])
        parts.append(
            f"{over.min():.2g} to {over.max():.3g} times (corrected: {better.min():.2g} to {better.max():.3g}; "
            f"L/μ = {panel['condition']:g})"
        )
    off = max(
        abs(value / constants(panel["condition"], ratio)[2] - 1)
        for panel in data["panels"]
        for ratio, value in zip(panel["marks"], panel["attained"], strict=True)
    )
    text = f"The published constant is {', '.join(parts)} as large as the sharp one; instances attain the sharp one to "
    text += f"{off:.0e} relative"
    worst = [abs(point["worst_case"] / point["sharp"] - 1) for point in data["points"] if point["worst_case"]]
    if worst:
        text += f", and the worst case over the whole class agrees with it to {max(worst):.0e}"
    return text + "."


study = Study(
    name="objective-shift",
    title="Ruan et al., Theorem 3.2: how far the minimiser moves when a client joins",
    paper="ruan",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
