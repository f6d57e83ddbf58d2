r"""Figure 1 of the CFL paper: FedAvg, FedProx and CFL-R on noisy quadratics in eight settings, each at its best rate.

Root mean square of :math:`\|Aw + B\|` against the round. Lines are exact expectations; the shaded bands cover the
central 90 % of single runs (64 Monte Carlo replicates), which is what a reader of the paper's figure sees. Learning
rates are tuned on the exact expectation of the last round.

Dimension, number of clients, local steps and rounds are not printed in the paper; those used are stored with the
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.cfl.figures._noisy_quadratics import TOGETHER, best, experiment
from fltheory.bounds.cfl.settings import algorithms, settings
from fltheory.figures.study import Data, Study
from fltheory.figures.style import PAGE, POINTS, dress, line, panels
from fltheory.simulation.engines import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"SRD": "small", "BRD": "large", "SL": "5", "LL": "20", "SC": "1", "GC": "0"}
REPLICATES = 64


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Tune and run every algorithm in every setting."""
    chosen = settings()[::7] if quick else settings()
    panels_ = []
    for setting in chosen:
        curves = []
        for algorithm in algorithms():
            found = best(setting, algorithm, seed)
            run = experiment(setting, algorithm, found.rate, seed)
            runs = np.sqrt(simulate(run, seed=seed, replicates=REPLICATES, threads=1).curve("gradient_norm_sq"))
            low, high = np.quantile(runs, [0.05, 0.95], axis=0)
            curves.append(
                {
                    "algorithm": found.algorithm,
                    "rate": found.rate,
                    "loss": np.sqrt(found.trajectories.curve("gradient_norm_sq")[0]).tolist(),
                    "low": low.tolist(),
                    "high": high.tolist(),
                }
            )
        panels_.append({"setting": setting.name, "L": setting.L, "mu": setting.mu, "curves": curves})
    first = chosen[0]
    sizes = {name: getattr(first, name) for name in ("dim", "num_clients", "local_steps", "rounds", "centred")}
    return {"panels": panels_, "sizes": {**sizes, "replicates": REPLICATES}}


def draw(data: Data) -> Figure:
    """Draw one panel per setting."""
    count = len(data["panels"])
    columns = min(4, count)
    figure, axes = panels((count + columns - 1) // columns, columns, width=PAGE, height=1.9, sharex=True)
    for panel, place in zip(data["panels"], axes.flat, strict=False):
        for index, curve in enumerate(panel["curves"]):
            rounds = np.arange(len(curve["loss"]))
            place.fill_between(rounds, curve["low"], curve["high"], color=line(index)["color"], alpha=0.2, linewidth=0)
            place.plot(rounds, curve["loss"], label=curve["algorithm"], **line(index))
        drift, smooth, convex = panel["setting"].split("-")
        place.set_yscale("log")
        place.margins(x=0)
        dress(place, title=f"{NAMES[drift]} round drift, $L={NAMES[smooth]}$, $\\mu={NAMES[convex]}$")
        place.title.set_fontsize(POINTS - 1)
    for place in axes[-1]:
        place.set_xlabel("communication round  $t$", fontsize=POINTS)
    for place in axes[:, 0]:
        place.set_ylabel(r"loss  $\|Aw_t + B\|$", fontsize=POINTS)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=POINTS, frameon=False)
    return figure


def caption(data: Data) -> str:
    """Say how often CFL-R ends lowest, and by which factor."""
    wins = 0
    ends = []
    factors: dict[str, list[float]] = {"SRD": [], "BRD": []}
    for panel in data["panels"]:
        last = {curve["algorithm"]: curve["loss"][-1] for curve in panel["curves"]}
        ends.append(last)
        wins += min(last, key=lambda name: last[name]) == "CFL-R"
        factors[panel["setting"][:3]].append(last["FedAvg"] / last["CFL-R"])
    by_drift = " and ".join(
        f"by a factor of {min(found):.2g} to {max(found):.2g} under {NAMES[drift]} round drift"
        for drift, found in factors.items()
        if found
    )
    apart = max(abs(last["FedProx"] / last["FedAvg"] - 1) for last in ends)
    sizes = data["sizes"]
    return (
        f"At the best constant learning rate of each method, CFL-R ends with the lowest expected loss in {wins} of "
        f"{len(data['panels'])} settings, below FedAvg {by_drift}; FedProx ends within {100 * apart:.1f} % of FedAvg "
        f"(lines: exact root mean square; bands: 5 to 95 % of {sizes['replicates']} simulated runs; "
        f"{sizes['num_clients']} clients, {sizes['local_steps']} local steps, {sizes['dim']} dimensions)."
    )


study = Study(
    name="cfl-figure-1",
    title="CFL, Figure 1: noisy quadratics with drifting clients",
    paper="cfl",
    compute=compute,
    caption=caption,
    draw=draw,
    together=TOGETHER,
    weight=5,
)
