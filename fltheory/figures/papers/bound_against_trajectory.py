"""Bounds against trajectories: both sides of every bound of the papers, round by round, and the slack between them.

For each claim of kind *bound* the published form (the first reading) and the corrected one are drawn on one instance:
the one on which a short search brings the published form closest to failing (if the run explodes there, the worst of
as many random instances on which it does not). Where the corrected form asks for another
run there (another learning rate, say), that run is drawn as well; where the instance is none of its own, it gets the
worst instance of its own search. The lower panels show the slack, right-hand over left-hand side; below 1 a bound
fails. Claims whose sides are single numbers are left out. A curve that was sampled is drawn by its mean.

Searches are short, so slacks on other instances can be smaller; ``fltheory validate`` looks harder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy.core.relational import GreaterThan, StrictGreaterThan

from fltheory.bounds._algebra import compiled
from fltheory.bounds._claim import Claim, Form, Rejected, Sweeps
from fltheory.bounds._space import Params, plain
from fltheory.checks import Floats
from fltheory.claims import index
from fltheory.errors import Diverged, NotApplicable
from fltheory.figures.study import Data, Study
from fltheory.figures.style import COLOURS, POINTS, STYLES, dress, panels
from fltheory.seeding import Purpose, generator
from fltheory.validation.evaluate import _defined, _index_values, _limit
from fltheory.validation.search import random_points, search
from fltheory.validation.trials import Trials, environment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHORTEST = 4
"""Fewest rounds that make a curve."""

TAME = 1e6
"""Runs that grow by more than this factor are not drawn."""

LOOKS = {"published": 1, "corrected": 0}
"""Colours and styles of the forms."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Find an instance for every bound and evaluate both sides along its run."""
    budget = 6 if quick else 24
    found, skipped = [], []
    bounds = [entry for entry in index().values() if entry.kind == "bound"]
    for entry in bounds[:3] if quick else bounds:
        claim = entry.load()
        chosen = [next((f for f in claim.forms if f.variant.startswith(name)), None) for name in LOOKS]
        point: Params | None = None
        exploding: dict[str, float] = {}
        curves: list[dict[str, Any]] = []
        for form in chosen:
            curve = None if form is None or isinstance(claim.check_of(form), Sweeps) else _at(claim, form, point, seed)
            if curve is None and form is not None:
                own, failed = _worst(claim, form, budget, seed)
                exploding |= {} if failed is None else {form.variant: failed}
                curve = None if own is None else _at(claim, form, own, seed)
                point = own if point is None else point
            if curve is not None:
                curves.append(curve)
        if curves:
            found.append({"id": entry.id, "reference": entry.reference, "curves": curves, "exploding": exploding})
        else:
            skipped.append(entry.id)
    return {"budget": budget, "claims": found, "skipped": skipped}


def _worst(claim: Claim, form: Form, budget: int, seed: int) -> tuple[Params | None, float | None]:
    """Return the instance closest to failing that a short search finds, and the slack of one that was too wild."""
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        return None, None
    trials = Trials(claim, form, source, seed)
    search(trials, budget=budget, seed=seed)
    if trials.best is None:
        return None, None
    curve = _at(claim, form, trials.best[1], seed)
    if curve is None or _tame(curve):
        return trials.best[1], None
    points = random_points(source.space, generator(seed, Purpose.SEARCH), budget)
    again = [(point, _at(claim, form, point, seed)) for point in points]
    calm = [(_slack(found), point) for point, found in again if found is not None and _tame(found)]
    return min(calm, key=lambda pair: pair[0])[1] if calm else None, _slack(curve)


def _tame(curve: Data) -> bool:
    return bool(max(curve["left"]) <= TAME * abs(curve["left"][0]))


def _slack(curve: Data) -> float:
    """Return the smallest right-hand over left-hand side."""
    pairs = zip(curve["left"], curve["right"], strict=True)
    return min((right / left for left, right in pairs if right is not None and left > 0), default=float("inf"))


def _at(claim: Claim, form: Form, point: Params | None, seed: int) -> dict[str, Any] | None:
    """Return both sides of a form along the rounds at a point, or nothing if it is no instance or no curve."""
    source = claim.check_of(form)
    if point is None or isinstance(source, Sweeps) or not _inside(source.space, point):
        return None
    try:
        env = environment(source, point, seed=seed)
    except (Rejected, Diverged, NotApplicable):
        return None
    if not Trials(claim, form, source, seed).admitted(env):
        return None
    left, right = _sides(form, dict(env))
    if left.ndim != 1 or left.size < SHORTEST or not np.all(np.isfinite(left)):
        return None
    return {
        "variant": form.variant,
        "method": source.method.value,
        "instance": plain(point),
        "left": left.tolist(),
        "right": [float(value) if np.isfinite(value) else None for value in right],
    }


def _inside(space: Any, point: Params) -> bool:
    return set(point) == {name for name, _ in space.items()} and bool(space.contains(point))


def _sides(form: Form, env: dict[str, Any]) -> tuple[Floats, Floats]:
    """Return the sides of the first relation of a form, smaller one first, as curves over the rounds."""
    values = _defined(form, {name: _limit(value, "") for name, value in env.items()}, exact=False)
    relation = form.sources[0]
    sides = [compiled(relation.lhs), compiled(relation.rhs)]
    if isinstance(relation, GreaterThan | StrictGreaterThan):
        sides.reverse()
    if any(side.random for side in sides):
        return np.zeros(()), np.zeros(())
    if form.over:
        places = [values | place for place in _index_values(form.over, values, exact=False)]
        both = [np.array([side(place) for place in places], dtype=float) for side in sides]
    else:
        both = [np.asarray(side(values), dtype=float) for side in sides]
    left, right = np.broadcast_arrays(*both)
    return left, right


def draw(data: Data) -> Figure:
    """Draw curves above and slack below, one pair of panels per claim."""
    count = len(data["claims"])
    columns = min(3, count)
    blocks = -(-count // columns)
    ratios = [1.6, 1.0] * blocks
    figure, axes = panels(2 * blocks, columns, height=1.15, height_ratios=ratios)
    for place in axes.flat:
        place.set_visible(False)
    for number, claim in enumerate(data["claims"]):
        row, column = divmod(number, columns)
        above, below = axes[2 * row, column], axes[2 * row + 1, column]
        for place in (above, below):
            place.set_visible(True)
            place.set_xscale("log")
            place.set_yscale("log")
        runs: list[list[float]] = []
        for curve in claim["curves"]:
            name = curve["variant"].split("@")[0]
            look = {"color": COLOURS[LOOKS[name]], "linestyle": STYLES[1 + LOOKS[name]], "linewidth": 1.2}
            left, right = np.array(curve["left"]), np.array(curve["right"], dtype=float)
            rounds = np.arange(1, len(left) + 1)
            if not any(np.allclose(left, other, rtol=1e-12) for other in runs if len(other) == len(left)):
                own = "run of the corrected form, where it differs" if runs else "left-hand side (run)"
                above.plot(rounds, _positive(left), color="0.55" if runs else "black", linewidth=1.2, label=own)
                runs.append(curve["left"])
            above.plot(rounds, _positive(right), label=f"{name} bound", **look)
            with np.errstate(divide="ignore", invalid="ignore"):
                below.plot(rounds, _positive(right / np.where(left > 0, left, np.nan)), **look)
        below.axhline(1, color="0.3", linewidth=0.6)
        dress(above, title=claim["id"])
        dress(below, xlabel="round")
        above.tick_params(labelbottom=False)
        below.set_xlim(above.get_xlim())
        for place in (above, below):
            _ticks(place)
        if column == 0:
            above.set_ylabel("both sides", fontsize=POINTS)
            below.set_ylabel("slack", fontsize=POINTS)
    entries: dict[str, Any] = {}
    for place in axes.flat:
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(
        list(entries.values()), list(entries), loc="outside upper center", ncols=4, fontsize=POINTS - 1, frameon=False
    )
    return figure


def _ticks(place: Axes) -> None:
    """Set few ticks, written as plain numbers where an axis spans less than two decades."""
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter

    place.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100]))
    place.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    low, high = place.get_ylim()
    if high < 100 * low:
        narrow = high < 6 * low
        place.yaxis.set_major_locator(MaxNLocator(3) if narrow else LogLocator(subs=(1.0, 3.0)))
        place.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    for axis in (place.xaxis, place.yaxis):
        axis.set_minor_formatter(NullFormatter())


def _positive(values: Any) -> Any:
    return np.where(np.asarray(values) > 0, values, np.nan)


def caption(data: Data) -> str:
    """Give the smallest slack of every bound on its instance."""
    parts = []
    for claim in data["claims"]:
        shown = [f"{curve['variant'].split('@')[0]} {_slack(curve):.4g}" for curve in claim["curves"]]
        shown += [f"{variant} {slack:.3g} where the run explodes" for variant, slack in claim["exploding"].items()]
        parts.append(f"{claim['id']} ({', '.join(shown)})")
    text = (
        f"Smallest right-hand over left-hand side on the instance drawn, the worst of {data['budget']} points tried: "
    )
    return text + ", ".join(parts) + "."


study = Study(
    name="bound-against-trajectory",
    title="Bounds against trajectories",
    paper="fltheory",
    compute=compute,
    caption=caption,
    draw=draw,
)
