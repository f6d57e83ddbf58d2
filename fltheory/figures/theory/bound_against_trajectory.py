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
over left-hand side; below 1 a bound fails. A curve of a published form that ends before that of the corrected one says
why: its check has shorter runs.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.catalogue import index
from fltheory.bounds.claim import Claim, Sweeps
from fltheory.bounds.papers import labelled
from fltheory.bounds.space import Integer
from fltheory.figures.bound_curves import LEVEL, curves_of
from fltheory.figures.study import Data, Study
from fltheory.figures.style import COLOURS, COLUMN, POINTS, STYLES, dress, panels, power_of_ten, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {"published": 1, "corrected": 0}
"""Colours and styles of the forms."""


def compute(*, quick: bool, seed: int, ledger: Mapping[str, Any] | None, claims: Sequence[Path] = ()) -> dict[str, Any]:
    """Find an instance for every bound and evaluate both sides along its run."""
    budget, replicates = (4, 40) if quick else (10, 100)
    known = {} if ledger is None else {entry["id"]: entry for entry in ledger["claims"]}
    found = []
    for entry in index(claims).values():
        if entry.kind != "bound":
            continue
        curves = curves_of(entry.load(), known.get(entry.id), budget=budget, replicates=replicates, seed=seed)
        found.append(
            {
                "id": entry.id,
                "paper": entry.paper,
                "reference": entry.reference,
                "title": entry.title,
                "curves": curves,
                "ends": _why_it_ends(entry.load(), curves),
            }
        )
    return {"budget": budget, "level": LEVEL, "claims": found}


def _why_it_ends(claim: Claim, curves: Sequence[Data]) -> str:
    """Say why the curve of the published form is shorter than that of the corrected one; empty if it is not."""
    if len(curves) < 2 or curves[0]["rounds"][-1] >= curves[1]["rounds"][-1]:
        return ""
    last = int(curves[0]["rounds"][-1])
    source = claim.check_of(claim.form(curves[0]["variant"]))
    horizon = None if isinstance(source, Sweeps) else source.space.parameters.get("T")
    if isinstance(horizon, Integer) and horizon.high == last:
        seen = "fails" if _slack(curves[0]) < 1 else "is checked"
        return f"the printed form {seen} in runs\nof up to {last} rounds; none is longer"
    return f"the run of the printed form ends in round {last}"


def _columns(count: int) -> int:
    """Return how many panels go into a row: full rows if possible, and never one alone in the last.

    >>> [_columns(count) for count in (1, 2, 3, 4, 5, 7, 9, 10)]
    [1, 2, 3, 2, 3, 4, 3, 2]
    """
    if count < 3:
        return count
    return min((3, 2, 4, 5), key=lambda columns: (count % columns == 1, columns == 5, bool(count % columns)))


def _heading(claim: Data, columns: int) -> str:
    """Return the name of a statement: paper and number, then what it is about, as wide as its panel."""
    width = 99 // columns  # characters that fit
    return "\n".join([*textwrap.wrap(_name(claim), width), *textwrap.wrap(claim["title"], width)])


def _name(claim: Data) -> str:
    return labelled(claim["paper"], claim["reference"])


def draw(data: Data) -> Figure:
    """Draw curves above and slack below, one pair of panels per claim."""
    shown = [claim for claim in data["claims"] if claim["curves"]]
    columns = _columns(len(shown))
    blocks = -(-len(shown) // columns)
    figure, axes = panels(2 * blocks, columns, height=1.35, height_ratios=[1.6, 1.0] * blocks)
    for place in axes.flat:
        place.set_visible(False)
    for number, claim in enumerate(shown):
        row, column = divmod(number, columns)
        above, below = axes[2 * row, column], axes[2 * row + 1, column]
        _draw_claim(above, below, claim)
        above.set_title(_heading(claim, columns), fontsize=POINTS, parse_math=False)
        if column == 0:
            _label(above, below)
    _key(figure, axes, columns=3)
    return figure


def by_claim(data: Data) -> dict[str, Figure]:
    """Return a figure at column width for each claim."""
    found = {}
    for claim in data["claims"]:
        if claim["curves"]:
            figure, axes = panels(2, 1, width=COLUMN + 0.6, height=1.5, height_ratios=[1.8, 1.0])
            _draw_claim(axes[0, 0], axes[1, 0], claim)
            _label(axes[0, 0], axes[1, 0])
            _key(figure, axes, columns=2)
            found[claim["id"]] = figure
    return found


def _label(above: Axes, below: Axes) -> None:
    above.set_ylabel("error and bound", fontsize=POINTS)
    below.set_ylabel("bound / error", fontsize=POINTS)


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
    averaged = any(curve["rounds"][0] > 1 for curve in claim["curves"])
    dress(below, xlabel="rounds averaged over" if averaged else "communication round")
    if claim["ends"]:
        above.text(0.03, 0.06, claim["ends"], transform=above.transAxes, fontsize=POINTS - 1.5)
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
        FuncFormatter,
        LogLocator,
        MaxNLocator,
        NullFormatter,
    )

    first, last = place.get_xlim()
    long = last >= 300 * first
    digits = (1,) if long else (1, 2, 5)
    place.xaxis.set_major_locator(FixedLocator([digit * 10**power for power in range(8) for digit in digits]))
    place.xaxis.set_major_formatter(FuncFormatter(power_of_ten if long else short))
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
    repeated = Counter(_name(claim) for claim in data["claims"])
    names = {
        claim["id"]: _name(claim) + (f" ({claim['title']})" if repeated[_name(claim)] > 1 else "")
        for claim in data["claims"]
    }
    slack: dict[str, dict[str, float]] = {name: {} for name in LOOKS}
    for claim in data["claims"]:
        for curve in claim["curves"]:
            slack[curve["variant"].split("@")[0]][names[claim["id"]]] = _slack(curve)
    failing = [f"{value:.3g} ({name})" for name, value in slack["published"].items() if value < 1]
    text = f"On the instance drawn {len(failing)} of {len(slack['published'])} published bounds fall below the run"
    if failing:
        text += f"; the smallest ratios of bound to error are {'; '.join(failing)}"
    ours = slack["corrected"]
    if ours:
        low, high = min(ours, key=lambda name: ours[name]), max(ours, key=lambda name: ours[name])
        broken = sum(value < 1 for value in ours.values())
        text += (
            f"; of the {len(ours)} corrected bounds {broken or 'none'} {'does' if broken == 1 else 'do'}; "
            f"their smallest ratios lie between {ours[low]:.3g} ({low}) and {ours[high]:.3g} ({high})"
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
    needs_ledger=True,
    own_claims=True,
    weight=6,
)
