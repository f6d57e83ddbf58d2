"""Bounds against trajectories: both sides of every bound of the papers, round by round, and the slack between them.

For each claim of kind *bound* the published form and the corrected one are drawn on one instance. Where the ledger has
a counterexample, it is that one, continued to the longest run of its space; otherwise it is the one on which the check
(a short search, where there is no ledger) brings the published form closest to failing. Of several readings the first
with a counterexample is drawn, or the one closest to failing. Where the corrected form asks for another run there
(another learning rate, say), that run is drawn as well; where the instance is none of its own, it gets the worst
instance of its own check.

The black line is the left-hand side, an expectation by the exact engine; the grey band around it is from Monte Carlo
replicates of the same run and covers all rounds at once with 95 %. (Where a rare event carries the expectation, as in
the counterexample to ``ruan.corollary-3.2.1``, replicates miss it and the band lies below the line.) Compressed and
elastic runs are deterministic and have no band, and neither has the theorem of the FedElasticNet paper, where all draws
are enumerated; there the abscissa is the number of rounds averaged over. The lower panels show the slack, right-hand
over left-hand side; below 1 a bound fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.claims import index
from fltheory.figures.papers._bound_curves import LEVEL, curves_of
from fltheory.figures.study import Data, Study
from fltheory.figures.style import COLOURS, COLUMN, POINTS, STYLES, dress, panels, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {"published": 1, "corrected": 0}
"""Colours and styles of the forms."""


def compute(*, quick: bool, seed: int, ledger: Mapping[str, Any] | None) -> dict[str, Any]:
    """Find an instance for every bound and evaluate both sides along its run."""
    budget, replicates = (4, 40) if quick else (10, 100)
    judged = {} if ledger is None else {entry["id"]: entry for entry in ledger["claims"]}
    found = []
    for entry in index().values():
        if entry.kind != "bound":
            continue
        curves = curves_of(entry.load(), judged.get(entry.id), budget=budget, replicates=replicates, seed=seed)
        found.append({"id": entry.id, "reference": entry.reference, "curves": curves})
    return {"budget": budget, "level": LEVEL, "claims": found}


def draw(data: Data) -> Figure:
    """Draw curves above and slack below, one pair of panels per claim."""
    shown = [claim for claim in data["claims"] if claim["curves"]]
    columns = min(3, len(shown))
    blocks = -(-len(shown) // columns)
    figure, axes = panels(2 * blocks, columns, height=1.08, height_ratios=[1.6, 1.0] * blocks)
    for place in axes.flat:
        place.set_visible(False)
    for number, claim in enumerate(shown):
        row, column = divmod(number, columns)
        above, below = axes[2 * row, column], axes[2 * row + 1, column]
        _draw_claim(above, below, claim)
        dress(above, title=claim["id"])
        if column == 0:
            above.set_ylabel("both sides", fontsize=POINTS)
            below.set_ylabel("right / left", fontsize=POINTS)
    _key(figure, axes, columns=3)
    return figure


def by_claim(data: Data) -> dict[str, Figure]:
    """Return a figure at column width for each claim."""
    found = {}
    for claim in data["claims"]:
        if claim["curves"]:
            figure, axes = panels(2, 1, width=COLUMN + 0.6, height=1.5, height_ratios=[1.8, 1.0])
            _draw_claim(axes[0, 0], axes[1, 0], claim)
            axes[0, 0].set_ylabel("both sides", fontsize=POINTS)
            axes[1, 0].set_ylabel("right / left", fontsize=POINTS)
            _key(figure, axes, columns=2)
            found[claim["id"]] = figure
    return found


def _draw_claim(above: Axes, below: Axes, claim: Data) -> None:
    for place in (above, below):
        place.set_visible(True)
        place.set_xscale("log")
        place.set_yscale("log")
    runs: list[list[float]] = []
    for curve in claim["curves"]:
        name = curve["variant"].split("@")[0]
        look: dict[str, Any] = {"color": COLOURS[LOOKS[name]], "linestyle": STYLES[1 + LOOKS[name]], "linewidth": 1.2}
        rounds, left, right = (np.array(curve[key], dtype=float) for key in ("rounds", "left", "right"))
        if not any(np.allclose(left, other, rtol=1e-12) for other in runs if len(other) == len(left)):
            own = "run of the corrected form, where it differs" if runs else "left-hand side (run)"
            above.plot(rounds, _positive(left), color="0.55" if runs else "black", linewidth=1.2, label=own)
            runs.append(curve["left"])
            if curve["band"] is not None:
                low = np.maximum(curve["band"]["low"], np.min(left[left > 0], initial=1.0) / 10)
                high = np.maximum(curve["band"]["high"], low)
                above.fill_between(rounds, low, high, color="0.6", alpha=0.4, linewidth=0, label="Monte Carlo band")
        above.plot(rounds, _positive(right), label=f"{name} bound", **look)
        with np.errstate(divide="ignore", invalid="ignore"):
            below.plot(rounds, _positive(right / np.where(left > 0, left, np.nan)), **look)
    below.axhline(1, color="0.3", linewidth=0.6)
    dress(above)
    dress(below, xlabel="round")
    above.tick_params(labelbottom=False)
    below.set_xlim(above.get_xlim())
    for place in (above, below):
        _ticks(place)


def _key(figure: Figure, axes: Any, *, columns: int) -> None:
    entries: dict[str, Any] = {}
    for place in axes.flat:
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols=columns,
        fontsize=POINTS - 1,
        frameon=False,
        handlelength=1.8,
        columnspacing=1.2,
    )


def _ticks(place: Axes) -> None:
    """Set few ticks, written as plain numbers where an axis spans less than two decades."""
    from matplotlib.ticker import (
        FixedLocator,
        FormatStrFormatter,
        FuncFormatter,
        LogLocator,
        MaxNLocator,
        NullFormatter,
    )

    place.xaxis.set_major_locator(FixedLocator([digit * 10**power for power in range(5) for digit in (1, 2, 5)]))
    place.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    low, high = place.get_ylim()
    if high < 100 * low:
        narrow = high < 6 * low
        place.yaxis.set_major_locator(MaxNLocator(3) if narrow else LogLocator(subs=(1.0, 3.0)))
        place.yaxis.set_major_formatter(FuncFormatter(short))
    for axis in (place.xaxis, place.yaxis):
        axis.set_minor_formatter(NullFormatter())


def _positive(values: Any) -> Any:
    return np.where(np.asarray(values) > 0, values, np.nan)


def _slack(curve: Data) -> float:
    """Return the smallest right-hand over left-hand side."""
    pairs = zip(curve["left"], curve["right"], strict=True)
    return min((right / left for left, right in pairs if right is not None and left > 0), default=float("inf"))


def caption(data: Data) -> str:
    """Say which published bounds fail on the instance drawn, and how loose the corrected ones are."""
    slack: dict[str, dict[str, float]] = {name: {} for name in LOOKS}
    for claim in data["claims"]:
        for curve in claim["curves"]:
            slack[curve["variant"].split("@")[0]][claim["id"]] = _slack(curve)
    failing = [f"{id_} ({value:.3g})" for id_, value in slack["published"].items() if value < 1]
    text = f"On the instance drawn {len(failing)} of {len(slack['published'])} published bounds fall below the run"
    if failing:
        text += f", by the smallest right-hand over left-hand side {', '.join(failing)}"
    ours = slack["corrected"]
    if ours:
        low, high = min(ours, key=lambda id_: ours[id_]), max(ours, key=lambda id_: ours[id_])
        broken = sum(value < 1 for value in ours.values())
        text += (
            f"; {broken} of {len(ours)} corrected bounds do, whose smallest slack is from {ours[low]:.3g} ({low}) to "
            f"{ours[high]:.3g} ({high})"
        )
    return text + "."


study = Study(
    name="bound-against-trajectory",
    title="Bounds against trajectories",
    paper="fltheory",
    compute=compute,
    caption=caption,
    draw=draw,
    by_claim=by_claim,
    judged=True,
    weight=6,
)
