r"""Figure 4 of Ruan et al.: a client arrives, with and without fast reboot; a client departs and is kept or dropped.

Left, test accuracy around an arrival: fast reboot triples the newcomer's weight at first. Middle, what fast reboot adds
to it: both ways share steps and minibatches, so that the difference is known much better than either curve. Right, test
loss around a departure: *include* keeps the departed client in the objective and in the test set, *exclude* drops it
from both and restarts the learning rate. After the event the test set is that of the objective in force. Lines are
means over replicates (steps and minibatches drawn anew, data fixed), shades are 95 % bands for all rounds at once.

The published left panel is on MNIST; all panels here are on SYNTHETIC(1, 1). What the paper leaves open, the means of
the traces among it, is chosen in :mod:`fltheory.bounds.ruan.settings`; rounds and event times are chosen here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.bounds.ruan.settings import (
    CLIENTS,
    after_arrival,
    after_departure,
    before_arrival,
    before_departure,
    everyone_but,
    federation,
    federation_settings,
    held_out,
    rounds_until,
)
from fltheory.figures.study import Data, Study
from fltheory.figures.style import PAGE, dress, legend, line, panels
from fltheory.participation.selection import Mask
from fltheory.simulation.trajectories import simultaneous_half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREAD, LEVEL = 1.0, 0.95


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the common past once, then both branches of either event."""
    at, horizon, replicates = (15, 20, 4) if quick else (40, 110, 16)
    problem = federation(spread=SPREAD, seed=seed)
    newcomer = before_arrival(problem, rounds=at, replicates=replicates, seed=seed)
    before = held_out(problem, newcomer[:, 1:], everyone_but(CLIENTS - 1))[0]
    arrival = {
        name: _joined(after_arrival(problem, newcomer, at=at, horizon=horizon, fast=fast, seed=seed))[0]
        for name, fast in (("fast reboot", True), ("vanilla reboot", False))
    }
    leaver = before_departure(problem, rounds=at, replicates=replicates, seed=seed)
    old = held_out(problem, leaver[:, 1:], everyone_but(None))[1]
    departure = {
        name: _joined(after_departure(problem, leaver, at=at, horizon=horizon, exclude=exclude, seed=seed))[1]
        for name, exclude in (("include", False), ("exclude", True))
    }
    lower = departure["exclude"].mean(axis=0) <= departure["include"].mean(axis=0)
    return {
        "settings": {**federation_settings(), "spread": SPREAD, "at": at, "horizon": horizon, "replicates": replicates},
        "arrival": {name: _summary(np.hstack([before, curve])) for name, curve in arrival.items()},
        "gain": _summary(arrival["fast reboot"] - arrival["vanilla reboot"]),
        "departure": {name: _summary(np.hstack([old, curve])) for name, curve in departure.items()},
        "recovery": {
            name: _rounds_until(curve.mean(axis=0) >= before[:, -1].mean()) for name, curve in arrival.items()
        },
        "crossing": _rounds_until(lower),
    }


def _joined(blocks: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    accuracy, loss = zip(*blocks, strict=True)
    return np.hstack(accuracy), np.hstack(loss)


def _rounds_until(reached: Mask) -> float | None:
    rounds = float(rounds_until([reached]))
    return rounds if np.isfinite(rounds) else None


def _summary(curves: Floats) -> dict[str, list[float]]:
    half = simultaneous_half_width(curves, LEVEL)
    mean = curves.mean(axis=0)
    return {"mean": mean.tolist(), "low": (mean - half).tolist(), "high": (mean + half).tolist()}


def draw(data: Data) -> Figure:
    """Draw both events, and between them the difference that fast reboot makes."""
    figure, axes = panels(1, 3, width=PAGE, height=2.4)
    at = data["settings"]["at"]
    both = (("arrival", "test accuracy", 100, "lower right"), ("departure", "test loss (nats)", 1, "upper right"))
    for place, (event, measure, factor, corner) in zip(axes[0, ::2], both, strict=True):
        past = {"color": "black", "linewidth": 1.2}
        for index, (name, curve) in enumerate(data[event].items()):
            rounds = 1 + np.arange(len(curve["mean"]))
            mean, low, high = (factor * np.array(curve[part]) for part in ("mean", "low", "high"))
            after = slice(at - 1, None)
            for span, style, label in ((slice(0, at), past, None), (after, line(index), name)):
                if span is after or index == 0:
                    shade = {"color": style["color"], "alpha": 0.2, "linewidth": 0}
                    place.fill_between(rounds[span], low[span], high[span], **shade)
                    place.plot(rounds[span], mean[span], label=label, **style)
        place.axvline(at, color="0.4", linewidth=0.8, linestyle=(0, (4, 2)))
        place.set_xlim(1, len(rounds))
        dress(place, xlabel=r"round  $\tau$", ylabel=measure + (" (%)" if factor > 1 else ""), title=event)
        legend(place, loc=corner)
    means = np.concatenate([curve["mean"] for curve in data["departure"].values()])
    axes[0, 2].set_ylim(0.9 * means.min(), 1.05 * means.max())
    mean, low, high = (100 * np.array(data["gain"][part]) for part in ("mean", "low", "high"))
    since = 1 + np.arange(len(mean))
    middle = axes[0, 1]
    middle.axhline(0, color="0.4", linewidth=0.8)
    middle.fill_between(since, low, high, color=line(0)["color"], alpha=0.2, linewidth=0)
    middle.plot(since, mean, **line(0))
    middle.set_xscale("log")
    middle.set_xlim(1, len(since))
    dress(middle, xlabel="rounds since the arrival", ylabel="test accuracy (points)", title="fast minus vanilla")
    return figure


def caption(data: Data) -> str:
    """Say when accuracy is back, what fast reboot adds, and when the losses cross."""
    settings = data["settings"]
    back = " and ".join(
        f"{'more than ' + str(settings['horizon']) if rounds is None else f'{rounds:.0f}'} rounds with {name}"
        for name, rounds in data["recovery"].items()
    )
    cross = (
        f"excluding a departed client has the lower mean test loss after {data['crossing']:.0f} rounds"
        if data["crossing"] is not None
        else f"excluding a departed client keeps the higher mean test loss for {settings['horizon']} rounds"
    )
    mean, low, high = (np.array(data["gain"][part]) for part in ("mean", "low", "high"))
    clear = np.flatnonzero((low > 0) | (high < 0))
    largest = np.abs(mean).argmax()
    seen = f"the band of their difference leaves out zero in {len(clear) or 'none'} of {len(mean)} rounds"
    return (
        f"After an arrival in round {settings['at']} the mean test accuracy of {settings['replicates']} replicates is "
        f"back at its old level after {back}; {seen} (largest mean: fast minus vanilla {100 * mean[largest]:+.1f} "
        f"points in round {largest + 1} of the newcomer); {cross}."
    )


study = Study(
    name="ruan-figure-4",
    title="Ruan et al., Figure 4: arrival with fast reboot, departure with and without the client",
    paper="ruan",
    compute=compute,
    caption=caption,
    draw=draw,
)
